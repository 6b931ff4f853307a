// SPDX-License-Identifier: BSD-3-Clause
// Projects the Shepp-Logan head and compares with its exact line integrals.
// Given the name of a file, writes a slice of the head, the first view and its exact line integrals
// there: three times 128 x 128 floats (scripts/readme_picture.py draws them).
#include <iso/core/space.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <vector>

namespace {

/// The slice 32 mm below the middle, the first view, and its exact line integrals.
template <class Volume, class Projections>
bool write_picture(char const* name, Volume const& volume, Projections const& ours,
                   Projections const& truth) {
  auto const voxels = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, volume);
  std::vector<float> numbers;
  for (std::size_t x = 0; x < 128; ++x) {
    for (std::size_t y = 0; y < 128; ++y) {
      numbers.push_back(voxels(x, y, std::size_t(47)));
    }
  }
  numbers.insert(numbers.end(), ours.data(), ours.data() + 128 * 128);
  numbers.insert(numbers.end(), truth.data(), truth.data() + 128 * 128);
  std::ofstream file(name, std::ios::binary);
  file.write(reinterpret_cast<char const*>(numbers.data()),
             std::streamsize(numbers.size() * sizeof(float)));
  return bool(file.flush());
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  using execution = Kokkos::DefaultExecutionSpace;
  using space = iso::space::device;
  execution const exec;

  // A head of 256 mm in 128^3 voxels, seen by a detector of 128 x 128 pixels from 24 sides.
  auto const head = iso::ct::shepp_logan(128);
  auto const volume =
      iso::make_volume<float, space>(exec, "head", iso::grid::centred({128, 128, 128}, {2, 2, 2}));
  iso::ct::flat_detector const detector{.num_u = 128, .num_v = 128, .pitch_u = 2.5, .pitch_v = 2.5};
  auto const scan =
      iso::ct::circular_cone(detector, 1000, 1200, iso::ct::even_angles(24, 2 * std::numbers::pi));
  auto const geometry = iso::ct::stage(exec, scan);

  auto const projections = iso::make_projections<float, space>(exec, "projections", 24, 128, 128);
  auto const exact = iso::make_projections<float, space>(exec, "exact", 24, 128, 128);
  iso::workspace<space> const scratch(
      iso::ct::forward_project_bytes_needed<float>(execution(), scan, volume.grid));

  // Three calls, enqueued one after the other; nothing waits until the fence.
  iso::ct::rasterise_ellipsoids(exec, head, volume);
  iso::ct::forward_project(exec, geometry, volume, projections, scratch);
  iso::ct::project_ellipsoids(exec, head, geometry, exact);
  exec.fence();

  auto const ours = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, projections.data);
  auto const truth = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, exact.data);
  double difference = 0;
  double total = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    difference += std::abs(double(ours.data()[i]) - double(truth.data()[i]));
    total += std::abs(double(truth.data()[i]));
  }
  std::printf("|projected - exact| / |exact| = %.4f\n", difference / total);
  if (argc > 1 && !write_picture(argv[1], volume.data, ours, truth)) {
    return 2;
  }
  return difference < 0.02 * total ? 0 : 1;
}
