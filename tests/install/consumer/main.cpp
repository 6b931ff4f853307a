// SPDX-License-Identifier: BSD-3-Clause
// A program of somebody else: a cube of ones, seen by parallel rays along x.
#include <iso/ct/forward_project.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using exec_space = Kokkos::DefaultExecutionSpace;
  using memory = exec_space::memory_space;
  exec_space const exec;

  auto const cube =
      iso::make_volume<float, memory>("cube", iso::grid::centred({16, 16, 16}, {1, 1, 1}));
  Kokkos::deep_copy(exec, cube.data, 1.0F);
  iso::volume_view<float const, memory> const input = cube;

  auto const scan = iso::ct::circular_parallel({.num_u = 8, .num_v = 8}, {0.0});
  auto const seen = iso::make_projections<float, memory>("seen", 1, 8, 8);
  iso::workspace<memory> const scratch(
      iso::ct::forward_project_bytes_needed<float>(exec_space(), scan, cube.grid));
  iso::ct::forward_project(exec, iso::ct::stage(exec, scan), input, seen, scratch);
  exec.fence();

  auto const pixels = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), seen.data);
  double sum = 0;
  for (std::int64_t u = 0; u < 8; ++u) {
    for (std::int64_t v = 0; v < 8; ++v) {
      sum += pixels(std::int64_t(0), u, v);
    }
  }
  std::printf("64 rays through 16 mm of ones: %.17g\n", sum);
  return sum == 64 * 16 ? 0 : 1;
}
