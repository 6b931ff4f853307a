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

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/forward_project_dda_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Computes line integrals by exact chords, one of `per_side` x `per_side` rays a pixel a launch. A
/// group makes 32 neighbouring v of one view and one u: its index is (view * num_u + u) *
/// ceil(num_v / 32) + block. Launches with part = 0, 1, ... add their rays u-major, and the last
/// takes the mean; a loop over the parts in here would take the walk's registers. Rays are set up
/// in double, lengths and sums are T.
template <class Method, class Index, class T>
struct forward_project_dda_kernel {
  ISO_KERNEL(forward_project_dda_kernel<Method, Index, T>);

  ray::traversal_grid grid;
  view_vectors const* views;
  T const* volume;  // [nx, ny, nz], contiguous
  T* projections;   // [views, u, v], contiguous
  std::int64_t num_u;
  std::int64_t num_v;
  beam kind;
  ray_limits limits;
  std::int32_t per_side = 1;
  std::int32_t part = 0;
  std::int64_t first_group = 0;  ///< of this launch

  /// Counts the groups of one view.
  [[nodiscard]] std::int64_t groups_per_view() const { return num_u * ((num_v + 31) / 32); }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Group const& group, std::int64_t in_launch) const {
    std::int64_t const index = first_group + in_launch;
    std::int64_t const blocks = (num_v + 31) / 32;
    std::int64_t const row = index / blocks;
    std::int64_t const first = (index - row * blocks) * 32;
    std::int64_t const view = row / num_u;
    std::int32_t const part_u = part / per_side;
    double const u = double(row - view * num_u) + ((part_u + 0.5) / per_side - 0.5);
    double const dv = (part - part_u * per_side + 0.5) / per_side - 0.5;
    typename Group::template lane_array<ray::ray<double>> rays;
    typename Group::template lane_array<T> sums;
    group.each([&](int lane) {
      std::int64_t const v = first + lane < num_v ? first + lane : num_v - 1;
      rays[lane] = limits.clipped(pixel_ray(views[view], kind, u, double(v) + dv));
    });
    ISO_SET_OF(iso::ray::detail)::trace_group<Method, Index, T, Group, double>(group, grid, volume,
                                                                               rays, sums);
    group.each([&](int lane) {
      if (first + lane < num_v) {
        T& pixel = projections[row * num_v + first + lane];
        T const total = part == 0 ? sums[lane] : pixel + sums[lane];
        pixel = part + 1 < per_side * per_side ? total : canonical(total / T(per_side * per_side));
      }
    });
  }
};

}  // namespace iso::ct::detail::ISO_SET

#endif
