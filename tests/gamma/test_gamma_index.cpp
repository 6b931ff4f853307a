// SPDX-License-Identifier: BSD-3-Clause
// Gamma: known answers, conventions, and the same bits everywhere.
#include "gamma_support.hpp"
#include "instances.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace gamma_support;
using iso::test::difference;

template <class T>
T largest_difference(std::vector<T> const& a, std::vector<T> const& b) {
  REQUIRE(a.size() == b.size());
  T most = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    CHECK(std::isnan(a[n]) == std::isnan(b[n]));
    most = std::isnan(a[n]) ? most : std::fmax(most, std::fabs(a[n] - b[n]));
  }
  return most;
}

std::vector<interpolation> const all_interpolations = {
    interpolation::trilinear, interpolation::tetrahedra, interpolation::grid_points};

}  // namespace

TEST_CASE_TEMPLATE("gamma_index: four points worked out by hand", T, float, double) {
  // Rows along y, columns along z.
  auto const reference =
      dose_of<T>({{1, 2, 2}, {1, 2, 2}, {0, 0, -1}}, std::vector{.93, .95, .97, 1.00});
  auto const evaluated =
      dose_of<T>({{1, 2, 2}, {1, 2, 2}, {0, 1, 0}}, std::vector{.93, .96, .90, 1.02});
  struct {
    criterion limits;
    normalisation normalise;
    std::vector<double> exact;
  } const cases[] = {
      {{0.03, 3}, normalisation::global, {.471405, .577350, 1.105542, .816497}},
      {{0.02, 1}, normalisation::global, {1.414214, 1.5, 2.449490, 1.732051}},
      {{0.03, 3}, normalisation::local, {.471405, .587654, 1.108694, .816497}},
  };
  for (auto const& c : cases) {
    auto const mine = gamma_of<T>(reference, evaluated, {c.limits},
                                  {.between = interpolation::grid_points,
                                   .normalise = c.normalise,
                                   .cut_off = 0,
                                   .max_gamma = 5});
    for (std::size_t n = 0; n < 4; ++n) {
      CAPTURE(n);
      CHECK(double(mine.gamma[n]) == doctest::Approx(c.exact[n]).epsilon(1e-6));
    }
  }
}

TEST_CASE_TEMPLATE("gamma_index: uniform doses", T, float, double) {
  auto const g = grid::centred({5, 6, 7}, {2, 2, 2});
  auto const uniform = [&](double d) {
    return dose_of<T>(g, [=](double, double, double) { return d; });
  };
  double const eps = 40 * double(std::numeric_limits<T>::epsilon());
  for (auto const between : all_interpolations) {
    for (T const x :
         gamma_of<T>(uniform(1), uniform(1.01), {{0.01, 3}}, {.between = between}).gamma) {
      CHECK(double(x) == doctest::Approx(1).epsilon(eps * 100));
    }
    for (T const x :
         gamma_of<T>(uniform(1 / 1.005), uniform(1), {{0.01, 3}}, {.between = between}).gamma) {
      CHECK(double(x) == doctest::Approx(0.5).epsilon(eps * 100));
    }
    for (T const x : gamma_of<T>(uniform(0.7), uniform(0.7), {{0.01, 3}}).gamma) {
      CHECK(x == T(0));
    }
    for (T const x : gamma_of<T>(uniform(1), uniform(3), {{0.01, 3}}, {.between = between}).gamma) {
      CHECK(x == T(2));
    }
  }
}

TEST_CASE_TEMPLATE("gamma_index: identical doses have gamma 0", T, float, double) {
  auto const g = grid::centred({9, 10, 11}, {2, 3, 1.5});
  auto const dose = dose_of<T>(g, [](double x, double y, double z) {
    return hill(x, y, z) + 0.1 * noise(std::uint64_t(100 * (x + 50) + 10 * (y + 50) + z + 50));
  });
  for (auto const between : all_interpolations) {
    auto const mine = gamma_of<T>(dose, dose, {{0.03, 3}}, {.between = between});
    CHECK(mine.summaries[0].largest == 0);
    CHECK(mine.summaries[0].pass_rate == 1);
    CHECK(mine.summaries[0].mean == 0);
  }
}

TEST_CASE("gamma_index: a ramp has a closed form") {
  // D = a x: gamma = |shift a / dd| / sqrt(1 + (a dta / dd)^2), wherever the minimum is inside.
  grid const g{{30, 3, 3}, {2, 2, 2}, {0, 0, 0}};
  double const a = 0.01;
  auto const ramp = [&](double shift) {
    return dose_of<double>(g, [=](double x, double, double) { return 0.5 + a * (x - shift); });
  };
  auto const limits = criterion{0.02, 2};
  double const dd = 0.02 * 1.08;
  double const exact = std::fabs(1.3 * a / dd) / std::sqrt(1 + std::pow(a * 2 / dd, 2));
  for (auto const between : {interpolation::trilinear, interpolation::tetrahedra}) {
    auto const mine = gamma_of<double>(ramp(0), ramp(1.3), {limits}, {.between = between});
    for (std::size_t i = 2; i < 28; ++i) {
      CHECK(mine.gamma[i * 9 + 4] == doctest::Approx(exact).epsilon(1e-7));
    }
  }
}

