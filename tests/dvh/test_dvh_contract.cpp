// SPDX-License-Identifier: BSD-3-Clause
// Dose-volume histograms: what is refused, in which words.
#include "dvh_support.hpp"
#include "instances.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace dvh_support;
using iso::test::refusal;

bool says(std::string const& text, char const* part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find("iso::dvh::") == 0 && text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("dvh: names of quantities") {
  using kind = quantity::kind;
  CHECK(quantity_named("D95") == quantity{kind::dose_at_percent, 95});
  CHECK(quantity_named("D2.5%") == quantity{kind::dose_at_percent, 2.5});
  CHECK(quantity_named("D0.03cc") == quantity{kind::dose_at_volume, 0.03});
  CHECK(quantity_named("V20Gy") == quantity{kind::volume_at_dose, 20});
  CHECK(quantity_named("V20Gy_cc") == quantity{kind::absolute_at_dose, 20});
  CHECK(quantity_named("CI60Gy") == quantity{kind::conformity, 60});
  CHECK(quantity_named("outside") == quantity{kind::outside, 0});
  CHECK(quantity_named("min") == quantity{kind::minimum, 0});
  for (char const* const bad :
       {"", "D", "D0", "D101", "D-1cc", "V20", "Vnan", "D95Gy", "CI0Gy", "CI50", "median"}) {
    CHECK(says(refusal([&] { quantity_named(bad); }), "is no quantity"));
  }
  CHECK(quantity_named("dMEAN") == quantity{kind::mean, 0});
  CHECK(quantity_named("HI") == quantity{kind::homogeneity, 0});
  CHECK(quantity_named("v95%", 60) == quantity{kind::volume_at_dose, 0.95 * 60});
  CHECK(quantity_named("CI", 60) == quantity{kind::conformity, 60});
  for (char const* const relative : {"CI", "V95%"}) {
    CHECK(says(refusal([&] { quantity_named(relative); }), "is of the prescription"));
  }
  CHECK(unit_of(quantity_named("D95")) == "Gy");
  CHECK(unit_of(quantity_named("V20Gy")) == "%");
  CHECK(unit_of(quantity_named("V20Gy_cc")) == "cm3");
  CHECK(unit_of(quantity_named("HI")) == "1");
}

TEST_CASE("dvh: levels, volumes, bins and doses that make no sense are refused") {
  Kokkos::DefaultHostExecutionSpace const exec;
  using exec_space = Kokkos::DefaultHostExecutionSpace;
  auto const g = grid::centred({5, 5, 5}, {2, 2, 2});
  structure const s{"s", {rectangle(-2, -2, 2, 2, -1), rectangle(-2, -2, 2, 2, 1)}};
  auto const where = region_on<float>(exec, s, g);
  auto const writable = dose_on<float>(exec, g, [](double, double, double) { return 1.0; });
  iso::volume_view<float const, Kokkos::HostSpace> const dose = writable;
  CHECK(says(refusal([&] { volumes_at(exec, dose, where, {1, 0.5}); }), "levels must ascend"));
  CHECK(says(refusal([&] { volumes_at(exec, dose, where, {NAN}); }), "level 0 is nan"));
  CHECK(says(refusal([&] { doses_at(exec, dose, where, {0}); }), "a volume of 0 mm3"));
  CHECK(says(refusal([&] { conformity(exec, dose, where, -1); }), "a prescription of -1"));
  CHECK(says(refusal([&] { statistics(exec, dose, where, extremes(9)); }), "extremes is 9"));
  auto const bins = [&](histogram_options const& o) {
    return refusal([&] { histograms<exec_space, float>(exec, {dose}, {where}, o); });
  };
  CHECK(bins({}) == "");
  CHECK(says(bins({.bins = 0}), "bins is 0"));
  CHECK(says(bins({.end = -1}), "end is -1"));
  CHECK(volumes_at(exec, dose, where, {}).empty());
  writable.data(2, 2, 2) = NAN;
  CHECK(says(refusal([&] { statistics(exec, dose, where); }), "the dose is NaN or infinite in "));
  writable.data(2, 2, 2) = 1;
  writable.data(0, 0, 0) = NAN;
  CHECK(refusal([&] { statistics(exec, dose, where); }) == "");
  auto const shares = iso::make_volume<float, Kokkos::HostSpace>(exec, "fractions", g);
  shares.data(1, 1, 1) = 1.5F;
  CHECK(says(refusal([&] { statistics<exec_space, float>(exec, dose, {shares, {}}); }),
             "1 of 125 fractions are not from 0 to 1"));
  writable.data(0, 0, 0) = 1;
  // Wholly off the dose: nothing to tell, and all of it outside.
  auto const far_away = iso::make_volume<float, Kokkos::HostSpace>(
      exec, "fractions", grid{{2, 2, 2}, {1, 1, 1}, {50, 0, 0}});
  Kokkos::deep_copy(far_away.data, 0.5F);
  auto const none = evaluate<exec_space, float>(
      exec, {dose}, {{far_away, {}}},
      {quantity_named("D95"), quantity_named("V1Gy"), quantity_named("mean"), quantity_named("min"),
       quantity_named("homogeneity"), quantity_named("CI1Gy"), quantity_named("volume"),
       quantity_named("outside")})[0][0];
  for (std::size_t n = 0; n < 6; ++n) {
    CAPTURE(n);
    CHECK(std::isnan(none[n]));
  }
  CHECK(none[6] == 0);
  CHECK(none[7] == 0.004);
  CHECK(says(refusal([&] { structure_grid(s, g, {}, 65); }), "a subdivision of 65"));
  grid const far{{5, 5, 5}, {2, 2, 2}, {100, 0, 0}};
  CHECK(says(refusal([&] { structure_grid(s, far); }), "they do not overlap"));
  CHECK(says(refusal([&] { structure_grid(s, far); }), "mm along x, the dose's voxels"));
  CHECK(says(refusal([&] { surface_points(s, 0); }), "a distance of 0 mm"));
}
