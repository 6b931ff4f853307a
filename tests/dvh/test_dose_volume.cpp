// SPDX-License-Identifier: BSD-3-Clause
// Dose-volume histograms: closed forms, quantities, and the same bits everywhere.
#include "dvh_support.hpp"
#include "instances.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace dvh_support;
using iso::test::difference;

Kokkos::DefaultHostExecutionSpace host() { return {}; }
using host_space = Kokkos::HostSpace;

/// A cuboid of 10 x 8 x 12 mm about the middle.
structure cuboid() {
  structure s{"cuboid", {}};
  for (double z = -5; z < 6; z += 2) {
    s.contours.push_back(rectangle(-5, -4, 5, 4, z));
  }
  return s;
}

double noise(double x, double y, double z) {
  return std::fmod(std::fabs(std::sin(12.9898 * x + 78.233 * y + 37.719 * z)) * 43758.5453, 1.0);
}

/// The interpolant at a point, in voxels from the middle of the first one.
double interpolated(iso::volume_view<double const, host_space> const& dose, vec3<double> point) {
  std::int64_t at[3];
  double u[3];
  for (int axis = 0; axis < 3; ++axis) {
    at[axis] = std::int64_t(point[axis]);
    u[axis] = point[axis] - double(at[axis]);
  }
  double value = 0;
  double above = 1;
  for (int n = 0; n < 3; ++n) {
    int const most = int(std::max_element(u, u + 3) - u);
    value += (above - u[most]) * dose.data(at[0], at[1], at[2]);
    above = u[most];
    u[most] = -1;
    ++at[most];
  }
  return value + above * dose.data(at[0], at[1], at[2]);
}

/// Returns the parts of the cells from `low` to `high` whose dose is at least each level, by
/// samples.
std::vector<double> sampled_parts(iso::volume_view<double const, host_space> const& dose,
                                  std::array<int, 3> const& low, std::array<int, 3> const& high,
                                  int samples, std::vector<double> const& levels) {
  std::vector<double> counted(levels.size());
  double points = 0;
  for (int i = low[0] * samples; i < high[0] * samples; ++i) {
    for (int j = low[1] * samples; j < high[1] * samples; ++j) {
      for (int k = low[2] * samples; k < high[2] * samples; ++k) {
        double const value =
            interpolated(dose, {(i + 0.5) / samples, (j + 0.5) / samples, (k + 0.5) / samples});
        ++points;
        for (std::size_t n = 0; n < levels.size(); ++n) {
          counted[n] += value >= levels[n] ? 1.0 : 0.0;
        }
      }
    }
  }
  for (double& part : counted) {
    part /= points;
  }
  return counted;
}

}  // namespace

TEST_CASE_TEMPLATE("dvh: a cuboid in a gradient along each axis", T, float, double) {
  auto const exec = host();
  auto const g = grid::centred({9, 9, 9}, {2.5, 2.5, 2.5});
  double const half[3] = {5, 4, 6};
  for (int axis = 0; axis < 3; ++axis) {
    auto const dose =
        dose_on<T>(exec, g, [&](double x, double y, double z) { return 20 + vec3{x, y, z}[axis]; });
    auto const where = region_on<T>(exec, cuboid(), g, 5);
    double const eps = sizeof(T) == 4 ? 2e-6 : 1e-9;
    auto const all = statistics(exec, {dose.grid, dose.data}, where);
    CHECK(all.volume == doctest::Approx(960).epsilon(eps));
    CHECK(all.outside == 0);
    CHECK(all.mean == doctest::Approx(20).epsilon(eps));
    CHECK(all.minimum == doctest::Approx(20 - half[axis]).epsilon(eps));
    CHECK(all.maximum == doctest::Approx(20 + half[axis]).epsilon(eps));
    std::vector<double> levels;
    for (double level = 10; level < 30; level += 0.37) {
      levels.push_back(level);
    }
    auto const volumes =
        volumes_at<>(exec, iso::volume_view<T const, host_space>(dose), where, levels);
    for (std::size_t n = 0; n < levels.size(); ++n) {
      double const part = std::clamp((20 + half[axis] - levels[n]) / (2 * half[axis]), 0.0, 1.0);
      CHECK(volumes[n] / 960 == doctest::Approx(part).epsilon(eps * 10));
    }
    auto const doses = doses_at<>(exec, iso::volume_view<T const, host_space>(dose), where,
                                  {0.02 * 960, 480, 0.95 * 960, 960.1});
    CHECK(doses[0] == doctest::Approx(20 + half[axis] * 0.96).epsilon(eps));
    CHECK(doses[1] == doctest::Approx(20).epsilon(eps));
    CHECK(doses[2] == doctest::Approx(20 - half[axis] * 0.9).epsilon(eps));
    CHECK(std::isnan(doses[3]));
  }
}