TEST_CASE("gamma_index: scaling both criteria scales gamma") {
  auto const g = grid::centred({12, 12, 12}, {3, 3, 3});
  auto const reference = dose_of<double>(g, hill);
  auto const evaluated =
      dose_of<double>(g, [](double x, double y, double z) { return 1.01 * hill(x - 1, y, z); });
  auto const one = gamma_of<double>(reference, evaluated, {{0.01, 1}}, {.max_gamma = 4});
  auto const two = gamma_of<double>(reference, evaluated, {{0.02, 2}}, {.max_gamma = 2});
  auto const half = gamma_of<double>(reference, evaluated, {{0.005, 0.5}}, {.max_gamma = 8});
  for (std::size_t n = 0; n < one.gamma.size(); ++n) {
    if (!std::isnan(one.gamma[n])) {
      CHECK(two.gamma[n] * 2 == doctest::Approx(one.gamma[n]).epsilon(2e-7));
      CHECK(half.gamma[n] == doctest::Approx(2 * one.gamma[n]).epsilon(2e-7));
    }
  }
}

TEST_CASE("gamma_index: all lengths scaled change nothing") {
  for (double const scale : {1e-3, 1e3}) {
    auto const on = [&](double s) {
      auto const g = grid::centred({8, 9, 10}, {3 * s, 3 * s, 2 * s});
      auto const reference = dose_of<double>(
          g, [&](double x, double y, double z) { return hill(x / s, y / s, z / s); });
      auto const evaluated = dose_of<double>(
          g, [&](double x, double y, double z) { return 1.01 * hill(x / s - 1, y / s, z / s); });
      return gamma_of<double>(reference, evaluated, {{0.02, 2 * s}}).gamma;
    };
    CHECK(largest_difference(on(1), on(scale)) < 1e-6);
  }
}

TEST_CASE("gamma_index: an axis that runs the other way, and axes in another order") {
  auto const g = grid::centred({10, 10, 10}, {3, 3, 3});
  auto const pair = [&](auto const& seen) {
    auto const reference = dose_of<double>(g, [&](double x, double y, double z) {
      auto const [a, b, c] = seen(x, y, z);
      return hill(a - 2, b + 3, c);
    });
    auto const evaluated = dose_of<double>(g, [&](double x, double y, double z) {
      auto const [a, b, c] = seen(x, y, z);
      return 1.02 * hill(a - 3, b + 2, c + 1);
    });
    return gamma_of<double>(reference, evaluated, {{0.02, 2}}).gamma;
  };
  auto const plain = pair([](double x, double y, double z) { return std::array{x, y, z}; });
  auto const mirrored = pair([](double x, double y, double z) { return std::array{-x, y, -z}; });
  auto const turned = pair([](double x, double y, double z) { return std::array{z, x, y}; });
  std::vector<double> back(1000);
  std::vector<double> turned_back(1000);
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t j = 0; j < 10; ++j) {
      for (std::size_t k = 0; k < 10; ++k) {
        back[(i * 10 + j) * 10 + k] = mirrored[((9 - i) * 10 + j) * 10 + 9 - k];
        // (x, y, z) is seen as (z, x, y).
        turned_back[(k * 10 + i) * 10 + j] = turned[(i * 10 + j) * 10 + k];
      }
    }
  }
  CHECK(largest_difference(plain, back) < 4e-7);
  CHECK(largest_difference(plain, turned_back) < 4e-7);
}

