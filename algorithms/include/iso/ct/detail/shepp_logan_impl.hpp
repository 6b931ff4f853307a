// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/ct/shepp_logan.hpp, for the files that instantiate them.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/backend/lane_group.hpp>
#include <iso/ct/detail/ellipsoid_kernel.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/detail/timed_batches.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

namespace iso::ct {
namespace detail {

/// Checks them and readies them for a kernel; throws iso::invalid_argument naming `function`.
ellipsoid_list prepare(std::span<ellipsoid const> ellipsoids, char const* function);
/// Adds the bounds that depend on the grid.
ellipsoid_list prepare(std::span<ellipsoid const> ellipsoids, grid const& g, char const* function);

/// Runs `kernel` for all its groups, in batches between which the job is asked.
template <class Exec, class Kernel>
void run_in_batches(char const* label, Exec const& exec, Kernel kernel, job const& control) {
  iso::detail::in_timed_batches(exec, kernel.num_groups(), control,
                                [&](std::int64_t first, std::int64_t last) {
                                  kernel.first = first;
                                  backend::for_each_lane_group(label, exec, last - first, kernel);
                                });
}

}  // namespace detail

template <execution_space Exec, real T>
void project_ellipsoids(Exec const& exec, std::span<ellipsoid const> ellipsoids,
                        staged_geometry<typename Exec::memory_space> const& geometry,
                        projection_view<T, typename Exec::memory_space> const& projections,
                        ellipsoid_projection_options const& options, job const& control) {
  using space = typename Exec::memory_space;
  auto const& scan = geometry.host();
  auto const& data = projections.data;
  validate(projections, {scan.num_views(), scan.num_u(), scan.num_v()},
           "iso::ct::project_ellipsoids");
  ISO_VALIDATE(options.subsamples >= 1 && options.subsamples <= 64,
               "iso::ct::project_ellipsoids: {} subsamples (must be from 1 to 64); use 1 for the "
               "ray through the middle of each pixel",
               options.subsamples);
  auto const shapes = detail::prepare(ellipsoids, "iso::ct::project_ellipsoids");

  Kokkos::Profiling::ScopedRegion const region("iso::ct::project_ellipsoids");
  auto const run = [&](auto kernel) {
    detail::run_in_batches("iso::ct::project_ellipsoids", exec, kernel, control);
  };
  if (scan.kind() == beam::cone) {
    run(detail::ellipsoid_projector<T, space, beam::cone>{shapes, geometry.views(), data,
                                                          int(options.subsamples)});
  } else {
    run(detail::ellipsoid_projector<T, space, beam::parallel>{shapes, geometry.views(), data,
                                                              int(options.subsamples)});
  }
}

template <execution_space Exec, real T>
void rasterise_ellipsoids(Exec const& exec, std::span<ellipsoid const> ellipsoids,
                          volume_view<T, typename Exec::memory_space> const& volume,
                          ellipsoid_raster_options const& options, job const& control) {
  validate_slab(volume, "iso::ct::rasterise_ellipsoids");
  ISO_VALIDATE(options.samples >= 1 && options.samples <= 64,
               "iso::ct::rasterise_ellipsoids: {} samples (must be from 1 to 64); use 1 for the "
               "middle of each voxel",
               options.samples);
  auto const shapes = detail::prepare(ellipsoids, volume.grid, "iso::ct::rasterise_ellipsoids");

  Kokkos::Profiling::ScopedRegion const region("iso::ct::rasterise_ellipsoids");
  detail::ellipsoid_rasteriser<T, typename Exec::memory_space> const kernel{
      shapes, volume.grid, volume.data, volume.first_plane, int(options.samples)};
  detail::run_in_batches("iso::ct::rasterise_ellipsoids", exec, kernel, control);
}

#define ISO_CT_ELLIPSOIDS(linkage, Exec, T)                                                  \
  linkage template void project_ellipsoids(Exec const&, std::span<ellipsoid const>,          \
                                           staged_geometry<Exec::memory_space> const&,       \
                                           projection_view<T, Exec::memory_space> const&,    \
                                           ellipsoid_projection_options const&, job const&); \
  linkage template void rasterise_ellipsoids(Exec const&, std::span<ellipsoid const>,        \
                                             volume_view<T, Exec::memory_space> const&,      \
                                             ellipsoid_raster_options const&, job const&);
ISO_FOR_EACH_INSTANCE(ISO_CT_ELLIPSOIDS, extern)

}  // namespace iso::ct
