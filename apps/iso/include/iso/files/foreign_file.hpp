// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/foreign_file.hpp
#pragma once

#include <filesystem>

namespace iso::files {

/// Throws iso::file_error that says what a file is where JSON is expected and the file is DICOM or
/// HDF5, by its first bytes. Of what is no regular file nothing is read.
/// \param wanted  "a plan", "a geometry"
void refuse_foreign(std::filesystem::path const& path, char const* wanted);

}  // namespace iso::files
