// SPDX-License-Identifier: BSD-3-Clause
//! Holds what backprojection by gather looks up: the rays of a batch of views, which of them may
//! touch a voxel, and which columns of rays may touch a tile of columns. A ray too many has weight
//! zero and changes no bit; there is never one too few.
#pragma once

#include <iso/backend/integer_atomics.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/detail/ray_column.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// The number of neighbouring planes of the driving axis that share their candidates.
inline constexpr std::int32_t candidate_planes = 4;

/// The most registers of a processor that hold the rays of a register of heights, which picks its
/// candidates out of them: up to three or four rays a voxel.
inline constexpr int ray_window_registers = 6;

/// The columns of voxels that one (view, u) passes.
template <class T>
struct alignas(16) ray_column_walk {
  coordinate<T> across;
  std::int32_t first;          ///< plane
  std::int32_t last_and_axis;  ///< 2 last + axis

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int32_t last() const { return last_and_axis >> 1; }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int32_t axis() const { return last_and_axis & 1; }
};

/// The pixels v of one (view, u) whose rays may touch voxel k in a group of planes: `count` of them
/// from first(k) on, all on the detector.
template <class T>
struct alignas(16) ray_candidates {
  T slope;
  T base;
  T most;  ///< num_v - count
  std::int32_t count;

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T place(T k) const {
    T const v = Kokkos::fma(k, slope, base);
    T const low = v > T(0) ? v : T(0);
    return low < most ? low : most;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int32_t first(T k) const {
    return std::int32_t(place(k));
  }
};

/// z_v(i) is linear in v. It passes k at v*(k, i), and the rays that touch k in plane i are those
/// with |v - v*| < 1 / |d(i)|, d(i) being the distance of two rays along z. Over the planes of the
/// group v* drifts; h is half of what holds all of them, the rounding of T's coordinates included.
/// Of the detector's rows, those are looked at that lie in `num_v` ones from `first_v` on, and v
/// counts from there.
template <class T>
KOKKOS_FUNCTION ray_candidates<T> find_candidates(joseph_ray_column<T> const& ray_column,
                                                  std::int32_t first_v, std::int32_t num_v,
                                                  std::int64_t planes, std::int64_t height,
                                                  std::int32_t group, std::int32_t least) {
  ray_candidates<T> const all{T(0), T(0), T(0), num_v};
  double const half = 0.5 * (candidate_planes - 1);
  double const middle = double(group) * candidate_planes + half - ray_column.m_point;
  double const farthest_k = double(height - 1);
  double inverse;  // pixels a voxel along z in the middle plane
  double centre;   // v* of k = 0 there
  double widest;   // the largest 1 / |d|
  double drift;
  if (ray_column.kind == beam::cone) {
    // v*(k, i) = v_s + (k - z_s) / d(i), d(i) = z_step inverse (i - m_point).
    double const near = 1 - half / Kokkos::fabs(middle);
    double const step = ray_column.z_step * ray_column.inverse * middle;
    // Planes at the source, or rays that lie too close to be counted.
    if (!(near > 0.25) || !(Kokkos::fabs(step) > 1e-6)) {
      return all;
    }
    inverse = 1 / step;
    centre = (ray_column.z_source - ray_column.z_pixel) / ray_column.z_step -
             ray_column.z_source * inverse;
    widest = Kokkos::fabs(inverse) / near;
    double const below = Kokkos::fabs(ray_column.z_source);
    double const above = Kokkos::fabs(farthest_k - ray_column.z_source);
    drift = (below > above ? below : above) * (widest - Kokkos::fabs(inverse));
  } else {
    // v*(k, i) = (k - z_pixel - slope (i - m_point)) / z_step.
    double const slope = ray_column.z_source * ray_column.inverse;
    if (!(Kokkos::fabs(ray_column.z_step) > 1e-6)) {
      return all;
    }
    inverse = 1 / ray_column.z_step;
    centre = -Kokkos::fma(slope, middle, ray_column.z_pixel) * inverse;
    widest = Kokkos::fabs(inverse);
    drift = Kokkos::fabs(slope * inverse) * half;
  }
  exact_coordinate const ends[2] = {ray_column.z(first_v), ray_column.z(first_v + num_v - 1)};
  double size = 0;  // of the numbers that make a coordinate along z, voxels
  for (exact_coordinate const& z : ends) {
    double const s = Kokkos::fabs(z.slope) * double(planes) + Kokkos::fabs(z.base);
    size = s > size ? s : size;
  }
  double const eps = sizeof(T) == 4 ? 0x1p-23 : 0x1p-51;
  double const v_size = first_v + num_v + Kokkos::fabs(centre) + 2 * farthest_k * widest;
  double const h = widest * (1 + 2 * eps * size) + drift + 4 * eps * v_size;
  if (!(2 * h + 1 < num_v)) {
    return all;
  }
  std::int32_t count = std::int32_t(2 * h) + 1;
  count = count < least ? least : count;
  if (count > num_v) {
    return all;
  }
  return {T(inverse), T(centre - first_v - h + 1), T(num_v - count), count};
}

/// A ray's coordinate along z, and its pixel times the length of its step.
template <class T>
struct alignas(16) pixel_ray_line {
  coordinate<T> z;
  T value;
};

/// The rays of a batch: quads for a GPU's vector loads, or three arrays with room behind each row
/// of v for the windows of a processor.
template <class T>
struct pixel_ray_table {
  pixel_ray_line<T>* lines;  ///< [view][u][v], or null
  T* slopes;                 ///< [view][u][pitch]
  T* bases;
  T* values;
  std::int32_t pitch;
};

template <class T>
struct back_project_tables {
  joseph_ray_column<T>* ray_columns;  ///< [view][u]
  ray_column_walk<T>* columns;        ///< [view][u]
  ray_candidates<T>* candidates;      ///< [view][u][group of planes]
  plane_range* u_ranges;              ///< [view][tile x][tile y]: of u
  pixel_ray_table<T> rays;
  std::uint32_t* unsafe;  ///< whether some value is not finite, or so large that sums may not be
  std::int32_t num_views;
  std::int32_t num_u;
  std::int32_t num_v;    ///< rows that rays of the volume's planes may have: v counts these
  std::int32_t first_v;  ///< of the detector
  std::int32_t image_v;  ///< rows of the images: the detector's
  std::int32_t groups;   ///< of planes
  std::int32_t tiles_x;
  std::int32_t tiles_y;
};

template <class T>
struct ray_column_table_kernel {
  back_project_tables<T> t;
  grid g;
  std::int32_t min_candidates;  ///< what the kernel has code for

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const row = index / t.groups;
    auto const group = std::int32_t(index - row * t.groups);
    joseph_ray_column<T> const& ray_column = t.ray_columns[row];
    if (group == 0) {
      t.columns[row] = {ray_column.across, ray_column.planes.first,
                        2 * ray_column.planes.last + ray_column.axis};
    }
    t.candidates[index] =
        find_candidates(ray_column, t.first_v, t.num_v, g.extent[std::size_t(ray_column.axis)],
                        g.extent[2], group, min_candidates);
  }
};

