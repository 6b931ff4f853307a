// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/circular_scan.hpp
//! Describes scans as scanners are described: by distances, angles and a detector.
#pragma once

#include <iso/ct/geometry.hpp>

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

namespace iso::ct {

/// A scan on a circle, and what changes it. A distance of the source is that of a cone beam.
struct circular_scan {
  beam rays = beam::cone;
  flat_detector detector = {};
  double source_axis = 0;      ///< mm
  double source_detector = 0;  ///< mm
  double axis_offset = 0;  ///< mm along u: where the axis lies, seen from the middle of the beam
  double axis_tilt = 0;    ///< rad, towards the source (laminography)
  double helix_pitch = 0;  ///< mm a turn
  detector_turn turn = {};
  std::vector<std::array<double, 2>> detector_shifts = {};  ///< mm, of each view; empty: none
  std::vector<std::array<double, 3>> source_shifts = {};    ///< mm, of each view; empty: none
  std::vector<double> angles = {};                          ///< rad
};

/// A scan as people give it: on a circle, or view by view.
using scan = std::variant<circular_scan, geometry>;

/// Returns the views of a scan on a circle. Shifts are along the detector's axes as offsets are,
/// before it is turned. Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  as circular_cone or circular_parallel, laminography,
///                                shift_detector, shift_source, turn_detector and helix
geometry make_geometry(circular_scan const& s);

/// Does the same for any scan.
/// \throws iso::invalid_argument  likewise
geometry make_geometry(scan const& s);

/// Returns the form of its beam. Determinism: backend_to_backend; made on the host.
beam rays_of(scan const& s);

/// Returns the number of its views. Determinism: backend_to_backend; made on the host.
std::int64_t num_views(scan const& s);

/// Returns the pixels of its detector along u and v. Determinism: backend_to_backend; made on the
/// host.
std::array<std::int64_t, 2> detector_pixels(scan const& s);

/// Returns the distance of neighbouring pixels along u and v, mm, in the first view.
/// Determinism: backend_to_backend; made on the host.
std::array<double, 2> detector_pitch(scan const& s);

/// Returns the scan with the detector of every view moved by `pixels` along u. One on a circle
/// whose detector is turned, whose offsets are before it turns, is returned view by view.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  as make_geometry
scan moved_along_u(scan const& s, double pixels);

}  // namespace iso::ct
