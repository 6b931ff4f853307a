// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/plan_file.hpp
//! Reads treatment plans as JSON: docs/formats.md.
#pragma once

#include <iso/core/job.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/dose_options.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iso::files {

/// A beam of a plan.
struct plan_beam {
  std::string name;
  dose::beam beam;
};

/// A table, by the name that the library knows it by or by a file's.
struct table_source {
  std::string name;
  std::optional<std::string> csv = {};  ///< of a file; none: the library's own
};

/// What a plan file says.
struct plan {
  std::vector<plan_beam> beams;
  table_source spectrum{"mohan_6mv"};
  table_source kernel{"6mv"};
  bool kernel_per_bin = false;
  dose::calculator_options options;
};

/// Checks against the schema and reads; `name` stands in the messages, and tables are looked for in
/// its folder.
/// \throws iso::file_error  naming the field by its JSON pointer, and what was expected there; a
///                          table that cannot be read
plan parse_plan(std::string_view text, std::string const& name);

plan read_plan(std::filesystem::path const& path, job const& control = {});

/// Returns `name` where it does not end in .csv, else what is in that file, looked for in `folder`.
/// \throws iso::file_error
table_source read_table(std::string const& name, std::filesystem::path const& folder);

/// Returns the JSON schema, as text.
std::string plan_schema();

}  // namespace iso::files