template <class T>
struct ray_table_kernel {
  back_project_tables<T> t;
  T const* pixels;  ///< of the batch
  grid g;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const row = index / t.num_v;
    auto const v = std::int32_t(index - row * t.num_v);
    joseph_ray_column<T> const& ray_column = t.ray_columns[row];
    exact_coordinate const exact = ray_column.z(t.first_v + v);
    auto const z = exact.template rounded<T>();
    int const m = ray_column.axis;
    T const step = T(step_length(g.spacing[m], ray_column.slope_across, g.spacing[1 - m],
                                 exact.slope, g.spacing.z));
    T const value = pixels[row * t.image_v + t.first_v + v] * step;
    if (t.rays.lines != nullptr) {
      t.rays.lines[index] = {z, value};
    } else {
      std::int64_t const at = row * t.rays.pitch + v;
      t.rays.slopes[at] = z.slope;
      t.rays.bases[at] = z.base;
      t.rays.values[at] = value;
    }
    // What a voxel adds over v stays finite below this.
    if (!(Kokkos::fabs(value) * T(t.num_v) <= Kokkos::Experimental::finite_max_v<T> / 2)) {
      backend::atomic_flags(t.unsafe, 1U);
    }
  }
};

/// The u's that have a ray through a rectangle of the plane of x and y.
struct u_interval {
  enum class kind : std::int8_t { none, some, all } which;
  double low;  ///< some: between these
  double high;
};

