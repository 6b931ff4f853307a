// SPDX-License-Identifier: BSD-3-Clause
//! The headers of a file's objects, read without HDF5, which trusts them.
//! Source: HDF5 File Format Specification 3.0, IV.A (object headers).
#pragma once

#include "hdf5_attributes.hpp"
#include "hdf5_bytes.hpp"
#include "hdf5_type.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace iso::files::detail {

/// An attribute as its message has it.
struct raw_attribute {
  std::string name;
  bool sound = false;         ///< its parts lie within it
  bool shared = false;        ///< some of it may lie in an index of the file
  bool variable = false;      ///< of variable length, and described here: else no more is known
  std::uint64_t element = 0;  ///< bytes of one of a value's parts
  piece references{{}};
};

/// What the header of an object says of its attributes.
struct raw_object {
  raw_file file;
  std::vector<raw_attribute> attributes;
  bool complete = false;  ///< none is kept elsewhere
};

/// Throws iso::file_error where an attribute's name, type, shape and values do not fit into the
/// bytes that the file has for them: HDF5 reads on beyond those. Not checked are attributes outside
/// the object's header, what lies in the file's index of shared parts, and files whose addresses or
/// lengths have other than eight bytes.
raw_object read_object(hdf5_source const& from, hid_t object);
/// Throws iso::file_error where a dataset's chunks have no sizes: HDF5 divides by them as it opens
/// the dataset. A dataset that is not there, and files with other addresses, are left to it.
void check_chunks(hdf5_source const& from, char const* dataset);

/// As read_object: before HDF5 is asked for an attribute.
void check_attributes(hdf5_source const& from, hid_t object);

/// Names of the attributes of `object`, as the file's own bytes have them: HDF5 crashes where it
/// counts several of which one is damaged. None where HDF5 keeps some outside the object's header.
std::optional<std::set<std::string>> names_in_header(hdf5_source const& from, hid_t object);

}  // namespace iso::files::detail
