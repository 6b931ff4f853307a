// SPDX-License-Identifier: BSD-3-Clause
//! Computes the TERMA of a voxel: depth, fluence and distance.
#ifndef ISO_SET
#ifndef ISO_DOSE_DETAIL_TERMA_KERNEL_HPP
#define ISO_DOSE_DETAIL_TERMA_KERNEL_HPP

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

/// A voxel as it stands along one of the field's axes: the sum of two uniform distributions, which
/// is what a cube that is turned about the other axis has. Then the shares of neighbouring voxels
/// add up to one, so that a turned field releases as much as an upright one.
struct voxel_shadow {
  double reach;  ///< from the middle to the end, mm
  double narrow;
  double over_wide;  ///< 1 / the wider width
  double over_both;  ///< 1 / twice the product of the widths

  voxel_shadow(double wide, double narrower)
      : reach(0.5 * (wide + narrower)),
        narrow(narrower),
        over_wide(1 / wide),
        over_both(narrower > 0 ? 0.5 / (wide * narrower) : 0) {}

  /// Returns the share of it that lies below x, mm from its middle.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double below(double x) const {
    double const left = reach - (x < 0 ? -x : x);
    double const inner = (left - 0.5 * narrow) * over_wide;
    double const outer = left > 0 ? left * left * over_both : 0.0;
    double const beyond = left < narrow ? outer : inner;
    return x < 0 ? beyond : 1 - beyond;
  }
};

/// A fluence map in memory.
struct fluence_pixels {
  double const* values;  ///< [columns, rows]
  double x_low;
  double y_low;
  double pixel_x;
  double pixel_y;
  std::int64_t columns;
  std::int64_t rows;

  /// Returns the mean fluence over a voxel whose middle is seen at (x, y), mm, where the map is
  /// `wide` times as wide as in the plane of the isocentre. Pixel by pixel, so that it is as right
  /// in a pixel of a kilometre. Zero where the place is not finite.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double mean(double x, double y, double wide,
                                                        voxel_shadow const& along_x,
                                                        voxel_shadow const& along_y) const {
    double const width = pixel_x * wide;
    double const height = pixel_y * wide;
    double const left = x_low * wide - x;  // of the map's edges, from the voxel's middle
    double const bottom = y_low * wide - y;
    double const right = Kokkos::fma(double(columns), width, left);
    double const top = Kokkos::fma(double(rows), height, bottom);
    if (!(left < along_x.reach && right > -along_x.reach && bottom < along_y.reach &&
          top > -along_y.reach)) {
      return 0;
    }
    std::int64_t const first_column = pixel_at((-along_x.reach - left) / width, columns);
    std::int64_t const last_column = pixel_at((along_x.reach - left) / width, columns);
    std::int64_t const first_row = pixel_at((-along_y.reach - bottom) / height, rows);
    std::int64_t const last_row = pixel_at((along_y.reach - bottom) / height, rows);
    double sum = 0;
    double before = along_x.below(Kokkos::fma(double(first_column), width, left));
    double const under = along_y.below(Kokkos::fma(double(first_row), height, bottom));
    for (std::int64_t i = first_column; i <= last_column; ++i) {
      double const behind = along_x.below(Kokkos::fma(double(i + 1), width, left));
      double column = 0;
      double low = under;
      for (std::int64_t j = first_row; j <= last_row; ++j) {
        double const high = along_y.below(Kokkos::fma(double(j + 1), height, bottom));
        column = Kokkos::fma(values[i * rows + j], high - low, column);
        low = high;
      }
      sum = Kokkos::fma(column, behind - before, sum);
      before = behind;
    }
    return sum;
  }

 private:
  /// Returns the pixel that has a place, or the nearest.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t pixel_at(double place, std::int64_t count) {
    return place > 0 ? (place < double(count) ? std::int64_t(place) : count - 1) : 0;
  }
};

}  // namespace iso::dose::detail

#define ISO_SET_HEADER <iso/dose/detail/terma_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::dose::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Takes 32 voxels of a row along z, a ray each.
template <class Method, class Index, class T>
struct terma_kernel {
  ISO_KERNEL(terma_kernel<Method, Index, T>);

  depth_curve curve;
  fluence_pixels fluence;
  beam_frame frame;
  voxel_shadow shadow_x;  ///< of a voxel along the field's axes
  voxel_shadow shadow_y;
  double weight;
  grid g;
  ray::traversal_grid density_grid;
  T const* density;
  T* terma;
  std::int64_t first_group = 0;  ///< of the launch
  /// The planes across x that are computed; null: all.
  std::int32_t const* some_x = nullptr;
  std::int64_t num_x = 0;

  KOKKOS_FUNCTION std::int64_t groups_per_row() const { return (g.extent[2] + 31) / 32; }
  KOKKOS_FUNCTION std::int64_t num_groups() const {
    return (some_x != nullptr ? num_x : g.extent[0]) * g.extent[1] * groups_per_row();
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Group const& group, std::int64_t of_launch) const {
    std::int64_t const index = first_group + of_launch;
    std::int64_t const row_here = index / groups_per_row();
    std::int64_t const first = (index - row_here * groups_per_row()) * 32;
    std::int64_t const plane = row_here / g.extent[1];
    std::int64_t const j = row_here - plane * g.extent[1];
    std::int64_t const i = some_x != nullptr ? std::int64_t(some_x[plane]) : plane;
    std::int64_t const row = i * g.extent[1] + j;
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
      ISO_SET_OF(iso::ray::detail)::trace_group<Method, Index, T, Group>(group, density_grid,
                                                                         density, rays, path);
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
  /// Returns photons per cm2 at p, in air.
  KOKKOS_FUNCTION double released(vec3<double> const& p) const {
    vec3<double> const v = p - frame.source;
    double const depth = dot(v, frame.along);
    if (!(depth > 0)) {
      return 0;
    }
    double const f = fluence.mean(dot(v, frame.x), dot(v, frame.y), depth / frame.source_distance,
                                  shadow_x, shadow_y);
    return f > 0 ? weight * f * (frame.source_distance * frame.source_distance / dot(v, v)) : 0.0;
  }
};

}  // namespace iso::dose::detail::ISO_SET

#endif
