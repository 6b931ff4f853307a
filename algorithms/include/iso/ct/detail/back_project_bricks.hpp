// SPDX-License-Identifier: BSD-3-Clause
//! Holds what backprojection by bricks looks up: the rays of a block of views, and which pixels'
//! rays may meet a brick of voxels. A pixel too many changes no bit; there is never one too few.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/core/interpolation.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/detail/back_project_words.hpp>
#include <iso/ct/detail/forward_project_dda_kernel.hpp>
#include <iso/ct/detail/joseph_path.hpp>
#include <iso/ray/detail/entry.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// A stand-in for an interpolation's weight, for methods of exact lengths.
struct exact_chords {};

/// The division of a volume, or of a slab, into bricks.
struct brick_layout {
  std::int32_t extent[3];  ///< voxels that are held
  std::int32_t first[3];   ///< of them, in the grid
  std::int32_t edge[3];    ///< voxels of a brick; less at the upper ends
  std::int32_t count[3];

  brick_layout(iso::grid const& volume, slab const& planes, std::int32_t const (&most)[3])
      : first{0, 0, std::int32_t(planes.first)} {
    for (int a = 0; a < 3; ++a) {
      extent[a] = std::int32_t(a == 2 ? planes.count() : volume.extent[std::size_t(a)]);
      count[a] = (extent[a] + most[a] - 1) / most[a];
      edge[a] = (extent[a] + count[a] - 1) / count[a];
      count[a] = (extent[a] + edge[a] - 1) / edge[a];
    }
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t size() const {
    return std::int64_t(count[0]) * count[1] * count[2];
  }
  /// Returns where a voxel is held.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t index(std::int32_t x, std::int32_t y,
                                                   std::int32_t z) const {
    return (std::int64_t(x) * extent[1] + y) * extent[2] + (z - first[2]);
  }
};

/// A brick's voxels [low, high) along each axis.
struct brick_place {
  std::int32_t low[3];
  std::int32_t high[3];

  KOKKOS_FUNCTION brick_place(brick_layout const& of, std::int64_t index) {
    std::int64_t const column = index / of.count[2];
    std::int32_t const at[3] = {std::int32_t(column / of.count[1]),
                                std::int32_t(column % of.count[1]),
                                std::int32_t(index - column * of.count[2])};
    for (int a = 0; a < 3; ++a) {
      std::int32_t const last = of.first[a] + of.extent[a];
      low[a] = of.first[a] + at[a] * of.edge[a];
      high[a] = low[a] + of.edge[a] < last ? low[a] + of.edge[a] : last;
    }
  }
};

/// A ray of Joseph's and its reading times the length of a step, on the grid of products. Without
/// planes where it adds nothing.
template <class T>
struct alignas(16) brick_line {
  coordinate<T> across[2];
  T value;
  plane_range planes;
  std::int32_t axis;
};

/// A ray of exact lengths and its reading on the grid of products: ray::detail::entry, with the
/// voxel's indices apart. `end` is zero where it adds nothing.
template <class T>
struct alignas(16) brick_chords {
  T first[3];
  T step[3];
  T end;
  T value;
  std::int32_t voxel[3];
  std::int32_t downward;  ///< bit a: voxels go down along axis a
};

template <class T, class Samples>
struct brick_ray_of {
  using type = brick_line<T>;
};
template <class T>
struct brick_ray_of<T, exact_chords> {
  using type = brick_chords<T>;
};
template <class T, class Samples>
using brick_ray = typename brick_ray_of<T, Samples>::type;

/// The rays of a block of views, one a pixel.
struct block_rays {
  Kokkos::View<view_vectors const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> views;
  beam kind;
  std::int64_t num_u;
  std::int64_t num_v;
  double du;  ///< from the pixel's centre to the ray, pixels
  double dv;
  grid g;
  boundary edge;
  region within;
  ray::traversal_grid walked;  ///< the grid, and the region's limits, for exact methods
  ray_limits limits;
};

