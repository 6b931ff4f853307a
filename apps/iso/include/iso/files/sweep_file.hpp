// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/sweep_file.hpp
//! Describes what `iso sweep` is to measure: JSON of schema/sweep.schema.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace iso::files {

/// Every combination of what its lists hold.
struct sweep_set {
  std::vector<std::string> operations;
  std::vector<std::int64_t> sizes;
  std::vector<std::string> precisions;                ///< empty: float, for products half
  std::vector<std::string> backends;                  ///< empty: all of the build
  std::vector<int> threads = {0};                     ///< of OpenMP; 0: all that the process has
  std::vector<std::int64_t> groups_per_launch = {0};  ///< 0: all groups
};

struct sweep_description {
  int rounds = 3;        ///< through all points
  int repeats = 5;       ///< samples of a point in a round, at least
  double seconds = 0.1;  ///< that these take, at least
  std::vector<sweep_set> sets;
  std::string digest;  ///< of all but comments: files of one sweep have one
};

/// Returns the JSON schema.
std::string_view sweep_schema();

/// Parses the text of file `name`. Operations and sizes are not checked against what there is.
/// \throws iso::file_error  with the field that does not fit, and what was expected
sweep_description parse_sweep(std::string_view text, std::string const& name);
sweep_description read_sweep(std::filesystem::path const& path);

}  // namespace iso::files
