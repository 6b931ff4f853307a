// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/geometry_file.hpp
//! Reads scan geometries as JSON: docs/formats.md.
#pragma once

#include <iso/core/job.hpp>
#include <iso/ct/circular_scan.hpp>
#include <iso/model/word.hpp>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace iso::files {

/// What a geometry file describes, its `type`.
enum class scan_type { circular_cone, circular_parallel, vectors };

constexpr auto words(scan_type) {
  return std::array{word{scan_type::circular_cone, "circular_cone"},
                    word{scan_type::circular_parallel, "circular_parallel"},
                    word{scan_type::vectors, "vectors"}};
}

/// What a geometry file says.
struct geometry_file {
  ct::scan scan;
  std::string text;  ///< the JSON it came from
};

/// Checks against the schema and reads; `name` stands in the messages.
/// \throws iso::file_error  naming the field by its JSON pointer, and what was expected there
geometry_file parse_geometry(std::string_view text, std::string const& name);

/// Reads the same from a file: JSON, or the settings of a Nikon scanner (.xtekct,
/// iso/files/xtekct_file.hpp), whose `text` is then the JSON that says the same.
geometry_file read_geometry(std::filesystem::path const& path, job const& control = {});

/// Returns the JSON of a file that gives every view by its vectors. What a file may not say is
/// written all the same: parse_geometry refuses it.
std::string text_of_views(ct::geometry const& g);

/// Returns the JSON schema, as text.
std::string geometry_schema();

}  // namespace iso::files
