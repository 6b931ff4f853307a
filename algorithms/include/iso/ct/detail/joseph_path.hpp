// SPDX-License-Identifier: BSD-3-Clause
//! Describes a ray as Joseph walks it: driving axis, planes, coordinates across, step.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/core/interpolation.hpp>
#include <iso/ct/detail/cylinder.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/region.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Planes of the driving axis [first, last).
struct plane_range {
  std::int32_t first;
  std::int32_t last;

  [[nodiscard]] KOKKOS_FUNCTION bool empty() const { return first >= last; }
  [[nodiscard]] KOKKOS_FUNCTION plane_range clipped(std::int32_t lo, std::int32_t hi) const {
    return {first > lo ? first : lo, last < hi ? last : hi};
  }
  [[nodiscard]] KOKKOS_FUNCTION plane_range clipped(plane_range to) const {
    return clipped(to.first, to.last);
  }
  /// Returns the shortest range that holds both.
  [[nodiscard]] KOKKOS_FUNCTION plane_range joined(plane_range with) const {
    return empty()        ? with
           : with.empty() ? *this
                          : plane_range{first < with.first ? first : with.first,
                                        last > with.last ? last : with.last};
  }
};

/// The treatment of the planes before and after those of a launch.
enum class slab_place : std::int8_t {
  only,    ///< there are none
  first,   ///< leaves its sums for the next launch
  middle,  ///< takes up and leaves
  last,    ///< takes up, and finishes the pixels
  split,   ///< one image of sums for every block of planes, for joseph_join_kernel
};

inline slab_place place_of(plane_range slab, std::int32_t planes) {
  bool const to_end = slab.last == planes;
  return slab.first == 0 ? (to_end ? slab_place::only : slab_place::first)
                         : (to_end ? slab_place::last : slab_place::middle);
}
KOKKOS_INLINE_FUNCTION bool takes_up(slab_place place) {
  return place == slab_place::middle || place == slab_place::last;
}
KOKKOS_INLINE_FUNCTION bool finishes(slab_place place) {
  return place == slab_place::only || place == slab_place::last;
}

/// A coordinate along the driving axis: p(i) = fma(i, slope, base), in voxels.
template <class T>
struct coordinate {
  T slope;
  T base;

  KOKKOS_FUNCTION T operator()(std::int32_t i) const { return Kokkos::fma(T(i), slope, base); }
};

/// Returns the part of `within` where lo < p(i) < hi, or a little more: a few planes too many each
/// way, never one too few. In T, whose error of a few units in the last place stays far below the
/// plane of slack while planes are fewer than 2^20 (float).
template <class T>
KOKKOS_FUNCTION plane_range planes_about(coordinate<T> p, T lo, T hi, plane_range within) {
  if (within.empty()) {
    return within;
  }
  if (p.slope == T(0)) {
    return p.base > lo && p.base < hi ? within : plane_range{within.first, within.first};
  }
  T const a = (lo - p.base) / p.slope;
  T const b = (hi - p.base) / p.slope;
  T const slack = T(2) + T(within.last) * T(0x1p-20);
  T const least = (a < b ? a : b) - slack;
  T const most = (a < b ? b : a) + slack;
  if (!(least < T(within.last) && most > T(within.first))) {
    return {within.first, within.first};
  }
  return within.clipped(least > T(within.first) ? std::int32_t(least) : within.first,
                        most < T(within.last) ? std::int32_t(most) + 1 : within.last);
}

/// Returns a part of `within` where lo <= p(i) < hi for certain.
template <class T>
KOKKOS_FUNCTION plane_range planes_inside(coordinate<T> p, T lo, T hi, plane_range within) {
  auto const inside = [&](std::int32_t i) { return p(i) >= lo && p(i) < hi; };
  plane_range r = planes_about(p, lo, hi, within);
  // p is monotone in i, its rounding included, so that the ends vouch for all between them.
  while (r.first < r.last && !inside(r.first)) {
    ++r.first;
  }
  while (r.first < r.last && !inside(r.last - 1)) {
    --r.last;
  }
  return r;
}

