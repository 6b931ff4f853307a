// SPDX-License-Identifier: BSD-3-Clause
// Gamma of doses that are steep, bent, huge or tiny, and of grids far from the origin.
#include "gamma_support.hpp"
#include "instances.hpp"

#include <iso/gamma/detail/trilinear_minimum.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace gamma_support;
using iso::test::difference;
using iso::test::refusal;

/// Gamma where a distance of one voxel and a dose of 1 are agreed on: one point of dose 1.
double gamma_at(vec3<double> const& at, host_volume<double> const& evaluated,
                interpolation between = interpolation::trilinear, double distance = 1) {
  auto const reference = dose_of<double>(grid{{1, 1, 1}, {1, 1, 1}, at}, std::vector{1.0});
  return gamma_of<double>(
             reference, evaluated, {{1, distance}},
             {.between = between, .normalise = normalisation::given, .given_dose = 1, .cut_off = 0})
      .gamma[0];
}

/// Of D = 1 + off + g (x - p) on 12^3 voxels of 1 mm.
double gamma_of_slope(vec3<double> const& p, vec3<double> const& g, double off,
                      interpolation between) {
  return gamma_at(p,
                  dose_of<double>({{12, 12, 12}, {1, 1, 1}, {0, 0, 0}},
                                  [&](double x, double y, double z) {
                                    return 1 + off + g.x * (x - p.x) + g.y * (y - p.y) +
                                           g.z * (z - p.z);
                                  }),
                  between);
}

double length_of_normal(vec3<double> const& g) {
  return std::sqrt(1 + g.x * g.x + g.y * g.y + g.z * g.z);
}

std::vector<interpolation> const continuous = {interpolation::trilinear, interpolation::tetrahedra};

}  // namespace

TEST_CASE("gamma_index: a plane of dose that nearly goes along an axis") {
  vec3<double> const g{932.83075335066974, 7.9868464064091986, 199.5994890320747};
  double const off = 933.70628743022712;
  for (auto const between : continuous) {
    CHECK(gamma_of_slope({5.8341560120881271, 5.9702423252077095, 5.5800351816434972}, g, off,
                         between) == doctest::Approx(off / length_of_normal(g)).epsilon(2e-7));
  }
}

TEST_CASE("gamma_index: slopes of 1 to 1e6 dose differences a voxel have the plane's distance") {
  std::uint64_t n = 0;
  auto const number = [&] { return noise(n++); };
  for (auto const between : continuous) {
    for (double const steep : {1.0, 1e2, 1e3, 1e4, 1e5, 1e6}) {
      double most = 0;
      for (int k = 0; k < 100; ++k) {
        vec3<double> const g{steep * number(), steep * number(), steep * number()};
        vec3<double> const p{5 + number(), 5 + number(), 5 + number()};
        double const exact = 2 * number() - 1;
        most =
            std::fmax(most, std::fabs(gamma_of_slope(p, g, exact * length_of_normal(g), between) -
                                      std::fabs(exact)));
      }
      CAPTURE(int(between));
      CAPTURE(steep);
      CHECK(most < (between == interpolation::trilinear ? 2e-7 : 2e-8));
    }
  }
}

TEST_CASE("gamma_index: saddles of dose") {
  grid const plane{{1, 2, 2}, {1, 1, 1}, {0, 0, 0}};
  for (double const b : {3.0, 1e3, 1e5, 1e7, 3e8}) {
    for (double const e0 : {1e-4, 1e-2, 1.0}) {
      for (double const distance : {1.0, 100.0}) {
        double const w = 1 / (distance * distance);
        // The least of 2 w t^2 + (e0 - b t^2)^2, at y = t, z = -t from the middle.
        double const square = std::fmin(0.25, std::fmax(0.0, (e0 - w / b) / b));
        double const exact = std::sqrt(2 * w * square + std::pow(e0 - b * square, 2));
        double const up = 1 + e0 + b / 4;
        double const down = 1 + e0 - b / 4;
        CAPTURE(b);
        CAPTURE(e0);
        CAPTURE(distance);
        double const mine =
            gamma_at({0, 0.5, 0.5}, dose_of<double>(plane, std::vector{up, down, down, up}),
                     interpolation::trilinear, distance);
        CHECK(std::fabs(mine - exact) < 1e-7 + 1e-7 * exact);
      }
    }
  }
}

