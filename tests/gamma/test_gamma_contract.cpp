// SPDX-License-Identifier: BSD-3-Clause
// Gamma: what is refused, in which words, and that a call only enqueues.
#include "gamma_support.hpp"
#include "instances.hpp"
#include "kokkos_events.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace gamma_support;
using iso::test::refusal;

double const not_a_number = std::numeric_limits<double>::quiet_NaN();
double const infinity = std::numeric_limits<double>::infinity();
grid const small{{3, 3, 3}, {2, 2, 2}, {0, 0, 0}};

host_volume<float> ones(grid const& g = small) {
  return dose_of<float>(g, [](double, double, double) { return 1.0; });
}

std::string refused(std::vector<criterion> const& criteria, gamma_options const& options = {},
                    host_volume<float> const& reference = ones(),
                    host_volume<float> const& evaluated = ones()) {
  return refusal([&] { gamma_of<float>(reference, evaluated, criteria, options); });
}

bool says(std::string const& text, char const* part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find("iso::gamma::") == 0 && text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("gamma_index: criteria and options that make no sense are refused") {
  CHECK(refused({{0.03, 3}}) == "");
  CHECK(says(refused({}), "0 criteria (1 to 64"));
  CHECK(says(refused(std::vector<criterion>(65, {0.03, 3})), "65 criteria"));
  for (double const bad : {0.0, -1.0, not_a_number, infinity}) {
    CHECK(says(refused({{bad, 3}}), "a dose difference of"));
    CHECK(says(refused({{0.03, 3}, {0.03, bad}}), "a distance to agreement of"));
    CHECK(says(refused({{0.03, 3}}, {.max_gamma = bad}), "max-gamma is"));
    CHECK(says(refused({{0.03, 3}}, {.normalise = normalisation::given, .given_dose = bad}),
               bad >= 0 ? "a given dose of" : "given-dose is"));
  }
  CHECK(refused({{0.03, 3}}, {.max_gamma = 1e-170}) ==
        "iso::gamma::gamma_plan: max-gamma is 1e-170 (must be from 1 to 1000000); choose another");
  CHECK(says(refused({{0.03, 3}}, {.max_gamma = 1}), "must lie above 1"));
  CHECK(refused({{0.03, 3}}, {.max_gamma = 1.000001}) == "");
  CHECK(says(refused({{0.03, 3}}, {.cut_off = -0.1}), "cut-off is -10 % (must be from 0 to inf)"));
  CHECK(says(refused({{0.03, 3}}, {.cut_off = not_a_number}), "cut-off is nan"));
  CHECK(says(refused({{0.03, 3}}, {.cut_off = infinity}), "a cut-off of inf"));
  CHECK(says(refused({{0.03, 3}}, {.given_dose = 2}), "it would not be used"));
  CHECK(says(refused({{0.03, 3e7}}), "check that both are in mm"));
  CHECK(refused({{0.03, 3}}, {.between = interpolation(7)}) ==
        "iso::gamma::gamma_plan: interpolation is 7 (none of its values); choose one of trilinear, "
        "tetrahedra, grid");
  CHECK(says(refused({{0.03, 3}}, {.normalise = normalisation(7)}), "normalisation is 7"));
  auto const many = ones({{129, 129, 129}, {2, 2, 2}, {0, 0, 0}});
  CHECK(says(refused({{0.03, 1000}}, {}, many, many), "cells within reach of a point"));
}

TEST_CASE("gamma_index: doses that make no sense are refused") {
  auto const with = [](double value) {
    auto v = ones();
    v.data(1, 2, 0) = float(value);
    return v;
  };
  CHECK(says(refused({{0.03, 3}}, {}, with(not_a_number)),
             "1 of 27 voxels of the reference dose are NaN or infinite (a dose is a number; the "
             "first is (1, 2, 0))"));
  CHECK(says(refused({{0.03, 3}}, {}, ones(), with(infinity)),
             "1 of 27 voxels of the evaluated dose are NaN"));
  auto const zeros = dose_of<float>(small, [](double, double, double) { return 0.0; });
  CHECK(says(refused({{0.03, 3}}, {}, zeros), "the largest reference dose is 0"));
  CHECK(refused({{0.03, 3}}, {}, ones(), zeros) == "");
  CHECK(says(refused({{0.03, 3}}, {.normalise = normalisation::local, .cut_off = 0}, with(0)),
             "a dose difference of 0 where doses go up to 1"));
  CHECK(refused({{0.03, 3}}, {.normalise = normalisation::local}, with(0)) == "");
  CHECK(refused({{0.03, 3}}, {.cut_off = 0}, with(0)) == "");
  CHECK(refused({{0.03, 3}}, {.cut_off = 0}, with(-1)) == "");
}

TEST_CASE(
    "gamma_index: grids that do not overlap are refused, those that overlap by less than a voxel "
    "are not") {
  auto const at = [](double x) { return ones({{3, 3, 3}, {2, 2, 2}, {x, 0, 0}}); };
  CHECK(says(refused({{0.03, 3}}, {}, ones(), at(6)), "they do not overlap"));
  CHECK(says(refused({{0.03, 3}}, {}, ones(), at(-6.1)), "they do not overlap"));
  CHECK(refused({{0.03, 3}}, {}, ones(), at(5.9)) == "");
  CHECK(says(refusal([] {
               Kokkos::DefaultHostExecutionSpace const exec;
               host_volume<float> const empty{small, {}};
               gamma_plan<float, Kokkos::HostSpace> const plan(exec, ones(), empty, {{0.03, 3}});
             }),
             "volume data of [0, 0, 0]"));
}

TEST_CASE("gamma_index: results of another shape, without memory or over the doses are refused") {
  Kokkos::DefaultHostExecutionSpace const exec;
  auto const a = ones();
  auto const b = ones();
  gamma_plan<float, Kokkos::HostSpace> const plan(exec, a, b, {{0.03, 3}, {0.02, 2}});
  using values = gamma_values<float, Kokkos::HostSpace>;
  using statuses = status_values<Kokkos::HostSpace>;
  values const gamma("gamma", 2, 3, 3, 3);
  statuses const status("status", 3, 3, 3);
  auto const run = [&](values const& g, statuses const& s) {
    return refusal([&] { gamma_index(exec, plan, g, s); });
  };
  CHECK(run(gamma, status) == "");
  CHECK(says(run(values("gamma", 1, 3, 3, 3), status), "gamma of [1, 3, 3, 3] (of 2 criteria"));
  CHECK(says(run(gamma, statuses("status", 3, 3, 4)), "status of [3, 3, 4]"));
  CHECK(says(run(values(nullptr, 2, 3, 3, 3), status), "gamma"));
  CHECK(
      says(run(gamma, statuses(reinterpret_cast<point_status*>(gamma.data()), 3, 3, 3)), "gamma"));
  auto const summary = [&](summary_options const& o) {
    return refusal([&] { summarise(exec, plan, gamma, status, o); });
  };
  CHECK(says(summary({.bins = 0}), "bins is 0 (must be from 1 to 1048576)"));
  CHECK(says(summary({.passes = pass_rule(4)}), "passes is 4"));
}

TEST_CASE("gamma_index: runs on the instance that was given, without fence or allocation") {
  iso::test::for_each_instance([](auto const& exec) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto const dose = iso::make_volume<float, space>(exec, "dose", small);
    Kokkos::deep_copy(exec, dose.data, 1.0F);
    gamma_plan<float, space> const plan(exec, dose, dose, {{0.03, 3}});
    gamma_values<float, space> const gamma("gamma", 1, 3, 3, 3);
    status_values<space> const status("status", 3, 3, 3);
    CHECK(iso::test::launches_of(exec, [&] { gamma_index(exec, plan, gamma, status); }) == 1);
  });
}
