// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

namespace iso::dose::detail {

/// The smallest and the largest cosine of the angle between a direction and rays. The tangent of
/// the rays' angle to an axis is at most `tangent`; `cosine` is that of the angle between axis and
/// direction.
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
