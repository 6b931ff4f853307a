// SPDX-License-Identifier: BSD-3-Clause
// The README's program: one cone-beam view of the Shepp-Logan head.
#include <iso/ct/forward_project.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using execution = Kokkos::DefaultExecutionSpace;  // the GPU where Kokkos has one
  using space = execution::memory_space;
  execution const exec;

  auto const scan = iso::ct::circular_cone({.num_u = 257, .num_v = 257}, 1000, 1200, {0.0});
  auto const grid = iso::grid::centred({256, 256, 256}, {1, 1, 1});  // voxels, mm
  auto const volume = iso::make_volume<float, space>(exec, "head", grid, iso::unit::per_mm);
  auto const projections = iso::make_projections<float, space>(exec, "views", 1, 257, 257);
  iso::workspace<space> const scratch(
      iso::ct::forward_project_bytes_needed<execution, float>(scan, grid));

  iso::ct::rasterise_ellipsoids(exec, iso::ct::shepp_logan(100), volume);
  iso::ct::forward_project(exec, iso::ct::stage(exec, scan), volume, projections, scratch);
  auto const view = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, projections.data);
  std::int64_t const middle = 128;
  std::printf("line integral through the middle: %.9g\n", double(view(0, middle, middle)));
}
