// SPDX-License-Identifier: BSD-3-Clause
//! \file  ray/degenerate_rays.hpp
//! The 468 named degenerate rays: 26 sign patterns of the direction x 9 origins x the sign of its
//! zeros.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/ray/ray.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace iso::test {

inline constexpr int num_degenerate_rays = 468;

template <class T>
struct named_ray {
  std::string name;
  ray::ray<T> ray;
};

inline constexpr std::array<char const*, 9> origin_names = {
    "outside before", "outside beside", "on a face",         "on an edge", "on a corner",
    "on inner plane", "voxel centre",   "inside off-centre", "far outside"};

/// Origin number `place` for a ray of direction `d`; coordinates are multiples of the spacing from
/// the grid's lower corner, exact where the grid is dyadic.
inline vec3<double> degenerate_origin(int place, vec3<double> d, grid const& g) {
  vec3<double> p;
  for (int a = 0; a < 3; ++a) {
    double const n = double(g.extent[std::size_t(a)]);
    double const sign = d[a] > 0 ? 1 : d[a] < 0 ? -1 : 0;
    double const centre = double(std::int64_t(n) / 2) + 0.5;
    double at = centre;  // in voxels from the lower corner
    switch (place) {
      case 0:
        at = centre - sign * 2 * n;
        break;
      case 1:
        at = a == 0 ? 1.5 * n + 0.25 : centre - sign * 2 * n;
        break;
      case 2:
        at = a == 0 ? 0 : centre;
        break;
      case 3:
        at = a == 2 ? centre : 0;
        break;
      case 4:
        at = n;
        break;
      case 5:
        at = a == 1 ? double(std::int64_t(n) / 2) : centre;
        break;
      case 6:
        break;
      case 7:
        at = 0.25 * n + 0.125 * a;
        break;
      default:
        at = centre - sign * 1e6;
        break;
    }
    p[a] = g.origin[a] + (at - 0.5) * g.spacing[a];
  }
  return p;
}

/// All of them for one grid. `tilt` multiplies the directions' components: {1, 1, 1} and cubic
/// voxels give rays through edges and corners.
template <class T>
std::vector<named_ray<T>> degenerate_rays(grid const& g, vec3<double> tilt) {
  std::vector<named_ray<T>> rays;
  for (int pattern = 0; pattern < 27; ++pattern) {
    std::array<int, 3> const sign = {pattern / 9 - 1, pattern / 3 % 3 - 1, pattern % 3 - 1};
    if (pattern == 13) {
      continue;
    }
    for (double const zero : {0.0, -0.0}) {
      vec3<double> d;
      for (int a = 0; a < 3; ++a) {
        d[a] = sign[std::size_t(a)] == 0 ? zero : sign[std::size_t(a)] * tilt[a];
      }
      for (int place = 0; place < 9; ++place) {
        std::string name = "direction (";
        for (int const s : sign) {
          name += s > 0 ? '+' : s < 0 ? '-' : '0';
        }
        name += std::string(") zeros ") + (std::signbit(zero) ? "-0" : "+0") + ", origin " +
                origin_names[std::size_t(place)];
        rays.push_back(
            {name,
             {static_cast<vec3<T>>(degenerate_origin(place, d, g)), static_cast<vec3<T>>(d)}});
      }
    }
  }
  return rays;
}

}  // namespace iso::test