/// Returns the planes of `line` whose sample `edge` counts, where it is truncate; for zero, where
/// samples blend with voxels that are not there, those of the line.
template <class T>
KOKKOS_FUNCTION plane_range planes_within_edge(joseph_line<T> const& line, grid const& g,
                                               boundary edge) {
  if (edge == boundary::zero) {
    return line.planes;
  }
  T const p_last = T(g.extent[std::size_t(other_axis(line.axis, 0))] - 1);
  T const q_last = T(g.extent[std::size_t(other_axis(line.axis, 1))] - 1);
  auto const inside = [&](std::int32_t i) {
    T const p = line.across[0](i);
    T const q = line.across[1](i);
    return p >= T(0) && p <= p_last && q >= T(0) && q <= q_last;
  };
  plane_range r = planes_about(line.across[0], T(-1), p_last + T(1), line.planes);
  r = planes_about(line.across[1], T(-1), q_last + T(1), r);
  // Both coordinates are monotone, their rounding included.
  while (r.first < r.last && !inside(r.first)) {
    ++r.first;
  }
  while (r.first < r.last && !inside(r.last - 1)) {
    --r.last;
  }
  return r;
}

/// Makes the table of a block's rays; index (view, u, v).
template <class T, class Samples>
struct brick_ray_kernel {
  block_rays block;
  T const* pixels;
  double share;  ///< of a pixel that a ray carries
  product_grid const* products;
  brick_ray<T, Samples>* rays;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const row = index / block.num_v;
    std::int64_t const view = row / block.num_u;
    double const u = double(row - view * block.num_u) + block.du;
    double const v = double(index - row * block.num_v) + block.dv;
    double const reading = double(pixels[index]);
    bool const counts = reading != 0 && Kokkos::fabs(reading) <= products->max_reading;
    rays[index] = make(block.views(view), u, v, counts ? reading * share : 0.0);
  }

 private:
  KOKKOS_FUNCTION brick_ray<T, Samples> make(view_vectors const& view, double u, double v,
                                             double reading) const {
    if constexpr (std::is_same_v<Samples, exact_chords>) {
      auto const e = ray::detail::enter<T, std::int64_t>(
          block.limits.clipped(pixel_ray(view, block.kind, u, v)), block.walked);
      auto const at = block.walked.at(e.index);
      T const value = T(reading * products->scale);
      return {{e.first.x, e.first.y, e.first.z},
              {e.step.x, e.step.y, e.step.z},
              value == T(0) ? T(0) : e.end,
              value,
              {std::int32_t(at.i), std::int32_t(at.j), std::int32_t(at.k)},
              (e.stride.x < 0 ? 1 : 0) + (e.stride.y < 0 ? 2 : 0) + (e.stride.z < 0 ? 4 : 0)};
    } else {
      auto const line = make_line<T>(to_index(view, block.g, block.kind), block.kind, block.g, u, v,
                                     block.within);
      T const value = T(reading * double(line.step) * products->scale);
      plane_range const none{0, 0};
      return {{line.across[0], line.across[1]},
              value,
              value == T(0) ? none : planes_within_edge(line, block.g, block.edge),
              line.axis};
    }
  }
};

/// Pixels [u, u + count_u) x [v, v + count_v).
struct alignas(16) pixel_rectangle {
  std::int32_t u;
  std::int32_t v;
  std::int32_t count_u;
  std::int32_t count_v;
};

