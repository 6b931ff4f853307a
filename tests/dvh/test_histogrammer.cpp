// SPDX-License-Identifier: BSD-3-Clause
// A structure that is placed in a dose once: the bits of the functions that place it each time, and
// the memory that it says it needs.
#include "dvh_support.hpp"
#include "instances.hpp"
#include "kokkos_events.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace histogrammer_test {
namespace {

using namespace dvh_support;
using iso::test::refusal;
using exec_space = Kokkos::DefaultHostExecutionSpace;

grid const of_dose = grid::centred({24, 25, 26}, {2, 2.5, 3});

structure cuboid() {
  return {"s",
          {rectangle(-15, -14, 12, 13, -12), rectangle(-15, -14, 12, 13, 0),
           rectangle(-15, -14, 12, 13, 12)}};
}

template <class T>
iso::volume_view<T const, exec_space::memory_space> slope(exec_space const& exec) {
  return dose_on<T>(exec, of_dose,
                    [](double x, double y, double z) { return 40 + x + 0.3 * y + 0.1 * z; });
}

std::vector<quantity> const quantities = {quantity_named("D95"), quantity_named("D0.1cc"),
                                          quantity_named("V40Gy"), quantity_named("mean"),
                                          quantity_named("HI")};
quantity const conformal = quantity_named("CI40Gy");

}  // namespace

TEST_CASE_TEMPLATE("dvh: a histogrammer has the bits of the functions", T, float, double) {
  exec_space const exec;
  auto const dose = slope<T>(exec);
  auto const where = region_on<T>(exec, cuboid(), of_dose);
  histogrammer<exec_space, T> const placed(exec, dose, where);
  CHECK(placed.volumes_at({20, 40}) == volumes_at(exec, dose, where, {20, 40}));
  CHECK(placed.doses_at({100, 2000}) == doses_at(exec, dose, where, {100, 2000}));
  CHECK(placed.conformity(40) == conformity(exec, dose, where, 40));
  auto all = quantities;
  all.push_back(conformal);
  CHECK(placed.evaluate(all) == evaluate<exec_space, T>(exec, {dose}, {where}, all)[0][0]);
  auto const ours = placed.make_histogram({.bins = 30});
  auto const theirs = histograms<exec_space, T>(exec, {dose}, {where}, {.bins = 30})[0][0];
  CHECK(ours.cumulative == theirs.cumulative);
  CHECK(ours.bin_width == theirs.bin_width);
  auto const s = placed.statistics(extremes::touched_voxels);
  auto const t = statistics(exec, dose, where, extremes::touched_voxels);
  CHECK(s.mean == t.mean);
  CHECK(s.minimum == t.minimum);
  CHECK(s.outside == t.outside);
}

TEST_CASE_TEMPLATE("dvh: a histogrammer takes the memory that it asks for, and no tenth less", T,
                   float, double) {
  exec_space const exec;
  auto const dose = slope<T>(exec);
  for (std::int64_t const subdivision : {1, 3, 5}) {
    auto const where = region_on<T>(exec, cuboid(), of_dose, subdivision);
    for (bool const conforms : {false, true}) {
      for (std::int64_t const bins : {0, 5000}) {
        CAPTURE(subdivision);
        CAPTURE(conforms);
        CAPTURE(bins);
        auto asked = quantities;
        if (conforms) {
          asked.push_back(conformal);
        }
        auto const needed =
            histogrammer<exec_space, T>::bytes_needed(of_dose, where.fractions.grid, asked, bins);
        auto const taken = iso::test::peak_bytes_of([&] {
          histogrammer<exec_space, T> const placed(exec, dose, where);
          static_cast<void>(placed.evaluate(asked));
          if (bins > 0) {
            static_cast<void>(placed.make_histogram({.bins = bins}));
          }
        });
        CHECK(taken <= 1.02 * double(needed));
        CHECK(double(needed) <= 1.1 * double(taken));
      }
    }
  }
}

TEST_CASE("dvh: a histogrammer refuses what makes no sense") {
  exec_space const exec;
  auto const dose = slope<float>(exec);
  auto const where = region_on<float>(exec, cuboid(), of_dose, 1);
  histogrammer<exec_space, float> const placed(exec, dose, where);
  auto const says = [](auto const& call, char const* part) {
    auto const text = refusal([&] { static_cast<void>(call()); });
    CAPTURE(text);
    return text.starts_with("iso::dvh::") && text.find(part) != std::string::npos;
  };
  CHECK(says([&] { return placed.volumes_at({2, 1}); }, "levels must ascend"));
  CHECK(says([&] { return placed.doses_at({-1}); }, "must be finite and positive"));
  CHECK(says([&] { return placed.make_histogram({.bins = 0}); }, "must be from 1"));
  CHECK(says([&] { return placed.conformity(0); }, "must be finite and positive"));
  CHECK(says([&] { return placed.statistics(extremes(7)); }, "histogrammer: extremes"));
  CHECK(says([&] { return histogrammer<exec_space, float>::bytes_needed({}, of_dose); },
             "histogrammer: grid"));
  auto const none = iso::volume_view<float const, Kokkos::HostSpace>{of_dose, {}};
  CHECK(says([&] { return histogrammer<exec_space, float>(exec, none, where); }, "histogrammer: "));
}

}  // namespace histogrammer_test
