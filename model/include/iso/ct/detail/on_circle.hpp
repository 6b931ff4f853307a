// SPDX-License-Identifier: BSD-3-Clause
//! Gives points of the unit circle, exact at quarter turns.
#pragma once

#include <iso/core/math.hpp>
#include <iso/core/vec3.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>

namespace iso::ct::detail {

/// Returns (cos, sin, 0) of an angle of at most 1e5 rad, the same bits on every machine, and exact
/// at quarter turns, so that a view at 90 degrees runs along the grid and not beside it.
inline vec3<double> on_circle(double angle) {
  double const quarter = angle / (std::numbers::pi / 2);
  if (quarter == std::round(quarter)) {
    auto const k = ((std::int64_t(quarter) % 4) + 4) % 4;
    return {k == 0 ? 1.0 : k == 2 ? -1.0 : 0.0, k == 1 ? 1.0 : k == 3 ? -1.0 : 0.0, 0};
  }
  vec3<double> p;
  math::sincos(angle, p.y, p.x);
  return p;
}

}  // namespace iso::ct::detail