TEST_CASE_TEMPLATE("gamma_index: the same bits on all backends, and of one criterion or of several",
                   T, float, double) {
  grid const r = grid::centred({5, 7, 9}, {2.5, 2, 2});
  grid const e{{8, 8, 8}, {1.9, 2.1, 2.4}, {-5, -7, -9}};
  auto const rough = [](double x, double y, double z) {
    return hill(x, y, z) * (1 + 0.05 * noise(std::uint64_t((x + 90) * 7e6 + (y + 90) * 3e3 + z)));
  };
  auto const reference = dose_of<T>(r, rough);
  auto const evaluated =
      dose_of<T>(e, [&](double x, double y, double z) { return 1.01 * rough(x - 1, y, z + 0.5); });
  std::vector<criterion> const criteria = {{0.03, 3}, {0.02, 2}, {0.01, 1}, {0.03, 1}};
  for (auto const between : all_interpolations) {
    for (auto const normalise : {normalisation::global, normalisation::local}) {
      gamma_options const options{.between = between, .normalise = normalise};
      found<T> first;
      iso::test::for_each_instance([&](auto const& exec) {
        auto const mine = gamma_on<T>(exec, reference, evaluated, criteria, options);
        first = first.gamma.empty() ? mine : first;
        CHECK(difference(first.gamma, mine.gamma) == "");
        CHECK(first.status == mine.status);
        CHECK(first.summaries[1].mean == mine.summaries[1].mean);
        CHECK(first.summaries[1].histogram == mine.summaries[1].histogram);
      });
      std::size_t const points = std::size_t(r.size());
      for (std::size_t c = 0; c < criteria.size(); ++c) {
        auto const alone = gamma_of<T>(reference, evaluated, {criteria[c]}, options);
        std::vector<T> const part(first.gamma.begin() + std::ptrdiff_t(c * points),
                                  first.gamma.begin() + std::ptrdiff_t((c + 1) * points));
        CHECK(difference(alone.gamma, part) == "");
      }
    }
  }
}

