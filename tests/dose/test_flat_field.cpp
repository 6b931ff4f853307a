// SPDX-License-Identifier: BSD-3-Clause
// How flat the dose of an open field is in the layers of voxels behind a surface of water: the
// table of docs/algorithms/dose.md.
#include "dose_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace dose_support;
using exec_space = Kokkos::DefaultHostExecutionSpace;

/// What a layer's dose departs from its mean by, in per cent of it.
struct flatness {
  double mean_square;  ///< its root
  double least;
  double most;
};

/// Looks at the voxels of each layer at most 30 mm from the axis, in both directions, of a field of
/// 100 mm x 100 mm onto water: the penumbra is 20 mm away.
std::vector<flatness> layers_of(double voxel, dose_engine engine) {
  auto const across = std::int64_t(160 / voxel);
  auto s = setup::square(
      grid::centred({across, std::int64_t(60 / voxel), across}, {voxel, voxel, voxel}), 100, 950);
  s.options.engine = engine;
  auto const water = volume_of<float>(s.phantom, [](auto, auto, auto) { return 1.0; });
  auto const dose = calculation<float, exec_space>({}, s, water).dose_on_host();
  std::vector<flatness> layers;
  for (std::int64_t j = 0; j < 6; ++j) {
    std::vector<double> all;
    for (std::int64_t i = 0; i < across; ++i) {
      for (std::int64_t k = 0; k < across; ++k) {
        auto const at = middle_of(s.phantom, i, j, k);
        if (std::abs(at.x) < 30 && std::abs(at.z) < 30) {
          all.push_back(double(dose.data(i, j, k)));
        }
      }
    }
    double mean = 0;
    for (double const d : all) {
      mean += d / double(all.size());
    }
    double squares = 0;
    for (double const d : all) {
      squares += (d / mean - 1) * (d / mean - 1) / double(all.size());
    }
    auto const [least, most] = std::minmax_element(all.begin(), all.end());
    layers.push_back(
        {100 * std::sqrt(squares), 100 * (*least / mean - 1), 100 * (*most / mean - 1)});
    std::string const name = engine == dose_engine::lattice ? "lattice" : "exact lines";
    MESSAGE("voxels of " << voxel << " mm, " << name << ", layer " << j + 1 << ": "
                         << layers.back().mean_square << " %, " << layers.back().least << " to "
                         << layers.back().most << " %");
  }
  return layers;
}

}  // namespace

TEST_CASE("dose: an open field is flat behind the first layers of voxels") {
  for (double const voxel : {4.0, 2.0}) {
    auto const on_lattice = layers_of(voxel, dose_engine::lattice);
    auto const exact = layers_of(voxel, dose_engine::voxel_lines);
    // The figures of the page.
    CHECK(on_lattice[0].mean_square < 1.6);
    CHECK(on_lattice[0].most < 5);
    CHECK(on_lattice[0].least > -4);
    CHECK(on_lattice[1].mean_square < 0.6);
    CHECK(exact[0].mean_square < 0.5);
    for (std::size_t j = 2; j < exact.size(); ++j) {
      CHECK(on_lattice[j].mean_square < exact[j].mean_square + 0.15);
    }
  }
}
