// SPDX-License-Identifier: BSD-3-Clause
// Gamma against an oracle that samples the interpolated dose and refines.
#include "gamma_support.hpp"

#include <iso/oracle/gamma.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace gamma_support;

/// Every `stride`th point within 1e-6 of the oracle, and not below it by more than rounding.
void check(host_volume<double> const& reference, host_volume<double> const& evaluated,
           criterion const& limits, gamma_options const& options, std::int64_t stride) {
  auto const exact = iso::oracle::exact_gamma(reference, evaluated, limits, options, stride);
  auto const mine = gamma_of<double>(reference, evaluated, {limits}, options);
  std::size_t compared = 0;
  double above = 0;
  double below = 0;
  for (std::size_t n = 0; n < exact.size(); ++n) {
    CHECK((std::isnan(exact[n]) || !std::isnan(mine.gamma[n])));
    if (!std::isnan(exact[n])) {
      ++compared;
      above = std::fmax(above, mine.gamma[n] - exact[n]);
      below = std::fmax(below, exact[n] - mine.gamma[n]);
    }
  }
  CHECK(compared > 5);
  CHECK(above < 2e-7 * options.max_gamma);
  // The oracle refines to less than that, but in curved valleys.
  CHECK(below < 1e-6);
}

double random_dose(double x, double y, double z) {
  return noise(std::uint64_t(std::int64_t(x * 8 + 4000) * 1000003 + std::int64_t(y * 8 + 4000)) *
                   7919 +
               std::uint64_t(std::int64_t(z * 8 + 4000)));
}

using ways = std::vector<interpolation>;

void check_hill(ways const& all) {
  auto const g = grid::centred({14, 15, 16}, {3, 3, 3});
  auto const reference = dose_of<double>(g, hill);
  auto const evaluated =
      dose_of<double>(g, [](double x, double y, double z) { return 1.01 * hill(x - 1, y, z); });
  for (auto const between : all) {
    CAPTURE(int(between));
    check(reference, evaluated, {0.03, 3}, {.between = between}, 37);
    check(reference, evaluated, {0.02, 2},
          {.between = between, .normalise = normalisation::local, .cut_off = 0.3}, 41);
    check(reference, evaluated, {0.001, 1}, {.between = between, .max_gamma = 4}, 83);
  }
}

// A cell has several minima. Of the points that are compared, one in `thinner`.
void check_random(ways const& all, std::vector<double> const& amounts, std::int64_t thinner = 1) {
  auto const g = grid::centred({9, 8, 7}, {2, 2.5, 3});
  auto const reference = dose_of<double>(g, random_dose);
  for (double const amount : amounts) {
    CAPTURE(amount);
    auto const evaluated = dose_of<double>(g, [&](double x, double y, double z) {
      return random_dose(x, y, z) + amount * (random_dose(y, z, x) - 0.5);
    });
    for (auto const between : all) {
      CAPTURE(int(between));
      check(reference, evaluated, {0.03, 3}, {.between = between}, 5 * thinner);
      check(reference, evaluated, {0.02, 2},
            {.between = between, .normalise = normalisation::given, .given_dose = 0.5},
            7 * thinner);
      check(reference, evaluated, {0.3, 1}, {.between = between}, 7 * thinner);
    }
  }
}

void check_grids(ways const& all, std::int64_t stride = 1) {
  grid const r{{7, 6, 5}, {2.3, 1.9, 4.1}, {-6.1, -5.2, -9.3}};
  grid const e{{10, 12, 9}, {1.7, 1.3, 2.2}, {-7, -4.9, -8}};
  auto const reference = dose_of<double>(r, hill);
  auto const evaluated = dose_of<double>(
      e, [](double x, double y, double z) { return 0.98 * hill(x, y + 1.5, z - 1); });
  for (auto const between : all) {
    CAPTURE(int(between));
    check(reference, evaluated, {0.01, 1}, {.between = between, .max_gamma = 3}, stride);
  }
}

void check_long_voxels(ways const& all, std::vector<double> const& roughness) {
  grid const r{{9, 6, 5}, {2.1, 4.3, 8.7}, {-8.1, -11.2, -17.3}};
  grid const e{{20, 7, 5}, {1, 4, 10}, {-9, -12, -20}};
  for (double const rough : roughness) {
    auto const reference = dose_of<double>(r, hill);
    auto const evaluated = dose_of<double>(e, [&](double x, double y, double z) {
      return hill(x - 1, y + 1, z) * (1.01 + rough * (random_dose(x, y, z) - 0.5));
    });
    for (auto const between : all) {
      CAPTURE(int(between));
      check(reference, evaluated, {0.02, 3}, {.between = between}, 19);
    }
  }
}

void check_few_dimensions(ways const& all) {
  grid const line{{40, 1, 1}, {1.5, 1, 1}, {-30, 0, 0}};
  grid const plane{{1, 17, 19}, {1, 2, 2}, {0, -16, -18}};
  grid const fine{{1, 33, 37}, {5, 1, 1}, {0.3, -16, -18}};
  for (auto const between : all) {
    CAPTURE(int(between));
    auto const off = [](double x, double y, double z) { return hill(x - 1, y + 0.5, z) * 1.01; };
    check(dose_of<double>(line, hill), dose_of<double>(line, off), {0.01, 1}, {.between = between},
          1);
    check(dose_of<double>(plane, hill), dose_of<double>(plane, off), {0.01, 1},
          {.between = between}, 7);
    // Another plane, 0.3 mm away.
    check(dose_of<double>(plane, hill), dose_of<double>(fine, off), {0.01, 1}, {.between = between},
          7);
  }
}

}  // namespace

TEST_CASE("gamma_index: a hill against itself shifted and scaled") {
  check_hill({interpolation::trilinear});
}

TEST_CASE("gamma_index: doses that look random, where a cell has several minima") {
  check_random({interpolation::trilinear, interpolation::tetrahedra}, {0.3}, 3);
}

TEST_CASE("gamma_index: grids that differ in spacing, origin and extent") {
  check_grids({interpolation::trilinear}, 4);
}

TEST_CASE("gamma_index: voxels of 1 x 4 x 10 mm") {
  check_long_voxels({interpolation::trilinear}, {0.2});
}

TEST_CASE("gamma_index: one and two dimensions") {
  check_few_dimensions({interpolation::trilinear});
}

TEST_CASE("gamma_index: every interpolation of a hill against itself") {
  check_hill({interpolation::tetrahedra, interpolation::grid_points});
}

TEST_CASE("gamma_index: every amount by which random doses differ") {
  check_random({interpolation::trilinear, interpolation::tetrahedra}, {0.03, 0.3, 1.0});
}

TEST_CASE("gamma_index: every interpolation, on grids that differ and of few dimensions") {
  check_grids({interpolation::trilinear, interpolation::tetrahedra, interpolation::grid_points});
  check_few_dimensions({interpolation::tetrahedra, interpolation::grid_points});
}

TEST_CASE("gamma_index: every interpolation and roughness in voxels of 1 x 4 x 10 mm") {
  check_long_voxels({interpolation::tetrahedra}, {0.2});
  check_long_voxels({interpolation::trilinear, interpolation::tetrahedra}, {0.0});
}
