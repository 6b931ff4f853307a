// SPDX-License-Identifier: BSD-3-Clause
//! What HDF5 1.10 believes of a damaged file, and crashes on or never ends: values of variable
//! length, which lie in the file's global heap.
#pragma once

#include "hdf5_attributes.hpp"

#include <string>

namespace iso::files::detail {

/// An attribute of `object`, and its name.
struct hdf5_attribute {
  hid_t object;
  hid_t id;
  std::string const& name;
};

/// Throws iso::file_error where the attribute holds values of variable length, unless the file's
/// own bytes say where each lies, how long it is, and that the heap there is whole. Attributes that
/// HDF5 keeps outside the object's header are not checked.
/// Source: HDF5 File Format Specification 3.0, III.E (global heap).
void check_in_heap(hdf5_source const& from, hdf5_attribute const& attribute);

}  // namespace iso::files::detail
