// SPDX-License-Identifier: BSD-3-Clause
//! Holds closed forms of a function that is linear on tetrahedra: a cell's six, which share its
//! diagonal (0,0,0)-(1,1,1), as iso::gamma::interpolation::tetrahedra cuts it.
#pragma once

#include <Kokkos_Core.hpp>

namespace iso::dvh::detail {

/// Holds the corners of a cell, x slowest: corner 4 i + 2 j + k.
struct cell_corners {
  double value[8];
};

/// Puts two numbers in order.
KOKKOS_INLINE_FUNCTION void sort_two(double& a, double& b) {
  double const low = a < b ? a : b;
  b = a < b ? b : a;
  a = low;
}

/// Returns the share of a tetrahedron where a linear function with these corners is `level` or
/// more.
KOKKOS_INLINE_FUNCTION double share_at_least(double a, double b, double c, double d, double level) {
  sort_two(a, b);
  sort_two(c, d);
  sort_two(a, c);
  sort_two(b, d);
  sort_two(b, c);
  if (level <= a) {
    return 1;
  }
  if (level > d) {
    return 0;
  }
  // Products of ratios of at most 1: no difference underflows in a product.
  if (level <= b) {
    double const x = level - a;
    return 1 - (x / (b - a)) * (x / (c - a)) * (x / (d - a));
  }
  if (level <= c) {
    double const ab = b - a;
    double const x = level - b;
    double const first = (ab / (c - a)) * (ab / (d - a));
    double const second = 3 * (ab / (c - a)) * (x / (d - a));
    double const third = 3 * (x / (c - a)) * (x / (d - a));
    double const fourth = (x / (c - b)) * (x / (d - a)) * (x / (d - b) + x / (c - a));
    return 1 - (first + second + third - fourth);
  }
  double const x = d - level;
  return (x / (d - a)) * (x / (d - b)) * (x / (d - c));
}

/// Returns the share of a cell where the function is `level` or more.
KOKKOS_INLINE_FUNCTION double share_at_least(cell_corners const& c, double level) {
  double const* const v = c.value;
  // Along x, y, z in each of their orders.
  double sum = share_at_least(v[0], v[4], v[6], v[7], level);
  sum += share_at_least(v[0], v[4], v[5], v[7], level);
  sum += share_at_least(v[0], v[2], v[6], v[7], level);
  sum += share_at_least(v[0], v[2], v[3], v[7], level);
  sum += share_at_least(v[0], v[1], v[5], v[7], level);
  sum += share_at_least(v[0], v[1], v[3], v[7], level);
  return sum / 6;
}

/// Returns the function's mean over the cell.
KOKKOS_INLINE_FUNCTION double mean_of(cell_corners const& c) {
  double const* const v = c.value;
  return (3 * (v[0] + v[7]) + (v[1] + v[2] + v[3] + v[4] + v[5] + v[6])) / 12;
}

}  // namespace iso::dvh::detail