TEST_CASE("gamma_index: minima along a circle") {
  grid const cell{{2, 2, 2}, {1, 1, 1}, {0, 0, 0}};
  for (double const b : {3.0, 10.0, 100.0, 1e4, 1e6}) {
    for (double const e0 : {0.1, 0.5, 1.0}) {
      // About the diagonal, at the radius r: the least of r^2 + (e0 - b r^2 / 2)^2.
      double const square = std::fmax(0.0, 2 * (e0 - 1 / b) / b);
      double const exact = std::sqrt(square + std::pow(e0 - b * square / 2, 2));
      auto const dose = dose_of<double>(cell, [&](double x, double y, double z) {
        x -= 0.5;
        y -= 0.5;
        z -= 0.5;
        return 1 + e0 + b * (x * y + y * z + z * x);
      });
      CAPTURE(b);
      CAPTURE(e0);
      CHECK(std::fabs(gamma_at({0.5, 0.5, 0.5}, dose) - exact) < 1e-7 + 1e-7 * exact);
    }
  }
}

TEST_CASE("gamma_index: doses that squares or inverses of would overflow are refused") {
  auto const refused = [](std::vector<double> const& evaluated, double reference) {
    return refusal([&] {
      gamma_of<double>(
          dose_of<double>({{1, 1, 1}, {1, 1, 1}, {0, 0.5, 0.5}}, std::vector{reference}),
          dose_of<double>({{1, 2, 2}, {1, 1, 1}, {0, 0, 0}}, evaluated), {{0.03, 3}});
    });
  };
  CHECK(refused({1.2e308, -1.5e308, 1.3e308, 1.2e308}, 1e308).find("at most 1e+300") !=
        std::string::npos);
  CHECK(refused({1e-310, 1e-310, 1e-310, 1e-310}, 1e-310).find("at least 1e-290") !=
        std::string::npos);
  CHECK(refused({1e300, -1e300, 1e299, 0}, 1e300) == "");
  CHECK(refused({1e-288, 0, 1e-288, 0}, 1e-288) == "");
  // Where rounding is more than the promised error.
  CHECK(refused({1e8, 0, 0, 0}, 1).find("at least 1e-08 of that") != std::string::npos);
}

TEST_CASE("gamma_index: a criterion alone and beside others that would order cells otherwise") {
  // Where the order depended on the criteria, each of these seeds had a point of other bits.
  auto const rough = [](std::uint64_t seed) {
    return [seed](double x, double y, double z) {
      return 0.5 + 0.5 * noise(std::uint64_t(x * 1e4 + y * 1e7 + z * 1e3) + seed);
    };
  };
  grid const e{{8, 8, 8}, {2, 2 * (1 + 1e-8), 2 * (1 - 0.7e-8)}, {0, 0, 0}};
  grid const r{{6, 6, 6}, e.spacing, {e.spacing.x, e.spacing.y, e.spacing.z}};
  auto const evaluated = dose_of<double>(e, rough(82));
  for (std::uint64_t const seed : {12, 15, 35, 37}) {
    auto const reference = dose_of<double>(r, rough(seed));
    auto const alone = gamma_of<double>(reference, evaluated, {{0.03, 3}});
    auto both = gamma_of<double>(reference, evaluated, {{0.03, 3}, {0.02, 4.7}});
    both.gamma.resize(alone.gamma.size());
    CHECK(difference(alone.gamma, both.gamma) == "");
  }
}

