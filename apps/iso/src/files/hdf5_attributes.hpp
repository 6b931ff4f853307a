// SPDX-License-Identifier: BSD-3-Clause
//! Attributes of the HDF5 files that hold matrices.
#pragma once

#include "hdf5_handle.hpp"

#include <map>
#include <string>

namespace iso::files::detail {

/// An open file, and its name for messages.
struct hdf5_source {
  std::filesystem::path const& path;
  hid_t file;
};

/// The attributes of the root group that are one text each.
std::map<std::string, std::string> read_notes(hdf5_source const& from);
/// Writes an attribute of the root group.
void write_note(hdf5_source const& to, std::string const& name, std::string const& text);
/// Copies the attributes of the root group and of its datasets, of whatever type and shape, where
/// `to` has the object and no attribute of that name. References, which mean nothing in another
/// file, are left out.
void copy_attributes(hdf5_source const& from, hdf5_source const& to);

}  // namespace iso::files::detail
