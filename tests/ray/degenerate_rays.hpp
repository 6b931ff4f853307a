// SPDX-License-Identifier: BSD-3-Clause
//! \file  ray/degenerate_rays.hpp
//! The 468 named degenerate rays: 26 sign patterns of the direction x 9 origins x the sign of its
//! zeros; segments and rays with something missing; and the grids that they run through.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/ray/ray.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
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

/// Segments of no length, inside one voxel and with ends inside; rays in a face and in an edge,
/// rays that touch the grid in an edge or a corner; NaN and infinite components.
template <class T>
std::vector<named_ray<T>> special_rays(grid const& g) {
  vec3<double> lower;
  vec3<double> upper;
  for (int a = 0; a < 3; ++a) {
    lower[a] = g.origin[a] - 0.5 * g.spacing[a];
    upper[a] = lower[a] + double(g.extent[std::size_t(a)]) * g.spacing[a];
  }
  auto const at = [&](double x, double y, double z) {
    return static_cast<vec3<T>>(vec3<double>{lower.x + x * (upper.x - lower.x),
                                             lower.y + y * (upper.y - lower.y),
                                             lower.z + z * (upper.z - lower.z)});
  };
  auto const nearby = static_cast<vec3<T>>(0.25 * g.spacing);
  auto const between = [](vec3<T> a, vec3<T> b) { return ray::ray<T>::between(a, b); };
  std::vector<named_ray<T>> rays = {
      {"no length, inside", between(at(0.4, 0.4, 0.4), at(0.4, 0.4, 0.4))},
      {"no length, outside", between(at(-1, 0.4, 0.4), at(-1, 0.4, 0.4))},
      {"no length, on a corner", between(at(0, 0, 0), at(0, 0, 0))},
      {"ends in one voxel", between(at(0, 0, 0) + nearby, at(0, 0, 0) + T(2) * nearby)},
      {"ends inside", between(at(0.1, 0.2, 0.9), at(0.8, 0.6, 0.3))},
      {"one end inside", between(at(-0.5, 0.2, 0.9), at(0.8, 0.6, 0.3))},
      {"ends on opposite corners", between(at(0, 0, 0), at(1, 1, 1))},
      {"in a lower face", between(at(-1, 0, 0.3), at(2, 0, 0.6))},
      {"in an upper face", between(at(-1, 1, 0.3), at(2, 1, 0.6))},
      {"in a lower edge", between(at(-1, 0, 0), at(2, 0, 0))},
      {"in an upper edge", between(at(-1, 1, 1), at(2, 1, 1))},
      {"touching a lower edge", between(at(-1, 1, 0.5), at(1, -1, 0.5))},
      {"touching a lower edge, ends elsewhere", between(at(-1, 1, 0.5), at(0.5, -0.5, 0.5))},
      {"touching an upper edge", between(at(2, 0, 0.5), at(0, 2, 0.5))},
      {"touching the lower corner, in a face", between(at(-1, 1, 0), at(1, -1, 0))},
      {"touching the lower corner, from below", between(at(-1, -1, 2), at(1, 1, -2))},
      {"touching the lower corner, from beside", between(at(2, -1, -1), at(-2, 1, 1))},
      {"touching the upper corner, in a face", between(at(2, 0, 1), at(0, 2, 1))},
      {"touching the upper corner, from above", between(at(2, 2, -1), at(0, 0, 3))},
      {"touching another corner", between(at(-1, 2, -1), at(1, 0, 1))},
      {"t_min beyond t_max", {at(-1, 0.4, 0.4), {1, 0, 0}, T(2), T(1)}}};
  auto const nan = std::numeric_limits<T>::quiet_NaN();
  auto const infinity = std::numeric_limits<T>::infinity();
  for (T const bad : {nan, infinity, -infinity}) {
    for (int part = 0; part < 8; ++part) {
      ray::ray<T> r = between(at(-1, 0.4, 0.3), at(2, 0.5, 0.6));
      (part < 3   ? r.origin[part]
       : part < 6 ? r.direction[part - 3]
       : part < 7 ? r.t_min
                  : r.t_max) = bad;
      rays.push_back({"component " + std::to_string(part) + " is " + std::to_string(bad), r});
    }
  }
  return rays;
}

template <class T>
vec3<T> moved(vec3<T> p, T towards) {
  return {std::nextafter(p.x, towards), std::nextafter(p.y, towards), std::nextafter(p.z, towards)};
}

/// As given, then origin and direction moved an ulp up and down.
template <class T>
std::array<ray::ray<T>, 5> neighbours(ray::ray<T> const& r) {
  T const most = std::numeric_limits<T>::infinity();
  return {r,
          {moved(r.origin, most), r.direction, r.t_min, r.t_max},
          {moved(r.origin, -most), r.direction, r.t_min, r.t_max},
          {r.origin, moved(r.direction, most), r.t_min, r.t_max},
          {r.origin, moved(r.direction, -most), r.t_min, r.t_max}};
}

struct named_grid {
  std::string name;
  iso::grid grid;
};

inline std::vector<named_grid> degenerate_grids() {
  return {{"1x1x1", grid::centred({1, 1, 1}, {1, 1, 1})},
          {"1x1x9", grid::centred({1, 1, 9}, {1, 1, 1})},
          {"7x1x1", grid::centred({7, 1, 1}, {1, 1, 1})},
          {"even", grid::centred({4, 6, 8}, {1, 1, 1})},
          {"odd", grid::centred({5, 3, 7}, {1, 1, 1})},
          {"anisotropic", grid::centred({6, 5, 4}, {0.5, 0.5, 3})},
          {"off centre", iso::grid{{5, 4, 6}, {1, 0.5, 2}, {17.5, -3.25, 40}}}};
}

}  // namespace iso::test