TEST_CASE("dvh: the volume above a level, against samples of the interpolant") {
  auto const exec = host();
  grid const g{{3, 3, 3}, {2, 3, 4}, {0, 0, 0}};
  auto const dose = dose_on<double>(exec, g, noise);
  iso::volume_view<double const, host_space> const read = dose;
  structure const s{"all", {rectangle(0, 0, 4, 6, 2), rectangle(0, 0, 4, 6, 6)}};
  auto const once = region_on<double>(exec, s, g, 1);
  auto const finer = region_on<double>(exec, s, g, 3);
  std::vector<double> const levels = {0.1, 0.2, 0.35, 0.5, 0.61, 0.8, 0.9};
  auto const a = volumes_at(exec, read, once, levels);
  auto const b = volumes_at(exec, read, finer, levels);
  for (std::size_t n = 0; n < levels.size(); ++n) {
    // The six tetrahedra of a part of a cell lie in those of the cell.
    CHECK(a[n] == doctest::Approx(b[n]).epsilon(1e-9));
  }
  auto const counted = sampled_parts(read, {0, 0, 0}, {2, 2, 2}, 60, levels);
  for (std::size_t n = 0; n < levels.size(); ++n) {
    CHECK(std::fabs(counted[n] - a[n] / (4 * 6 * 8)) < 1e-3);
  }
}

