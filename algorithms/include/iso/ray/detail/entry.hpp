// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/ray/ray.hpp>
#include <iso/ray/traversal_grid.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ray::detail {

/// The largest number of planes that a T counts exactly.
template <class T>
inline constexpr double max_planes = sizeof(T) == 4 ? 0x1p24 : 0x1p53;

/// One ray in its grid, in mm from the point where it enters: the n-th plane of an axis (n = 0, 1,
/// ...) is crossed at fma(n, step, first), never by accumulation. Every plane before the last comes
/// before `end`, or not at all: `end` is the least of the last planes' crossings by that same
/// expression, so that stepping while a crossing is less than `end` cannot leave the grid.
template <class T, class Index>
struct entry {
  vec3<T> first;       ///< next plane of each axis; the largest number where none will come
  vec3<T> step;        ///< between planes
  T end;               ///< 0: the ray visits nothing
  Index index;         ///< linear index of the first voxel
  vec3<Index> stride;  ///< change of the linear index at a crossing
};

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T less_of(T a, T b) {
  return a < b ? a : b;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T greater_of(T a, T b) {
  return a > b ? a : b;
}

// What follows has no branches, and no operation that could trap is only half needed: so the
// compiler may enter several rays at once. Where an axis has speed 0 its quotients are infinite, or
// NaN on a plane, and less_of and greater_of pass over a NaN on their left.

/// The planes of one axis in the order in which the ray meets them, 0 to count. An axis along which
/// it does not move counts as upward, so that a point on a plane belongs to the upper voxel.
struct axis_planes {
  double position;
  double speed;  // >= 0
  double count;
  double spacing;
  double origin;
  double sign;     // 1 upward, -1 downward
  double plane_0;  // number of the first plane met, from below
  double voxel_0;  // voxel before the first plane

  KOKKOS_FORCEINLINE_FUNCTION axis_planes(double o, double d, double n, double width, double centre)
      : position(o),
        speed(Kokkos::fabs(d)),
        count(n),
        spacing(width),
        origin(centre),
        sign(d < 0 ? -1.0 : 1.0),
        plane_0(d < 0 ? n : 0.0),
        voxel_0(d < 0 ? n : -1.0) {}

  /// Measures from the ray's origin to plane q along this axis, positive ahead. By the plane's own
  /// coordinate, so that it is exact near the origin, however slow the ray is along this axis.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double distance(double q) const {
    double const n = Kokkos::fma(sign, q, plane_0);
    return sign * (Kokkos::fma(n - 0.5, spacing, origin) - position);
  }
  /// Returns whether it does not move and is not between the first plane and the last.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool beside() const {
    return (speed == 0) & ((distance(0) > 0) | (distance(count) <= 0));
  }
  /// Returns the first plane ahead at time t, of 1 to count: an estimate, put right by comparing
  /// distances.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double next_plane(double t) const {
    double const gone = t * speed;
    double const planes = less_of(greater_of((gone - distance(0)) / spacing - 0.5, 0.0), count - 1);
    double const rounder = 0x1.8p52;  // to the nearest integer
    double q = (planes + rounder) - rounder + 1;
    q = less_of(q + (distance(q) <= gone ? 1.0 : 0.0), count);
    return greater_of(q - (distance(q - 1) > gone ? 1.0 : 0.0), 1.0);
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double voxel(double next) const {
    return Kokkos::fma(sign, next, voxel_0);
  }
};

/// Returns `mm` as a T from zero to the largest finite one; a NaN as zero.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T bounded(double mm) {
  return less_of(greater_of(T(mm), T(0)), Kokkos::Experimental::finite_max_v<T>);
}

/// A power of two that keeps the squares of very long and very short directions in range, applied
/// to directions; times take its inverse.
struct direction_scale {
  double of_direction;
  double of_time;

  KOKKOS_FORCEINLINE_FUNCTION explicit direction_scale(double largest)
      : of_direction(largest < 0x1p-300  ? 0x1p600
                     : largest > 0x1p300 ? 0x1p-600
                                         : 1.0),
        of_time(largest < 0x1p-300  ? 0x1p-600
                : largest > 0x1p300 ? 0x1p600
                                    : 1.0) {}
};

KOKKOS_FORCEINLINE_FUNCTION double largest_of(vec3<double> d) {
  return greater_of(greater_of(Kokkos::fabs(d.x), Kokkos::fabs(d.y)), Kokkos::fabs(d.z));
}

