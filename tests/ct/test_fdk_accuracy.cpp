// SPDX-License-Identifier: BSD-3-Clause
// How near filtered backprojection comes to known bodies, at any scale of lengths, and scans that
// broke other programs.
#include "fdk_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

using namespace fdk_support;
using iso::ct::ellipsoid;

struct scaled_scan {
  geometry g;
  grid volume;
};

/// The same with every length times `factor`.
scaled_scan scaled(geometry const& g, grid const& volume, double factor) {
  auto views = g.views();
  for (view_vectors& w : views) {
    w = {factor * w.source, factor * w.detector_origin, factor * w.u_step, factor * w.v_step};
  }
  return {geometry(g.kind(), g.num_u(), g.num_v(), views),
          {volume.extent, factor * volume.spacing, factor * volume.origin}};
}

}  // namespace

namespace {

/// Of a cube of ones, [25, 35)^3 of 64^3 voxels, the mean that comes back of its middle, which
/// alone is reconstructed. The detector sees the cube in every view: all other readings would be
/// zero.
void check_cube(double voxel, double source, double pixel) {
  CAPTURE(voxel);
  CAPTURE(source);
  CAPTURE(pixel);
  auto const g = grid::centred({64, 64, 64}, {voxel, voxel, voxel});
  auto const cube = volume_of<float>(g, [](auto i, auto j, auto k) {
    auto const in = [](std::int64_t n) { return n >= 25 && n < 35; };
    return in(i) && in(j) && in(k) ? 1 : 0;
  });
  auto const scan = iso::ct::circular_cone({40, 40, pixel * 1.5, pixel * 1.5}, source, 1.5 * source,
                                           iso::ct::even_angles(180, 2 * pi));
  auto const p = stack_of<float>(
      scan, projected(fast(), cube, scan, {.method = projector::branchless, .oversampling = 2}));
  grid const middle{{6, 6, 6}, g.spacing, g.origin + 27 * g.spacing};
  auto const found = reconstructed(fast(), scan, p, middle);
  double const mean = std::accumulate(found.begin(), found.end(), 0.0) / double(found.size());
  CHECK(std::abs(mean - 1) < 1e-2);
}

}  // namespace

TEST_CASE("fdk: a cube of ones comes back as one") {
  check_cube(0.8, 500, 1.0);
  check_cube(1.0, 1000, 0.8);
}

TEST_CASE("fdk: a cube of ones, with every voxel, source and pixel") {
  check_cube(0.8, 500, 0.8);
  check_cube(0.8, 1000, 0.8);
  check_cube(0.8, 1000, 1.0);
  check_cube(1.0, 500, 0.8);
  check_cube(1.0, 500, 1.0);
  check_cube(1.0, 1000, 1.0);
}

TEST_CASE_TEMPLATE("fdk: lengths scaled by a factor change nothing but the scale", T, float,
                   double) {
  iso::ct::flat_detector const centred{33, 41, 1.1, 0.9, 2.5, -1};
  iso::ct::flat_detector const beside{33, 41, 1.1, 0.9, 9, -1};
  auto const turn = iso::ct::even_angles(20, 2 * pi);
  auto const volume = grid::centred({13, 11, 40}, {1.3, 1.1, 0.8});
  for (auto const& scan :
       {iso::ct::circular_cone(centred, 120, 180, turn),
        iso::ct::circular_cone(centred, 120, 180, iso::ct::even_angles(30, 4)),
        iso::ct::circular_cone(beside, 120, 180, turn), iso::ct::circular_parallel(beside, turn)}) {
    auto const p = random_stack<T>(scan);
    fdk_options const options{.scan = {.truncation_correction = 2}};
    auto const expected = reconstructed(Kokkos::Serial(), scan, p, volume, options);
    double most = 0;
    for (T const x : expected) {
      most = std::max(most, std::abs(double(x)));
    }
    for (double const factor : {0x1p-10, 0x1p7, 1e-3, 1e3}) {
      CAPTURE(factor);
      auto const [g, v] = scaled(scan, volume, factor);
      auto found = reconstructed(Kokkos::Serial(), g, p, v, options);
      for (T& x : found) {
        x = T(factor * double(x));
      }
      if (factor == 0x1p-10 || factor == 0x1p7) {
        CHECK(difference(found, expected) == "");
      } else {
        // Coordinates on the detector are rounded anew.
        CHECK(farthest(found, expected) <
              16 * 41 * double(std::numeric_limits<T>::epsilon()) * most);
      }
    }
  }
}