/// The samples that belong to a slab of a grid: in the planes of the driving axis where the
/// coordinate along z of one ray, which stands for its neighbours, has its floor in the slab; of
/// the first slab also below it, of the last also above. A coordinate is monotone, its rounding
/// included, so that these planes are one range, and each is one slab's.
template <class T>
struct slab_samples {
  plane_range own;
  std::int32_t height;  ///< planes of the grid

  KOKKOS_FUNCTION slab_samples(grid const& g, slab const& planes)
      : own{std::int32_t(planes.first), std::int32_t(planes.last)},
        height(std::int32_t(g.extent[2])) {}

  [[nodiscard]] KOKKOS_FUNCTION bool whole() const { return own.first == 0 && own.last == height; }

  /// Returns the planes of `within` whose samples are the slab's, z standing for them.
  [[nodiscard]] KOKKOS_FUNCTION plane_range of(coordinate<T> z, plane_range within) const {
    if (whole()) {
      return within;
    }
    T const far = T(0x1p30);
    T const lo = own.first == 0 ? -far : T(own.first);
    T const hi = own.last == height ? far : T(own.last);
    if (z.slope == T(0)) {
      return z.base >= lo && z.base < hi ? within : plane_range{within.first, within.first};
    }
    // A coordinate just below a border may be rounded to it.
    T const below = lo - Kokkos::fabs(lo) * Kokkos::Experimental::epsilon_v<T>;
    plane_range r = planes_about(z, below, hi, within);
    auto const owns = [&](std::int32_t i) { return z(i) >= lo && z(i) < hi; };
    while (r.first < r.last && !owns(r.first)) {
      ++r.first;
    }
    while (r.first < r.last && !owns(r.last - 1)) {
      --r.last;
    }
    return r;
  }
};

/// One ray as Joseph's method walks it: a driving axis, two coordinates across it, the planes
/// between its ends, and the length of a step. Paper: Graetz 2020, equations 3 to 6, in double
/// until the last rounding. `across[0]` belongs to the lower of the two other axes.
template <class T>
struct joseph_line {
  std::int32_t axis;
  coordinate<T> across[2];
  plane_range planes;
  T step;  ///< mm
};

/// A view in voxel coordinates.
struct index_view {
  vec3<double> source;
  vec3<double> origin;
  vec3<double> u_step;
  vec3<double> v_step;
};

KOKKOS_INLINE_FUNCTION index_view to_index(view_vectors const& view, grid const& g, beam kind) {
  return {kind == beam::cone ? g.to_index(view.source) : g.to_index_vector(view.source),
          g.to_index(view.detector_origin), g.to_index_vector(view.u_step),
          g.to_index_vector(view.v_step)};
}

/// Writes a scan's views in voxel coordinates.
struct index_view_kernel {
  Kokkos::View<view_vectors const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> views;
  index_view* out;
  grid g;
  beam kind;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out[i] = to_index(views(i), g, kind); }
};

/// Axis `a` of the ray through pixel (u, v): a point on it and its direction. For a cone the point
/// is the source and the direction ends at the pixel.
struct ray_component {
  double point;
  double direction;
};

KOKKOS_INLINE_FUNCTION ray_component component(index_view const& w, beam kind, int a, double u,
                                               double v) {
  double const pixel = Kokkos::fma(v, w.v_step[a], Kokkos::fma(u, w.u_step[a], w.origin[a]));
  return kind == beam::cone ? ray_component{w.source[a], pixel - w.source[a]}
                            : ray_component{pixel, w.source[a]};
}

KOKKOS_INLINE_FUNCTION int other_axis(int driving, int which) {
  return which == 0 ? (driving == 0 ? 1 : 0) : (driving == 2 ? 1 : 2);
}

/// Slope and base of the coordinate along `a` when `m` drives with the reciprocal direction
/// `inverse`.
struct exact_coordinate {
  double slope;
  double base;

  KOKKOS_FUNCTION exact_coordinate(ray_component a, double m_point, double inverse)
      : slope(a.direction * inverse), base(Kokkos::fma(-m_point, slope, a.point)) {}
  template <class T>
  [[nodiscard]] KOKKOS_FUNCTION coordinate<T> rounded() const {
    return {T(slope), T(base)};
  }
};

