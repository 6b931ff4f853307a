// SPDX-License-Identifier: BSD-3-Clause
// Densities from CT numbers, what is found wrong with densities, and the slab phantom.
#include "dose_support.hpp"
#include "instances.hpp"
#include "kokkos_events.hpp"

#include <iso/core/numerics.hpp>
#include <iso/dose/density.hpp>
#include <iso/dose/slab_phantom.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace dose_support;
using iso::test::refusal;

/// A row of voxels with the given numbers.
template <class T>
host_volume<T> row_of(std::vector<double> const& numbers) {
  return volume_of<T>(grid::centred({1, 1, std::int64_t(numbers.size())}, {1, 1, 1}),
                      [&](auto, auto, std::int64_t k) { return numbers[std::size_t(k)]; });
}

template <class T, class Exec>
std::vector<T> densities(Exec const& exec, density_table const& table, host_volume<T> const& hu) {
  using space = typename Exec::memory_space;
  auto const from = iso::make_volume<T, space>(exec, "hu", hu.grid);
  auto const to = iso::make_volume<T, space>(exec, "density", hu.grid);
  Kokkos::deep_copy(exec, from.data, hu.data);
  staged_density_table<space> const staged(exec, table);
  density_from_hounsfield<Exec, T>(exec, staged, from, to);
  auto const host = Kokkos::create_mirror_view(to.data);
  Kokkos::deep_copy(exec, host, to.data);
  exec.fence();
  return {host.data(), host.data() + host.size()};
}

template <class T>
std::vector<T> densities(density_table const& table, std::vector<double> const& hu) {
  return densities<T>(Kokkos::DefaultHostExecutionSpace(), table, row_of<T>(hu));
}

template <class T>
density_report report_of(std::vector<double> const& numbers) {
  Kokkos::DefaultHostExecutionSpace const exec;
  return validate(exec, row_of<T>(numbers));
}

}  // namespace

