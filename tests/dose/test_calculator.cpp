// SPDX-License-Identifier: BSD-3-Clause
// The calculator against the calls that it makes.
#include "dose_support.hpp"
#include "instances.hpp"

#include <iso/core/error.hpp>
#include <iso/dose/calculator.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace dose_support;
using exec_space = Kokkos::DefaultHostExecutionSpace;

setup small_field(bool oblique) {
  auto s = turned(setup::square(grid::centred({22, 24, 20}, {3, 3, 3}), 20, 900), oblique);
  s.margin = 9;
  s.cones = {4, 4};
  return s;
}

calculator_options options_of(setup const& s) {
  return {s.cones, s.hardening, s.options, s.margin};
}

/// Adds the dose of each field by the functions that the calculator stands for.
template <class T>
host_volume<T> by_hand(std::vector<setup> const& fields, std::vector<energy_component> const& parts,
                       host_volume<T> const& density) {
  exec_space const exec;
  auto out = iso::make_volume<T, Kokkos::HostSpace>("dose", density.grid);
  for (setup const& s : fields) {
    auto const region = region_around(s.field, s.phantom, s.margin);
    auto const released = iso::make_volume<T, Kokkos::HostSpace>("terma", region);
    for (energy_component const& c : parts) {
      beam part = s.field;
      part.weight *= c.share;
      terma<exec_space, T>(exec, terma_plan<Kokkos::HostSpace>(exec, part, c.photons, s.hardening),
                           density, released);
      convolution_plan<T, Kokkos::HostSpace> const plan(exec, region, part,
                                                        make_cones(c.kernel, s.cones), s.options);
      iso::workspace<Kokkos::HostSpace> const scratch(convolve_bytes_needed<T>(exec, plan));
      convolve<exec_space, T>(exec, plan, released, density, out, scratch, iso::onto::stored);
      exec.fence();
    }
  }
  return out;
}

}  // namespace

TEST_CASE_TEMPLATE("dose: a calculator gives the bits of the functions that it calls", T, float,
                   double) {
  std::vector<setup> const fields = {small_field(false), small_field(true)};
  setup const& s = fields.front();
  auto const density = volume_of<T>(s.phantom, mixed);
  auto const photons = named_spectrum(s.photons);
  std::vector<std::vector<energy_component>> const all = {
      {{1, photons, s.kernel}}, split_by_energy(water_kernels(), photons)};
  for (auto const& parts : all) {
    CAPTURE(parts.size());
    calculator<exec_space, T> c({}, s.phantom, parts, options_of(s));
    auto const dose = iso::make_volume<T, Kokkos::HostSpace>("dose", s.phantom);
    for (setup const& field : fields) {
      std::int64_t const bytes = c.bytes_needed(field.field);
      c.add(field.field, density, dose);
      CHECK(c.bytes_held() == bytes);
    }
    CHECK(numbers(dose) == numbers(by_hand(fields, parts, density)));
    CHECK(c.num_kernels() == std::int64_t(parts.size()));
    CHECK(c.num_directions() == 16);
  }
  // A kernel and its photons, as most callers have them.
  calculator<exec_space, T> c({}, s.phantom, s.kernel, photons, options_of(s));
  auto const dose = iso::make_volume<T, Kokkos::HostSpace>("dose", s.phantom);
  c.add(s.field, density, dose);
  CHECK(numbers(dose) == numbers(by_hand({s}, all.front(), density)));
}

TEST_CASE_TEMPLATE("dose: a beam's weight scales its dose", T, float, double) {
  auto const s = small_field(true);
  auto const density = volume_of<T>(s.phantom, mixed);
  auto const of_weight = [&](double weight) {
    calculator<exec_space, T> c({}, s.phantom, s.kernel, named_spectrum(s.photons), options_of(s));
    auto const dose = iso::make_volume<T, Kokkos::HostSpace>("dose", s.phantom);
    auto field = s.field;
    field.weight = weight;
    c.add(field, density, dose);
    return numbers(dose);
  };
  auto const one = of_weight(1);
  auto const most = *std::max_element(one.begin(), one.end());
  CHECK(most > 0);
  // A power of two scales every number, the grid of the sum included.
  auto const four = of_weight(4);
  auto const part = of_weight(0.3);
  double worst = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    REQUIRE(four[i] == 4 * one[i]);
    worst = std::max(worst, std::abs(double(part[i]) - 0.3 * double(one[i])));
  }
  CHECK(worst < 1e-5 * double(most));
}

