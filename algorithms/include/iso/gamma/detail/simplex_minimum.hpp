// SPDX-License-Identifier: BSD-3-Clause
//! Finds the least squared gamma within a cell of dose that is linear on six tetrahedra.
#pragma once

#include <iso/gamma/detail/gamma_search.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::gamma::detail {

/// A tetrahedron from a cell's corner (0, 0, 0) to (1, 1, 1) along its three axes in an order.
struct tetrahedron {
  double e[4];  ///< (evaluated - reference dose) / difference at its corners
  double
      weight[3];  ///< of the axes in that order, (side / distance to agreement)^2; 0 if of no width
  double point[3];  ///< the reference point, in spacings from the first corner
};

/// Lowers `best` to the squared distance, in space and dose, of the reference point from the plane
/// through those corners that `chosen` has bits for, where its foot lies between them. The nearest
/// point of a tetrahedron is such a foot on itself, or on a face, edge or corner.
///
/// Edges between corners that follow each other run along axes of their own, all of whose
/// coordinates are one share u of the edge. Where E rises by g along it, u = middle - s pull at the
/// foot, with s = E there; and E is linear in u.
KOKKOS_INLINE_FUNCTION void lower_by_foot(tetrahedron const& t, int chosen, min_found& best) {
  using Kokkos::fma;
  double middle[3] = {0, 0, 0};
  double pull[3] = {0, 0, 0};
  int corner = 0;
  for (; (chosen >> corner & 1) == 0; ++corner) {
    middle[corner] = 1;
  }
  double there = t.e[corner];
  double slope = 1;
  for (int next = corner + 1; next < 4; ++next) {
    if ((chosen >> next & 1) == 0) {
      continue;
    }
    double sum = 0;
    double weight = 0;
    for (int k = corner; k < next; ++k) {
      sum = fma(t.weight[k], t.point[k], sum);
      weight += t.weight[k];
    }
    // An edge of no length: a face has the same points.
    if (!(weight > 0)) {
      return;
    }
    double const g = t.e[next] - t.e[corner];
    for (int k = corner; k < next; ++k) {
      middle[k] = sum / weight;
      pull[k] = g / weight;
    }
    there = fma(g, sum / weight, there);
    slope = fma(g, g / weight, slope);
    corner = next;
  }
  double const s = there / slope;
  double found = s * s;
  double above = 1;
  for (int k = 0; k < 3; ++k) {
    double const u = fma(-s, pull[k], middle[k]);
    if (!(u >= 0 && u <= above)) {
      return;
    }
    above = u;
    found = fma(t.weight[k] * (u - t.point[k]), u - t.point[k], found);
  }
  if (found < best.squared) {
    best.squared = found;
    best.difference = s;
  }
}

/// Lowers `best` to the least squared gamma over the six tetrahedra of a cell. Each goes
/// from corner (0, 0, 0) to (1, 1, 1) along the three axes, in one of their six orders
/// (H. Freudenthal 1942, H. W. Kuhn 1960): neighbouring cells meet in the same triangles.
///
/// \param e        (evaluated - reference dose) / difference at the corners, x slowest
/// \param weight   the square of the side of a cell over the distance to agreement
/// \param inverse  one over it
/// \param top      1; 0 along an axis of one voxel
/// \param point    from the cell's first corner to the reference point, in spacings
KOKKOS_INLINE_FUNCTION void lower_by_tetrahedra(double const (&e)[8], triple const& weight,
                                                triple const& inverse, std::int32_t const (&top)[3],
                                                triple const& point, min_found& best) {
  // Along axes of one voxel the distance is what it is.
  double aside = 0;
  for (int k = 0; k < 3; ++k) {
    aside += top[k] != 0 ? 0.0 : weight[k] * point[k] * point[k];
  }
  min_found inside = best;
  inside.squared -= aside;
  double const before = inside.squared;
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
    if (there * there >= inside.squared * slope) {
      continue;
    }
    tetrahedron t{};
    t.e[0] = e[0];
    for (int n = 0; n < 3; ++n) {
      int const k = along[n];
      t.e[n + 1] = e[at[n + 1]];
      t.weight[n] = top[k] != 0 ? weight[k] : 0.0;
      t.point[n] = point[k];
    }
    double const others = inside.squared;
    lower_by_foot(t, 15, inside);
    // A foot on the whole is the nearest.
    if (inside.squared < others) {
      continue;
    }
    for (int chosen = 1; chosen < 15; ++chosen) {
      lower_by_foot(t, chosen, inside);
    }
  }
  if (inside.squared < before) {
    best.squared = inside.squared + aside;
    best.difference = inside.difference;
  }
}

}  // namespace iso::gamma::detail
