// SPDX-License-Identifier: BSD-3-Clause
// The weights of short scans and of displaced detectors at their limits, by the images that they
// give.
#include "fdk_truth.hpp"
#include "instances.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace fdk_truth;
using iso::test::refusal;

/// Of Gaussians, by a detector of which the axis is seen at column `axis` from its near edge.
comparison beside_axis(double axis, double side) {
  constexpr std::int64_t columns = 80;
  constexpr double pitch = 1.2;
  auto const volume = grid::centred({40, 40, 1}, {1, 1, 1});
  double const offset = side * (0.5 * double(columns - 1) - axis) * pitch;
  auto const g = iso::ct::circular_cone({columns, 41, pitch, pitch, offset}, 300, 450,
                                        iso::ct::even_angles(360, 2 * pi));
  return compared(reconstructed(fast(), g, exact_stack<float>(g, gaussians()), volume), volume,
                  gaussians(), [](auto const&) { return true; });
}

}  // namespace

TEST_CASE("fdk: the shortest arc that is accepted suffices for the farther edge of the detector") {
  constexpr std::int64_t columns = 384;
  constexpr double pitch = 0.75;
  constexpr double shift = 25;
  constexpr double source = 300;
  constexpr double detector = 450;
  double const farther = std::atan((0.5 * double(columns - 1) * pitch + shift) / detector);
  for (double const side : {1.0, -1.0}) {
    CAPTURE(side);
    iso::ct::flat_detector const d{columns, 9, pitch, 1.5, side * shift};
    auto const scan = [&](double arc, double first) {
      return iso::ct::circular_cone(d, source, detector, iso::ct::even_angles(400, arc, first));
    };
    double refused = pi;
    double accepted = 1.5 * pi;
    for (int step = 0; step < 24; ++step) {
      double const middle = 0.5 * (refused + accepted);
      bool const good = refusal([&] {
                          iso::ct::weigh_scan(scan(middle, 0), {.arc = scan_arc::short_scan});
                        }).empty();
      (good ? accepted : refused) = middle;
    }
    CHECK(std::abs(accepted - pi - 2 * farther) < 1e-6);
    auto const result = [&](geometry const& g, std::vector<body> const& bodies,
                            grid const& volume) {
      return compared(reconstructed(fast(), g, exact_stack<float>(g, bodies), volume,
                                    {.scan = {.arc = scan_arc::short_scan}}),
                      volume, bodies, [](auto const&) { return true; });
    };
    // Its middle a quarter of a turn before the body, on whose side the detector reaches farther.
    auto const g = scan(accepted, -side * pi / 2 - accepted / 2);
    auto const check = [&](std::vector<body> const& bodies, grid const& volume, double allowed) {
      auto const found = result(g, bodies, volume);
      CHECK(std::abs(found.scale - 1) < 2e-3);
      CHECK(found.root_mean_square < allowed);
    };
    // Beyond what the nearer edge sees, and about the axis: angles of the fan that are counted from
    // the detector's middle give 0.0036 there.
    check({{{90, 0, 0}, 4, 1}}, {{24, 24, 1}, {1, 1, 1}, {78.5, -11.5, 0}}, 3e-3);
    check(gaussians(), grid::centred({50, 50, 1}, {2, 2, 1}), 5e-4);
    // The last views of the arc are the only ones that see some lines through a body which the
    // nearer edge does not reach. The arc that would suffice for the nearer edge lacks them: it
    // gives 0.0045 and 0.0040.
    double const begins = -252.5 * pi / 180;
    auto const late = scan(accepted, side > 0 ? begins : -begins - accepted);
    auto const found =
        result(late, {{{88, 0, 0}, 3, 1}}, {{24, 24, 1}, {1, 1, 1}, {76.5, -11.5, 0}});
    CHECK(found.root_mean_square < 2e-3);
  }
}

TEST_CASE("fdk: a displaced detector whose first or last columns see the axis") {
  // Weights that end half a pixel inside the near edge give NaN, 0.0055, 0.0032 and 0.0011.
  for (auto const& [axis, allowed] : {std::pair(0.0, 0.004), std::pair(0.5, 0.0035),
                                      std::pair(1.0, 0.0026), std::pair(2.0, 0.001)}) {
    for (double const side : {1.0, -1.0}) {
      CAPTURE(axis);
      CAPTURE(side);
      auto const found = beside_axis(axis, side);
      CHECK(std::abs(found.scale - 1) < 1e-3);
      CHECK(found.root_mean_square < allowed);
    }
  }
  // A quarter of a column beside a pixel's centre, where opposite views see other lines.
  for (auto const& [axis, largest] : {std::pair(0.25, 1.314), std::pair(1.25, 0.343),
                                      std::pair(2.25, 0.0727), std::pair(3.25, 0.0348)}) {
    CAPTURE(axis);
    CHECK(std::abs(beside_axis(axis, 1).largest - largest) < 0.02 * largest);
  }
}

TEST_CASE(
    "fdk: a circle that lacks a few views, or has random ones, gives the image of a full one") {
  auto const volume = grid::centred({40, 40, 3}, {2, 2, 2.5});
  auto const found = [&](std::vector<double> const& angles, double aside) {
    auto const g =
        iso::ct::circular_cone({aside == 0 ? 160 : 120, 40, 1.2, 1.2, aside}, 300, 450, angles);
    REQUIRE(iso::ct::weigh_scan(g).arc == scan_arc::full);
    return compared(reconstructed(fast(), g, exact_stack<float>(g, gaussians()), volume), volume,
                    gaussians(), [](auto const&) { return true; });
  };
  auto lacking = iso::ct::even_angles(180, 2 * pi, 0.3);
  double const even = found(lacking, 0).root_mean_square;
  double const even_beside = found(lacking, 36).root_mean_square;
  lacking.erase(lacking.begin() + 50, lacking.begin() + 53);
  CHECK(found(lacking, 0).root_mean_square < 1.5 * even);
  CHECK(found(lacking, 36).root_mean_square < 1.3 * even_beside);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> anywhere(0, 2 * pi);
  for (int scan = 0; scan < 3; ++scan) {
    std::vector<double> angles(360);
    for (double& angle : angles) {
      angle = anywhere(random);
    }
    CHECK(found(angles, 0).root_mean_square < 1.3 * even);
  }
}