TEST_CASE("gamma_index: a criterion whose reach is just whole voxels, alone and beside others") {
  for (double const h : {0.1, 0.3, 0.7, 1.1}) {
    for (int const cells : {3, 6, 7}) {
      std::vector<double> values(std::size_t(cells) + 3, 5.0);
      values[std::size_t(cells)] = 1;
      auto const reference = dose_of<double>({{1, 1, 1}, {h, 1, 1}, {0, 0, 0}}, std::vector{1.0});
      auto const evaluated = dose_of<double>({{cells + 3, 1, 1}, {h, 1, 1}, {0, 0, 0}}, values);
      double const distance = h * cells / 3;
      for (auto const between : continuous) {
        gamma_options const options{.between = between, .max_gamma = 3};
        auto const alone = gamma_of<double>(reference, evaluated, {{1e-3, distance}}, options);
        auto const both = gamma_of<double>(reference, evaluated,
                                           {{1e-3, distance}, {1e-3, 2 * distance}}, options);
        CHECK(alone.gamma[0] == both.gamma[0]);
      }
    }
  }
}

TEST_CASE(
    "trilinear_minimum: no sample of a cell is below, whatever its sides and the first guess") {
  using namespace iso::gamma::detail;
  std::uint64_t n = 0;
  auto const number = [&](double low, double high) { return low + (high - low) * noise(n++); };
  std::int32_t const top[3] = {1, 1, 1};
  for (auto const& h : {triple{1, 4, 10}, triple{10, 1, 4}, triple{4, 10, 1}}) {
    for (double const steep : {0.3, 3.0, 100.0}) {
      double above = 0;
      double unreached = 0;
      for (int trial = 0; trial < 100; ++trial) {
        double e[8];
        double const middle = number(-1, 1);
        for (double& corner : e) {
          corner = middle + steep * number(-1, 1);
        }
        double const distance = number(1, 10);
        triple weight{};
        triple inverse{};
        triple point{};
        for (int k = 0; k < 3; ++k) {
          weight[k] = h[k] * h[k] / (distance * distance);
          inverse[k] = 1 / weight[k];
          point[k] = number(-0.5, 1.5);
        }
        trilinear const dose(e);
        auto const squared = [&](triple const& u) {
          triple unused{};
          double f = std::pow(dose.at(u, unused), 2);
          for (int k = 0; k < 3; ++k) {
            f += weight[k] * std::pow(u[k] - point[k], 2);
          }
          return f;
        };
        trilinear_minimum const search(dose, {h[0] / h[1], h[0] / h[2], h[1] / h[2]},
                                       {h[1] / h[0], h[2] / h[0], h[2] / h[1]}, weight, inverse,
                                       point);
        double least = 1e9;
        for (int sample = 0; sample < 11 * 11 * 11; ++sample) {
          double const f =
              squared({sample / 121 / 10.0, sample / 11 % 11 / 10.0, sample % 11 / 10.0});
          least = f < least ? f : least;
        }
        for (auto const what : {likely::minimum, likely::nothing}) {
          min_found best{
              1e9, {{number(-1, 2), number(-1, 2), number(-1, 2)}}, steep * number(-1, 1)};
          search.lower(top, what, best);
          REQUIRE(std::isfinite(best.squared));
          above = std::fmax(above, best.squared - least * (1 + relative_slack) - absolute_slack);
          unreached = std::fmax(unreached, std::fabs(squared(best.at) / best.squared - 1));
        }
      }
      CAPTURE(steep);
      CHECK(above <= 0);
      CHECK(unreached < 1e-6);
    }
  }
}

