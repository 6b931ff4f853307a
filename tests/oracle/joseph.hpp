// SPDX-License-Identifier: BSD-3-Clause
//! \file  oracle/joseph.hpp
//! Joseph's projection, serially and in long double: the loop of Graetz 2020 (arXiv:1609.00958),
//! algorithm 1, as it is written there, with w[m] = 1 for the driving axis.
#pragma once

#include <iso/core/sampler.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/ct/geometry.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace iso::oracle {

using real_vector = std::array<long double, 3>;

enum class joseph_weight {
  linear,  ///< equation 13
  spline,  ///< equation 14
};

/// Weight of the lower neighbour at the distance `d` from it.
inline long double lower_weight(joseph_weight kind, long double d) {
  return kind == joseph_weight::linear ? 1 - d : 1 - 3 * d * d + 2 * d * d * d;
}

struct joseph_integral {
  long double value = 0;
  /// How far the ray stays, in voxels, from every place where rounding could decide: an end of the
  /// ray in a plane, two driving axes, and, with boundary::cut, the outermost centres.
  long double margin = std::numeric_limits<long double>::infinity();
};

/// `d` of the paper is the pixel and `s` the source; for a parallel beam `s` is any point of the
/// line and r its direction. Rays of a cone beam end at both.
struct joseph_ray {
  real_vector s;
  real_vector r;
  bool ends;

  joseph_ray(ct::view_vectors const& view, ct::beam kind, grid const& g, double u, double v)
      : ends(kind == ct::beam::cone) {
    for (int a = 0; a < 3; ++a) {
      auto const i = std::size_t(a);
      long double const step = g.spacing[a];
      long double const pixel =
          ((long double)(view.detector_origin[a]) + u * (long double)(view.u_step[a]) +
           v * (long double)(view.v_step[a]) - g.origin[a]) /
          step;
      s[i] = ends ? ((long double)(view.source[a]) - g.origin[a]) / step : pixel;
      r[i] = ends ? pixel - s[i] : view.source[a] / step;
    }
  }
};

/// One sample: lines 11 to 20, without the length. Voxels outside are zero.
template <class T, class Space>
long double joseph_sample(volume_view<T, Space> const& volume, real_vector const& p, std::size_t m,
                          joseph_weight kind) {
  std::array<std::int64_t, 3> fl;
  std::array<std::int64_t, 3> cl;
  real_vector w_fl;
  real_vector w_cl;
  for (std::size_t a = 0; a < 3; ++a) {
    fl[a] = std::int64_t(std::floor(p[a]));
    cl[a] = std::int64_t(std::ceil(p[a]));
    w_fl[a] = lower_weight(kind, p[a] - std::floor(p[a]));
    w_cl[a] = 1 - w_fl[a];
  }
  w_cl[m] = w_fl[m] = 1;
  auto const& n = volume.grid.extent;
  auto const voxel = [&](std::int64_t i, std::int64_t j, std::int64_t k) -> long double {
    bool const inside = i >= 0 && i < n[0] && j >= 0 && j < n[1] && k >= 0 && k < n[2];
    return inside ? (long double)(volume.data(i, j, k)) : 0.0L;
  };
  return voxel(fl[0], fl[1], fl[2]) * w_fl[0] * w_fl[1] * w_fl[2] +
         voxel(fl[0], cl[1], cl[2]) * w_fl[0] * w_cl[1] * w_cl[2] +
         voxel(cl[0], fl[1], cl[2]) * w_cl[0] * w_fl[1] * w_cl[2] +
         voxel(cl[0], cl[1], fl[2]) * w_cl[0] * w_cl[1] * w_fl[2];
}

template <class T, class Space>
joseph_integral joseph(volume_view<T, Space> const& volume, joseph_ray const& ray,
                       joseph_weight kind, boundary edge) {
  auto const& g = volume.grid;
  auto const& r = ray.r;
  std::size_t m = 0;
  for (std::size_t a = 1; a < 3; ++a) {
    m = std::abs(r[a]) > std::abs(r[m]) ? a : m;
  }
  joseph_integral result;
  real_vector step;
  long double length = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    step[a] = r[a] / r[m];
    length += step[a] * step[a] * g.spacing[int(a)] * g.spacing[int(a)];
    if (a != m) {
      result.margin = std::min(result.margin, std::abs(1 - std::abs(step[a])));
    }
  }
  for (std::int64_t i = 0; i < g.extent[m]; ++i) {
    real_vector p;
    bool within = true;
    for (std::size_t a = 0; a < 3; ++a) {
      p[a] = a == m ? (long double)(i) : ray.s[a] + ((long double)(i)-ray.s[m]) * step[a];
      auto const last = (long double)(g.extent[a] - 1);
      bool const blends = p[a] > -1 && p[a] < last + 1;
      bool const inside = p[a] >= 0 && p[a] <= last;
      within = within && (edge == boundary::zero ? blends : inside);
      if (a != m && edge == boundary::cut) {
        result.margin = std::min({result.margin, std::abs(p[a]), std::abs(p[a] - last)});
      }
    }
    if (ray.ends) {
      long double const end = ray.s[m] + r[m];
      within = within && p[m] >= std::min(ray.s[m], end) && p[m] <= std::max(ray.s[m], end);
      result.margin = std::min({result.margin, std::abs(p[m] - ray.s[m]), std::abs(p[m] - end)});
    }
    if (within) {
      result.value += joseph_sample(volume, p, m, kind);
    }
  }
  result.value *= std::sqrt(length);
  return result;
}

}  // namespace iso::oracle
