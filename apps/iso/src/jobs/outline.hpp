// SPDX-License-Identifier: BSD-3-Clause
//! Bounds a body by rays that do not meet it.
#pragma once

#include <iso/core/vec3.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace iso::jobs {

/// What rays without readings leave of the plane across the z axis for a body.
class outline {
 public:
  /// Adds that the body ends before the ray that is nearest to the axis at `n`, seen from there
  /// towards `side`.
  void end_at(vec3<double> const& n, vec3<double> const& side) {
    double const far = std::hypot(side.x, side.y);
    if (far > 0) {
      vec3<double> const d = (1 / far) * vec3<double>{side.x, side.y, 0};
      ends_.push_back({d.x, d.y, std::max(dot(d, n), 0.0)});
    }
  }
  /// Returns how far it reaches from the axis, along x, along y and in any direction; infinite
  /// where nothing ends it.
  [[nodiscard]] std::array<double, 3> reach() const {
    std::array<double, 3> reach{};
    constexpr int directions = 360;
    for (int i = 0; i < directions; ++i) {
      double const angle = 2 * std::numbers::pi * i / directions;
      double const x = std::cos(angle);
      double const y = std::sin(angle);
      double r = std::numeric_limits<double>::infinity();
      for (auto const& end : ends_) {
        if (double const along = x * end.x + y * end.y; along > 0) {
          r = std::min(r, end.distance / along);
        }
      }
      reach[0] = std::max(reach[0], std::abs(x) > 1e-9 ? r * std::abs(x) : 0);
      reach[1] = std::max(reach[1], std::abs(y) > 1e-9 ? r * std::abs(y) : 0);
      reach[2] = std::max(reach[2], r);
    }
    return reach;
  }

 private:
  /// The half plane of the points p with p (x, y) <= distance.
  struct half_plane {
    double x, y, distance;
  };
  std::vector<half_plane> ends_;
};

}  // namespace iso::jobs
