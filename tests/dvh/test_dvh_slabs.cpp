// SPDX-License-Identifier: BSD-3-Clause
// Histograms by slabs of the dose: all figures of the whole, to the bit.
#include "compare.hpp"
#include "dvh_support.hpp"
#include "slabs.hpp"

#include <iso/backend/registry.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace dvh_support;
using iso::slab;
using iso::test::difference;
using iso::test::planes_of;
using iso::test::random_slabs;
using iso::test::refusal;

template <class T>
using host_volume = iso::volume_view<T, Kokkos::HostSpace>;

/// Hands out planes, and spoils those that it handed out before.
template <class Exec, class T>
struct planes_giver {
  Exec exec;
  host_volume<T> whole;
  std::shared_ptr<volume_on<Exec, T>> last = std::make_shared<volume_on<Exec, T>>();

  volume_on<Exec, T const> operator()(slab const& planes) const {
    if (last->data.size() > 0) {
      Kokkos::deep_copy(exec, last->data, std::numeric_limits<T>::quiet_NaN());
    }
    *last = planes_of(exec, whole, planes);
    return *last;
  }
};

template <class T>
struct problem {
  host_volume<T> dose;
  host_volume<T> fractions;
  std::vector<vec3<double>> surface;

  template <class Exec>
  [[nodiscard]] slab_source<T, typename Exec::memory_space> source(
      Exec const& exec, std::vector<slab> const& slabs) const {
    using space = typename Exec::memory_space;
    Kokkos::View<vec3<double>*, space> const points("surface", surface.size());
    Kokkos::deep_copy(exec, points,
                      Kokkos::View<vec3<double> const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          surface.data(), surface.size()));
    exec.fence();
    return {dose.grid,
            fractions.grid,
            slabs,
            planes_giver<Exec, T>{exec, dose},
            planes_giver<Exec, T>{exec, fractions},
            points};
  }
};

/// A body in a rough dose. Its voxels divide those of the dose, or lie across them, and some of
/// them may lie outside of the dose.
template <class T>
problem<T> random_problem(std::mt19937_64& random) {
  auto const number = [&](double low, double high) {
    return low + (high - low) * double(random() % 1024) / 1023;
  };
  Kokkos::Serial const exec;
  auto const planes = std::int64_t(1 + random() % 13);
  grid const of_dose{{8, 7, planes}, {3, 3.5, number(2, 5)}, {-10, -11, number(-20, 0)}};
  double const low = number(-16, -4);
  structure const body{"body",
                       {rectangle(-9, -8, 7, 9, low), rectangle(-6, -8, 9, 5, low + 5),
                        rectangle(-7, -6, 12, 8, low + 10)}};
  structure_options const options{.beyond = off_grid::cut};
  structure_plan const plan(body, options);
  grid voxels;
  try {
    voxels = structure_grid(plan, of_dose, std::int64_t(1 + random() % 3));
  } catch (iso::invalid_argument const&) {  // they do not overlap
    return random_problem<T>(random);
  }
  if (random() % 3 == 0) {
    voxels = {{9, 8, 7}, {2.6, 2.9, number(1, 6)}, {-9.5, -10, low - 4}};
  }
  problem<T> p;
  p.dose = dose_on<T>(exec, of_dose,
                      [&](double x, double, double z) { return 30 + x + 0.5 * z + number(0, 10); });
  p.fractions = iso::make_volume<T, Kokkos::HostSpace>("fractions", voxels);
  rasterise<Kokkos::Serial, T>(exec, plan, p.fractions);
  if (random() % 4 != 0) {
    p.surface = surface_points(plan, 1);
  }
  return p;
}

std::vector<double> const levels = {20, 28, 30, 31, 40};
std::vector<double> const volumes = {50, 500, 5000};

