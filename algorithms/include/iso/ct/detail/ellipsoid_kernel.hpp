// SPDX-License-Identifier: BSD-3-Clause
//! Holds kernels of project_ellipsoids and rasterise_ellipsoids.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_ELLIPSOID_KERNEL_HPP
#define ISO_CT_DETAIL_ELLIPSOID_KERNEL_HPP

#include <iso/core/grid.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/vec3.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// An ellipsoid as the affine map that takes it to the unit ball: a turn about z, then a division
/// by the half axes.
struct ball_map {
  vec3<double> centre;
  double xx, xy;  ///< row x of the map
  double yx, yy;  ///< row y
  double zz;      ///< row z
  double norm;    ///< a bound of the map's norm
  double density;
  // Of a voxel grid, in units of the ball's radius:
  double voxel_radius;   ///< no point of a voxel is farther than this from its centre
  double column_radius;  ///< no point of 32 voxels along z is farther than this from their middle
  double slack;          ///< well above what rounding can do to a distance from the centre

  [[nodiscard]] KOKKOS_FUNCTION vec3<double> turn(vec3<double> d) const {
    return {Kokkos::fma(xy, d.y, xx * d.x), Kokkos::fma(yy, d.y, yx * d.x), zz * d.z};
  }
  [[nodiscard]] KOKKOS_FUNCTION vec3<double> operator()(vec3<double> p) const {
    return turn(p - centre);
  }
};

struct ellipsoid_list {
  int count = 0;
  ball_map shapes[max_ellipsoids];
};

/// A ray in the coordinates of a unit ball: a point and a direction.
template <beam Kind>
struct ball_ray {
  vec3<double> point;
  vec3<double> direction;

  [[nodiscard]] KOKKOS_FUNCTION vec3<double> moment() const {
    auto const& p = point;
    auto const& d = direction;
    return {Kokkos::fma(p.y, d.z, -(p.z * d.y)), Kokkos::fma(p.z, d.x, -(p.x * d.z)),
            Kokkos::fma(p.x, d.y, -(p.y * d.x))};
  }
  /// Returns what lies inside the ball, in lengths of `direction`: of the stretch from `point` to
  /// `point + direction` (cone) or of the line (parallel). |d|^2 - |p x d|^2 is the discriminant
  /// without the cancellation of b^2 - a c.
  [[nodiscard]] KOKKOS_FUNCTION double chord() const {
    vec3<double> const m = moment();
    double const a = dot(direction, direction);
    double const discriminant = a - dot(m, m);
    // Both ends, times a, from the point of the line that is nearest to the centre.
    double const root = Kokkos::sqrt(discriminant > 0 ? discriminant : 0.0);
    double lower = -root;
    double upper = root;
    if constexpr (Kind == beam::cone) {
      double const b = dot(point, direction);
      lower = b > lower ? b : lower;
      upper = a + b < upper ? a + b : upper;
    }
    return upper > lower ? (upper - lower) / a : 0.0;
  }
};

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/ellipsoid_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Computes pixel means of line integrals; a group is 32 neighbours along v.
template <class T, class Space, beam Kind>
struct ellipsoid_projector {
  ISO_KERNEL(ellipsoid_projector<T, Space, Kind>);