TEST_CASE("gamma_index: the cut-off is a dose of the doses' precision") {
  grid const g{{3, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  std::vector<double> const doses = {1, 0.7, 0.6999};
  // 0.7 as a float lies below 0.7 as a double.
  auto const as_float = gamma_of<float>(dose_of<float>(g, doses), dose_of<float>(g, doses),
                                        {{0.01, 1}}, {.cut_off = 0.7});
  auto const as_double = gamma_of<double>(dose_of<double>(g, doses), dose_of<double>(g, doses),
                                          {{0.01, 1}}, {.cut_off = 0.7});
  using enum point_status;
  CHECK(as_double.status == std::vector{compared, compared, below_cut_off});
  CHECK(as_float.status == as_double.status);
}

TEST_CASE("gamma_index: a job is asked between batches of points, and changes no bit") {
  grid const g = grid::centred({24, 23, 22}, {2, 2, 2});
  std::size_t place = 0;
  auto const random = [&](double, double, double) { return noise(place++); };
  auto const reference = dose_of<float>(g, random);
  auto const evaluated = dose_of<float>(g, random);
  Kokkos::DefaultHostExecutionSpace const exec;
  gamma_plan<float, Kokkos::HostSpace> const plan(exec, reference, evaluated, {{0.02, 3}});
  auto const& n = g.extent;
  gamma_values<float, Kokkos::HostSpace> const alone("alone", 1, n[0], n[1], n[2]);
  gamma_values<float, Kokkos::HostSpace> const asking("asking", 1, n[0], n[1], n[2]);
  status_values<Kokkos::HostSpace> const status("status", n[0], n[1], n[2]);
  gamma_index(exec, plan, alone, status);
  exec.fence();
  int asked = 0;
  double done = 0;
  gamma_index(exec, plan, asking, status,
              {[&](double fraction) { done = fraction; }, [&] { return ++asked < 0; }});
  CHECK(done == 1);
  CHECK(asked > 5);
  std::vector<float> const one(alone.data(), alone.data() + alone.size());
  std::vector<float> const other(asking.data(), asking.data() + asking.size());
  CHECK(difference(one, other) == "");
  asked = 0;
  CHECK_THROWS_AS(gamma_index(exec, plan, asking, status, {{}, [&] { return ++asked == 3; }}),
                  iso::cancelled);
  CHECK(asked == 3);
}

TEST_CASE("gamma_index: points outside and below the cut-off are told apart and counted") {
  grid const r{{10, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  grid const e{{5, 1, 1}, {1, 1, 1}, {2, 0, 0}};
  auto const reference = dose_of<double>(r, std::vector{1., 1., 1., .05, 1., 1., 1., 1., 1., .05});
  auto const evaluated = dose_of<double>(e, std::vector{1., 1., 1., 1.02, 1.});
  auto const mine = gamma_of<double>(reference, evaluated, {{0.01, 1.5}},
                                     {.cut_off = 0.1, .max_gamma = 2}, {.bins = 4});
  using enum point_status;
  CHECK(mine.status == std::vector{outside, outside, compared, below_cut_off, compared, compared,
                                   compared, outside, outside, below_cut_off});
  CHECK(std::isnan(mine.gamma[3]));
  // By distance alone.
  CHECK(mine.gamma[0] == doctest::Approx(2 / 1.5));
  CHECK(mine.gamma[1] == doctest::Approx(1 / 1.5));
  CHECK(mine.gamma[8] == doctest::Approx(2 / 1.5));
  auto const& s = mine.summaries[0];
  CHECK(s.below_cut_off == 2);
  CHECK(s.compared == 8);
  CHECK(s.outside == 4);
  CHECK(s.outside_passed == 2);
  CHECK(s.passed == 6);
  CHECK(s.pass_rate == 0.75);
  CHECK(s.largest == doctest::Approx(2 / 1.5));
  CHECK(s.bin_width == 0.5);
  CHECK(std::accumulate(s.histogram.begin(), s.histogram.end(), std::int64_t(0)) == 8);
  CHECK(s.histogram[2] == 2);
}

TEST_CASE("gamma_index: what passes at exactly one") {
  grid const g{{3, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  auto const one = dose_of<double>(g, std::vector{1., 1., 1.});
  auto const more = dose_of<double>(g, std::vector{1.25, 1.25, 1.25});
  CHECK(gamma_of<double>(one, more, {{0.25, 1}}).summaries[0].passed == 3);
  CHECK(gamma_of<double>(one, more, {{0.25, 1}}, {}, {.passes = pass_rule::below_one})
            .summaries[0]
            .passed == 0);
}

TEST_CASE("gamma_index: does not depend on the maximum gamma, but where it is reached") {
  auto const g = grid::centred({9, 9, 9}, {2, 2, 2});
  auto const reference = dose_of<double>(g, hill);
  auto const evaluated =
      dose_of<double>(g, [](double x, double y, double z) { return 1.03 * hill(x - 2, y, z); });
  auto const low = gamma_of<double>(reference, evaluated, {{0.01, 1}}, {.max_gamma = 1.5});
  auto const high = gamma_of<double>(reference, evaluated, {{0.01, 1}}, {.max_gamma = 6});
  bool reached = false;
  for (std::size_t n = 0; n < low.gamma.size(); ++n) {
    CHECK(low.gamma[n] == doctest::Approx(std::fmin(high.gamma[n], 1.5)).epsilon(3e-7));
    reached = reached || low.gamma[n] == 1.5;
  }
  CHECK(reached);
}

TEST_CASE("gamma_index: lines and planes have the same gamma along whichever axes") {
  for (auto const between : all_interpolations) {
    CAPTURE(int(between));
    gamma_options const options{.between = between};
    std::vector<double> line;
    std::vector<double> plane;
    for (int axis = 0; axis < 3; ++axis) {
      CAPTURE(axis);
      // The line is along the axis, the plane across it.
      grid one{{1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
      one.extent[axis] = 40;
      one.spacing[axis] = 1.5;
      one.origin[axis] = -30;
      grid two{{17, 17, 17}, {2, 2, 2}, {-16, -16, -16}};
      two.extent[axis] = 1;
      two.origin[axis] = 5;
      // Shifted by 1 mm along the line, and in the plane by 1 and 2 mm.
      auto const shifted_line = [&](double x, double y, double z) {
        return 1.01 * hill(x - (axis == 0), y - (axis == 1), z - (axis == 2));
      };
      auto const shifted_plane = [&](double x, double y, double z) {
        return 1.01 * hill(x - (axis != 0),
                           y - (axis == 1   ? 0
                                : axis == 0 ? 1
                                            : 2),
                           z - (axis == 2 ? 0 : 2));
      };
      auto const along = gamma_of<double>(dose_of<double>(one, hill),
                                          dose_of<double>(one, shifted_line), {{0.01, 1}}, options)
                             .gamma;
      auto const across =
          gamma_of<double>(dose_of<double>(two, hill), dose_of<double>(two, shifted_plane),
                           {{0.01, 1}}, options)
              .gamma;
      line = axis == 0 ? along : line;
      plane = axis == 0 ? across : plane;
      CHECK(largest_difference(line, along) < 4e-7);
      CHECK(largest_difference(plane, across) < 4e-7);
    }
  }
}

TEST_CASE("gamma_index: a maximum gamma that reaches less far than a voxel cuts gamma alone") {
  std::uint64_t n = 0;
  auto const rough = [&](double, double, double) { return 0.9 + 0.1 * noise(n++); };
  grid const g{{6, 6, 6}, {2, 2, 2}, {0, 0, 0}};
  auto const reference = dose_of<double>(g, rough);
  for (double const aside : {0.0, 0.7}) {
    auto const evaluated =
        dose_of<double>(grid{g.extent, g.spacing, {aside, -aside, aside}}, rough);
    for (auto const between : all_interpolations) {
      CAPTURE(int(between));
      auto whole =
          gamma_of<double>(reference, evaluated, {{0.05, 1}}, {.between = between, .max_gamma = 2})
              .gamma;
      for (double const most : {1.5, 1.01}) {
        CAPTURE(most);
        for (double& x : whole) {
          x = std::fmin(x, most);
        }
        CHECK(largest_difference(whole, gamma_of<double>(reference, evaluated, {{0.05, 1}},
                                                         {.between = between, .max_gamma = most})
                                            .gamma) < 4e-7);
      }
    }
  }
}
