// SPDX-License-Identifier: BSD-3-Clause
// Dose-volume histograms on ranks: every figure of the whole on every rank, with ranks of different
// backends.
#include "dvh_support.hpp"
#include "kokkos_events.hpp"
#include "planes_support.hpp"

#include <iso/core/error.hpp>
#include <iso/dvh/ranked_dose.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace dvh_support;
using iso::slab;
using iso::dvh::ranked_dose;
using iso::test::difference;
using ranks_support::all_ranks;
using ranks_support::divisions;
using ranks_support::part_of;
using ranks_support::refusal_of_all;
using ranks_support::with_backend_of_rank;

template <class T>
using host_volume = iso::volume_view<T, Kokkos::HostSpace>;

/// A body in a rough dose, whose shares are on a grid of their own.
template <class T>
struct problem {
  host_volume<T> dose;
  host_volume<T> fractions;
  std::vector<vec3<double>> surface;

  template <class Exec>
  [[nodiscard]] auto points(Exec const& exec) const {
    using space = typename Exec::memory_space;
    Kokkos::View<vec3<double>*, space> const there("surface", surface.size());
    Kokkos::deep_copy(exec, there,
                      Kokkos::View<vec3<double> const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          surface.data(), surface.size()));
    exec.fence();
    return Kokkos::View<vec3<double> const*, space>(there);
  }
};

template <class T>
problem<T> body_in_dose(bool divides, bool has_surface) {
  Kokkos::Serial const exec;
  grid const of_dose{{8, 7, 11}, {3, 3.5, 3}, {-10, -11, -14}};
  structure const body{
      "body",
      {rectangle(-9, -8, 7, 9, -8), rectangle(-6, -8, 9, 5, -3), rectangle(-7, -6, 12, 8, 2)}};
  structure_plan const plan(body, structure_options{.beyond = off_grid::cut});
  // Voxels that divide the dose's cells, or lie across planes.
  grid const voxels = divides ? structure_grid(plan, of_dose, 2)
                              : grid{{9, 8, 5}, {2.6, 2.9, 4.7}, {-9.5, -10, -12}};
  problem<T> p;
  std::uint64_t n = 0;
  p.dose = dose_on<T>(exec, of_dose, [&](double x, double, double z) {
    return 30 + x + 0.5 * z + double((7919 * ++n) % 101) * 0.1;
  });
  p.fractions = iso::make_volume<T, Kokkos::HostSpace>("fractions", voxels);
  rasterise<Kokkos::Serial, T>(exec, plan, p.fractions);
  if (has_surface) {
    p.surface = surface_points(plan, 1);
  }
  return p;
}

/// Everything that is read off a structure.
template <class Exec, class T>
std::vector<double> figures_of(histogrammer<Exec, T> const& placed) {
  std::vector<double> all = placed.volumes_at({20, 28, 30, 31, 40});
  auto const add = [&](std::vector<double> const& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add(placed.doses_at({50, 500, 5000}));
  for (auto const of : {extremes::surface, extremes::whole_voxels, extremes::touched_voxels}) {
    auto const s = placed.statistics(of);
    add({s.volume, s.outside, s.mean, s.minimum, s.maximum});
  }
  add(placed.evaluate({quantity_named("D95"), quantity_named("D2"), quantity_named("V30Gy"),
                       quantity_named("HI"), quantity_named("CI30Gy")}));
  auto const curve = placed.make_histogram({.bins = 17});
  add({curve.bin_width, curve.volume, curve.outside});
  add(curve.cumulative);
  add(curve.differential);
  add({placed.conformity(31)});
  return all;
}

template <class T, class Exec>
histogrammer<Exec, T> placed_on_ranks(Exec const& exec, problem<T> const& p,
                                      std::vector<slab> const& planes) {
  slab const own = planes[std::size_t(all_ranks().rank())];
  ranked_dose<Exec, T> const dose(exec, all_ranks(), part_of(exec, p.dose, own), planes,
                                  {p.fractions.grid});
  auto const shares = [exec, whole = p.fractions](slab const& needed) {
    return iso::volume_view<T const, typename Exec::memory_space>(part_of(exec, whole, needed));
  };
  return histogrammer<Exec, T>(exec, all_ranks(),
                               dose.source(p.fractions.grid, shares, p.points(exec)));
}

}  // namespace

TEST_CASE_TEMPLATE("dvh on ranks: all figures are those of the whole", T, float, double) {
  int turn = 0;
  for (bool const divides : {true, false}) {
    for (bool const has_surface : {true, false}) {
      auto const p = body_in_dose<T>(divides, has_surface);
      Kokkos::Serial const serial;
      auto const one = figures_of(histogrammer<Kokkos::Serial, T>(
          serial, p.dose, region<T, Kokkos::HostSpace>{p.fractions, p.points(serial)}));
      for (auto const& planes : divisions(p.dose.grid, all_ranks().size())) {
        CAPTURE(turn);
        with_backend_of_rank(++turn, [&](auto const& exec) {
          CHECK(difference(figures_of(placed_on_ranks(exec, p, planes)), one) == "");
        });
      }
    }
  }
}

TEST_CASE("dvh on ranks: a plane above its own goes to each rank") {
  Kokkos::Serial const exec;
  int const size = all_ranks().size();
  int const here = all_ranks().rank();
  auto const p = body_in_dose<float>(true, false);
  auto const planes = iso::divide_planes(p.dose.grid, size);
  slab const own = planes[std::size_t(here)];
  ranked_dose<Kokkos::Serial, float> const dose(exec, all_ranks(), part_of(exec, p.dose, own),
                                                planes, {p.fractions.grid});
  CHECK(dose.report().bytes_sent == (here == 0 ? 0 : 8 * 7 * 4));
  CHECK(dose.report().bytes_held == (here + 1 == size ? 0 : 8 * 7 * 4 * (own.count() + 1)));
  CHECK(dose.planes() == own);
}

