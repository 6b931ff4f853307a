// SPDX-License-Identifier: BSD-3-Clause
//! Holds, for Joseph where v runs along z, what rays of one (view, u) share.
#pragma once

#include <iso/ct/detail/joseph_path.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// What all rays of one (view, u) share when v runs along z: the driving axis, the coordinate
/// across it in the plane of x and y, and what the coordinate along z is made of.
template <class T>
struct alignas(16) joseph_ray_column {
  coordinate<T> across;
  plane_range planes;  ///< where `across` can meet a voxel
  plane_range inside;  ///< where both columns are voxels for certain
  std::int32_t axis;
  double m_point;
  double inverse;
  double slope_across;
  double z_source;  ///< of the source, or of a parallel direction
  double z_pixel;   ///< of the pixel at v = 0
  double z_step;    ///< from v to v + 1
  beam kind;

  /// Returns the coordinate along z of the ray through v: the numbers of make_line.
  KOKKOS_FUNCTION exact_coordinate z(std::int32_t v) const {
    double const pixel = Kokkos::fma(double(v), z_step, z_pixel);
    return {kind == beam::cone ? ray_component{z_source, pixel - z_source}
                               : ray_component{pixel, z_source},
            m_point, inverse};
  }
};

/// Makes the column of rays of each (view, u), u fastest.
template <class T>
struct ray_column_kernel {
  Kokkos::View<view_vectors const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> views;
  joseph_ray_column<T>* ray_columns;
  grid g;
  beam kind;
  std::int32_t num_u;
  region within = region::box;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    index_view const w = to_index(views(index / num_u), g, kind);
    double const u = double(index % num_u);
    ray_component const x = component(w, kind, 0, u, 0);
    ray_component const y = component(w, kind, 1, u, 0);
    int const m = driving_axis(x.direction, y.direction, 0);
    ray_component const& along = m == 0 ? x : y;
    ray_component const& aside = m == 0 ? y : x;
    joseph_ray_column<T> ray_column;
    ray_column.axis = m;
    ray_column.inverse = 1.0 / along.direction;
    ray_column.m_point = along.point;
    exact_coordinate const exact(aside, along.point, ray_column.inverse);
    ray_column.slope_across = exact.slope;
    ray_column.across = exact.rounded<T>();
    ray_column.kind = kind;
    ray_column.z_source = w.source.z;
    ray_column.z_pixel = Kokkos::fma(u, w.u_step.z, w.origin.z);
    ray_column.z_step = w.v_step.z;
    std::int64_t const columns = g.extent[1 - m];
    plane_range planes = planes_between_ends(along, kind, g.extent[m]);
    if (within == region::cylinder) {
      coordinate<double> at[2];
      at[m] = {1, 0};
      at[1 - m] = exact.rounded<double>();
      planes = planes_in_cylinder(g, at[0], at[1], planes);
    }
    ray_column.planes = planes_about(ray_column.across, T(-1), T(columns), planes);
    ray_column.inside = planes_inside(ray_column.across, T(0), T(columns - 1), ray_column.planes);
    ray_columns[index] = ray_column;
  }
};

/// The range in which the 32 neighbouring rays of one row of a column's pixels meet the volume.
struct alignas(16) joseph_range {
  plane_range outer;  ///< where some ray may meet a voxel
  plane_range inner;  ///< where every ray has four voxels about its point
};

/// The ray of 32 neighbours that stands for them where slabs share samples.
inline constexpr std::int32_t middle_lane = 16;
/// The rows of 32 pixels that share samples as one on the fast path, whose groups may walk so many
/// together: the middle one of all their rays stands for them.
inline constexpr std::int32_t joint_rows = 2;

/// Finds the range of each (view, u, row of 32 v), rows fastest. At one plane the coordinate along
/// z runs straight from the first ray to the last, so that those two vouch for all, but for the
/// rounding of those between: a margin.
template <class T>
struct joseph_range_kernel {
  joseph_ray_column<T> const* ray_columns;
  joseph_range* row_ranges;
  std::int32_t rows;  ///< of a column of rays; those beyond num_v repeat the last pixel
  plane_range some;   ///< of the rows, which are found
  std::int32_t num_v;
  slab_samples<T> samples;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int32_t const count = some.last - some.first;
    std::int64_t const column = index / count;
    std::int32_t const row = some.first + std::int32_t(index - column * count);
    joseph_ray_column<T> const& ray_column = ray_columns[column];
    std::int32_t const first = row * 32;
    auto const pixel = [&](std::int32_t v) { return v < num_v ? v : num_v - 1; };
    coordinate<T> const z[2] = {ray_column.z(pixel(first)).template rounded<T>(),
                                ray_column.z(pixel(first + 31)).template rounded<T>()};
    T const margin = T(0x1p-21) * (Kokkos::fabs(z[0].base) + Kokkos::fabs(z[1].base) +
                                   T(samples.height) + T(ray_column.planes.last));
    T const far = T(0x1p30);
    auto const some = [&](T lo, T hi) {
      return planes_about(z[0], lo, hi, ray_column.planes)
          .joined(planes_about(z[1], lo, hi, ray_column.planes));
    };
    joseph_range range;
    range.outer = some(T(-1) - margin, far).clipped(some(-far, T(samples.height) + margin));
    range.inner = ray_column.inside;
    for (int end = 0; end < 2; ++end) {
      range.inner = planes_inside(z[end], margin, T(samples.height - 1) - margin, range.inner);
    }
    if (!samples.whole()) {
      std::int32_t const middle = row / joint_rows * (32 * joint_rows) + joint_rows * middle_lane;
      plane_range const own =
          samples.of(ray_column.z(pixel(middle)).template rounded<T>(), ray_column.planes);
      range.outer = range.outer.clipped(own);
      range.inner = range.inner.clipped(own);
    }
    if (range.inner.empty()) {
      range.inner = {range.outer.last, range.outer.last};
    }
    row_ranges[column * rows + row] = range;
  }
};

}  // namespace iso::ct::detail
