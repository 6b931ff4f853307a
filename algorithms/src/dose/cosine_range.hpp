// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

namespace iso::dose::detail {

/// The least and the most cosine of the angle between rays that are up to `tangent` from an axis
/// and a direction at `cosine` to it.
struct cosine_range {
  double least;
  double most;

  cosine_range(double cosine, double tangent) {
    double const sine = std::sqrt((1 - cosine) * (1 + cosine));
    double const widest = 1 / std::sqrt(1 + tangent * tangent);
    // Rays in the plane of axis and direction have the extremes; one may be the direction itself or
    // its opposite.
    least = tangent * cosine <= -sine ? -1.0 : widest * (cosine - tangent * sine);
    most = tangent * cosine >= sine ? 1.0 : widest * (cosine + tangent * sine);
  }
};

}  // namespace iso::dose::detail
