// SPDX-License-Identifier: BSD-3-Clause
//! Finds the least squared gamma within a cell of dose that is linear on six tetrahedra.
#pragma once

#include <iso/gamma/detail/gamma_search.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::gamma::detail {

/// Is a point in space and dose, in units of the criteria, as seen from the reference point.
struct space_and_dose {
  double x[4];

  friend KOKKOS_FORCEINLINE_FUNCTION double dot(space_and_dose const& a, space_and_dose const& b) {
    using Kokkos::fma;
    return fma(a.x[3], b.x[3], fma(a.x[2], b.x[2], fma(a.x[1], b.x[1], a.x[0] * b.x[0])));
  }
  /// Returns a + s b.
  friend KOKKOS_FORCEINLINE_FUNCTION space_and_dose added(space_and_dose const& a, double s,
                                                          space_and_dose const& b) {
    space_and_dose sum;
    for (int k = 0; k < 4; ++k) {
      sum.x[k] = Kokkos::fma(s, b.x[k], a.x[k]);
    }
    return sum;
  }
};

/// Returns the lesser of `best` and the squared distance of the origin from the plane through those
/// of four corners that `chosen` has bits for, where its foot lies between them. The nearest point
/// of a tetrahedron is such a foot on itself, or on one of its faces, edges or corners.
KOKKOS_INLINE_FUNCTION double foot_between(space_and_dose const (&corner)[4], int chosen,
                                           double best) {
  // The foot is first + sum of share_i edge_i: their scalar products, by elimination.
  space_and_dose first{};
  space_and_dose edge[3];
  int count = -1;
  for (int n = 0; n < 4; ++n) {
    if ((chosen >> n & 1) != 0) {
      if (count < 0) {
        first = corner[n];
      } else {
        edge[count] = added(corner[n], -1.0, first);
      }
      ++count;
    }
  }
  double gram[3][3];
  double share[3];
  for (int i = 0; i < count; ++i) {
    share[i] = -dot(edge[i], first);
    for (int j = 0; j < count; ++j) {
      gram[i][j] = dot(edge[i], edge[j]);
    }
  }
  for (int i = 0; i < count; ++i) {
    // Corners in one plane too few: a face has the same points.
    if (!(gram[i][i] > 1e-24 * dot(edge[i], edge[i]))) {
      return best;
    }
    for (int j = i + 1; j < count; ++j) {
      double const factor = gram[j][i] / gram[i][i];
      for (int k = i; k < count; ++k) {
        gram[j][k] = Kokkos::fma(-factor, gram[i][k], gram[j][k]);
      }
      share[j] = Kokkos::fma(-factor, share[i], share[j]);
    }
  }
  double rest = 1;
  space_and_dose foot = first;
  for (int i = count - 1; i >= 0; --i) {
    for (int j = i + 1; j < count; ++j) {
      share[i] = Kokkos::fma(-gram[i][j], share[j], share[i]);
    }
    share[i] /= gram[i][i];
    if (!(share[i] >= 0)) {
      return best;
    }
    rest -= share[i];
    foot = added(foot, share[i], edge[i]);
  }
  double const found = dot(foot, foot);
  return rest >= 0 && found < best ? found : best;
}

/// Returns the least of `best` and of squared gamma over the six tetrahedra of a cell. Each goes
/// from corner (0, 0, 0) to (1, 1, 1) along the three axes, in one of their six orders
/// (H. Freudenthal 1942, H. W. Kuhn 1960): neighbouring cells meet in the same triangles.
///
/// \param e        (evaluated - reference dose) / difference at the corners, x slowest
/// \param side     of a cell, over the distance to agreement
/// \param inverse  one over its square
/// \param top      1; 0 along an axis of one voxel
/// \param point    from the cell's first corner to the reference point, in spacings
KOKKOS_INLINE_FUNCTION double tetrahedra_minimum(double const (&e)[8], triple const& side,
                                                 triple const& inverse,
                                                 std::int32_t const (&top)[3], triple const& point,
                                                 double best) {
  for (int order = 0; order < 6; ++order) {
    int const first = order / 2;
    int const second = (first + 1 + order % 2) % 3;
    int const along[3] = {first, second, 3 - first - second};
    int at[4] = {0, 0, 0, 7};
    at[1] = 4 >> first;
    at[2] = at[1] + (4 >> second);
    // The plane through all four is nearer than any of their points.
    double there = e[0];
    double slope = 1;
    for (int n = 0; n < 3; ++n) {
      int const k = along[n];
      double const g = e[at[n + 1]] - e[at[n]];
      there = Kokkos::fma(g, point[k], there);
      slope = Kokkos::fma(g * g, inverse[k], slope);
    }
    if (there * there >= best * slope) {
      continue;
    }
    space_and_dose corner[4];
    for (int n = 0; n < 4; ++n) {
      for (int k = 0; k < 3; ++k) {
        double const up = (at[n] & 4 >> k) != 0 ? double(top[k]) : 0.0;
        corner[n].x[k] = (up - point[k]) * side[k];
      }
      corner[n].x[3] = e[at[n]];
    }
    double const whole = foot_between(corner, 15, best);
    if (whole < best) {
      best = whole;
      continue;
    }
    for (int chosen = 1; chosen < 15; ++chosen) {
      best = foot_between(corner, chosen, best);
    }
  }
  return best;
}

}  // namespace iso::gamma::detail