  ellipsoid_list list;
  Kokkos::View<view_vectors const*, Space> views;
  Kokkos::View<T***, Kokkos::LayoutRight, Space> out;
  int subsamples;
  std::int64_t first = 0;  ///< group of the launch

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t groups_a_column() const {
    return (std::int64_t(out.extent(2)) + 31) / 32;
  }
  [[nodiscard]] std::int64_t num_groups() const {
    return std::int64_t(out.extent(0)) * std::int64_t(out.extent(1)) * groups_a_column();
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t of_launch) const {
    std::int64_t const index = first + of_launch;
    std::int64_t const columns = index / groups_a_column();
    std::int64_t const first_v = 32 * (index % groups_a_column());
    std::int64_t const u = columns % std::int64_t(out.extent(1));
    std::int64_t const view = columns / std::int64_t(out.extent(1));
    view_vectors const at = views(view);

    std::uint32_t const active = met(group, at, double(u), double(first_v));
    typename Group::template lane_array<double> total(0.0);
    for (int i = 0; i < subsamples && active != 0; ++i) {
      vec3<double> const foot = along(double(u) + offset(i), at.u_step, at.detector_origin);
      for (int j = 0; j < subsamples; ++j) {
        add_rays(group, at, foot, double(first_v) + offset(j), active, total);
      }
    }
    double const rays = double(subsamples) * double(subsamples);
    std::int64_t const last = std::int64_t(out.extent(2)) - first_v;
    T* const pixels = &out(view, u, first_v);
    group.each([&](int lane) {
      if (lane < last) {
        pixels[lane] = canonical(T(total[lane] / rays));
      }
    });
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION double offset(int i) const {
    return (double(i) + 0.5) / double(subsamples) - 0.5;
  }
  KOKKOS_FUNCTION static vec3<double> along(double steps, vec3<double> step, vec3<double> from) {
    return {Kokkos::fma(steps, step.x, from.x), Kokkos::fma(steps, step.y, from.y),
            Kokkos::fma(steps, step.z, from.z)};
  }
  /// Leads from the detector's point to the ray's direction (mm).
  KOKKOS_FUNCTION static vec3<double> direction(view_vectors const& at, vec3<double> pixel) {
    return Kind == beam::cone ? pixel - at.source : at.source;
  }
  KOKKOS_FUNCTION static ball_ray<Kind> ray_in(ball_map const& shape, view_vectors const& at,
                                               vec3<double> pixel) {
    return {shape(Kind == beam::cone ? at.source : pixel), shape.turn(direction(at, pixel))};
  }

  /// Adds one sub-ray of each lane to its total.
  template <class Group>
  KOKKOS_FUNCTION void add_rays(Group const& group, view_vectors const& at, vec3<double> foot,
                                double first_v, std::uint32_t active,
                                typename Group::template lane_array<double>& total) const {
    typename Group::template lane_array<double> ray(0.0);
    for (int e = 0; e < list.count; ++e) {
      if ((active >> e & 1U) != 0) {
        ball_map const& shape = list.shapes[e];
        group.each([&](int lane) {
          vec3<double> const pixel = along(first_v + double(lane), at.v_step, foot);
          ray[lane] = Kokkos::fma(shape.density, ray_in(shape, at, pixel).chord(), ray[lane]);
        });
      }
    }
    group.each([&](int lane) {
      vec3<double> const pixel = along(first_v + double(lane), at.v_step, foot);
      total[lane] = Kokkos::fma(norm(direction(at, pixel)), ray[lane], total[lane]);
    });
  }

  /// Returns the ellipsoids that some sub-ray of the group may meet, a bit for each. A ray that
  /// misses adds an exact zero, so the answer shows in the time alone.
  template <class Group>
  KOKKOS_FUNCTION std::uint32_t met(Group const& group, view_vectors const& at, double u,
                                    double first_v) const {
    std::uint32_t active = 0;
    vec3<double> const foot = along(u, at.u_step, at.detector_origin);
    for (int e = 0; e < list.count; ++e) {
      ball_map const& shape = list.shapes[e];
      double const reach = 0.5 * (norm(shape.turn(at.u_step)) + norm(shape.turn(at.v_step)));
      typename Group::template lane_array<bool> meets;
      group.each([&](int lane) {
        vec3<double> const pixel = along(first_v + double(lane), at.v_step, foot);
        meets[lane] = may_meet(shape, at, pixel, reach);
      });
      active |= group.any(meets) ? 1U << e : 0U;
    }
    return active;
  }

  /// Returns false only where |p x d| > |d|, beyond what `reach` (half a pixel, in radii) and
  /// rounding can change, for every ray of the pixel.
  KOKKOS_FUNCTION static bool may_meet(ball_map const& shape, view_vectors const& at,
                                       vec3<double> pixel, double reach) {
    ball_ray<Kind> const l = ray_in(shape, at, pixel);
    double const p = norm(l.point);
    double const d = norm(l.direction);
    double const far = shape.norm * (norm(at.source) + norm(pixel) + norm(shape.centre)) + reach;
    double const moved = Kind == beam::cone ? reach * (1 + p) : reach * d;
    double const rounded = 0x1p-40 * far * (1 + far);
    return !(norm(l.moment()) > (1 + 0x1p-30) * (d + moved + rounded));
  }
};

/// Computes voxel means; a group is 32 neighbours along z.
template <class T, class Space>
struct ellipsoid_rasteriser {
  ISO_KERNEL(ellipsoid_rasteriser<T, Space>);

