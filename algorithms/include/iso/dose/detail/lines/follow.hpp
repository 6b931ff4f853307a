// SPDX-License-Identifier: BSD-3-Clause
//! Holds launches of the engines that follow lines: voxel_lines, voxel_samples and non_voxel.
#pragma once

#include <iso/backend/for_each_index.hpp>
#include <iso/core/job.hpp>
#include <iso/dose/detail/convolution_scratch.hpp>
#include <iso/dose/detail/lines/sampled_kernels.hpp>
#include <iso/dose/detail/lines/tuning.hpp>
#include <iso/dose/detail/lines/voxel_kernel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace iso::dose::detail {

/// Returns the rays of non_voxel along a direction, which cover the region.
template <class T>
ray_grid<T> rays_along(iso::grid const& g, vec3<double> const& direction, double spacing,
                       double step) {
  // The axis that lies most across the direction.
  int least = 0;
  for (int axis = 1; axis < 3; ++axis) {
    least = std::fabs(direction[axis]) < std::fabs(direction[least]) ? axis : least;
  }
  vec3<double> across;
  across[least] = 1;
  across = across - dot(across, direction) * direction;
  across = (1 / norm(across)) * across;
  ray_grid<T> r{{across, cross(direction, across)}, direction, {}, T(spacing), T(step), {}, 0};
  for (int axis = 0; axis < 3; ++axis) {
    r.middle[axis] =
        g.origin[axis] + 0.5 * g.spacing[axis] * double(g.extent[std::size_t(axis)] - 1);
  }
  auto const reach = [&](vec3<double> const& along) {
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
      sum += std::fabs(along[axis]) * g.spacing[axis] * double(g.extent[std::size_t(axis)]);
    }
    return sum;
  };
  r.rays[0] = std::int64_t(reach(r.across[0]) / spacing) + 2;
  r.rays[1] = std::int64_t(reach(r.across[1]) / spacing) + 2;
  r.samples = std::int64_t(reach(direction) / step) + 2;
  return r;
}

/// Runs engines whose voxels, or samples, follow lines back, by either kind of kernel.
template <class Absorption, class T, class Kernel, class Exec>
void follow_lines(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                  back_walk const& walk, typename Absorption::tables const* tables,
                  sum_target<T> const& to, convolution_scratch<T, Kernel, Exec> const& s,
                  job const& control) {
  iso::grid const& g = plan.region();
  cone_line<T> const* const lines = plan.storage().directions.data();
  interpolated_region<T> const region{
      s.voxels[0], s.densities[0], {g.extent[0], g.extent[1], g.extent[2]}};
  auto const by_voxels = [&](auto const& follow) {
    using follow_type = std::decay_t<decltype(follow)>;
    voxel_dose_kernel<T, Absorption, follow_type> kernel{
        g,       plan.frame().source, lines, tables, plan.num_directions(),
        s.range, plan.unit(),         to,    follow};
    std::int64_t const parts = lines_tuning<Exec>::parts;
    std::int64_t const groups = kernel.num_groups();
    for (std::int64_t part = 0; part < parts; ++part) {
      kernel.first_group = groups * part / parts;
      backend::for_each_lane_group("iso::dose::convolve", exec,
                                   groups * (part + 1) / parts - kernel.first_group, kernel,
                                   plan.options().shape);
      control.step(double(part + 1) / double(parts));
    }
  };
  auto const by_chords = [&](auto method) {
    by_voxels(
        follow_chords<decltype(method), T>{ray::traversal_grid(g), region.terma, region.density});
  };
  if (plan.options().engine == dose_engine::voxel_samples) {
    by_voxels(follow_samples<T>{g, region, T(plan.options().radial_step)});
    return;
  }
  if (plan.options().engine == dose_engine::voxel_lines) {
    switch (plan.options().traversal) {
      case ray::traversal::siddon:
        return by_chords(ray::siddon());
      case ray::traversal::branchless:
        return by_chords(ray::branchless());
      default:
        return by_chords(ray::amanatides_woo());
    }
  }
  for (std::size_t n = 0; n < walk.directions.size(); ++n) {
    vec3<double> const& along = walk.directions[n];
    auto const rays =
        rays_along<T>(g, along, plan.options().ray_spacing, plan.options().radial_step);
    vec3<double> const v = rays.middle - plan.frame().source;
    backend::for_each_index("iso::dose::convolve: ray trace", exec, rays.size(),
                            ray_trace_kernel<T>{rays, g, region, s.samples[0], s.samples[1]});
    backend::for_each_index(
        "iso::dose::convolve: transpose", exec, rays.size(),
        ray_transpose_kernel<T>{rays, {s.samples[0], s.samples[1]}, {s.samples[2], s.samples[3]}});
    backend::for_each_index("iso::dose::convolve: lines", exec, rays.size(),
                            ray_convolution_kernel<T, Absorption>{
                                rays,
                                T(dot(v, along)),
                                {T(dot(v, rays.across[0])), T(dot(v, rays.across[1]))},
                                s.samples[2],
                                s.samples[3],
                                lines,
                                tables,
                                std::int64_t(n),
                                s.samples[4]});
    backend::for_each_index("iso::dose::convolve: sum", exec, g.size(),
                            ray_sum_kernel<T>{rays, g, s.samples[4], s.sums[0]});
    control.step(double(n + 1) / double(walk.directions.size()));
  }
  backend::for_each_index(
      "iso::dose::convolve: join", exec, g.size(),
      put_sums_kernel<T>{
          {g.extent[0], g.extent[1], g.extent[2]}, s.sums[0], plan.unit(), s.range, to});
}

}  // namespace iso::dose::detail
