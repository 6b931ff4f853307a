// SPDX-License-Identifier: BSD-3-Clause
// Reconstructs the Shepp-Logan head from its exact line integrals, and compares voxels in its brain
// with the phantom.
#include <iso/core/space.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>

int main() {
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  using exec_space = Kokkos::DefaultExecutionSpace;
  using space = iso::space::device;
  exec_space const exec;
  iso::ct::flat_detector const detector{.num_u = 160, .num_v = 128, .pitch_u = 2.5, .pitch_v = 2.5};
  auto const scan =
      iso::ct::circular_cone(detector, 1000, 1200, iso::ct::even_angles(180, 2 * std::numbers::pi));
  auto const grid = iso::grid::centred({128, 128, 128}, {2, 2, 2});
  auto const head = iso::ct::shepp_logan(128);
  auto const views = iso::make_projections<float, space>(exec, "views", 180, 160, 128);
  iso::ct::project_ellipsoids(exec, head, iso::ct::stage(exec, scan), views);

  iso::ct::fdk_reconstructor<exec_space, float> const reconstructor(exec, scan, grid);
  auto const volume = iso::make_volume<float, space>(exec, "volume", grid);
  reconstructor.apply(views, volume);
  exec.fence();

  auto const truth = iso::make_volume<float, space>(exec, "truth", grid);
  iso::ct::rasterise_ellipsoids(exec, head, truth);
  auto const found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, volume.data);
  auto const exact = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, truth.data);
  double sums[2] = {0, 0};
  for (std::int64_t x = 60; x < 68; ++x) {
    for (std::int64_t y = 84; y < 92; ++y) {
      sums[0] += double(found(x, y, std::int64_t(64)));
      sums[1] += double(exact(x, y, std::int64_t(64)));
    }
  }
  Kokkos::printf("brain: %.4f of the phantom\n", sums[0] / sums[1]);
  return std::abs(sums[0] / sums[1] - 1) < 0.02 ? 0 : 1;
}