TEST_CASE(
    "dvh: voxels that are chosen for a structure see the interpolant, whatever the spacings") {
  auto const exec = host();
  std::vector<double> const levels = {0.1, 0.15, 0.2, 0.35, 0.5, 0.61, 0.8, 0.85, 0.9};
  for (auto const& spacing :
       {vec3<double>{1, 1, 3}, vec3<double>{2.5, 3, 4}, vec3<double>{3, 1.2, 2}}) {
    CAPTURE(spacing.x);
    grid const g{{8, 9, 6}, spacing, {-7, 3, 11}};
    iso::volume_view<double const, host_space> const dose = dose_on<double>(exec, g, noise);
    // Six by five by three cells.
    structure s{"s", {}};
    for (int n = 1; n < 4; ++n) {
      s.contours.push_back(rectangle(g.origin.x + spacing.x, g.origin.y + 2 * spacing.y,
                                     g.origin.x + 7 * spacing.x, g.origin.y + 7 * spacing.y,
                                     g.origin.z + (n + 0.5) * spacing.z));
    }
    double const volume = 90 * spacing.x * spacing.y * spacing.z;
    auto const chosen = volumes_at(exec, dose, region_on<double>(exec, s, g), levels);
    auto const counted = sampled_parts(dose, {1, 2, 1}, {7, 7, 4}, 40, levels);
    for (std::size_t n = 0; n < levels.size(); ++n) {
      CHECK(std::fabs(counted[n] - chosen[n] / volume) < 5e-4);
    }
    // Parts of odd and even numbers alike lie in the cell's tetrahedra.
    for (std::int64_t const subdivision : {1, 2, 3, 4, 5}) {
      CAPTURE(subdivision);
      auto const divided =
          volumes_at(exec, dose, region_on<double>(exec, s, g, subdivision), levels);
      for (std::size_t n = 0; n < levels.size(); ++n) {
        CHECK(divided[n] == doctest::Approx(chosen[n]).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("dvh: a level has the same volume, whatever others are asked for") {
  auto const exec = host();
  auto const g = grid::centred({11, 12, 13}, {2, 1.8, 2.2});
  iso::volume_view<double const, host_space> const dose = dose_on<double>(exec, g, noise);
  // Voxels that divide the dose's cells, and some that do not.
  auto const v = iso::make_volume<double, host_space>(
      exec, "fractions", grid{{17, 19, 23}, {0.7, 0.9, 0.8}, {-6, -8, -9}});
  rasterise<Kokkos::DefaultHostExecutionSpace, double>(exec, cuboid(), v,
                                                       {.beyond = off_grid::cut});
  for (auto const& where :
       {region_on<double>(exec, cuboid(), g, 1), region_on<double>(exec, cuboid(), g, 3),
        region<double, host_space>{v, {}}}) {
    std::vector<double> levels = {0};
    for (double level = 0.01; level < 1; level += 0.07) {
      levels.push_back(level);
    }
    auto const together = volumes_at(exec, dose, where, levels);
    for (std::size_t n = 0; n < levels.size(); ++n) {
      CHECK(volumes_at(exec, dose, where, {levels[n]})[0] == together[n]);
    }
    CHECK(together[0] == doctest::Approx(statistics(exec, dose, where).volume).epsilon(1e-12));
  }
}

TEST_CASE("dvh: a uniform dose") {
  auto const exec = host();
  auto const g = grid::centred({9, 9, 9}, {2.5, 2.5, 2.5});
  iso::volume_view<double const, host_space> const dose =
      dose_on<double>(exec, g, [](double, double, double) { return 7.0; });
  auto const where = region_on<double>(exec, cuboid(), g, 2);
  auto const values = evaluate<Kokkos::DefaultHostExecutionSpace, double>(
      exec, {dose}, {where},
      {quantity_named("D95"), quantity_named("D100%"), quantity_named("D0.1cc"),
       quantity_named("V7Gy"), quantity_named("V7.01Gy_cc"), quantity_named("mean"),
       quantity_named("min"), quantity_named("max"), quantity_named("volume"),
       quantity_named("homogeneity")})[0][0];
  std::vector<double> const exact = {7, 7, 7, 100, 0, 7, 7, 7, 0.96, 0};
  for (std::size_t n = 0; n < exact.size(); ++n) {
    CAPTURE(n);
    CHECK(values[n] == doctest::Approx(exact[n]).epsilon(1e-9));
  }
  auto const h = histograms<Kokkos::DefaultHostExecutionSpace, double>(
      exec, {dose}, {where}, {.bins = 10, .end = 10})[0][0];
  CHECK(h.bin_width == 1);
  CHECK(h.cumulative.size() == 11);
  CHECK(h.cumulative[7] == doctest::Approx(960));
  CHECK(h.cumulative[8] == 0);
  CHECK(h.differential[7] == doctest::Approx(960));
}

TEST_CASE("dvh: bins reach to the largest dose, and only the structure's dose must be finite") {
  auto const exec = host();
  using exec_space = Kokkos::DefaultHostExecutionSpace;
  auto const g = grid::centred({9, 9, 9}, {2.5, 2.5, 2.5});
  // One voxel in the middle has 2, all others 1.
  auto const peak = [](double x, double y, double z) {
    return x == 0 && y == 0 && z == 0 ? 2.0 : 1.0;
  };
  auto const where = region_on<double>(exec, cuboid(), g, 2);
  auto const check = [&](iso::volume_view<double const, host_space> const& dose) {
    auto const h = histograms<exec_space, double>(exec, {dose}, {where}, {.bins = 100})[0][0];
    CHECK(h.bin_width * 100 == doctest::Approx(1.02 * 2));
    CHECK(h.cumulative.back() == 0);
    CHECK(sum(h.differential) == doctest::Approx(h.volume));
    auto const to_three =
        histograms<exec_space, double>(exec, {dose}, {where}, {.bins = 3, .end = 3})[0][0];
    CHECK(to_three.cumulative[1] == doctest::Approx(960));
  };
  check(dose_on<double>(exec, g, peak));
  // NaN and infinity at one corner each, beyond the structure.
  for (double const bad : {std::nan(""), HUGE_VAL}) {
    check(dose_on<double>(exec, g, [&](double x, double y, double z) {
      return x < -9 && y < -9 && z < -9 ? bad : peak(x, y, z);
    }));
  }
}

TEST_CASE("dvh: conformity and homogeneity of a cuboid in its own dose") {
  auto const exec = host();
  auto const g = grid::centred({21, 21, 21}, {1, 1, 1});
  auto const where = region_on<double>(exec, cuboid(), g, 2);
  // 10 + x: 12 or more from x = 2 to the face at 10.5, beyond the last middle.
  iso::volume_view<double const, host_space> const dose =
      dose_on<double>(exec, g, [](double x, double, double) { return 10 + x; });
  double const inside = 960 * 0.3;
  double const anywhere = 8.5 * 21 * 21;
  CHECK(conformity(exec, dose, where, 12) ==
        doctest::Approx(inside / 960 * inside / anywhere).epsilon(1e-9));
  CHECK(conformity(exec, dose, where, 25) == 0);
  auto const values = evaluate<Kokkos::DefaultHostExecutionSpace, double>(
      exec, {dose}, {where}, {quantity_named("homogeneity")});
  CHECK(values[0][0][0] == doctest::Approx(10 * 0.96 / 10).epsilon(1e-9));
}

TEST_CASE("dvh: beyond the dose there is none, and it is told") {
  auto const exec = host();
  auto const g = grid::centred({5, 9, 9}, {2, 2.5, 2.5});
  iso::volume_view<double const, host_space> const dose =
      dose_on<double>(exec, g, [](double x, double, double) { return 10 + x; });
  auto const wide = grid::centred({12, 12, 14}, {1, 1, 1});
  auto const v = iso::make_volume<double, host_space>(exec, "fractions", wide);
  structure s{"wide", {}};
  for (double z = -5; z < 6; z += 2) {
    s.contours.push_back(rectangle(-6, -4, 6, 4, z));
  }
  rasterise<Kokkos::DefaultHostExecutionSpace, double>(exec, s, v);
  auto const all = statistics<Kokkos::DefaultHostExecutionSpace, double>(exec, dose, {v, {}});
  CHECK(all.volume == doctest::Approx(960));
  CHECK(all.outside == doctest::Approx(192));
  CHECK(all.mean == doctest::Approx(10));
  // Constant beyond the outermost middles.
  CHECK(all.maximum == doctest::Approx(14));
  using exec_space = Kokkos::DefaultHostExecutionSpace;
  auto const h = histograms<exec_space, double>(exec, {dose}, {{v, {}}}, {.bins = 10})[0][0];
  CHECK(h.volume == doctest::Approx(960));
  CHECK(h.outside == doctest::Approx(192));
  CHECK(
      evaluate<exec_space, double>(exec, {dose}, {{v, {}}}, {quantity_named("outside")})[0][0][0] ==
      doctest::Approx(0.192));
}

TEST_CASE(
    "dvh: no more of the dose than of the target gets the prescription, where it ends first") {
  auto const exec = host();
  using exec_space = Kokkos::DefaultHostExecutionSpace;
  auto const g = grid::centred({5, 6, 5}, {2.5, 2.5, 3});
  iso::volume_view<double const, host_space> const uniform =
      dose_on<double>(exec, g, [](double, double, double) { return 10.0; });
  iso::volume_view<double const, host_space> const rising =
      dose_on<double>(exec, g, [](double x, double, double) { return 10 + x; });
  // Beyond all of the dose's voxels, whose faces halve the structure's if the subdivision is odd.
  structure s{"wide", {}};
  for (double z = -12; z < 13; z += 3) {
    s.contours.push_back(rectangle(-20, -20, 20, 20, z));
  }
  for (std::int64_t const subdivision : {1, 2, 3, 4}) {
    CAPTURE(subdivision);
    auto const where = region_on<double>(exec, s, g, subdivision, {.beyond = off_grid::cut});
    double const all = conformity(exec, uniform, where, 5);
    CHECK(all <= 1);
    CHECK(all == doctest::Approx(1).epsilon(1e-12));
    CHECK(evaluate<exec_space, double>(exec, {uniform}, {where}, {quantity_named("CI5Gy")})[0][0] ==
          std::vector<double>{all});
    CHECK(conformity(exec, rising, where, 10) == doctest::Approx(0.5).epsilon(1e-12));
  }
}

TEST_CASE("dvh: what lies between voxels is between theirs, whatever is rounded") {
  auto const exec = host();
  auto const g = grid::centred({9, 9, 9}, {2.5, 2.5, 2.5});
  // Half of the voxels have no dose.
  double most = 0;
  iso::volume_view<double const, host_space> const dose =
      dose_on<double>(exec, g, [&](double x, double y, double z) {
        double const d = std::max(noise(x, y, z) - 0.5, 0.0);
        most = std::max(most, d);
        return d;
      });
  for (std::int64_t const subdivision : {3, 5, 7}) {
    auto const where = region_on<double>(exec, cuboid(), g, subdivision);
    for (auto const of : {extremes::surface, extremes::whole_voxels, extremes::touched_voxels}) {
      auto const all = statistics(exec, dose, where, of);
      CHECK(all.minimum == 0);
      CHECK(all.maximum <= most);
    }
  }
}

TEST_CASE("dvh: a structure that ends with the dose is inside, wherever both lie") {
  auto const exec = host();
  for (double const spacing : {0.7, 1.1, 2.7, 3.3}) {
    for (double const origin : {-100.3, 0.1, 33.7, 512.9}) {
      CAPTURE(spacing);
      CAPTURE(origin);
      grid const g{{5, 5, 5}, {spacing, spacing, spacing}, {origin, origin, origin}};
      double const low = origin - 0.5 * spacing;
      double const high = low + 5 * spacing;
      structure s{"all", {}};
      structure beside{"beside", {}};
      for (int n = 0; n < 5; ++n) {
        double const z = origin + n * spacing;
        s.contours.push_back(rectangle(low, low, high, high, z));
        beside.contours.push_back(rectangle(high, low, high + 2, high, z));
      }
      iso::volume_view<double const, host_space> const dose =
          dose_on<double>(exec, g, [](double, double, double) { return 1.0; });
      for (std::int64_t const subdivision : {1, 2, 3}) {
        CAPTURE(subdivision);
        auto const all = statistics(exec, dose, region_on<double>(exec, s, g, subdivision));
        CHECK(all.volume == doctest::Approx(std::pow(5 * spacing, 3)).epsilon(1e-9));
        CHECK(all.outside == 0);
      }
      CHECK(iso::test::refusal([&] { structure_grid(beside, g, {}, 2); }).find("do not overlap") !=
            std::string::npos);
    }
  }
}

TEST_CASE("dvh: extremes with the surface and without") {
  auto const exec = host();
  using exec_space = Kokkos::DefaultHostExecutionSpace;
  auto const g = grid::centred({13, 13, 17}, {1, 1, 1});
  iso::volume_view<double const, host_space> const dose =
      dose_on<double>(exec, g, [](double x, double, double) { return 10 + x; });
  // From x = -4.25 to 4.25: voxels at both ends have a share of 3/4 of them.
  structure s{"s", {}};
  for (double z = -5; z < 6; z += 2) {
    s.contours.push_back(rectangle(-4.25, -4, 4.25, 4, z));
  }
  auto const where = region_on<double>(exec, s, g, 1);
  auto const range = [&](extremes of) {
    auto const all = statistics(exec, dose, where, of);
    auto const again = evaluate<exec_space, double>(
        exec, {dose}, {where}, {quantity_named("min"), quantity_named("max")}, of)[0][0];
    CHECK(again == std::vector<double>{all.minimum, all.maximum});
    return std::pair(all.minimum, all.maximum);
  };
  CHECK(range(extremes::whole_voxels) == std::pair(6.0, 14.0));
  CHECK(range(extremes::surface) == std::pair(5.75, 14.25));
  auto const touched = range(extremes::touched_voxels);
  // Planes cut edges off aslant, within their voxels.
  CHECK(touched.first >= 5);
  CHECK(touched.first <= 5.75);
  CHECK(touched.second >= 14.25);
  CHECK(touched.second <= 15);
}

TEST_CASE("dvh: several structures in several doses have what each has alone") {
  auto const exec = host();
  using exec_space = Kokkos::DefaultHostExecutionSpace;
  auto const g = grid::centred({9, 9, 9}, {2.5, 2.5, 2.5});
  using view = iso::volume_view<double const, host_space>;
  view const rough = dose_on<double>(exec, g, noise);
  view const rising = dose_on<double>(exec, g, [](double x, double, double) { return 20 + x; });
  structure small = cuboid();
  for (auto& c : small.contours) {
    for (auto& p : c.points) {
      p.x *= 0.5;
    }
  }
  std::vector<region<double, host_space>> const regions = {region_on<double>(exec, cuboid(), g, 2),
                                                           region_on<double>(exec, small, g, 2)};
  std::vector<quantity> const all = {quantity_named("CI18Gy"), quantity_named("D95"),
                                     quantity_named("V0.5Gy"), quantity_named("V18Gy_cc")};
  auto const together = evaluate<exec_space, double>(exec, {rough, rising}, regions, all);
  histogram_options const bins{.bins = 30, .end = 30};
  auto const curves = histograms<exec_space, double>(exec, {rough, rising}, regions, bins);
  view const doses[] = {rough, rising};
  for (std::size_t d = 0; d < 2; ++d) {
    for (std::size_t r = 0; r < 2; ++r) {
      CHECK(together[d][r] ==
            evaluate<exec_space, double>(exec, {doses[d]}, {regions[r]}, all)[0][0]);
      CHECK(together[d][r][0] == conformity(exec, doses[d], regions[r], 18));
      CHECK(curves[d][r].cumulative ==
            histograms<exec_space, double>(exec, {doses[d]}, {regions[r]}, bins)[0][0].cumulative);
    }
  }
}

TEST_CASE_TEMPLATE("dvh: the same bits on all backends and with any number of threads", T, float,
                   double) {
  auto const g = grid::centred({11, 12, 13}, {2, 1.8, 2.2});
  std::vector<double> first;
  iso::test::for_each_instance([&](auto const& exec) {
    using exec_space = std::remove_cvref_t<decltype(exec)>;
    using space = typename exec_space::memory_space;
    iso::volume_view<T const, space> const dose = dose_on<T>(exec, g, noise);
    auto const where = region_on<T>(exec, cuboid(), g, 2);
    std::vector<double> all;
    auto const h = histograms<exec_space, T>(exec, {dose}, {where}, {.bins = 37});
    all = h[0][0].cumulative;
    all.insert(all.end(), h[0][0].differential.begin(), h[0][0].differential.end());
    auto const q = evaluate<exec_space, T>(
        exec, {dose}, {where},
        {quantity_named("D95"), quantity_named("D0.1cc"), quantity_named("V0.5Gy"),
         quantity_named("mean"), quantity_named("min"), quantity_named("max"),
         quantity_named("volume"), quantity_named("homogeneity"), quantity_named("CI0.5Gy")});
    all.insert(all.end(), q[0][0].begin(), q[0][0].end());
    all.push_back(conformity(exec, dose, where, 0.4));
    if (first.empty()) {
      first = all;
    }
    CHECK(difference(first, all) == "");
  });
}
