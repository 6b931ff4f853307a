// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/scan_input.hpp
#pragma once

#include <iso/files/geometry_file.hpp>
#include <iso/files/image_stack.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/jobs/session.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace iso::jobs {

/// A detector's readings and what turns them into line integrals.
struct scan_request {
  std::string backend;
  files::geometry_file geometry;
  files::image_stack readings;  ///< of `geometry`'s size
  /// Integers of 16 bits in their place, line integrals already, which stay what they are. Without
  /// a mask or a search for the axis.
  std::optional<files::stored_stack> stored{};
  bool already_integrals = false;                 ///< then nothing below but the axis is looked at
  std::optional<files::image_stack> flats;        ///< one or several, averaged
  std::optional<files::image_stack> darks;        ///< one or several, averaged; none: 0
  std::optional<double> white;                    ///< instead of flats: reading of an open beam
  std::vector<std::array<std::int64_t, 2>> dead;  ///< pixels [u, v] known to be dead
  bool find_dead = false;                         ///< and those that flats and darks show to be
  std::optional<double> centre;  ///< u of the axis, pixels from the first one's centre
  bool find_centre = false;      ///< estimate it
  /// The bytes of images that are in the backend's memory at a time, or those of one image.
  std::int64_t batch_bytes = std::int64_t(1) << 24;
  /// [views, u, v]; line integrals of readings where it is 0 are 0. Empty: all count.
  std::span<float const> mask{};
};

struct scan_result {
  std::array<std::int64_t, 3> shape{};          ///< views, u, v
  std::vector<float> projections;               ///< line integrals, [views, u, v]
  std::optional<files::stored_stack> stored{};  ///< in their place, where they were given so
  files::geometry_file geometry;                ///< moved where the axis was given or found
  std::int64_t dead_pixels = 0;                 ///< replaced in every view
  std::int64_t opaque = 0;                      ///< readings below the least transmission
  std::optional<double> centre;  ///< u of the axis that the geometry now has, if it moved
};

/// Returns line integrals in float by iso::ct::line_integrals, dead pixels replaced, and the axis
/// of rotation, on the backend that the request names. Images pass through it some at a time, and
/// readings stay in the memory where they were given.
/// \throws iso::invalid_argument  readings, flats or darks of another size; no flat field or open
///                                beam; a mask of another size; a dead pixel outside of the
///                                detector, or nothing but dead
///                                pixels; flats that are nowhere above the darks; readings that
///                                are all too dark; no axis to be seen
/// \throws iso::out_of_memory
scan_result line_integrals_of(scan_request request, observer const& watch);

}  // namespace iso::jobs
