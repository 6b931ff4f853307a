// SPDX-License-Identifier: BSD-3-Clause
// Dose-volume histograms where the dose ends, at the ends of their curves, and in calls that are
// stopped.
#include "compare.hpp"
#include "dvh_support.hpp"

#include <iso/oracle/dvh.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace dose_edge {
namespace {

using namespace dvh_support;

using exec_space = Kokkos::DefaultHostExecutionSpace;
using view = iso::volume_view<double const, Kokkos::HostSpace>;

double noise(double x, double y, double z) {
  return std::fmod(std::fabs(std::sin(12.9898 * x + 78.233 * y + 37.719 * z)) * 43758.5453, 1.0);
}

/// From x0 to x1, 50 mm wide and high.
structure bar(double x0, double x1) {
  structure s{"bar", {}};
  for (double z = -24; z < 25; z += 2) {
    s.contours.push_back(rectangle(x0, -25, x1, 25, z));
  }
  return s;
}

}  // namespace

TEST_CASE("dvh: of a structure that the dose's faces cut, the part within counts") {
  exec_space const exec;
  // The faces lie at +-41.25 mm. Voxels of three parts a cell, which this structure would have if
  // it ended there, are halved by them.
  auto const g = grid::centred({33, 33, 33}, {2.5, 2.5, 2.5});
  view const dose = dose_on<double>(exec, g, [](double x, double, double) { return 20 + x; });
  double const face = 41.25;
  double const end = face / 0.6;  // 40 % lie beyond
  CHECK(structure_grid(bar(0, face), g).spacing.x == doctest::Approx(2.5 / 3));
  for (std::int64_t const subdivision : {0, 2}) {
    for (bool const mirrored : {false, true}) {
      CAPTURE(subdivision);
      CAPTURE(mirrored);
      auto const s = mirrored ? bar(-end, 0) : bar(0, end);
      structure_options const options{.beyond = off_grid::cut};
      auto const where = region_on<double>(exec, s, g, subdivision, options);
      structure_report report;
      voxel_fractions(s, where.fractions.grid, options, &report);
      auto const all = statistics(exec, dose, where);
      CHECK(all.volume == doctest::Approx(face * 2500).epsilon(1e-6));
      CHECK(all.outside + report.outside == doctest::Approx((end - face) * 2500).epsilon(1e-6));
      // The dose rises to the last middle, at 40 mm, and is the same from there to the face.
      double const mean = (40 * 20 + 1.25 * 40) / face;
      CHECK(all.mean == doctest::Approx(20 + (mirrored ? -mean : mean)).epsilon(1e-6));
      auto const volumes =
          volumes_at(exec, dose, where, {mirrored ? 20 - 40 + 1e-6 : 20 + 40 - 1e-6});
      CHECK(volumes[0] == doctest::Approx((mirrored ? 40 : 1.25) * 2500).epsilon(1e-5));
    }
  }
}

TEST_CASE("dvh: quantities of a cuboid in a gradient are in the units that they name") {
  exec_space const exec;
  auto const g = grid::centred({33, 33, 33}, {2.5, 2.5, 2.5});
  view const dose = dose_on<double>(exec, g, [](double x, double, double) { return 20 + x; });
  // 25 cm3 from 15 to 25 Gy: 5 cm3, a fifth, from 23 Gy on.
  auto const where = region_on<double>(exec, bar(-5, 5), g);
  auto const v = evaluate<exec_space, double>(
      exec, {dose}, {where},
      {quantity_named("D5cc"), quantity_named("D20"), quantity_named("V23Gy"),
       quantity_named("V23Gy_cc"), quantity_named("volume")})[0][0];
  std::vector<double> const exact = {23, 23, 20, 5, 25};
  for (std::size_t n = 0; n < exact.size(); ++n) {
    CAPTURE(n);
    CHECK(v[n] == doctest::Approx(exact[n]).epsilon(1e-9));
  }
  // Per cent are of the part that has a dose, here from x = -8 to 8.
  grid const narrow{{8, 33, 33}, {2, 2.5, 2.5}, {-7, g.origin.y, g.origin.z}};
  view const less = dose_on<double>(exec, narrow, [](double x, double, double) { return 20 + x; });
  auto const faces = grid::centred({32, 33, 33}, {2, 2.5, 2.5});
  auto const wide = region_on<double>(exec, bar(-10, 10), faces, 2);
  auto const part = evaluate<exec_space, double>(
      exec, {less}, {wide}, {quantity_named("V24Gy"), quantity_named("outside")})[0][0];
  CHECK(part[0] == doctest::Approx(25).epsilon(1e-9));
  CHECK(part[1] == doctest::Approx(10).epsilon(1e-9));
}

