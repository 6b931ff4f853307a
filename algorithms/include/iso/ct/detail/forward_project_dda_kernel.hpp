// SPDX-License-Identifier: BSD-3-Clause
//! Projects forward by exact lengths in voxels.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_FORWARD_PROJECT_DDA_KERNEL_HPP
#define ISO_CT_DETAIL_FORWARD_PROJECT_DDA_KERNEL_HPP

#include <iso/core/numerics.hpp>
#include <iso/ct/detail/cylinder.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/region.hpp>
#include <iso/ray/detail/trace_group.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Returns a + s b, one rounding a component.
KOKKOS_FORCEINLINE_FUNCTION vec3<double> along(vec3<double> a, double s, vec3<double> b) {
  return {Kokkos::fma(s, b.x, a.x), Kokkos::fma(s, b.y, a.y), Kokkos::fma(s, b.z, a.z)};
}

/// Returns the ray of the detector point (u, v), in pixels: from the source to it, or the whole
/// line through it.
KOKKOS_FORCEINLINE_FUNCTION ray::ray<double> pixel_ray(view_vectors const& view, beam kind,
                                                       double u, double v) {
  vec3<double> const point = along(along(view.detector_origin, u, view.u_step), v, view.v_step);
  double const infinity = Kokkos::Experimental::infinity_v<double>;
  return kind == beam::cone ? ray::ray<double>{view.source, point - view.source, 0.0, 1.0}
                            : ray::ray<double>{point, view.source, -infinity, infinity};
}

/// The parts of rays that lie in a region.
struct ray_limits {
  region within;
  double x;  ///< the cylinder's axis, mm
  double y;
  double radius;

  ray_limits(grid const& g, region wanted)
      : within(wanted),
        x(g.origin.x + 0.5 * double(g.extent[0] - 1) * g.spacing.x),
        y(g.origin.y + 0.5 * double(g.extent[1] - 1) * g.spacing.y),
        radius(cylinder_radius(g)) {}
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION ray::ray<double> clipped(ray::ray<double> r) const {
    if (within == region::cylinder) {
      auto const [low, high] =
          inside_cylinder(radius, {r.direction.x, r.origin.x - x}, {r.direction.y, r.origin.y - y});
      bool const some = low <= high;  // else NaN, or none
      r.t_min = some && low > r.t_min ? low : r.t_min;
      r.t_max = !some ? r.t_min : high < r.t_max ? high : r.t_max;
    }
    return r;
  }
};

/// The rays of an exact projection: one of `per_side` x `per_side` rays a pixel, u-major, and 32
/// neighbouring v of one view and one u a group, whose index is (view * num_u + u) * ceil(num_v /
/// 32) + block.
struct exact_rays {
  view_vectors const* views;
  std::int64_t num_u;
  std::int64_t num_v;
  beam kind;
  ray_limits limits;
  std::int32_t per_side = 1;
  std::int32_t part = 0;
  std::int64_t first_group = 0;  ///< of this launch

  [[nodiscard]] std::int64_t groups_per_view() const { return num_u * ((num_v + 31) / 32); }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int32_t parts() const {
    return per_side * per_side;
  }

  /// The pixels of a group, and where its rays meet the detector.
  struct pixel_group {
    std::int64_t view;
    std::int64_t row;    ///< view * num_u + u
    std::int64_t first;  ///< v of lane 0
    double u;
    double dv;
  };
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION pixel_group group(std::int64_t in_launch) const {
    std::int64_t const index = first_group + in_launch;
    std::int64_t const blocks = (num_v + 31) / 32;
    std::int64_t const row = index / blocks;
    std::int64_t const view = row / num_u;
    std::int32_t const part_u = part / per_side;
    return {view, row, (index - row * blocks) * 32,
            double(row - view * num_u) + ((part_u + 0.5) / per_side - 0.5),
            (part - part_u * per_side + 0.5) / per_side - 0.5};
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool exists(pixel_group const& at, int lane) const {
    return at.first + lane < num_v;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int64_t pixel(pixel_group const& at,
                                                               int lane) const {
    return at.row * num_v + at.first + lane;
  }
  /// Returns the ray of a lane; lanes beyond the detector repeat its last pixel.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION ray::ray<double> of_lane(pixel_group const& at,
                                                                     int lane) const {
    std::int64_t const v = exists(at, lane) ? at.first + lane : num_v - 1;
    return limits.clipped(pixel_ray(views[at.view], kind, at.u, double(v) + at.dv));
  }
};

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/forward_project_dda_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Computes line integrals by exact chords. Launches with part = 0, 1, ... add their rays, and the
/// last takes the mean; a loop over the parts in here would take the walk's registers. Rays are set
/// up in double, lengths and sums are T.
template <class Method, class Index, class T>
struct forward_project_dda_kernel {
  ISO_KERNEL(forward_project_dda_kernel<Method, Index, T>);

  ray::traversal_grid grid;
  T const* volume;  // [nx, ny, nz], contiguous
  T* projections;   // [views, u, v], contiguous
  exact_rays rays;

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Group const& group, std::int64_t in_launch) const {
    auto const at = rays.group(in_launch);
    typename Group::template lane_array<ray::ray<double>> mine;
    typename Group::template lane_array<T> sums;
    group.each([&](int lane) { mine[lane] = rays.of_lane(at, lane); });
    ISO_SET_OF(iso::ray::detail)::trace_group<Method, Index, T, Group, double>(group, grid, volume,
                                                                               mine, sums);
    group.each([&](int lane) {
      if (rays.exists(at, lane)) {
        T& pixel = projections[rays.pixel(at, lane)];
        T const total = rays.part == 0 ? sums[lane] : pixel + sums[lane];
        pixel = rays.part + 1 < rays.parts() ? total : canonical(total / T(rays.parts()));
      }
    });
  }
};

}  // namespace iso::ct::detail::ISO_SET

#endif
