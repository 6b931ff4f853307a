// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/numerics.hpp>
#include <iso/dose/beam.hpp>
#include <iso/ray/detail/trace_group.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::dose::detail {

/// TERMA against the radiological depth: a cubic polynomial for each interval of it.
struct depth_curve {
  static constexpr double step = 0.25;  ///< g/cm2
  static constexpr std::int32_t intervals = 4000;

  double const* coefficients;  ///< [intervals, 4]

  /// \param depth  g/cm2
  template <class T>
  KOKKOS_FUNCTION T at(T depth) const {
    T const place = depth * T(1 / step);
    if (!(place >= T(0) && place < T(intervals))) {
      return place >= T(0) ? T(0) : Kokkos::bit_cast<T>(bits_of<T>(float_bits<T>::canonical_nan));
    }
    auto const i = std::int32_t(place);
    T const t = place - T(i);
    double const* const c = coefficients + 4 * std::int64_t(i);
    return Kokkos::fma(t, Kokkos::fma(t, Kokkos::fma(t, T(c[3]), T(c[2])), T(c[1])), T(c[0]));
  }
};

/// The integral of a fluence map, bilinear within each pixel.
struct fluence_integral {
  double const* sums;  ///< [columns + 1, rows + 1], mm2
  double x_low;
  double y_low;
  double pixel_x;
  double pixel_y;
  std::int64_t columns;
  std::int64_t rows;

  /// Mean fluence over a rectangle about (x, y), mm. Zero where the rectangle is not finite.
  KOKKOS_FUNCTION double mean(double x, double y, double width_x, double width_y) const {
    double const left = place(x - 0.5 * width_x - x_low, pixel_x, columns);
    double const right = place(x + 0.5 * width_x - x_low, pixel_x, columns);
    double const bottom = place(y - 0.5 * width_y - y_low, pixel_y, rows);
    double const top = place(y + 0.5 * width_y - y_low, pixel_y, rows);
    if (!(left < right && bottom < top)) {
      return 0;
    }
    return ((at(right, top) - at(left, top)) - (at(right, bottom) - at(left, bottom))) /
           (width_x * width_y);
  }

 private:
  /// In pixels, kept within the map.
  KOKKOS_FUNCTION static double place(double distance, double pixel, std::int64_t count) {
    double const p = distance / pixel;
    return p > 0 ? (p < double(count) ? p : double(count)) : 0.0;
  }
  KOKKOS_FUNCTION double at(double p, double q) const {
    std::int64_t const i = floor_below(p, columns);
    std::int64_t const j = floor_below(q, rows);
    double const u = p - double(i);
    double const v = q - double(j);
    double const* const s = sums + i * (rows + 1) + j;
    double const low = Kokkos::fma(v, s[1] - s[0], s[0]);
    double const high = Kokkos::fma(v, s[rows + 2] - s[rows + 1], s[rows + 1]);
    return Kokkos::fma(u, high - low, low);
  }
  KOKKOS_FUNCTION static std::int64_t floor_below(double p, std::int64_t count) {
    auto const i = std::int64_t(p);
    return i < count ? i : count - 1;
  }
};

/// 32 voxels of a row along z, a ray each.
template <class Method, class Index, class T>
struct terma_kernel {
  depth_curve curve;
  fluence_integral fluence;
  beam_frame frame;
  double width_x;  ///< mm; of a voxel along the field's axes
  double width_y;
  double weight;
  grid g;
  ray::traversal_grid density_grid;
  T const* density;
  T* terma;

  KOKKOS_FUNCTION std::int64_t groups_per_row() const { return (g.extent[2] + 31) / 32; }
  KOKKOS_FUNCTION std::int64_t num_groups() const {
    return g.extent[0] * g.extent[1] * groups_per_row();
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t const row = index / groups_per_row();
    std::int64_t const first = (index - row * groups_per_row()) * 32;
    std::int64_t const i = row / g.extent[1];
    std::int64_t const j = row - i * g.extent[1];
    typename Group::template lane_array<ray::ray<double>> rays;
    typename Group::template lane_array<double> factor;
    typename Group::template lane_array<bool> seen;
    typename Group::template lane_array<T> path;
    group.each([&](int lane) {
      std::int64_t const k = first + lane;
      vec3<double> const p{Kokkos::fma(double(i), g.spacing.x, g.origin.x),
                           Kokkos::fma(double(j), g.spacing.y, g.origin.y),
                           Kokkos::fma(double(k), g.spacing.z, g.origin.z)};
      factor[lane] = k < g.extent[2] ? released(p) : 0.0;
      seen[lane] = factor[lane] > 0;
      rays[lane] = seen[lane] ? ray::ray<double>::between(frame.source, p)
                              : ray::ray<double>{{}, {}, 0.0, 0.0};
    });
    if (group.any(seen)) {
      ray::detail::trace_group<Method, Index, T, Group>(group, density_grid, density, rays, path);
    }
    group.each([&](int lane) {
      std::int64_t const k = first + lane;
      if (k < g.extent[2]) {
        // mm to cm.
        T const value = seen[lane] ? T(factor[lane]) * curve.at(path[lane] * T(0.1)) : T(0);
        terma[row * g.extent[2] + k] = canonical(value);
      }
    });
  }

 private:
  /// Photons per cm2 at p, in air.
  KOKKOS_FUNCTION double released(vec3<double> const& p) const {
    vec3<double> const v = p - frame.source;
    double const depth = dot(v, frame.along);
    if (!(depth > 0)) {
      return 0;
    }
    double const scale = frame.source_distance / depth;
    double const f = fluence.mean(dot(v, frame.x) * scale, dot(v, frame.y) * scale, width_x * scale,
                                  width_y * scale);
    return f > 0 ? weight * f * (frame.source_distance * frame.source_distance / dot(v, v)) : 0.0;
  }
};

}  // namespace iso::dose::detail