TEST_CASE_TEMPLATE("validate: the same bits on all backends", T, float, double) {
  auto const hu = volume_of<T>(grid::centred({23, 31, 47}, {1, 1, 1}), [](auto i, auto j, auto k) {
    return (i + j + k) % 97 == 5
               ? std::numeric_limits<double>::quiet_NaN()
               : double((7919 * i + 104729 * j + 1299709 * k) % 50000) / 11 - 1100;
  });
  auto const table = named_density_table("schneider_2000");
  std::vector<T> first;
  iso::test::for_each_instance([&](auto const& exec) {
    auto const mine = densities<T>(exec, table, hu);
    first = first.empty() ? mine : first;
    CHECK(iso::test::difference(first, mine) == "");
  });
  REQUIRE(first.size() == hu.data.size());
  // The definition, point by point.
  std::size_t wrong = 0;
  for (std::size_t n = 0; n < first.size(); ++n) {
    double const x = hu.data.data()[n];
    auto const& p = table.points;
    std::size_t s = 0;
    while (s + 2 < p.size() && x >= p[s + 1].hounsfield) {
      ++s;
    }
    double const part =
        std::clamp((x - p[s].hounsfield) / (p[s + 1].hounsfield - p[s].hounsfield), 0.0, 1.0);
    double const expected = p[s].density + part * (p[s + 1].density - p[s].density);
    bool const good = std::isnan(x) ? std::bit_cast<iso::bits_of<T>>(first[n]) ==
                                          iso::bits_of<T>(iso::float_bits<T>::canonical_nan)
                                    : std::fabs(double(first[n]) - expected) <=
                                          2 * double(std::numeric_limits<T>::epsilon()) * expected;
    wrong += good ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("validate: points are met exactly, and nothing goes beyond the ends", T, float,
                   double) {
  auto const table = named_density_table("schneider_2000");
  REQUIRE(table.points.size() == 9);
  CHECK(table.points[0].hounsfield == -1000);
  CHECK(table.points[8].density == 2.8);
  for (auto const& p : table.points) {
    CHECK(densities<T>(table, {p.hounsfield})[0] == T(p.density));
  }
  double const infinity = std::numeric_limits<double>::infinity();
  auto const ends = densities<T>(table, {-infinity, -1e30, -1001, 3001, 1e30, infinity});
  CHECK(ends == std::vector<T>{T(0.00121), T(0.00121), T(0.00121), T(2.8), T(2.8), T(2.8)});
  // Half way between the points at 1600 and 3000 HU; the table falls behind 100 HU.
  CHECK(densities<T>(table, {2300})[0] == doctest::Approx(2.3821));
  CHECK(densities<T>(table, {0})[0] == doctest::Approx(1.0174468).epsilon(1e-6));
  CHECK(densities<T>(table, {101})[0] < densities<T>(table, {100})[0]);
}

TEST_CASE("validate: tables that are none are refused") {
  auto const refused = [](char const* csv) {
    return refusal([&] { parse_density_table(csv, "t.csv"); });
  };
  CHECK(refusal([] { named_density_table("x"); }) ==
        "iso::dose::named_density_table: \"x\" (no such table); choose schneider_2000, or read a "
        "table of your own");
  CHECK(refused("hu,density\n0,1,2\n").find("t.csv, line 2: 3 numbers") == 0);
  CHECK(refused("0,1\n0,2\n").find("t.csv, line 2: a CT number of 0 HU behind one of 0 HU") == 0);
  CHECK(refused("0,1\n5,-0.5\n").find("t.csv, line 2: a density of -0.5 g/cm3 at 5 HU") == 0);
  CHECK(refused("0,1\n5,1000\n").find("t.csv, line 2: a density of 1000 g/cm3") == 0);
  CHECK(refused("0,1\n").find("t.csv: a table of 1 points") == 0);
  CHECK(
      refused("0,1\n1,nan\n")
          .find(
              "t.csv, line 2: \"nan\" (is no finite number); write numbers with commas between") ==
      0);
  CHECK(parse_density_table("# mine\nhu,rho\n-1000,0\n0,1\n", "t.csv").points.size() == 2);
  Kokkos::DefaultHostExecutionSpace const exec;
  CHECK(refusal([&] {
          staged_density_table<Kokkos::HostSpace>(exec, density_table{{{0, 1}, {-1, 2}}});
        }).find("iso::dose::staged_density_table: a CT number of -1 HU") == 0);
}

TEST_CASE("validate: arrays that do not fit are refused") {
  Kokkos::DefaultHostExecutionSpace const exec;
  using exec_space = Kokkos::DefaultHostExecutionSpace;
  staged_density_table<Kokkos::HostSpace> const table(exec, named_density_table("schneider_2000"));
  auto const run = [&](host_volume<float> const& hu, host_volume<float> const& density) {
    return refusal([&] { density_from_hounsfield<exec_space, float>(exec, table, hu, density); });
  };
  auto const three = row_of<float>({1, 2, 3});
  CHECK(run(three, row_of<float>({1, 2})) ==
        "iso::dose::density_from_hounsfield: density of [1, 1, 2] voxels (hu has [1, 1, 3]); give "
        "both the same extents");
  CHECK(run(three, three).find("iso::dose::density_from_hounsfield: density") == 0);
  CHECK(run(three, {three.grid, {}}) != "");
}

TEST_CASE("validate: runs on the instance that was given, without fence or allocation") {
  iso::test::for_each_instance([](auto const& exec) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    using exec_space = std::decay_t<decltype(exec)>;
    auto const hu = iso::make_volume<float, space>("hu", grid::centred({5, 6, 7}, {1, 1, 1}));
    auto const density = iso::make_volume<float, space>("density", hu.grid);
    staged_density_table<space> const table(exec, named_density_table("schneider_2000"));
    auto const run = [&] { density_from_hounsfield<exec_space, float>(exec, table, hu, density); };
    CHECK(iso::test::launches_of(exec, run) == 1);
  });
}

TEST_CASE_TEMPLATE("validate: what is no density is counted, and the first voxel named", T, float,
                   double) {
  double const infinity = std::numeric_limits<double>::infinity();
  double const nan = std::numeric_limits<double>::quiet_NaN();
  auto const rho = volume_of<T>(grid::centred({9, 10, 11}, {1, 1, 1}), [&](auto i, auto j, auto k) {
    return i == 3 && j == 4 && k == 5   ? nan
           : i == 7                     ? -infinity
           : j == 9 && k == 2 && i >= 2 ? -0.25
           : i == 8 && j == 0           ? 26 + double(k)
                                        : 1.0;
  });
  iso::test::for_each_instance([&](auto const& exec) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto const there = iso::make_volume<T, space>(exec, "density", rho.grid);
    Kokkos::deep_copy(exec, there.data, rho.data);
    auto const report = validate(exec, there);
    CHECK(report.voxels == 990);
    CHECK(report.not_finite.count == 111);
    CHECK(report.not_finite.first == std::array<std::int64_t, 3>{3, 4, 5});
    CHECK(report.negative.count == 6);
    CHECK(report.negative.first == std::array<std::int64_t, 3>{2, 9, 2});
    CHECK(report.negative.value == -0.25);
    CHECK(report.absurd.count == 11);
    CHECK(report.absurd.first == std::array<std::int64_t, 3>{8, 0, 0});
    CHECK(report.absurd.value == 26);
    CHECK(!report.sound());
    CHECK(to_string(report) ==
          "iso::dose::validate: 111 of 990 voxels are NaN or infinite (the first is (3, 4, 5), "
          "with nan g/cm3); replace them by numbers");
  });
  CHECK(to_string(report_of<T>({1, 0, -1, -2})) ==
        "iso::dose::validate: 2 of 4 voxels are negative (the first is (0, 0, 2), with -1 g/cm3); "
        "convert Hounsfield units, if these are, to densities first");
  CHECK(to_string(report_of<T>({1000}))
            .find("iso::dose::validate: 1 of 1 voxels are above 25 g/cm3") == 0);
  CHECK(to_string(report_of<T>({0, -0.0, 25, 1})) == "");
  Kokkos::DefaultHostExecutionSpace const exec;
  CHECK(refusal([&] { validate(exec, host_volume<T>{rho.grid, {}}); }) != "");
}

TEST_CASE("validate: the slab phantom's layers") {
  auto const slabs = slab_phantom();
  REQUIRE(slabs.size() == 11);
  double depth = 0;
  for (auto const& s : slabs) {
    depth += s.thickness;
  }
  CHECK(depth == doctest::Approx(slab_phantom_width));
  CHECK(mean_density(slabs, 0, 2) == doctest::Approx(0.92));
  CHECK(mean_density(slabs, 100, 102) == doctest::Approx(0.25));
  CHECK(mean_density(slabs, 12, 20) == doctest::Approx(0.98));
  CHECK(mean_density(slabs, 254, 258) == doctest::Approx(0.46));
  auto const g = slab_phantom_grid(2);
  CHECK(g.extent[0] == 128);
  CHECK(g.origin == vec3<double>{-127, 1, -127});
  CHECK(refusal([] {
          slab_phantom_grid(3);
        }).find("iso::dose::slab_phantom_grid: voxels of 3 mm") == 0);
  CHECK(refusal([] { slab_phantom_grid(0); }) != "");
  CHECK(refusal([] { slab_phantom_grid(std::nan("")); }) != "");
}
