// SPDX-License-Identifier: BSD-3-Clause
// Reconstructs a scan that the program holds in an array of its own, and writes a slice as PNG.
#include <iso/core/space.hpp>
#include <iso/core/stage.hpp>
#include <iso/core/wrap.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/files/png_file.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <vector>

namespace {

/// Returns line integrals [view, u, v], v fastest: those of a phantom, in place of your scan's.
std::vector<float> read_scan(iso::ct::geometry const& scan) {
  std::vector<float> readings(std::size_t(scan.num_views() * scan.num_u() * scan.num_v()));
  Kokkos::DefaultHostExecutionSpace const exec;
  auto const views = iso::wrap_projections<iso::space::host>(readings.data(), scan.num_views(),
                                                             scan.num_u(), scan.num_v());
  iso::ct::project_ellipsoids(exec, iso::ct::shepp_logan(100), iso::ct::stage(exec, scan), views);
  exec.fence();
  return readings;
}

}  // namespace

int main() {
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  using exec_space = Kokkos::DefaultExecutionSpace;  // the GPU where Kokkos has one
  using space = exec_space::memory_space;
  exec_space const exec;

  // The scan: 240 views about the z axis, a detector of 256 x 192 pixels of 1.2 mm, the source 600
  // mm from the axis and 900 mm from the detector.
  auto const scan =
      iso::ct::circular_cone({.num_u = 256, .num_v = 192, .pitch_u = 1.2, .pitch_v = 1.2}, 600, 900,
                             iso::ct::even_angles(240, 2 * std::numbers::pi));
  std::vector<float> const readings = read_scan(scan);

  // The program's array, as projections that `exec` reaches: copied to a GPU, used in place
  // elsewhere.
  auto const mine = iso::wrap_projections<iso::space::host>(readings.data(), scan.num_views(),
                                                            scan.num_u(), scan.num_v());
  auto const views = iso::stage<iso::access::read>(exec, mine.data);

  // The volume: 192^3 voxels of 1 mm about the axis.
  auto const grid = iso::grid::centred({192, 192, 192}, {1, 1, 1});
  auto const volume = iso::make_volume<float, space>(exec, "volume", grid);
  iso::ct::fdk_reconstructor<exec_space, float> const reconstructor(exec, scan, grid);
  reconstructor.apply({views.view()}, volume);

  // A slice, on the host. The copy waits for all that was enqueued before.
  auto const voxels = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, volume.data);
  iso::files::gray_image slice{192, 192, {}};
  for (std::int64_t y = 0; y < 192; ++y) {
    for (std::int64_t x = 0; x < 192; ++x) {
      slice.values.push_back(voxels(x, y, std::int64_t(72)));
    }
  }
  iso::files::prepare_png("slice.png", slice, {.black = 0.1, .white = 0.4}).commit();
  std::printf("middle of the slice: %.6f\n", double(slice.values[96 * 192 + 96]));
}
