// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/ray/ray.hpp>
#include <iso/ray/traversal_grid.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ray::detail {

/// Planes that a T counts exactly.
template <class T>
inline constexpr double most_planes = sizeof(T) == 4 ? 0x1p24 : 0x1p53;

/// One ray in its grid, measured in mm from the point where it enters: the n-th plane of an axis
/// (n = 0, 1, ...) is crossed at fma(n, step, first), never by accumulation. Every plane before the
/// last comes before `end`, or not at all: `end` is the least of the last planes' crossings by that
/// same expression, so that stepping while a crossing is less than `end` cannot leave the grid.
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
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool finite(vec3<T> a) {
  return (a.x - a.x == 0) & (a.y - a.y == 0) & (a.z - a.z == 0);
}

/// The planes of one axis in the order in which the ray meets them, 0 to count. An axis along which it
/// does not move counts as upward, so that a point on a plane belongs to the upper voxel.
struct axis_planes {
  double position;
  double speed;  // >= 0
  double count;
  double spacing;
  double origin;
  bool down;

  KOKKOS_FORCEINLINE_FUNCTION axis_planes(double o, double d, double n, double width, double centre)
      : position(o), speed(d < 0 ? -d : d), count(n), spacing(width), origin(centre), down(d < 0) {}

  /// From the ray's origin to plane q along this axis, positive ahead. Taken from the plane's own
  /// coordinate, so that it is exact near the origin, however slow the ray is along this axis.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double distance(double q) const {
    double const mirrored = count - q;
    double const plane = Kokkos::fma((down ? mirrored : q) - 0.5, spacing, origin);
    double const ahead = plane - position;
    return down ? -ahead : ahead;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double t_enter() const {
    double const never = Kokkos::Experimental::infinity_v<double>;
    bool const between = (distance(0) <= 0) & (distance(count) > 0);
    double const t = distance(0) / speed;
    return speed > 0 ? t : between ? -never : never;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double t_leave() const {
    double const t = distance(count) / speed;
    return speed > 0 ? t : Kokkos::Experimental::infinity_v<double>;
  }
  /// The first plane ahead at time t, of 1 to count: an estimate, put right by comparing distances.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double next_plane(double t) const {
    double const gone = t * speed;
    double q = Kokkos::floor((gone - distance(0)) / spacing) + 1;
    q = q > 1 ? q : 1.0;
    q = q < count ? q : count;
    double const late = (q < count) & (distance(q) <= gone) ? 1.0 : 0.0;
    q = q + late;
    double const early = (q > 1) & (distance(q - 1) > gone) ? 1.0 : 0.0;
    return q - early;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double voxel(double next) const {
    double const from_above = count - next;
    double const from_below = next - 1;
    return down ? from_above : from_below;
  }
};

/// `mm` as a T in [0, largest]; the largest where a ray never moves along the axis.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T bounded(double mm) {
  double const most = double(Kokkos::Experimental::finite_max_v<T>);
  return T(less_of(greater_of(mm, 0.0), most));
}

/// The part of a ray inside its grid, in double precision.
struct clipped_ray {
  axis_planes x;
  axis_planes y;
  axis_planes z;
  double t_in;
  double t_out;
  double t_end;   ///< the ray's own
  double length;  ///< of the direction, mm
  bool hits;      ///< else t_in and t_out mean nothing
};

/// Without branches, so that the compiler may clip several rays at once.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION clipped_ray clip(ray<Real> const& r, traversal_grid const& g) {
  vec3<double> d{double(r.direction.x), double(r.direction.y), double(r.direction.z)};
  vec3<double> const o{double(r.origin.x), double(r.origin.y), double(r.origin.z)};
  // A power of two keeps the squares of very long and very short directions in range.
  double const most = greater_of(greater_of(Kokkos::fabs(d.x), Kokkos::fabs(d.y)), Kokkos::fabs(d.z));
  double const scale = most < 0x1p-300 ? 0x1p600 : most > 0x1p300 ? 0x1p-600 : 1.0;
  double const unscale = most < 0x1p-300 ? 0x1p-600 : most > 0x1p300 ? 0x1p600 : 1.0;
  d = scale * d;
  axis_planes const x(o.x, d.x, g.extent.x, g.spacing.x, g.origin.x);
  axis_planes const y(o.y, d.y, g.extent.y, g.spacing.y, g.origin.y);
  axis_planes const z(o.z, d.z, g.extent.z, g.spacing.z, g.origin.z);
  double const t_in = greater_of(greater_of(x.t_enter(), y.t_enter()),
                                 greater_of(z.t_enter(), double(r.t_min) * unscale));
  double const t_end = double(r.t_max) * unscale;
  double const t_out = less_of(less_of(x.t_leave(), y.t_leave()), less_of(z.t_leave(), t_end));
  bool const hits = finite(o) & finite(d) & (most > 0) & (r.t_min < r.t_max) & (t_in < t_out) &
                    (t_in - t_in == 0);
  return {x, y, z, hits ? t_in : 0.0, t_out, t_end, norm(d), hits};
}

/// Where `r` enters the grid: worked out in double precision, the result rounded to T.
template <class T, class Index, class Real>
KOKKOS_FORCEINLINE_FUNCTION entry<T, Index> enter(ray<Real> const& r, traversal_grid const& g) {
  clipped_ray const c = clip(r, g);
  double const qx = c.x.next_plane(c.t_in);
  double const qy = c.y.next_plane(c.t_in);
  double const qz = c.z.next_plane(c.t_in);
  auto const first = [&](axis_planes const& a, double q) {
    T const mm = bounded<T>((a.distance(q) / a.speed - c.t_in) * c.length);
    return a.speed > 0 ? mm : Kokkos::Experimental::finite_max_v<T>;
  };
  auto const step = [&](axis_planes const& a) {
    T const mm = bounded<T>(a.spacing / a.speed * c.length);
    return a.speed > 0 ? mm : T(0);
  };
  entry<T, Index> e;
  e.first = {first(c.x, qx), first(c.y, qy), first(c.z, qz)};
  e.step = {step(c.x), step(c.y), step(c.z)};
  vec3<T> const rest{T(c.x.count - qx), T(c.y.count - qy), T(c.z.count - qz)};
  T const end = less_of(less_of(Kokkos::fma(rest.x, e.step.x, e.first.x),
                                Kokkos::fma(rest.y, e.step.y, e.first.y)),
                        less_of(Kokkos::fma(rest.z, e.step.z, e.first.z),
                                bounded<T>((c.t_end - c.t_in) * c.length)));
  bool const countable = greater_of(greater_of(g.extent.x, g.extent.y), g.extent.z) <= most_planes<T>;
  e.end = c.hits & countable ? end : T(0);
  e.index = Index(Kokkos::fma(c.x.voxel(qx), g.stride.x,
                              Kokkos::fma(c.y.voxel(qy), g.stride.y, c.z.voxel(qz))));
  auto const stride = [](axis_planes const& a, double s) { return Index(a.down ? -s : s); };
  e.stride = {stride(c.x, g.stride.x), stride(c.y, g.stride.y), stride(c.z, g.stride.z)};
  return e;
}

}  // namespace iso::ray::detail
