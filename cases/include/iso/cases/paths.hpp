// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/paths.hpp
//! Runs radiological paths of rays through a volume.
#pragma once

#include <iso/cases/inputs.hpp>
#include <iso/cases/operation.hpp>
#include <iso/oracle/projections.hpp>
#include <iso/ray/radiological_path.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace iso::cases {

template <class T>
using shared_rays = std::shared_ptr<std::vector<ray::ray<T>> const>;

template <class T, class Exec>
using device_rays = Kokkos::View<ray::ray<T>*, typename Exec::memory_space>;

/// Puts them where `exec` computes; waits.
template <class T, class Exec>
device_rays<T, Exec> load_rays(Exec const& exec, std::vector<ray::ray<T>> const& host) {
  device_rays<T, Exec> const rays(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::cases::rays"), host.size());
  Kokkos::deep_copy(exec, rays,
                    Kokkos::View<ray::ray<T> const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                        host.data(), host.size()));
  exec.fence("iso::cases: rays are there");
  return rays;
}

/// Returns the model of paths, counted from at least 8192 of the rays.
template <class T>
min_work paths_through(std::vector<ray::ray<T>> const& rays, grid const& box) {
  auto const count = std::int64_t(rays.size());
  return path_work<T>(double(count), double(box.size()),
                      voxels_crossed(rays.data(), count, box, stride_for(count, 8192)));
}

/// Returns the sums of length times f(voxel) along about `count` of the rays; NaN for the others.
template <class T, class F>
std::vector<double> some_exact_paths(grid const& box, std::vector<ray::ray<T>> const& rays,
                                     std::int64_t count, F const& f) {
  auto const stride = std::size_t(stride_for(std::int64_t(rays.size()), count));
  std::vector<ray::ray<T>> some;
  for (std::size_t i = 0; i < rays.size(); i += stride) {
    some.push_back(rays[i]);
  }
  auto const paths = oracle::exact_paths(box, some, f);
  std::vector<double> all(rays.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    all[i * stride] = paths[i];
  }
  return all;
}

template <class T>
struct path_case {
  input_volume volume;
  shared_rays<T> rays;  ///< empty: 8192 random ones
  ray::traversal method = ray::traversal::fastest;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const voxels = volume.on<T>(exec);
    auto const host =
        rays ? rays
             : std::make_shared<std::vector<ray::ray<T>> const>(random_rays<T>(voxels.grid, 8192));
    auto const there = load_rays(exec, *host);
    auto const chosen = method;
    return {std::int64_t(host->size()),
            [=](Exec const& on, variant const& v, T* out) {
              Kokkos::View<T*, space> const paths(out, there.extent(0));
              ray::radiological_path(on, there, volume_view<T const, space>(voxels), paths,
                                     {chosen, {v.groups}});
            },
            paths_through<T>(*host, voxels.grid),
            [=](std::int64_t count) {
              auto const values = fetch(exec, voxels.data);
              return some_exact_paths(voxels.grid, *host, count, [&](oracle::index3 const& voxel) {
                auto const& n = voxels.grid.extent;
                return double(values[std::size_t((voxel[0] * n[1] + voxel[1]) * n[2] + voxel[2])]);
              });
            }};
  }
};

}  // namespace iso::cases