/// Returns the length of a step of one voxel along the driving axis, mm.
KOKKOS_INLINE_FUNCTION double step_length(double spacing_m, double slope_0, double spacing_0,
                                          double slope_1, double spacing_1) {
  double const a = slope_0 * spacing_0;
  double const b = slope_1 * spacing_1;
  return Kokkos::sqrt(Kokkos::fma(b, b, Kokkos::fma(a, a, spacing_m * spacing_m)));
}

/// Returns the planes between the ends of the ray; all of them where it has none.
KOKKOS_INLINE_FUNCTION plane_range planes_between_ends(ray_component m, beam kind, std::int64_t n) {
  plane_range all{0, std::int32_t(n)};
  if (kind == beam::parallel) {
    return all;
  }
  double const end = m.point + m.direction;
  double const low = m.point < end ? m.point : end;
  double const high = m.point < end ? end : m.point;
  if (!(low < double(n)) || !(high > -1.0)) {
    return {0, 0};
  }
  return all.clipped(low > 0 ? std::int32_t(Kokkos::ceil(low)) : 0,
                     high < double(n) ? std::int32_t(Kokkos::floor(high)) + 1 : std::int32_t(n));
}

/// Returns the part of `all` where the ray lies in the cylinder of region::cylinder; x and y in
/// voxels, along the driving axis too, where the slope is 1 and the base 0. In double: all paths
/// clip alike.
KOKKOS_INLINE_FUNCTION plane_range planes_in_cylinder(grid const& g, coordinate<double> x,
                                                      coordinate<double> y, plane_range all) {
  auto const from_axis = [&](coordinate<double> p, int a) {
    double const middle = 0.5 * double(g.extent[std::size_t(a)] - 1);
    return line_offset{p.slope * g.spacing[a], (p.base - middle) * g.spacing[a]};
  };
  auto const [low, high] = inside_cylinder(cylinder_radius(g), from_axis(x, 0), from_axis(y, 1));
  if (!(low < double(all.last) && high >= double(all.first))) {
    return {all.first, all.first};
  }
  return all.clipped(low > double(all.first) ? std::int32_t(Kokkos::ceil(low)) : all.first,
                     high < double(all.last) ? std::int32_t(Kokkos::floor(high)) + 1 : all.last);
}

/// Returns the axis of the largest component, the lower of equals.
KOKKOS_INLINE_FUNCTION int driving_axis(double x, double y, double z) {
  double const ax = Kokkos::fabs(x);
  double const ay = Kokkos::fabs(y);
  double const az = Kokkos::fabs(z);
  return ax >= ay && ax >= az ? 0 : ay >= az ? 1 : 2;
}

template <class T>
KOKKOS_FUNCTION joseph_line<T> make_line(index_view const& w, beam kind, grid const& g, double u,
                                         double v, region within = region::box) {
  ray_component const ray[3] = {component(w, kind, 0, u, v), component(w, kind, 1, u, v),
                                component(w, kind, 2, u, v)};
  int const m = driving_axis(ray[0].direction, ray[1].direction, ray[2].direction);
  int const a = other_axis(m, 0);
  int const b = other_axis(m, 1);
  double const inverse = 1.0 / ray[m].direction;
  exact_coordinate const p(ray[a], ray[m].point, inverse);
  exact_coordinate const q(ray[b], ray[m].point, inverse);
  joseph_line<T> line;
  line.axis = m;
  line.across[0] = p.template rounded<T>();
  line.across[1] = q.template rounded<T>();
  line.planes = planes_between_ends(ray[m], kind, g.extent[std::size_t(m)]);
  if (within == region::cylinder) {
    coordinate<double> at[3];
    at[m] = {1, 0};
    at[a] = p.template rounded<double>();
    at[b] = q.template rounded<double>();
    line.planes = planes_in_cylinder(g, at[0], at[1], line.planes);
  }
  line.step = T(step_length(g.spacing[m], p.slope, g.spacing[a], q.slope, g.spacing[b]));
  return line;
}

/// Returns whether the fast kernel may run: v along z, no ray so steep that z would drive,
/// coordinates that T resolves to better than a sixteenth of a voxel, and byte distances of 32
/// bits.
bool fast_path_applies(geometry const& g, iso::grid const& volume, std::int64_t value_bytes);

}  // namespace iso::ct::detail