/// Bounds the u of the rectangle (x0, y0) to (x1, y1), voxels, before or beyond the detector.
KOKKOS_INLINE_FUNCTION u_interval u_through(index_view const& w, beam kind, double x0, double x1,
                                            double y0, double y1) {
  using which = u_interval::kind;
  double const ux = w.u_step.x;
  double const uy = w.u_step.y;
  bool const cone = kind == beam::cone;
  // Cone: from the source to pixel u = 0. Parallel: the rays' direction.
  double const dx = cone ? w.origin.x - w.source.x : w.source.x;
  double const dy = cone ? w.origin.y - w.source.y : w.source.y;
  double const across = dx * uy - dy * ux;
  double const lengths = Kokkos::sqrt((dx * dx + dy * dy) * (ux * ux + uy * uy));
  if (!(Kokkos::fabs(across) > 1e-9 * lengths)) {
    return {which::all, 0, 0};  // the rays see the detector's row from its end
  }
  double low = 1e300;
  double high = -1e300;
  int before = 0;
  int behind = 0;
  for (int corner = 0; corner < 4; ++corner) {
    double const x = (corner & 1) != 0 ? x1 : x0;
    double const y = (corner & 2) != 0 ? y1 : y0;
    double const qx = x - (cone ? w.source.x : w.origin.x);
    double const qy = y - (cone ? w.source.y : w.origin.y);
    double const depth = cone ? (qx * uy - qy * ux) / across : 1.0;  // of the source; 1: detector
    before += depth > 1e-6 ? 1 : 0;
    behind += depth < -1e-6 ? 1 : 0;
    double const u = (qy * dx - qx * dy) / across / depth;
    low = u < low ? u : low;
    high = u > high ? u : high;
  }
  return {before == 4 ? which::some : behind == 4 ? which::none : which::all, low, high};
}

/// Finds the u's of each tile of `edge` x `edge` columns.
template <class T>
struct u_range_kernel {
  Kokkos::View<view_vectors const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> views;
  back_project_tables<T> t;
  grid g;
  beam kind;
  std::int32_t edge;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const per_view = std::int64_t(t.tiles_x) * t.tiles_y;
    std::int64_t const view = index / per_view;
    std::int64_t const tile = index - view * per_view;
    index_view const w = to_index(views(view), g, kind);
    double const x0 = double(tile / t.tiles_y * edge);
    double const y0 = double(tile % t.tiles_y * edge);
    // A ray touches columns less than a voxel away across its driving axis, and T's coordinates are
    // off by some units in the last place.
    double const last_u = double(t.num_u - 1);
    double const size =
        Kokkos::fabs(w.source.x) + Kokkos::fabs(w.source.y) + Kokkos::fabs(w.origin.x) +
        Kokkos::fabs(w.origin.y) +
        (kind == beam::cone ? 0.0 : last_u * (Kokkos::fabs(w.u_step.x) + Kokkos::fabs(w.u_step.y)));
    double const aside = 1 + 0x1p-20 * (size + double(g.extent[0]) + double(g.extent[1]));
    plane_range range = about(w, x0, y0, aside, aside);
    if (!range.empty()) {
      // One axis drives between two rays if it drives both and they run the same way.
      joseph_ray_column<T> const& one = t.ray_columns[view * t.num_u + range.first];
      joseph_ray_column<T> const& other = t.ray_columns[view * t.num_u + range.last - 1];
      if (one.axis == other.axis && (one.inverse > 0) == (other.inverse > 0)) {
        double const along = 1e-6 * aside;
        range = range.clipped(one.axis == 0 ? about(w, x0, y0, along, aside)
                                            : about(w, x0, y0, aside, along));
      }
    }
    t.u_ranges[index] = range.empty() ? plane_range{0, 0} : range;
  }

 private:
  KOKKOS_FUNCTION plane_range about(index_view const& w, double x0, double y0, double margin_x,
                                    double margin_y) const {
    u_interval const u = u_through(w, kind, x0 - margin_x, x0 + edge - 1 + margin_x, y0 - margin_y,
                                   y0 + edge - 1 + margin_y);
    if (u.which == u_interval::kind::all) {
      return {0, t.num_u};
    }
    double const slack = 1e-6 * (1 + Kokkos::fabs(u.low) + Kokkos::fabs(u.high));
    double const low = u.low - slack;
    double const high = u.high + slack;
    if (u.which == u_interval::kind::none || !(low < double(t.num_u)) || !(high > -1)) {
      return {0, 0};
    }
    return {low > 0 ? std::int32_t(Kokkos::ceil(low)) : 0,
            high < double(t.num_u - 1) ? std::int32_t(Kokkos::floor(high)) + 1 : t.num_u};
  }
};

}  // namespace iso::ct::detail
