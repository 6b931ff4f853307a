// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/hdf5_kind.hpp
//! Tells apart the HDF5 files of docs/formats.md.
#pragma once

#include <filesystem>
#include <string>

namespace iso::files {

enum class hdf5_kind { stack, matrix, vector, checkpoint, other };

/// Returns what a file holds, by the names of its datasets.
/// \throws iso::file_error  no such file, not HDF5, truncated
hdf5_kind read_hdf5_kind(std::filesystem::path const& path);

/// Returns a kind in words: "stack of projections", "matrix", "vector", "checkpoint of an iterative
/// reconstruction", "file of another program".
std::string name_of(hdf5_kind kind);

}  // namespace iso::files