/// Returns the length of the direction after its scale. On its own because a square root, which may
/// set errno, would keep the rest from being vectorised.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION double scaled_length(ray<Real> const& r) {
  auto const d = static_cast<vec3<double>>(r.direction);
  return norm(direction_scale(largest_of(d)).of_direction * d);
}

/// The part of a ray inside its grid, in double precision.
struct clipped_ray {
  axis_planes x;
  axis_planes y;
  axis_planes z;
  double t_end;  ///< the ray's own
  double t_in;
  double t_out;
  bool hits;  ///< else t_out means nothing

  template <class Real>
  KOKKOS_FORCEINLINE_FUNCTION clipped_ray(ray<Real> const& r, traversal_grid const& g)
      : clipped_ray(r, g, direction_scale(largest_of(static_cast<vec3<double>>(r.direction)))) {}

  template <class Real>
  KOKKOS_FORCEINLINE_FUNCTION clipped_ray(ray<Real> const& r, traversal_grid const& g,
                                          direction_scale scale)
      : x(r.origin.x, scale.of_direction * r.direction.x, g.extent.x, g.spacing.x, g.origin.x),
        y(r.origin.y, scale.of_direction * r.direction.y, g.extent.y, g.spacing.y, g.origin.y),
        z(r.origin.z, scale.of_direction * r.direction.z, g.extent.z, g.spacing.z, g.origin.z),
        t_end(scale.of_time * double(r.t_max)) {
    double const from = greater_of(
        x.distance(0) / x.speed,
        greater_of(y.distance(0) / y.speed,
                   greater_of(z.distance(0) / z.speed, scale.of_time * double(r.t_min))));
    t_out = less_of(
        x.distance(x.count) / x.speed,
        less_of(y.distance(y.count) / y.speed, less_of(z.distance(z.count) / z.speed, t_end)));
    bool const moves = (x.speed > 0) | (y.speed > 0) | (z.speed > 0);
    hits = is_finite(r.origin) & is_finite(r.direction) & moves &
           !(x.beside() | y.beside() | z.beside()) & (r.t_min < r.t_max) & (from < t_out) &
           (from - from == 0);
    t_in = hits ? from : 0.0;
  }
};

/// Returns where `r` enters the grid: worked out in double precision, the result rounded to T.
template <class T, class Index, class Real>
KOKKOS_FORCEINLINE_FUNCTION entry<T, Index> enter(ray<Real> const& r, traversal_grid const& g,
                                                  double length) {
  clipped_ray const c(r, g);
  double const qx = c.x.next_plane(c.t_in);
  double const qy = c.y.next_plane(c.t_in);
  double const qz = c.z.next_plane(c.t_in);
  auto const first = [&](axis_planes const& a, double q) {
    return bounded<T>((a.distance(q) / a.speed - c.t_in) * length);
  };
  auto const step = [&](axis_planes const& a) { return bounded<T>(a.spacing / a.speed * length); };
  entry<T, Index> e;
  e.first = {first(c.x, qx), first(c.y, qy), first(c.z, qz)};
  e.step = {step(c.x), step(c.y), step(c.z)};
  T const end_x = Kokkos::fma(T(c.x.count - qx), e.step.x, e.first.x);
  T const end_y = Kokkos::fma(T(c.y.count - qy), e.step.y, e.first.y);
  T const end_z = Kokkos::fma(T(c.z.count - qz), e.step.z, e.first.z);
  T const end =
      less_of(less_of(end_x, end_y), less_of(end_z, bounded<T>((c.t_end - c.t_in) * length)));
  bool const counts =
      (g.extent.x <= max_planes<T>)&(g.extent.y <= max_planes<T>)&(g.extent.z <= max_planes<T>);
  e.end = less_of(end, (c.hits & counts) ? Kokkos::Experimental::finite_max_v<T> : T(0));
  e.index = Index(Kokkos::fma(c.x.voxel(qx), g.stride.x,
                              Kokkos::fma(c.y.voxel(qy), g.stride.y, c.z.voxel(qz))));
  e.stride = {Index(c.x.sign * g.stride.x), Index(c.y.sign * g.stride.y),
              Index(c.z.sign * g.stride.z)};
  return e;
}

template <class T, class Index, class Real>
KOKKOS_FORCEINLINE_FUNCTION entry<T, Index> enter(ray<Real> const& r, traversal_grid const& g) {
  return enter<T, Index>(r, g, scaled_length(r));
}

}  // namespace iso::ray::detail
