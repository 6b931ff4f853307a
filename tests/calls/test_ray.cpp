// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include <iso/core/workspace.hpp>
#include <iso/ray/radiological_path.hpp>
#include <iso/ray/sort_rays.hpp>
#include <iso/ray/traverse.hpp>

TEST_CASE("rays") {
  using namespace calls;
  exec_space const exec;
  auto const grid = iso::grid::centred({8, 8, 8}, {1, 1, 1});
  double length = 0;
  iso::ray::traverse<iso::ray::siddon>(
      iso::ray::ray<double>{{-10, 0.25, 0.25}, {1, 0, 0}}, iso::ray::traversal_grid(grid),
      [&](std::int64_t /*voxel*/, double chord) { length += chord; });
  CHECK(length == 8);

  Kokkos::View<iso::ray::ray<float>*, space> const rays("rays", 4);
  auto const host = Kokkos::create_mirror_view(rays);
  for (std::size_t n = 0; n < 4; ++n) {
    host(n) = iso::ray::ray<float>::between({-10, float(n) - 1.75F, 0.25F},
                                            {10, float(n) - 1.75F, 0.25F});
  }
  Kokkos::deep_copy(exec, rays, host);
  Kokkos::View<std::int64_t*, space> const order("order", 4);
  iso::ray::sort_rays(exec, rays, grid, order,
                      iso::workspace<space>(iso::ray::sort_rays_bytes_needed(exec, 4)));
  Kokkos::View<float*, space> const paths("paths", 4);
  iso::ray::radiological_path(exec, rays, volume_of(grid, 0.5), paths);
  iso::ray::radiological_path(exec, Kokkos::View<iso::ray::ray<float> const*, space>(rays),
                              iso::volume_view<float const, space>(volume_of(grid, 0.5)), paths,
                              {.method = iso::ray::traversal::branchless});
  auto const sums = Kokkos::create_mirror_view_and_copy(iso::space::host(), paths);
  CHECK(sums(0) == 4);
}
