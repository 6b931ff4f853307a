// SPDX-License-Identifier: BSD-3-Clause
// Projects arrays that the program owns already: a std::vector and a Kokkos::View. Nothing is
// copied.
#include <iso/core/wrap.hpp>
#include <iso/ct/forward_project.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

int main() {
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  using execution = Kokkos::DefaultHostExecutionSpace;
  using space = execution::memory_space;
  execution const exec;

  // What the program has: 32^3 voxels of 1 mm, and room for one view of 8 x 8 pixels.
  std::vector<float> const voxels(std::size_t(32) * 32 * 32, 0.02F);
  Kokkos::View<float***, Kokkos::LayoutRight, space> const pixels("pixels", 1, 8, 8);

  auto const volume =
      iso::wrap_volume<space>(voxels.data(), iso::grid::centred({32, 32, 32}, {1, 1, 1}));
  auto const projections = iso::wrap_projections(pixels);

  auto const scan = iso::ct::circular_parallel({.num_u = 8, .num_v = 8}, {0.0});
  auto const bytes = iso::ct::forward_project_bytes_needed<float>(execution(), scan, volume.grid);
  std::vector<std::byte> memory(std::size_t(bytes) + 64);
  void* start = memory.data();
  std::size_t room = memory.size();
  auto const scratch =
      iso::wrap_workspace<space>(std::align(64, std::size_t(bytes), start, room), bytes);

  iso::ct::forward_project<execution, float>(exec, iso::ct::stage(exec, scan), volume, projections,
                                             scratch);
  exec.fence();

  float const middle = pixels(std::size_t(0), std::size_t(4), std::size_t(4));
  std::printf("32 mm of 0.02 / mm: %.4f\n", double(middle));
  return std::abs(middle - 0.64F) < 1e-5F ? 0 : 1;
}