TEST_CASE("dvh: of doses that no more than a volume gets, the volume's is the largest") {
  exec_space const exec;
  auto const g = grid::centred({32, 32, 32}, {2, 2, 2});
  view const dose =
      dose_on<double>(exec, g, [](double x, double, double) { return x < 0 ? 10.0 : 30.0; });
  // One half lies where the dose is 10, one where it is 30.
  auto halves = bar(-20, -8);
  auto const other = bar(8, 20);
  halves.contours.insert(halves.contours.end(), other.contours.begin(), other.contours.end());
  auto const where = region_on<double>(exec, halves, g);
  auto const doses = doses_at(exec, dose, where, {0.25 * 60000, 0.5 * 60000, 0.75 * 60000, 60000});
  CHECK(doses == std::vector<double>{30, 30, 10, 10});
}

TEST_CASE("dvh: D100 is the minimum, and no dose lies beyond the extremes") {
  exec_space const exec;
  auto const g = grid::centred({17, 17, 17}, {2, 2, 2});
  auto const s = iso::oracle::contours_of({}, 3);
  std::vector<quantity> const all = {quantity_named("D100"),     quantity_named("min"),
                                     quantity_named("D99.9999"), quantity_named("D0.000001cc"),
                                     quantity_named("max"),      quantity_named("D50")};
  for (auto const &f : {+[](double x, double y, double) { return 20 + 0.3 * x + 0.7 * y; },
                        +[](double x, double y, double z) { return noise(x, y, z); }}) {
    view const dose = dose_on<double>(exec, g, f);
    auto const where = region_on<double>(exec, s, g);
    for (auto const of : {extremes::surface, extremes::whole_voxels, extremes::touched_voxels}) {
      auto const v = evaluate<exec_space, double>(exec, {dose}, {where}, all, of)[0][0];
      CHECK(v[0] == v[1]);
      if (of != extremes::whole_voxels) {
        CHECK(v[2] >= v[1]);
        CHECK(v[3] <= v[4]);
      }
      CHECK(v[5] > v[1]);
      CHECK(v[5] < v[4]);
    }
  }
}

TEST_CASE("dvh: calls ask their job, and give the same bits with one") {
  exec_space const exec;
  auto const g = grid::centred({17, 17, 17}, {2, 2, 2});
  view const dose = dose_on<double>(exec, g, noise);
  auto const where = region_on<double>(exec, iso::oracle::contours_of({}, 3), g);
  std::vector<quantity> const all = {quantity_named("D95"), quantity_named("CI0.5Gy"),
                                     quantity_named("mean"), quantity_named("V0.4Gy")};
  int asked = 0;
  double done = 0;
  iso::job const listening{[&](double fraction) {
                             CHECK(fraction >= done);
                             done = fraction;
                           },
                           [&] { return ++asked < 0; }};
  auto const alone = evaluate<exec_space, double>(exec, {dose, dose}, {where}, all);
  CHECK(evaluate<exec_space, double>(exec, {dose, dose}, {where}, all, extremes::surface,
                                     listening) == alone);
  CHECK(done == 1);
  CHECK(asked > 20);
  done = 0;
  auto const curves = histograms<exec_space, double>(exec, {dose}, {where}, {.bins = 50});
  auto const again = histograms<exec_space, double>(exec, {dose}, {where}, {.bins = 50}, listening);
  CHECK(again[0][0].cumulative == curves[0][0].cumulative);
  CHECK(again[0][0].volume == curves[0][0].volume);
  // At once, and in the midst of its work.
  for (int const after : {1, 9}) {
    asked = 0;
    iso::job const stopping{{}, [&] { return ++asked == after; }};
    CHECK_THROWS_AS(
        (evaluate<exec_space, double>(exec, {dose}, {where}, all, extremes::surface, stopping)),
        iso::cancelled);
    CHECK(asked == after);
    asked = 0;
    CHECK_THROWS_AS(statistics(exec, dose, where, extremes::surface, stopping), iso::cancelled);
    asked = 0;
    CHECK_THROWS_AS(conformity(exec, dose, where, 0.5, stopping), iso::cancelled);
  }
}

}  // namespace dose_edge