TEST_CASE("dvh on ranks: a rank holds its share of dose and fractions") {
  Kokkos::Serial const exec;
  grid const of_dose{{40, 36, 48}, {2, 2, 2}, {-39, -35, -47}};
  structure_plan const plan(
      structure("body", {rectangle(-30, -25, 28, 26, -40), rectangle(-28, -22, 30, 24, 0),
                         rectangle(-25, -20, 27, 22, 40)}),
      structure_options{.beyond = off_grid::cut});
  problem<float> p;
  p.dose = dose_on<float>(exec, of_dose, [](double x, double y, double z) {
    return 30 + 0.1 * x + 0.2 * y + 0.05 * z;
  });
  p.fractions =
      iso::make_volume<float, Kokkos::HostSpace>("fractions", structure_grid(plan, of_dose, 1));
  rasterise<Kokkos::Serial, float>(exec, plan, p.fractions);
  std::vector<quantity> const quantities{quantity_named("D95"), quantity_named("D2"),
                                         quantity_named("HI")};
  auto const planes = iso::divide_planes(of_dose, all_ranks().size());
  slab const own = planes[std::size_t(all_ranks().rank())];
  auto const dose_here = part_of(exec, p.dose, own);
  // Planes of the fractions come when they are asked for, and stay here for the test.
  auto const& shares = p.fractions.grid;
  auto const needed = planes_needed(of_dose, shares, own);
  auto const shares_here = part_of(exec, p.fractions, needed.fractions);
  std::int64_t held = 0;
  auto const found = iso::test::peak_bytes_of([&] {
    ranked_dose<Kokkos::Serial, float> const dose(exec, all_ranks(), dose_here, planes, {shares});
    held = dose.report().bytes_held;
    histogrammer<Kokkos::Serial, float> const placed(
        exec, all_ranks(), dose.source(shares, [&](slab const&) {
          return iso::volume_view<float const, Kokkos::HostSpace>(shares_here);
        }));
    static_cast<void>(placed.evaluate(quantities));
    static_cast<void>(placed.make_histogram({.bins = 500}));
  });
  CHECK(held == (needed.dose.count() == own.count() ? 0 : 40 * 36 * 4 * needed.dose.count()));
  ranks_support::check_share(found, held + histogrammer<Kokkos::Serial, float>::bytes_needed(
                                               of_dose, shares, quantities, 500, own));
}

TEST_CASE("dvh on ranks: refusals are of all ranks") {
  Kokkos::Serial const exec;
  int const size = all_ranks().size();
  int const here = all_ranks().rank();
  auto const p = body_in_dose<float>(true, true);
  auto const planes = iso::divide_planes(p.dose.grid, size);
  auto const own = part_of(exec, p.dose, planes[std::size_t(here)]);
  using dose_type = ranked_dose<Kokkos::Serial, float>;
  auto const refused = [&](auto const& dose, std::vector<slab> const& by) {
    return refusal_of_all([&] { dose_type(exec, all_ranks(), dose, by, {p.fractions.grid}); });
  };
  CHECK(refused(own, iso::divide_planes(p.dose.grid, size + 1))
            .find("iso::dvh::ranked_dose: a plan for") == 0);
  auto gap = planes;
  gap.back().last -= 1;
  CHECK(refused(own, gap) != "a rank goes on");
  auto const placed = placed_on_ranks(exec, p, planes);
  CHECK(refusal_of_all([&] { static_cast<void>(placed.volumes_at({2, 1})); }) != "a rank goes on");
  CHECK(refusal_of_all([&] { static_cast<void>(placed.make_histogram({.bins = 0})); }) !=
        "a rank goes on");
  bool const last = here + 1 == size;
  CHECK_THROWS_AS(
      static_cast<void>(placed.statistics(extremes::surface, {{}, [&] { return last; }})),
      iso::cancelled);
  // Doses and shares that are none are counted over all ranks.
  auto bad = body_in_dose<float>(true, false);
  bad.fractions.data(3, 3, 3) = 2;
  CHECK(refusal_of_all([&] { placed_on_ranks(exec, bad, planes); }).find(" 1 of ") !=
        std::string::npos);
  auto gone = body_in_dose<float>(true, false);
  gone.dose.data(4, 3, 5) = std::numeric_limits<float>::quiet_NaN();
  CHECK(refusal_of_all([&] { placed_on_ranks(exec, gone, planes); }) != "a rank goes on");
  if (size > 1) {
    auto const whole = part_of(exec, p.dose, iso::all_planes(p.dose.grid));
    CHECK(refused(here == 1 ? whole : own, planes)
              .find(here == 1 ? "iso::dvh::ranked_dose: a dose of planes 0 to 10"
                              : "iso::dvh::ranked_dose: another rank stopped here") == 0);
    CHECK(refusal_of_all([&] {
            static_cast<void>(placed.volumes_at({here == 0 ? 1.0 : 2.0}));
          }).find("iso::dvh::histogrammer: ranks with different levels") == 0);
    CHECK(refusal_of_all([&] {
            static_cast<void>(placed.doses_at({here == 0 ? -1.0 : 2.0}));
          }).find("iso::dvh::histogrammer: ranks with different levels") == 0);
  }
  CHECK(placed.statistics().volume > 0);
}