TEST_CASE("gamma_index: 64 criteria in a pass") {
  auto const g = grid::centred({5, 5, 5}, {2, 2, 2});
  auto const reference = dose_of<double>(g, hill);
  auto const evaluated =
      dose_of<double>(g, [](double x, double y, double z) { return 1.02 * hill(x - 1, y, z); });
  std::vector<criterion> criteria;
  for (int n = 0; n < 64; ++n) {
    criteria.push_back({0.01 + 0.0005 * n, 1 + 0.1 * (n % 9)});
  }
  auto const all = gamma_of<double>(reference, evaluated, criteria);
  for (std::size_t const n : {std::size_t(0), std::size_t(31), std::size_t(63)}) {
    auto const alone = gamma_of<double>(reference, evaluated, {criteria[n]});
    CHECK(difference(alone.gamma,
                     std::vector<double>(all.gamma.begin() + std::ptrdiff_t(n * 125),
                                         all.gamma.begin() + std::ptrdiff_t(n * 125 + 125))) == "");
  }
}

TEST_CASE("gamma_index: grids far from the origin agree but for rounding") {
  for (double const far : {1e3, 1e7, 1e9}) {
    grid const whole{{9, 9, 9}, {0.7, 0.7, 0.7}, {far, far / 3, -far}};
    grid const inner{{7, 7, 7}, whole.spacing, {far + 0.7, far / 3 + 0.7, 0.7 - far}};
    std::uint64_t n = 0;
    auto const dose =
        dose_of<double>(whole, [&](double, double, double) { return 0.5 + noise(n++); });
    auto const part = iso::make_volume<double, Kokkos::HostSpace>("part", inner);
    for (std::int64_t i = 0; i < 343; ++i) {
      part.data(i / 49, i / 7 % 7, i % 7) = dose.data(i / 49 + 1, i / 7 % 7 + 1, i % 7 + 1);
    }
    CAPTURE(far);
    CHECK(gamma_of<double>(part, dose, {{0.03, 3}}).summaries[0].largest == 0);
    CHECK(gamma_of<double>(dose, part, {{0.03, 3}}).summaries[0].outside == 729 - 343);
  }
}

TEST_CASE("summarise: a gamma of n bin widths is in bin n, and what is no gamma in none beyond") {
  iso::test::for_each_instance([](auto const& exec) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    for (std::int32_t const bins : {1, 3, 7, 22, 49, 98}) {
      for (double const max_gamma : {1.01, 1.1, 1.3, 2.0, 3.0}) {
        grid const g{{bins + 3, 1, 1}, {1, 1, 1}, {0, 0, 0}};
        auto const dose = iso::make_volume<double, space>(exec, "dose", g);
        Kokkos::deep_copy(exec, dose.data, 1.0);
        gamma_plan<double, space> const plan(exec, dose, dose, {{0.03, 3}},
                                             {.max_gamma = max_gamma});
        gamma_values<double, space> const gamma("gamma", 1, bins + 3, 1, 1);
        status_values<space> const status("status", bins + 3, 1, 1);
        auto const host = Kokkos::create_mirror_view(gamma);
        for (std::int32_t n = 0; n <= bins; ++n) {
          host(0, std::size_t(n), 0, 0) = n * (max_gamma / bins);
        }
        host(0, std::size_t(bins) + 1, 0, 0) = -1e3;
        host(0, std::size_t(bins) + 2, 0, 0) = std::numeric_limits<double>::quiet_NaN();
        Kokkos::deep_copy(exec, gamma, host);
        auto const s = summarise(exec, plan, gamma, status, {.bins = bins})[0];
        std::vector<std::int64_t> exact(std::size_t(bins), 1);
        exact.front() += 2;
        exact.back() += 1;
        CAPTURE(bins);
        CAPTURE(max_gamma);
        CHECK(s.histogram == exact);
        CHECK(std::isnan(s.mean));
      }
    }
  });
}

TEST_CASE("summarise: the mean is of the points compared") {
  grid const g{{4, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  auto const mine = gamma_of<double>(dose_of<double>(g, std::vector{1., .01, 1., 1.}),
                                     dose_of<double>(g, std::vector{1.25, 1.25, 1.25, 1.25}),
                                     {{0.25, 1}}, {.max_gamma = 3});
  CHECK(mine.summaries[0].compared == 3);
  CHECK(mine.summaries[0].mean == 1);
}