  ellipsoid_list list;
  iso::grid grid;
  Kokkos::View<T***, Kokkos::LayoutRight, Space> out;  ///< planes from `first_plane` on
  std::int64_t first_plane;
  int samples;
  std::int64_t first = 0;  ///< group of the launch

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t groups_a_column() const {
    return (std::int64_t(out.extent(2)) + 31) / 32;
  }
  [[nodiscard]] std::int64_t num_groups() const {
    return grid.extent[0] * grid.extent[1] * groups_a_column();
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t of_launch) const {
    std::int64_t const index = first + of_launch;
    std::int64_t const columns = index / groups_a_column();
    std::int64_t const first_z = 32 * (index % groups_a_column());
    std::int64_t const y = columns % grid.extent[1];
    std::int64_t const x = columns / grid.extent[1];
    vec3<double> const voxel{double(x), double(y), double(first_plane + first_z)};
    vec3<double> const middle = point(voxel, {0, 0, 15.5});
    double const all = double(samples) * double(samples) * double(samples);

    typename Group::template lane_array<double> value(0.0);
    for (int e = 0; e < list.count; ++e) {
      ball_map const& shape = list.shapes[e];
      side const column = where(shape, middle, shape.column_radius);
      if (column != side::outside) {
        group.each([&](int lane) {
          vec3<double> const at{voxel.x, voxel.y, voxel.z + double(lane)};
          double const inside = column == side::inside ? all : double(count(shape, at));
          value[lane] = Kokkos::fma(shape.density, inside / all, value[lane]);
        });
      }
    }
    std::int64_t const last = std::int64_t(out.extent(2)) - first_z;
    T* const voxels = &out(x, y, first_z);
    group.each([&](int lane) {
      if (lane < last) {
        voxels[lane] = canonical(T(value[lane]));
      }
    });
  }

 private:
  enum class side { inside, outside, unknown };

  [[nodiscard]] KOKKOS_FUNCTION vec3<double> point(vec3<double> voxel, vec3<double> offset) const {
    return {Kokkos::fma(grid.spacing.x, voxel.x + offset.x, grid.origin.x),
            Kokkos::fma(grid.spacing.y, voxel.y + offset.y, grid.origin.y),
            Kokkos::fma(grid.spacing.z, voxel.z + offset.z, grid.origin.z)};
  }
  KOKKOS_FUNCTION static side where(ball_map const& shape, vec3<double> middle, double radius) {
    double const distance = norm(shape(middle));
    return distance + radius < 1 - shape.slack   ? side::inside
           : distance - radius > 1 + shape.slack ? side::outside
                                                 : side::unknown;
  }
  /// Counts sample points of `voxel` inside `shape`.
  [[nodiscard]] KOKKOS_FUNCTION int count(ball_map const& shape, vec3<double> voxel) const {
    side const known = where(shape, point(voxel, {}), shape.voxel_radius);
    if (known != side::unknown) {
      return known == side::inside ? samples * samples * samples : 0;
    }
    int inside = 0;
    for (int i = 0; i < samples; ++i) {
      for (int j = 0; j < samples; ++j) {
        for (int k = 0; k < samples; ++k) {
          vec3<double> const q = shape(point(voxel, {offset(i), offset(j), offset(k)}));
          inside += dot(q, q) <= 1 ? 1 : 0;
        }
      }
    }
    return inside;
  }
  [[nodiscard]] KOKKOS_FUNCTION double offset(int i) const {
    return (double(i) + 0.5) / double(samples) - 0.5;
  }
};

}  // namespace iso::ct::detail::ISO_SET

#endif
