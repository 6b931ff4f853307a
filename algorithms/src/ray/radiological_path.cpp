// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/registry.hpp>
#include <iso/detail/check_word.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/ray/detail/radiological_path_kernel.hpp>
#include <iso/ray/detail/traversal_tuning.hpp>
#include <iso/ray/radiological_path.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <limits>

namespace iso::ray::detail {
namespace {

template <class Method, class Index, class Exec, class T>
void launch(Exec const& exec, path_arguments<T> const& a, launch_shape shape, job const& control) {
  radiological_path_kernel<Method, Index, T> kernel{a.grid, a.rays, a.values, a.paths, a.count, 0};
  constexpr auto tuned = traversal_tuning_of<Exec, T>;
  iso::detail::in_timed_batches(
      exec, (a.count + 31) / 32, control, [&](std::int64_t first, std::int64_t last) {
        kernel.first_block = first;
        backend::for_each_lane_group<tuned.threads, tuned.min_blocks>(
            "iso::ray::radiological_path", exec, last - first, kernel, shape);
      });
}

template <class Method, class Exec, class T>
void launch(Exec const& exec, path_arguments<T> const& a, launch_shape shape, job const& control) {
  double const size = a.grid.stride.x * a.grid.extent.x;
  if (size <= double(std::numeric_limits<std::int32_t>::max())) {
    launch<Method, std::int32_t>(exec, a, shape, control);
  } else {
    launch<Method, std::int64_t>(exec, a, shape, control);
  }
}

}  // namespace

void check_radiological_path(grid const& g, std::int64_t rays, std::int64_t paths,
                             std::int64_t max_planes, radiological_path_options const& options) {
  ISO_VALIDATE(rays == paths,
               "iso::ray::radiological_path: {} rays and {} paths (each ray has one path); give a "
               "path for each ray",
               rays, paths);
  ISO_VALIDATE(g.extent[0] <= max_planes && g.extent[1] <= max_planes && g.extent[2] <= max_planes,
               "iso::ray::radiological_path: grid of [{}, {}, {}] voxels (at most {} along an axis "
               "are counted exactly); use double",
               g.extent[0], g.extent[1], g.extent[2], max_planes);
  iso::detail::check_word(options.method, "iso::ray::radiological_path", "method");
  ISO_VALIDATE(options.shape.groups_per_launch >= 0,
               "iso::ray::radiological_path: groups_per_launch {} (must not be negative); leave it "
               "at 0 for one launch",
               options.shape.groups_per_launch);
}

template <execution_space Exec, real T>
void launch_radiological_path(Exec const& exec, path_arguments<T> const& arguments,
                              radiological_path_options const& options, job const& control) {
  if (arguments.count == 0) {
    return;
  }
  Kokkos::Profiling::ScopedRegion const region("iso::ray::radiological_path");
  switch (options.method) {
    case traversal::siddon:
      return launch<siddon>(exec, arguments, options.shape, control);
    case traversal::branchless:
      return launch<branchless>(exec, arguments, options.shape, control);
    case traversal::amanatides_woo:
      return launch<amanatides_woo>(exec, arguments, options.shape, control);
    case traversal::fastest:
      break;
  }
  launch<fastest_walk<Exec>>(exec, arguments, options.shape, control);
}

#define ISO_RADIOLOGICAL_PATH(linkage, Exec, T)            \
  linkage template void launch_radiological_path<Exec, T>( \
      Exec const&, path_arguments<T> const&, radiological_path_options const&, job const&);
ISO_FOR_EACH_INSTANCE(ISO_RADIOLOGICAL_PATH, )

}  // namespace iso::ray::detail