/// Everything that is read off a structure.
template <class Exec, class T>
std::vector<double> figures_of(histogrammer<Exec, T> const& placed) {
  std::vector<double> all = placed.volumes_at(levels);
  auto const add = [&](std::vector<double> const& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add(placed.doses_at(volumes));
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

}  // namespace

TEST_CASE_TEMPLATE("dvh slabs: all figures are those of the whole", T, float, double) {
  std::mt19937_64 random(5);
  for (int n = 0; n < 6; ++n) {
    auto const p = random_problem<T>(random);
    Kokkos::Serial const serial;
    auto const where = p.source(serial, {});
    auto const all = figures_of(histogrammer<Kokkos::Serial, T>(
        serial, p.dose, region<T, Kokkos::HostSpace>{p.fractions, where.surface}));
    CAPTURE(n);
    iso::backend::for_each([&](auto tag) {
      using exec_space = typename decltype(tag)::execution_space;
      exec_space const exec;
      auto slabs = random_slabs(random, p.dose.grid);
      std::shuffle(slabs.begin(), slabs.end(), random);
      CAPTURE(slabs.size());
      histogrammer<exec_space, T> const placed(exec, p.source(exec, slabs));
      CHECK(difference(figures_of(placed), all) == "");
    });
  }
}

TEST_CASE("dvh slabs: a slab reads a plane above its own, and shares around its voxels") {
  grid const dose{{4, 4, 10}, {2, 2, 2}, {0, 0, 0}};
  // Three voxels a cell: of cells 3 to 7.
  grid const fine{{6, 6, 12}, {2.0 / 3, 2.0 / 3, 2.0 / 3}, {1.0 / 3, 1.0 / 3, 6 + 1.0 / 3}};
  CHECK(planes_needed(dose, fine, {0, 10}) == slab_planes{{0, 10}, {0, 12}});
  CHECK(planes_needed(dose, fine, {4, 5}) == slab_planes{{4, 6}, {2, 7}});
  CHECK(planes_needed(dose, fine, {0, 3}) == slab_planes{{0, 4}, {0, 0}});
  CHECK(planes_needed(dose, fine, {7, 10}) == slab_planes{{7, 10}, {0, 0}});
  // One voxel for three cells.
  grid const coarse{{2, 2, 2}, {6, 6, 6}, {3, 3, 3}};
  CHECK(planes_needed(dose, coarse, {0, 1}) == slab_planes{{0, 4}, {0, 2}});
  CHECK(planes_needed(dose, coarse, {1, 3}) == slab_planes{{1, 4}, {0, 0}});
}

TEST_CASE("dvh slabs: what is missing, given twice or of another grid is refused") {
  Kokkos::Serial const exec;
  std::mt19937_64 random(1);
  auto p = random_problem<float>(random);
  while (p.dose.grid.extent[2] < 8) {
    p = random_problem<float>(random);
  }
  std::int64_t const all = p.dose.grid.extent[2];
  auto const refused = [&](std::vector<slab> const& slabs) {
    return refusal([&] { histogrammer(exec, p.source(exec, slabs)); });
  };
  CHECK(refused({{0, 4}, {4, all}}) == "");
  CHECK(refused({{0, 4}, {3, all}}).starts_with("iso::dvh::histogrammer: planes 3 to "));
  CHECK(refused({{0, 3}, {4, all}})
            .starts_with("iso::dvh::histogrammer: plane 3 of " + std::to_string(all) +
                         " was not added"));
  CHECK(refused({{0, 4}, {4, all + 1}}).find("planes along z from plane 4 on") !=
        std::string::npos);
  CHECK(refused({}).find("plane 0 of ") != std::string::npos);
  auto source = p.source(exec, {{0, 4}, {4, all}});
  source.dose_planes = [&](slab const& planes) {
    return planes_of(exec, p.dose, {planes.first, planes.last - 1});
  };
  CHECK(refusal([&] {
          histogrammer(exec, source);
        }).find("of the dose (planes 0 to 4 were asked for); give these, or more") !=
        std::string::npos);
  source.dose_planes = [&](slab const& planes) {
    auto other = planes_of(exec, p.dose, planes);
    other.grid.origin.x += 1;
    return other;
  };
  CHECK(refusal([&] {
          histogrammer(exec, source);
        }).starts_with("iso::dvh::histogrammer: a slab of another grid where planes of the dose"));
  CHECK(refusal([&] {
          planes_needed(p.dose.grid, p.fractions.grid, {0, all + 1});
        }).starts_with("iso::dvh::planes_needed: "));
  // Shares and doses that are none are counted over all slabs.
  p.fractions.data(0, 0, 0) = 2;
  CHECK(refused({{0, 4}, {4, all}}).find(" 1 of ") != std::string::npos);
}
