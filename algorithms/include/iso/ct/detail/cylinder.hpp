// SPDX-License-Identifier: BSD-3-Clause
//! Handles region::cylinder: its radius, and where lines enter and leave it.
#pragma once

#include <iso/core/grid.hpp>

#include <Kokkos_Core.hpp>

namespace iso::ct::detail {

/// Returns the radius of region::cylinder, in mm.
KOKKOS_INLINE_FUNCTION double cylinder_radius(grid const& g) {
  double const x = double(g.extent[0]) * g.spacing.x;
  double const y = double(g.extent[1]) * g.spacing.y;
  return 0.5 * (x < y ? x : y);
}

/// The distance, along x or y, of a line from the cylinder's axis in mm: start + t step.
struct line_offset {
  double step;
  double start;
};

/// The t of a line inside a cylinder about z; none where not low <= high.
struct line_interval {
  double low;
  double high;
};

/// Solves |start + t step|^2 <= radius^2. The discriminant is that of the line's distance from the
/// axis, which does not cancel where the line starts far away.
KOKKOS_INLINE_FUNCTION line_interval inside_cylinder(double radius, line_offset x, line_offset y) {
  double const infinity = Kokkos::Experimental::infinity_v<double>;
  double const a = Kokkos::fma(x.step, x.step, y.step * y.step);
  double const b = Kokkos::fma(x.step, x.start, y.step * y.start);
  if (a == 0) {  // parallel to z
    bool const inside = Kokkos::fma(x.start, x.start, y.start * y.start) <= radius * radius;
    return inside ? line_interval{-infinity, infinity} : line_interval{infinity, -infinity};
  }
  double const cross = Kokkos::fma(x.step, y.start, -(y.step * x.start));
  double const root = Kokkos::sqrt(Kokkos::fma(a * radius, radius, -(cross * cross)));
  // NaN where the line passes by: no interval.
  return {(-b - root) / a, (-b + root) / a};
}

}  // namespace iso::ct::detail
