// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/ray_sums_impl.hpp>
#include <iso/ct/slab_rays.hpp>
#include <iso/ct/view_projection.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace iso::ct {
namespace detail {

void validate_sums(iso::grid const& whole, voxel_bounds const& bounds,
                   forward_project_options const& options) {
  validate(whole, "iso::ct::ray_sums");
  validate_planes(whole, "iso::ct::ray_sums");
  ISO_VALIDATE(
      std::isfinite(bounds.max_abs) && bounds.max_abs >= 0,
      "iso::ct::ray_sums: voxels of at most {} (must be finite and not negative); take the "
      "bounds from iso::ct::bounds_of",
      bounds.max_abs);
  auto checked = options;
  checked.sum = summation::reproducible;
  checked.max_abs = {};
  validate_options(checked);
}

void validate_own(slab const& held, slab const& own, std::int64_t halo, iso::grid const& whole,
                  char const* function) {
  validate(own, whole, function);
  std::int64_t const first = std::max(own.first - halo, std::int64_t(0));
  std::int64_t const last = std::min(own.last + halo, whole.extent[2]);
  ISO_VALIDATE(
      held.first <= first && last <= held.last,
      "{}: rays through planes {} to {} from data of planes {} to {} (their neighbours reach "
      "{} planes beyond); give data of planes {} to {}",
      function, own.first, own.last - 1, held.first, held.last - 1, halo, first, last - 1);
}

joseph_groups groups_of(geometry const& g, iso::grid const& whole, joseph_path path,
                        std::int64_t value_bytes) {
  bool const fast = path == joseph_path::automatic && fast_path_applies(g, whole, value_bytes);
  return {fast, !fast && lanes_go_along_u(g, whole)};
}

std::int64_t halo_needed(geometry const& g, iso::grid const& whole,
                         forward_project_options const& options, std::int64_t value_bytes) {
  validate_sums(whole, {}, options);
  return is_joseph(options.method)
             ? halo_of(g, whole, groups_of(g, whole, options.path, value_bytes))
             : 0;
}

std::int64_t largest_halo(geometry const& g, iso::grid const& whole,
                          forward_project_options const& options) {
  return !is_joseph(options.method) ? 0
         : options.path == joseph_path::automatic
             ? halo_of(g, whole, {true, false})
             : std::max(halo_of(g, whole, {false, false}), halo_of(g, whole, {false, true}));
}

std::int64_t halo_of(geometry const& g, iso::grid const& whole, joseph_groups const& groups) {
  bool const along_u = groups.along_u;
  // From the ray in the middle to the farthest of those for which it stands.
  double const lanes = middle_lane * (groups.fast ? joint_rows : 1);
  double most = 0;
  for (view_vectors const& view : g.views()) {
    index_view const w = to_index(view, whole, g.kind());
    vec3<double> const step = along_u ? w.u_step : w.v_step;
    double const across = std::max(std::abs(step.x), std::abs(step.y));
    // In the plane of the axis that drives, which is the direction's largest part, neighbours are
    // no further apart along z than this, times how far from the source to the detector the plane
    // is.
    double apart = lanes * (std::abs(step.z) + across);
    if (g.kind() == beam::cone) {
      vec3<double> const n = cross(w.u_step, w.v_step);
      double const distance = std::abs(dot(n, w.origin - w.source)) / norm(n);
      // Neighbours' planes are as far but for the step that the detector makes along that axis.
      double const same = 1 - lanes * across * std::sqrt(3.0) / distance;
      if (!(same > 0.1)) {
        return whole.extent[2];
      }
      auto const depth = projection_of(g.kind(), view).depth;
      double part = 0;
      for (int corner = 0; corner < 8; ++corner) {
        auto const at = [&](int axis) {
          return (corner >> axis & 1) != 0 ? double(whole.extent[std::size_t(axis)]) : -1.0;
        };
        part = std::max(part, depth({whole.origin.x + whole.spacing.x * at(0),
                                     whole.origin.y + whole.spacing.y * at(1),
                                     whole.origin.z + whole.spacing.z * at(2)}));
      }
      apart *= std::min(part, 1.0) / same;
    }
    most = std::max(most, apart);
  }
  // One more for the plane above, one for rounding.
  return std::isfinite(most) && most < double(whole.extent[2])
             ? std::min(std::int64_t(std::ceil(most)) + 2, whole.extent[2])
             : whole.extent[2];
}

plane_range rows_of(geometry const& g, iso::grid const& whole, slab const& planes) {
  plane_range rows{0, 0};
  for (pixel_window const& window : slab_rays(g, whole, planes)) {
    rows = rows.joined({std::int32_t(window.first_v), std::int32_t(window.last_v)});
  }
  return rows;
}

bool same_scan(geometry const& a, geometry const& b) {
  auto const same = [](view_vectors const& x, view_vectors const& y) {
    return x.source == y.source && x.detector_origin == y.detector_origin && x.u_step == y.u_step &&
           x.v_step == y.v_step;
  };
  return a.kind() == b.kind() && a.num_u() == b.num_u() && a.num_v() == b.num_v() &&
         std::equal(a.views().begin(), a.views().end(), b.views().begin(), b.views().end(), same);
}

bool same_sums(forward_project_options const& a, joseph_groups const& of_a,
               forward_project_options const& b, joseph_groups const& of_b) {
  // Rays that walk together have their samples in the slab of one of them: other rays, other slabs.
  bool const same_owners =
      !is_joseph(a.method) || (of_a.fast == of_b.fast && of_a.along_u == of_b.along_u);
  return a.method == b.method && a.edge == b.edge && a.within == b.within &&
         a.oversampling == b.oversampling && same_owners;
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_CT_RAY_SUMS, )

}  // namespace iso::ct
