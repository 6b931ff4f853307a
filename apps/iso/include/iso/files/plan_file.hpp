// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/plan_file.hpp
//! Reads treatment plans as JSON: schema/plan.schema.json, docs/formats.md.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace iso::files {

/// Relative fluence in the plane of the isocentre, by the collimator's axes.
struct fluence_description {
  std::array<double, 2> low{};        ///< mm; edges of the first pixel along x, y
  std::array<double, 2> pixel{1, 1};  ///< mm
  std::array<std::int64_t, 2> extent{};
  std::vector<double> values;  ///< [along x, along y], y fastest
};

struct beam_description {
  std::string name;
  double gantry = 0;                  ///< rad
  double couch = 0;                   ///< rad
  double collimator = 0;              ///< rad
  double source_distance = 1000;      ///< mm
  std::array<double, 3> isocentre{};  ///< mm
  fluence_description fluence;
  double weight = 1;  ///< photons/cm2 in air at the isocentre where the fluence is 1
};

/// A table, by the name that the library knows it by or by a file's.
struct table_source {
  std::string name;
  std::string csv;  ///< of a file; empty: the library's own
};

/// What a plan file says, in the library's units: mm and radians.
struct plan_description {
  std::vector<beam_description> beams;
  table_source spectrum{"mohan_6mv", ""};
  table_source kernel{"6mv", ""};
  int cones = 8;
  int azimuths = 8;
  std::string placing = "equal_energy";
  std::string engine = "lattice";
  bool hardening_correction = true;
  bool kernel_per_bin = false;
  bool tilt = true;
  double margin = 27;      ///< mm
  double radial_step = 1;  ///< mm
  double ray_spacing = 2;  ///< mm
};

/// Checks against the schema and reads; `name` stands in the messages, and tables are looked for in
/// its folder.
/// \throws iso::file_error  naming the field by its JSON pointer, and what was expected there; a
///                          table that cannot be read
plan_description parse_plan(std::string_view text, std::string const& name);

plan_description read_plan(std::filesystem::path const& path, job const& control = {});

/// Returns `name` where it does not end in .csv, else what is in that file, looked for in `folder`.
/// \throws iso::file_error
table_source read_table(std::string const& name, std::filesystem::path const& folder);

/// Returns the schema that is built in, as JSON text.
std::string_view plan_schema();

}  // namespace iso::files
