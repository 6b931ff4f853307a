// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "../sine.hpp"

namespace iso::dose::detail {

using iso::detail::cosine_of;
using iso::detail::sine_of;

/// The angle in [0, pi] with this cosine, by bisection: iso::math has no inverse, and the C
/// library's differs from machine to machine.
inline double angle_of(double cosine) {
  double low = 0;
  double high = 0x1.921fb54442d18p+1;
  for (int i = 0; i < 54; ++i) {
    double const middle = 0.5 * (low + high);
    (cosine_of(middle) > cosine ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

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
