// SPDX-License-Identifier: BSD-3-Clause
// The README's program: one cone-beam view of the Shepp-Logan head.
#include <iso/core/space.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/shepp_logan.hpp>

int main() {
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  Kokkos::DefaultExecutionSpace const exec;  // the GPU where Kokkos has one
  auto const scan = iso::ct::circular_cone({.num_u = 257, .num_v = 257}, 1000, 1200, {0.0});
  auto const grid = iso::grid::centred({256, 256, 256}, {1, 1, 1});  // voxels, mm
  auto const head = iso::make_volume<float, iso::space::device>(exec, "head", grid);
  auto const views = iso::make_projections<float, iso::space::device>(exec, "views", 1, 257, 257);
  iso::workspace<iso::space::device> const scratch(
      iso::ct::forward_project_bytes_needed<float>(Kokkos::DefaultExecutionSpace(), scan, grid));
  iso::ct::rasterise_ellipsoids(exec, iso::ct::shepp_logan(100), head);
  iso::ct::forward_project(exec, iso::ct::stage(exec, scan), head, views, scratch);
  auto const pixels = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, views.data);
  Kokkos::printf("line integral: %.9g\n", double(pixels(0, scan.num_u() / 2, scan.num_v() / 2)));
}
