// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/foreign_file.hpp
#pragma once

#include <filesystem>
#include <string>

namespace iso::files {

/// Throws iso::file_error that says what a file is where JSON is expected and the file is DICOM or
/// HDF5, by its first bytes. Of what is no regular file nothing is read.
/// \param wanted  "a plan", "a geometry"
void refuse_foreign(std::filesystem::path const& path, char const* wanted);

/// The JSON files of docs/formats.md.
enum class json_kind { geometry, plan, sweep, results, other };

/// Returns what a JSON file holds, by the names of its fields alone; `other` where it is no JSON.
json_kind kind_of_json(std::string const& text);

/// Throws iso::file_error that says what `path` is where `wanted` is expected and it is another
/// kind of JSON file that kind_of_json knows. Of what is no regular file nothing is read.
void refuse_other_json(std::filesystem::path const& path, json_kind wanted);

}  // namespace iso::files