/// Finds the pixels of every view whose rays may give a voxel of a brick a weight; index (brick,
/// view). A view of pixels (u, v) sees a point P at u = a / c, v = b / c, where (a, b, c) is linear
/// in P; so a box fills the rectangle about its corners.
struct brick_rectangle_kernel {
  block_rays block;
  brick_layout bricks;
  double reach;     ///< voxels from a voxel's centre to the rays that still give it a weight
  bool steps;       ///< Joseph: rays sample planes across their driving axis, and reach 0 along it
  double rounding;  ///< voxels that coordinates may be off by
  pixel_rectangle* rectangles;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    auto const views = std::int64_t(block.views.extent(0));
    std::int64_t const brick = index / views;
    rectangles[index] = find(brick_place(bricks, brick), block.views(index - brick * views));
  }

 private:
  /// Returns the range of `count` pixels in low..high.
  KOKKOS_FUNCTION static void clip(double low, double high, std::int64_t count, std::int32_t& first,
                                   std::int32_t& length) {
    double const top = double(count);
    double const margin = 0.01 + 1e-9 * top;
    double const from = Kokkos::fmin(Kokkos::fmax(Kokkos::ceil(low - margin), 0.0), top);
    double const to = Kokkos::fmin(Kokkos::fmax(Kokkos::floor(high + margin) + 1, 0.0), top);
    first = std::int32_t(from);
    length = to > from ? std::int32_t(to - from) : 0;
  }
  /// Returns the axis that drives all rays of a view, or -1 where that is not certain: components
  /// are linear in u and v.
  [[nodiscard]] KOKKOS_FUNCTION int common_axis(index_view const& w) const {
    int common = -1;
    for (int corner = 0; corner < 4; ++corner) {
      double const u = (corner & 1) != 0 ? double(block.num_u) : -1.0;
      double const v = (corner & 2) != 0 ? double(block.num_v) : -1.0;
      double r[3];
      for (int a = 0; a < 3; ++a) {
        r[a] = component(w, block.kind, a, u, v).direction;
      }
      int const m = driving_axis(r[0], r[1], r[2]);
      double const bound = 0.999 * Kokkos::fabs(r[m]);
      bool const clear =
          Kokkos::fabs(r[other_axis(m, 0)]) < bound && Kokkos::fabs(r[other_axis(m, 1)]) < bound;
      int const found = r[m] < 0 ? m + 3 : m;
      if (!clear || (corner > 0 && found != common)) {
        return -1;
      }
      common = found;
    }
    return common % 3;
  }
  KOKKOS_FUNCTION pixel_rectangle find(brick_place const& brick, view_vectors const& view) const {
    pixel_rectangle all{0, 0, std::int32_t(block.num_u), std::int32_t(block.num_v)};
    index_view const w = to_index(view, block.g, block.kind);
    bool const cone = block.kind == beam::cone;
    vec3<double> const from = cone ? w.source : w.origin;
    vec3<double> const along = cone ? w.origin - w.source : w.source;
    vec3<double> const normal = cross(w.u_step, w.v_step);
    double const inverse = 1.0 / dot(normal, along);
    vec3<double> const to_a = inverse * cross(w.v_step, along);
    vec3<double> const to_b = inverse * cross(along, w.u_step);
    vec3<double> const to_c = inverse * normal;
    int const straight = steps ? common_axis(w) : -1;
    double const far = norm(from) + norm(w.origin);  // whose rounding corners have
    double const huge = Kokkos::Experimental::finite_max_v<double>;
    double u[2] = {huge, -huge};
    double v[2] = {huge, -huge};
    for (int corner = 0; corner < 8; ++corner) {
      vec3<double> p{};
      for (int a = 0; a < 3; ++a) {
        double const around = (a == straight ? 0.0 : reach) + rounding + 0x1p-46 * far;
        p[a] = (((corner >> a) & 1) != 0 ? double(brick.high[a] - 1) + around
                                         : double(brick.low[a]) - around) -
               from[a];
      }
      double const c = cone ? dot(to_c, p) : 1.0;
      double const at_u = dot(to_a, p) / c - block.du;
      double const at_v = dot(to_b, p) / c - block.dv;
      // Beside or behind the source, or no plane at all: then any pixel.
      if (!(c > 1e-6) || !(at_u - at_u == 0) || !(at_v - at_v == 0)) {
        return all;
      }
      u[0] = at_u < u[0] ? at_u : u[0];
      u[1] = at_u > u[1] ? at_u : u[1];
      v[0] = at_v < v[0] ? at_v : v[0];
      v[1] = at_v > v[1] ? at_v : v[1];
    }
    pixel_rectangle found;
    clip(u[0], u[1], block.num_u, found.u, found.count_u);
    clip(v[0], v[1], block.num_v, found.v, found.count_v);
    return found;
  }
};

}  // namespace iso::ct::detail