TEST_CASE("dose: the region holds the field and its margin on every side") {
  // Middles of voxels at odd mm. The field lies aside of the axis, and goes by a face of the
  // phantom 100 mm behind the isocentre: 1.1 times as wide there.
  auto const phantom = grid::centred({100, 100, 100}, {2, 2, 2});
  beam b;
  b.fluence = fluence_map::rectangle(-20, 30, -10, 40);
  struct row {
    double gantry;
    int across;  // the axis that the field's x lies along
    int along;
  };
  for (row const& r : {row{0, 0, 1}, row{std::acos(-1.0) / 2, 1, 0}}) {
    CAPTURE(r.gantry);
    b.gantry = r.gantry;
    auto const check = [&](double margin, std::array<double, 2> x, std::array<double, 2> y) {
      auto const region = region_around(b, phantom, margin);
      auto const last = [&](int axis) {
        return region.origin[axis] + 2 * double(region.extent[std::size_t(axis)] - 1);
      };
      CHECK(region.origin[r.across] == x[0]);
      CHECK(last(r.across) == x[1]);
      CHECK(region.origin[2] == y[0]);
      CHECK(last(2) == y[1]);
      CHECK(region.origin[r.along] == -99);
      CHECK(last(r.along) == 99);
    };
    check(0, {-21, 33}, {-11, 43});
    check(25, {-45, 55}, {-35, 65});
    check(1000, {-99, 99}, {-99, 99});
  }
}

TEST_CASE("dose: a calculator reports how far it is, and stops when it is told to") {
  auto const s = small_field(true);
  auto const density = volume_of<float>(s.phantom, mixed);
  calculator<exec_space, float> c(
      {}, s.phantom, split_by_energy(water_kernels(), named_spectrum(s.photons)), options_of(s));
  auto const dose = iso::make_volume<float, Kokkos::HostSpace>("dose", s.phantom);
  std::vector<double> fractions;
  c.add(s.field, density, dose, {[&](double f) { fractions.push_back(f); }, {}});
  CHECK(std::is_sorted(fractions.begin(), fractions.end()));
  CHECK(fractions.front() < 0.1);
  CHECK(fractions.back() == 1);
  std::size_t steps = 0;
  CHECK_THROWS_AS(
      c.add(s.field, density, dose, {[&](double) { ++steps; }, [&] { return steps == 5; }}),
      iso::cancelled);
  CHECK(steps == 5);
  // It can be told to stop without reports.
  CHECK_THROWS_AS(c.add(s.field, density, dose, {{}, [] { return true; }}), iso::cancelled);
}

TEST_CASE("dose: a calculator refuses what makes no sense") {
  using iso::test::refusal;
  auto const s = small_field(false);
  auto const made = [&](grid const& patient, std::vector<energy_component> const& parts) {
    return refusal([&] { calculator<exec_space, float>({}, patient, parts); });
  };
  std::vector<energy_component> const one = {{1, named_spectrum(s.photons), s.kernel}};
  CHECK(made(s.phantom, one) == "");
  CHECK(made(s.phantom, {}).find("no part of a spectrum") != std::string::npos);
  auto flat = s.phantom;
  flat.spacing.y = 0;
  CHECK(made(flat, one).find("spacing") != std::string::npos);
  calculator<exec_space, float> c({}, s.phantom, one);
  auto aside = s.field;
  aside.isocentre.x = 5000;
  auto const density = volume_of<float>(s.phantom, mixed);
  auto const dose = iso::make_volume<float, Kokkos::HostSpace>("dose", s.phantom);
  CHECK(refusal([&] { c.add(aside, density, dose); }).find("misses") != std::string::npos);
  auto const smaller =
      iso::make_volume<float, Kokkos::HostSpace>("dose", grid::centred({4, 4, 4}, {3, 3, 3}));
  CHECK(refusal([&] { c.add(s.field, density, smaller); }) != "");
  for (float const x : numbers(dose)) {
    CHECK(x == 0);
  }
}
