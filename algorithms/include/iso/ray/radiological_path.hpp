// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ray/radiological_path.hpp
#pragma once

#include <iso/core/concepts.hpp>
#include <iso/core/job.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/ray/path_options.hpp>
#include <iso/ray/ray.hpp>
#include <iso/ray/traversal_grid.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ray {

namespace detail {

template <class T>
struct path_arguments {
  traversal_grid grid;
  ray<T> const* rays;
  T const* values;
  T* paths;
  std::int64_t count;
};

void check_radiological_path(grid const& g, std::int64_t rays, std::int64_t paths,
                             std::int64_t max_planes, radiological_path_options const& options);

/// Launches the walks. It is instantiated in src/ray/radiological_path.cpp for every backend, float
/// and double.
template <execution_space Exec, real T>
void launch_radiological_path(Exec const& exec, path_arguments<T> const& arguments,
                              radiological_path_options const& options, job const& control);

}  // namespace detail

/// Computes the integral of `volume` along each ray: the sum over the voxels it crosses of value *
/// length, one fma each, in order along the ray, from zero.
///
/// Enqueued on `exec`; does not fence. With a job that has callbacks it waits for batches of rays,
/// after each of which the job is asked; the job changes no bit. Overwrites `paths`, which must not
/// overlap the inputs. A ray that touches no voxel gives 0; a NaN reaches only the rays that cross
/// its voxel with a positive length, as the canonical NaN. Determinism: backend_to_backend.
///
/// \param[in]  rays    [n]; world coordinates, mm
/// \param[in]  volume  [nx, ny, nz], any unit; contiguous
/// \param[out] paths   [n], that unit times mm
/// \throws iso::invalid_argument  invalid grid, shapes that do not agree, a volume with gaps, an
///                                array without memory, paths that overlap an input, more than
///                                2^24 voxels along an axis in float, an unknown method
/// \throws iso::cancelled         as job::step
/// \par Method  iso/ray/traverse.hpp
template <execution_space Exec, view Rays, class T, class Space, view Paths>
  requires accesses<Exec, Space> && accesses<Exec, typename Rays::memory_space> &&
           accesses<Exec, typename Paths::memory_space>
void radiological_path(Exec const& exec, Rays const& rays, volume_view<T, Space> const& volume,
                       Paths const& paths, radiological_path_options const& options = {},
                       job const& control = {}) {
  using value = std::remove_const_t<T>;
  static_assert(real<value>, "iso::ray::radiological_path: volumes of float or double");
  static_assert(
      Rays::rank() == 1 && std::is_same_v<typename Rays::non_const_value_type, ray<value>> &&
          !std::is_same_v<typename Rays::array_layout, Kokkos::LayoutStride>,
      "iso::ray::radiological_path: rays must be a dense rank-1 view of iso::ray::ray<T>");
  static_assert(Paths::rank() == 1 && std::is_same_v<typename Paths::value_type, value> &&
                    !std::is_same_v<typename Paths::array_layout, Kokkos::LayoutStride>,
                "iso::ray::radiological_path: paths must be a dense writable rank-1 view of T");
  validate(volume, "iso::ray::radiological_path");
  auto const count = std::int64_t(rays.extent(0));
  validate_contiguous(volume.data, "volume data", "iso::ray::radiological_path");
  auto const memory = memory_of(paths, "paths");
  validate_memory({memory, memory_of(rays, "rays")}, "iso::ray::radiological_path");
  validate_apart(memory, {memory_of(rays, "rays"), memory_of(volume.data, "volume data")},
                 "iso::ray::radiological_path");
  detail::check_radiological_path(
      volume.grid, count, std::int64_t(paths.extent(0)),
      sizeof(value) == 4 ? std::int64_t(1) << 24 : std::int64_t(1) << 53, options);
  detail::launch_radiological_path<Exec, value>(
      exec, {traversal_grid(volume.grid), rays.data(), volume.data.data(), paths.data(), count},
      options, control);
}

}  // namespace iso::ray
