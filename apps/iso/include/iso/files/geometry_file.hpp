// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/geometry_file.hpp
//! Reads scan geometries as JSON: schema/geometry.schema.json, docs/formats.md.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace iso::files {

enum class scan_kind { circular_cone, circular_parallel, vectors };
enum class ray_kind { cone, parallel };

struct detector_description {
  std::array<std::int64_t, 2> pixels{};       ///< along u, v
  std::array<double, 2> pitch{1, 1};          ///< mm
  std::array<double, 2> offset{};             ///< mm, of the detector's middle along u, v
  std::array<double, 3> turn{};               ///< rad, yaw, pitch and roll about its middle
  std::vector<std::array<double, 2>> shifts;  ///< mm along u, v, of each view; empty: none
};

struct view_description {
  std::array<double, 3> source{};           ///< mm; with parallel rays their direction
  std::array<double, 3> detector_origin{};  ///< mm; centre of pixel (0, 0)
  std::array<double, 3> u_step{};           ///< mm
  std::array<double, 3> v_step{};           ///< mm
};

/// What a geometry file says, in the library's units: mm and radians.
struct geometry_description {
  scan_kind kind = scan_kind::circular_cone;
  ray_kind rays = ray_kind::cone;
  detector_description detector;
  double source_axis = 0;      ///< mm, circular_cone
  double source_detector = 0;  ///< mm, circular_cone
  double axis_offset = 0;      ///< mm along u, circular_cone: where the axis of rotation
                               ///< lies, seen from the middle of the beam
  double axis_tilt = 0;        ///< rad, circular scans: towards the source
  double helix_pitch = 0;      ///< mm a turn, circular scans
  std::vector<std::array<double, 3>> source_shifts;  ///< mm along u, v and the detector's normal,
                                                     ///< of each view, circular_cone; empty: none
  std::vector<double> angles;                        ///< rad, circular scans
  std::vector<view_description> views;               ///< `vectors`
  std::string text;                                  ///< the JSON it came from
};

/// Checks against the schema and reads; `name` stands in the messages.
/// \throws iso::file_error  naming the field by its JSON pointer, and what was expected there
geometry_description parse_geometry(std::string_view text, std::string const& name);

/// Reads the same from a file: JSON, or the settings of a Nikon scanner (.xtekct,
/// iso/files/xtekct_file.hpp), whose `text` is then the JSON that says the same.
geometry_description read_geometry(std::filesystem::path const& path, job const& control = {});

/// Returns the schema that is built in, as JSON text.
std::string_view geometry_schema();

}  // namespace iso::files
