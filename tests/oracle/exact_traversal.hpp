// SPDX-License-Identifier: BSD-3-Clause
//! \file  oracle/exact_traversal.hpp
//! Which voxels a ray crosses and how far, in rational arithmetic: no rounding but that of its
//! inputs.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/ray/ray.hpp>

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace iso::oracle {

using rational = boost::multiprecision::cpp_rational;

/// Chords in mm by linear index; only the last step, from the ray's parameter to mm, is rounded.
struct exact_chords {
  std::map<std::int64_t, double> by_voxel;
  double total = 0;
};

/// The planes of one axis, at the doubles nearest to their places (exact for dyadic grids).
inline std::vector<rational> exact_planes(grid const& g, int axis) {
  std::vector<rational> planes;
  for (std::int64_t n = 0; n <= g.extent[std::size_t(axis)]; ++n) {
    planes.emplace_back(std::fma(double(n) - 0.5, g.spacing[axis], g.origin[axis]));
  }
  return planes;
}

/// The voxel with planes[i] <= p < planes[i + 1], if any.
inline std::optional<std::int64_t> exact_voxel(std::vector<rational> const& planes,
                                               rational const& p) {
  auto const above = std::upper_bound(planes.begin(), planes.end(), p);
  if (above == planes.begin() || above == planes.end()) {
    return std::nullopt;
  }
  return std::int64_t(above - planes.begin()) - 1;
}

/// The exact chords of a finite ray through `g`. For each pair of neighbouring crossings the voxel
/// of the point halfway between them; in a plane, half-open voxels decide.
template <class T>
exact_chords exact_traversal(ray::ray<T> const& r, grid const& g) {
  std::array<std::vector<rational>, 3> planes;
  std::vector<rational> crossings;
  std::array<rational, 3> o;
  std::array<rational, 3> d;
  std::optional<rational> from;
  std::optional<rational> to;
  auto const clip = [&](rational const& low, rational const& high) {
    from = from ? std::max(*from, low) : low;
    to = to ? std::min(*to, high) : high;
  };
  for (std::size_t a = 0; a < 3; ++a) {
    planes[a] = exact_planes(g, int(a));
    o[a] = rational(double(r.origin[int(a)]));
    d[a] = rational(double(r.direction[int(a)]));
    if (d[a] == 0) {
      if (!exact_voxel(planes[a], o[a])) {
        return {};
      }
      continue;
    }
    for (auto const& plane : planes[a]) {
      crossings.push_back((plane - o[a]) / d[a]);
    }
    rational const& first = crossings[crossings.size() - planes[a].size()];
    clip(std::min(first, crossings.back()), std::max(first, crossings.back()));
  }
  if (!from) {
    return {};
  }
  if (std::isfinite(r.t_min)) {
    from = std::max(*from, rational(double(r.t_min)));
  }
  if (std::isfinite(r.t_max)) {
    to = std::min(*to, rational(double(r.t_max)));
  }
  if (!(*from < *to)) {
    return {};
  }
  crossings.push_back(*from);
  crossings.push_back(*to);
  std::erase_if(crossings, [&](rational const& t) { return t < *from || t > *to; });
  std::sort(crossings.begin(), crossings.end());

  double const length =
      std::hypot(double(r.direction.x), double(r.direction.y), double(r.direction.z));
  // A parameter may be below the normal numbers where the direction is very long: the product is
  // not.
  auto const in_mm = [&](rational const& part) {
    return std::isfinite(length) ? rational(part * rational(length)).convert_to<double>()
                                 : part.convert_to<double>() * length;
  };
  exact_chords chords;
  for (std::size_t n = 1; n < crossings.size(); ++n) {
    rational const part = crossings[n] - crossings[n - 1];
    if (part == 0) {
      continue;
    }
    rational const middle = (crossings[n] + crossings[n - 1]) / 2;
    std::int64_t index = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      index = index * g.extent[a] + *exact_voxel(planes[a], o[a] + middle * d[a]);
    }
    chords.by_voxel[index] += in_mm(part);
  }
  chords.total = in_mm(*to - *from);
  return chords;
}

/// What rounding may do to a chord or to their sum, mm: 4 (Nx + Ny + Nz) eps diagonals, times the
/// distance of the origin from the grid's middle in diagonals where that is more than one.
template <class T>
double chord_bound(ray::ray<T> const& r, grid const& g) {
  double planes = 0;
  double diagonal = 0;
  double distance = 0;
  for (int a = 0; a < 3; ++a) {
    double const n = double(g.extent[std::size_t(a)]);
    planes += n;
    diagonal = std::hypot(diagonal, n * g.spacing[a]);
    distance =
        std::hypot(distance, double(r.origin[a]) - (g.origin[a] + 0.5 * (n - 1) * g.spacing[a]));
  }
  return 4 * planes * double(std::numeric_limits<T>::epsilon()) *
         std::max(1.0, distance / diagonal) * diagonal;
}

}  // namespace iso::oracle
