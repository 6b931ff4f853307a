// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/oracle/exact_traversal.hpp
//! Finds which voxels a ray crosses and how far, in rational arithmetic: no rounding but that of
//! its inputs.
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

/// Chords in mm by linear index; only the last step, from a parameter to mm, is rounded.
struct exact_chords {
  std::map<std::int64_t, double> by_voxel;
  double total = 0;
};

/// Returns the planes of one axis, at the doubles nearest to their places (exact for dyadic grids).
inline std::vector<rational> exact_planes(grid const& g, int axis) {
  std::vector<rational> planes;
  for (std::int64_t n = 0; n <= g.extent[std::size_t(axis)]; ++n) {
    planes.emplace_back(std::fma(double(n) - 0.5, g.spacing[axis], g.origin[axis]));
  }
  return planes;
}

/// Returns the voxel with planes[i] <= p < planes[i + 1], if any.
inline std::optional<std::int64_t> exact_voxel(std::vector<rational> const& planes,
                                               rational const& p) {
  auto const above = std::upper_bound(planes.begin(), planes.end(), p);
  if (above == planes.begin() || above == planes.end()) {
    return std::nullopt;
  }
  return std::int64_t(above - planes.begin()) - 1;
}

/// A finite ray and the planes of a grid.
struct exact_line {
  std::array<std::vector<rational>, 3> planes;
  std::array<rational, 3> o;
  std::array<rational, 3> d;
  std::vector<rational> crossings;  ///< parameters inside the grid, both ends included, ascending

  /// Returns the linear index of the voxel at parameter `t`, which lies inside.
  [[nodiscard]] std::int64_t voxel_at(rational const& t, grid const& g) const {
    std::int64_t index = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      index = index * g.extent[a] + *exact_voxel(planes[a], o[a] + t * d[a]);
    }
    return index;
  }
};

/// Keeps what lies in [from, to], and both of them; nothing where that is empty.
inline void clip(std::vector<rational>& crossings, rational const& from, rational const& to) {
  if (!(from < to)) {
    crossings.clear();
    return;
  }
  crossings.push_back(from);
  crossings.push_back(to);
  std::erase_if(crossings, [&](rational const& t) { return t < from || t > to; });
  std::sort(crossings.begin(), crossings.end());
}

/// Returns the part of the ray inside `g`; without crossings where there is none.
template <class T>
exact_line exact_line_of(ray::ray<T> const& r, grid const& g) {
  exact_line line;
  std::optional<rational> from;
  std::optional<rational> to;
  for (std::size_t a = 0; a < 3; ++a) {
    auto const& planes = line.planes[a] = exact_planes(g, int(a));
    line.o[a] = rational(double(r.origin[int(a)]));
    line.d[a] = rational(double(r.direction[int(a)]));
    if (line.d[a] == 0) {
      if (!exact_voxel(planes, line.o[a])) {
        return {};
      }
      continue;
    }
    for (auto const& plane : planes) {
      line.crossings.push_back((plane - line.o[a]) / line.d[a]);
    }
    rational const first = line.crossings[line.crossings.size() - planes.size()];
    rational const last = line.crossings.back();
    from = from ? std::max(*from, std::min(first, last)) : std::min(first, last);
    to = to ? std::min(*to, std::max(first, last)) : std::max(first, last);
  }
  if (!from) {
    return {};
  }
  clip(line.crossings, std::isfinite(r.t_min) ? std::max(*from, rational(double(r.t_min))) : *from,
       std::isfinite(r.t_max) ? std::min(*to, rational(double(r.t_max))) : *to);
  return line;
}

/// Returns the exact chords of a finite ray through `g`. For each pair of neighbouring crossings
/// the voxel of the point halfway between them; in a plane, half-open voxels decide.
template <class T>
exact_chords exact_traversal(ray::ray<T> const& r, grid const& g) {
  auto const line = exact_line_of(r, g);
  auto const& crossings = line.crossings;
  if (crossings.empty()) {
    return {};
  }
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
    auto const voxel = line.voxel_at((crossings[n] + crossings[n - 1]) / 2, g);
    chords.by_voxel[voxel] += in_mm(part);
  }
  chords.total = in_mm(crossings.back() - crossings.front());
  return chords;
}

/// Returns a bound on what rounding may do to a chord or to their sum, mm: 4 (Nx + Ny + Nz) eps
/// diagonals, times the distance of the origin from the grid's middle in diagonals where that is
/// more than one.
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
