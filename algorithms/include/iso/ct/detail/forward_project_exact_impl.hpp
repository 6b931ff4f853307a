// SPDX-License-Identifier: BSD-3-Clause
//! Launches forward projection by exact lengths in voxels.
#pragma once

#include <iso/ct/detail/exact_sum_kernel.hpp>
#include <iso/ct/detail/forward_project_dda_kernel.hpp>
#include <iso/ct/detail/forward_project_tuning.hpp>
#include <iso/ct/detail/launch_parts.hpp>
#include <iso/ct/staged_geometry.hpp>
#include <iso/ray/detail/traversal_tuning.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Launches a kernel of exact_rays, once for each ray of a pixel.
template <class Exec, class T, class Kernel>
void launch_exact(Exec const& exec, geometry const& g, iso::grid const& volume, Kernel kernel,
                  forward_project_options const& options, job const& control) {
  constexpr auto tuned = ray::detail::traversal_tuning_of<Exec, T>;
  std::int32_t const parts = kernel.rays.parts();
  double const samples = double(g.num_views()) * samples_of_view(g, volume, options.method);
  for (std::int32_t part = 0; part < parts; ++part) {
    kernel.rays.part = part;
    launch_parts(exec, g.num_views() * kernel.rays.groups_per_view(), samples,
                 {control, double(part) / parts, double(part + 1) / parts},
                 [&](std::int64_t begin, std::int64_t count) {
                   kernel.rays.first_group = begin;
                   backend::for_each_lane_group<tuned.threads, tuned.min_blocks>(
                       "iso::ct::forward_project", exec, count, kernel, options.shape);
                 });
  }
}

template <class Space>
exact_rays rays_of(staged_geometry<Space> const& g, iso::grid const& volume,
                   forward_project_options const& options) {
  geometry const& host = g.host();
  return {g.views().data(),         host.num_u(),        host.num_v(), host.kind(),
          {volume, options.within}, options.oversampling};
}

template <class Method, class Exec, class T>
void project_exact(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
                   volume_view<T const, typename Exec::memory_space> const& volume, T* projections,
                   forward_project_options const& options, job const& control) {
  auto const launch = [&]<class Index>(Index) {
    launch_exact<Exec, T>(exec, g.host(), volume.grid,
                          forward_project_dda_kernel<Method, Index, T>{
                              ray::traversal_grid(volume.grid), volume.data.data(), projections,
                              rays_of(g, volume.grid, options)},
                          options, control);
  };
  if (volume.grid.size() < std::int64_t(1) << 31) {
    launch(std::int32_t());
  } else {
    launch(std::int64_t());
  }
}

/// What reproducible sums of chords are added to.
template <class T>
struct exact_sums {
  T* sums;               ///< [views, u, v]
  std::uint32_t* flags;  ///< [views, u, v / 32], a bit a pixel; may be null
  ray_sum_scale<T> const* scale;
  bool partial;  ///< words are there and are left, else line integrals are written
};

/// Returns how the words of a pixel become its line integral.
template <class T>
exact_value<T> value_of(iso::grid const& whole, forward_project_options const& options) {
  return {T(chord_unit::of<T>(whole).mm), T(options.oversampling * options.oversampling)};
}

/// Adds the chords in the planes `own` of a volume or slab, by any method of exact lengths: all
/// have the same.
template <class Exec, class T>
void project_exact_sums(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
                        volume_view<T const, typename Exec::memory_space> const& volume,
                        slab const& own, exact_sums<T> const& to,
                        forward_project_options const& options, job const& control) {
  auto const launch = [&]<class Index>(Index) {
    launch_exact<Exec, T>(
        exec, g.host(), volume.grid,
        exact_sum_kernel<Index, T>{ray::traversal_grid(volume.grid),
                                   volume.data.data() - volume.first_plane,
                                   volume.planes().count(),
                                   {std::int32_t(own.first), std::int32_t(own.last)},
                                   to.sums,
                                   to.flags,
                                   to.scale,
                                   1 / chord_unit::of<T>(volume.grid).mm,
                                   value_of<T>(volume.grid, options),
                                   to.partial,
                                   rays_of(g, volume.grid, options)},
        options, control);
  };
  // An index counts from where plane 0 would be.
  if (std::int64_t(volume.data.size()) + volume.grid.extent[2] < std::int64_t(1) << 31) {
    launch(std::int32_t());
  } else {
    launch(std::int64_t());
  }
}

}  // namespace iso::ct::detail