TEST_CASE("fdk: 3 n and 3 n + 1 views, odd and even numbers of voxels and pixels") {
  std::vector<ellipsoid> const body = {{{0, 0, 0}, {28, 28, 1e4}, 0, 1}};
  for (std::int64_t const views : {90, 91, 150, 151}) {
    for (std::int64_t const pixels : {64, 65}) {
      auto const scan = iso::ct::circular_cone({pixels, 3, 1.5, 1.5}, 200, 300,
                                               iso::ct::even_angles(views, 2 * pi));
      auto const p = projected_bodies<float>(body, scan);
      for (std::int64_t const voxels : {32, 33}) {
        auto const found =
            reconstructed(fast(), scan, p, grid::centred({voxels, voxels, 1}, {1, 1, 1}));
        CAPTURE(views);
        CAPTURE(pixels);
        CAPTURE(voxels);
        CHECK(farthest(found, std::vector<double>(found.size(), 1.0)) < 0.02);
      }
    }
  }
}

TEST_CASE("fdk: ten or eleven voxels and pixels a side") {
  for (std::int64_t const voxels : {10, 11}) {
    for (std::int64_t const pixels : {10, 11}) {
      auto const g = grid::centred({voxels, voxels, voxels}, {1, 1, 1});
      auto const ones = volume_of<float>(g, [](auto, auto, auto) { return 1; });
      auto const scan = iso::ct::circular_cone({pixels, pixels, 2, 2}, 1000, 2000,
                                               iso::ct::even_angles(60, 2 * pi));
      auto const p = stack_of<float>(scan, projected(fast(), ones, scan));
      auto const found = reconstructed(fast(), scan, p, g, {.scan = {.truncation_correction = 4}});
      double least = 10;
      double most = 0;
      for (std::int64_t i = 2; i < voxels - 2; ++i) {
        for (std::int64_t j = 2; j < voxels - 2; ++j) {
          double const x = found[std::size_t((i * voxels + j) * voxels + voxels / 2)];
          least = std::min(least, x);
          most = std::max(most, x);
        }
      }
      // The box is wider than the detector along its diagonals.
      CHECK(least > 0.7);
      CHECK(most < 1);
    }
  }
}

TEST_CASE("fdk: parallel rays at exactly 0 and 90 degrees") {
  auto const scan = iso::ct::circular_parallel({11, 3}, {0, pi / 2});
  auto const g = grid::centred({11, 11, 3}, {1, 1, 1});
  // One pixel of each view, that of the voxel (7, 4): view 0 sees y, view 1 sees -x.
  std::vector<float> values(2 * 11 * 3, 0.f);
  values[(0 * 11 + 4) * 3 + 1] = 1;
  values[(1 * 11 + 3) * 3 + 1] = 1;
  auto const found = reconstructed(Kokkos::Serial(), scan, stack_of<float>(scan, values), g);
  auto const taps = iso::ct::ramp_taps(11);
  for (std::int64_t i = 0; i < 11; ++i) {
    for (std::int64_t j = 0; j < 11; ++j) {
      for (std::int64_t k = 0; k < 3; ++k) {
        double const expected =
            k != 1 ? 0
                   : pi / 2 *
                         (taps[std::size_t(std::abs(j - 4))] + taps[std::size_t(std::abs(i - 7))]);
        CHECK(std::abs(double(found[std::size_t((i * 11 + j) * 3 + k)]) - expected) < 1e-6);
      }
    }
  }
}

TEST_CASE("fdk: the error of the Shepp-Logan head falls with the size, and the windows smooth") {
  auto const error = [](std::int64_t n, ramp_window window) {
    auto const head = iso::ct::shepp_logan(128);
    double const voxel = 256 / double(n);
    auto const scan = iso::ct::circular_cone({n + n / 4, 3, 1.5 * voxel, 1.5 * voxel}, 1000, 1500,
                                             iso::ct::even_angles(2 * n, 2 * pi));
    auto const g = grid::centred({n, n, 1}, {voxel, voxel, voxel});
    auto const found =
        reconstructed(fast(), scan, projected_bodies<float>(head, scan), g, {window});
    auto const truth = rastered_bodies<float>(head, g);
    double sum = 0;
    for (std::size_t m = 0; m < found.size(); ++m) {
      sum += std::abs(double(found[m]) - double(truth[m]));
    }
    return sum / double(found.size());
  };
  double const coarse = error(64, ramp_window::ram_lak);
  double const fine = error(128, ramp_window::ram_lak);
  double const smooth = error(128, ramp_window::hann);
  CHECK(coarse < 0.022);
  CHECK(fine < 0.65 * coarse);
  CHECK(smooth > fine);
}
