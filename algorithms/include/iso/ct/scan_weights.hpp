// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/scan_weights.hpp
//! Describes how much each reading of a scan counts in filtered backprojection.
#pragma once

#include <iso/ct/fdk_options.hpp>
#include <iso/ct/geometry.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace iso::ct {

/// The weights of a scan's readings. Rows of u are extended by `before` and `after` columns. The
/// weight of a reading is the angle of its view times its redundancy weight, which belongs to its
/// column unless rays of a column differ. Beyond the detector it is that of the edge.
struct scan_weights {
  scan_arc arc = scan_arc::full;                              ///< that was chosen
  detector_placement detector = detector_placement::centred;  ///< that was chosen
  std::vector<double> angles;                                 ///< [views], rad
  std::int64_t before = 0;
  std::int64_t after = 0;
  /// The number of rows of `redundancy_weights`. 0: all weights are 1. 1: the same in all views.
  /// Else: the number of views.
  std::int64_t rows = 0;
  std::vector<double> redundancy_weights;  ///< [rows, before + num_u + after]
  /// The numbers from which a ray's redundancy weight follows where columns of pixels do not run
  /// along z: it then depends on the pixel and is not in `redundancy_weights`. Empty elsewhere.
  std::vector<double> overlaps;  ///< [v], mm, displaced detector: rays of a row that are nearer to
                                 ///< the axis are measured twice; below zero where those that are
                                 ///< measured once have distances below zero
  std::vector<double> begins;    ///< [views], rad, short scan: of a view after the arc's beginning
  double spare = 0;              ///< rad, short scan: half of the arc beyond half a circle
};

/// Returns the angle that each view stands for, half the way to its neighbours on either side, and
/// the redundancy weights of each column: of a ray that is measured twice, from either side, they
/// add up to 2. Views may be in any order and need not be evenly spaced.
///
/// Short scans: D. L. Parker, Med. Phys. 9(2), 1982, doi:10.1118/1.595078, with half of what the
/// arc has beyond half a circle in place of the fan's angle (M. D. Silver, Med. Phys. 27(4), 2000,
/// pages 773-774), for any arc up to the circle. Displaced detectors: G. Wang, Med. Phys.
/// 29(7), 2002, doi:10.1118/1.1489043, in a ray's distance from the axis.
/// Determinism: backend_to_backend; made on the host from iso::math.
/// \throws iso::invalid_argument  sources that do not lie on a circle about the z axis (a helix, a
///                                tilted axis); rows of u or parallel rays that leave its plane;
///                                cone-beam rays that all leave it by more than 5 degrees
///                                (laminography); parallel rays that see no height in all views;
///                                rows that do not stand before the source; a gap of more than
///                                three times the mean one, and in a circle of 12 degrees; an arc
///                                too short for the fan; a displaced detector and a short scan; a
///                                displaced detector that does not see the axis or changes sides;
///                                an unknown option
scan_weights weigh_scan(geometry const& g, scan_options const& options = {});

/// Returns the redundancy weight of a reading, by which it counts beside its view's angle; u from
/// -before on.
/// Determinism: backend_to_backend; made on the host from iso::math.
/// \throws iso::invalid_argument  no such pixel
double redundancy_weight(geometry const& g, scan_weights const& weights, std::int64_t view,
                         std::int64_t u, std::int64_t v);

}  // namespace iso::ct
