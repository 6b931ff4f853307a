// SPDX-License-Identifier: BSD-3-Clause
// The dose of beams on ranks: the bits of one calculator, for every engine and every division, with
// ranks of different backends.
#include "dose_support.hpp"
#include "kokkos_events.hpp"
#include "planes_support.hpp"

#include <iso/core/error.hpp>
#include <iso/dose/calculator.hpp>
#include <iso/dose/ranked_calculator.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace ranks_support;
using dose_support::mixed;
using dose_support::setup;
using dose_support::volume_of;
using namespace iso::dose;
using iso::test::difference;
using iso::test::planes_of;

grid const patient = grid::centred({14, 16, 15}, {4, 3, 4});

/// A beam along an axis and an oblique one; their regions are parts of the patient.
std::vector<beam> beams() {
  auto const straight = setup::square(patient, 14, 900);
  auto oblique = dose_support::turned(straight, true);
  oblique.field.isocentre.z = 14;
  oblique.field.weight = 1e9;
  return {straight.field, oblique.field};
}

calculator_options options_of(convolution_options const& lines) {
  return {.cones = {4, 4}, .lines = lines, .margin = 6};
}

/// What is carried along lines, and how: every engine with either kind of kernel.
struct method {
  char const* name;
  convolution_options lines;
  bool table;
};
std::vector<method> methods() {
  std::vector<method> all;
  for (bool const table : {false, true}) {
    all.push_back({"lattice", {}, table});
    all.push_back({"voxel_lines", {.engine = dose_engine::voxel_lines}, table});
    all.push_back(
        {"voxel_samples", {.engine = dose_engine::voxel_samples, .radial_step = 4}, table});
    all.push_back({"non_voxel",
                   {.engine = dose_engine::non_voxel, .radial_step = 4, .ray_spacing = 5},
                   table});
  }
  all.push_back({"by_items", {.walk = lattice_walk::by_items, .tilt = false}, false});
  return all;
}

/// One part with a kernel of exponentials, or two with tables.
std::vector<energy_component> parts_of(bool table) {
  auto const photons = named_spectrum("mohan_6mv");
  if (!table) {
    return {{1, photons, named_kernel("6mv")}};
  }
  auto const all = split_by_energy(water_kernels(), photons);
  return {all[2], all[6]};
}

template <class T>
std::vector<T> dose_of_one(std::vector<energy_component> const& parts,
                           calculator_options const& options, host_volume<T> const& density) {
  calculator<Kokkos::Serial, T> one({}, patient, parts, options);
  auto const dose = iso::make_volume<T, Kokkos::HostSpace>("dose", patient);
  for (beam const& b : beams()) {
    one.add(b, density, dose);
  }
  return numbers_of(dose);
}

template <class T, class Exec>
std::vector<T> dose_on_ranks(Exec const& exec, std::vector<slab> const& planes,
                             std::vector<energy_component> const& parts,
                             calculator_options const& options, host_volume<T> const& density) {
  auto const here = part_of(exec, density, iso::all_planes(patient));
  ranked_calculator<Exec, T> all(exec, all_ranks(), patient, planes, parts, options);
  auto const dose = all.make_dose("dose");
  for (beam const& b : beams()) {
    all.add(b, here, dose);
  }
  return on_host(dose.data);
}

template <class T>
void check_method(method const& by, host_volume<T> const& density,
                  std::vector<std::vector<slab>> const& all, int& turn) {
  CAPTURE(by.name);
  CAPTURE(by.table);
  auto const parts = parts_of(by.table);
  auto const options = options_of(by.lines);
  auto const one = dose_of_one(parts, options, density);
  for (auto const& planes : all) {
    CAPTURE(turn);
    with_backend_of_rank(++turn, [&](auto const& exec) {
      auto const found = dose_on_ranks(exec, planes, parts, options, density);
      slab const own = planes[std::size_t(all_ranks().rank())];
      CHECK(difference(planes_of(one, patient, own), found) == "");
    });
  }
}

}  // namespace

TEST_CASE_TEMPLATE("ranked_calculator: planes have the bits of one calculator", T, float, double) {
  auto const density = volume_of<T>(patient, mixed);
  auto const all = divisions(patient, all_ranks().size());
  int turn = 0;
  for (method const& by : methods()) {
    // All divisions for the engine that most use, one in turn for the others.
    bool const every = std::string(by.name) == "lattice";
    check_method(
        by, density,
        every ? all : std::vector<std::vector<slab>>(1, all[std::size_t(turn) % all.size()]), turn);
  }
}

TEST_CASE("ranked_calculator: a density that is not finite makes regions NaN on all ranks") {
  auto const density = volume_of<float>(patient, mixed);
  density.data(7, 8, 7) = std::numeric_limits<float>::quiet_NaN();
  int turn = 1;
  check_method<float>({"lattice", {}, false}, density, divisions(patient, all_ranks().size()),
                      turn);
}

TEST_CASE("ranked_calculator: what is sent and held") {
  Kokkos::Serial const exec;
  int const size = all_ranks().size();
  int const here = all_ranks().rank();
  auto const density = volume_of<float>(patient, mixed);
  auto const planes = iso::divide_planes(patient, size);
  auto const b = beams()[0];
  auto const options = options_of({});
  auto const kernel = named_kernel("6mv");
  auto const spectrum = named_spectrum("mohan_6mv");
  {
    auto const here_dose =
        iso::make_slab<float, Kokkos::HostSpace>(exec, "dose", patient, planes[std::size_t(here)]);
    std::int64_t said = 0;
    auto const pass = [&] {
      ranked_calculator<Kokkos::Serial, float> one(exec, all_ranks(), patient, planes, kernel,
                                                   spectrum, options);
      one.add(b, density, here_dose);
      exec.fence();
      said = one.report().bytes_held;
    };
    pass();  // Kokkos keeps the scratch memory of teams from then on.
    auto const taken = iso::test::peak_bytes_of(pass);
    ranks_support::check_share(taken, said);
  }
  ranked_calculator<Kokkos::Serial, float> all(exec, all_ranks(), patient, planes, kernel, spectrum,
                                               options);
  CHECK(all.num_directions() == 16);
  CHECK(all.num_kernels() == 1);
  CHECK(all.planes() == planes[std::size_t(here)]);
  all.add(b, density, all.make_dose("dose"));
  // A word for each voxel of the region that another rank owns; the TERMA of each voxel, from the
  // rank that computes it to all others.
  auto const region = region_around(b, patient, options.margin);
  auto const first = std::llround((region.origin.z - patient.origin.z) / patient.spacing.z);
  std::int64_t others = 0;
  for (int rank = 0; rank < size; ++rank) {
    for (std::int64_t z = 0; z < region.extent[2]; ++z) {
      others += rank != here && planes[std::size_t(rank)].holds(first + z) ? 1 : 0;
    }
  }
  std::int64_t const words = 4 * region.extent[0] * region.extent[1] * others;
  auto of_terma = std::uint64_t(all.report().bytes_sent - words);
  CHECK(std::int64_t(of_terma) % (4 * region.extent[1] * region.extent[2]) == 0);
  all_ranks().sum(std::span<std::uint64_t>(&of_terma, 1));
  CHECK(std::int64_t(of_terma) == 4 * region.size() * (size - 1));
  CHECK((size > 1) == (all.report().bytes_sent > 0));
  CHECK(all.report().bytes_held > region.size() * 4);
}

TEST_CASE("ranked_calculator: refusals are of all ranks") {
  Kokkos::Serial const exec;
  int const size = all_ranks().size();
  int const here = all_ranks().rank();
  auto const density = volume_of<float>(patient, mixed);
  auto const planes = iso::divide_planes(patient, size);
  auto const photons = named_spectrum("mohan_6mv");
  auto const b = beams()[0];
  using calculator_type = ranked_calculator<Kokkos::Serial, float>;
  auto const made = [&](std::vector<slab> const& by, calculator_options const& options,
                        grid const& g) {
    return refusal_of_all(
        [&] { calculator_type(exec, all_ranks(), g, by, named_kernel("6mv"), photons, options); });
  };
  CHECK(made(iso::divide_planes(patient, size + 1), {}, patient)
            .find("iso::dose::ranked_calculator: a plan for") == 0);
  auto gap = planes;
  gap.back().last -= 1;
  CHECK(made(gap, {}, patient) != "a rank goes on");
  CHECK(made(planes, {.cones = {3, 4}}, patient) != "a rank goes on");
  CHECK(refusal_of_all([&] {
          calculator_type(exec, all_ranks(), patient, planes, std::vector<energy_component>());
        }).find("iso::dose::ranked_calculator: no part of a spectrum") == 0);
  calculator_type all(exec, all_ranks(), patient, planes, named_kernel("6mv"), photons,
                      options_of({}));
  auto const dose = all.make_dose("dose");
  auto const other =
      iso::make_volume<float, Kokkos::HostSpace>("other", grid::centred({3, 3, 40}, {1, 1, 1}));
  CHECK(refusal_of_all([&] {
          all.add(b, density, other);
        }).find("iso::dose::ranked_calculator: a dose of planes 0 to 39") == 0);
  auto near = b;
  near.source_distance = 20;
  CHECK(refusal_of_all([&] { all.add(near, density, dose); }) != "a rank goes on");
  if (size > 1) {
    CHECK(made(planes, {.margin = here == 0 ? 5.0 : 6.0}, patient)
              .find("iso::dose::ranked_calculator: ranks with different patients, planes, spectra, "
                    "kernels or options") == 0);
    auto of_rank = b;
    of_rank.fluence.values[0] = here == 0 ? 1 : 0.5;
    CHECK(refusal_of_all([&] {
            all.add(of_rank, density, dose);
          }).find("iso::dose::ranked_calculator: ranks with different beams or densities") == 0);
    auto const altered = volume_of<float>(patient, mixed);
    altered.data(13, 15, 14) += here == 1 ? 0.1F : 0.0F;
    CHECK(refusal_of_all([&] {
            all.add(b, altered, dose);
          }).find("iso::dose::ranked_calculator: ranks with different beams or densities") == 0);
    // The arrays of one rank.
    CHECK(refusal_of_all([&] { all.add(b, density, here == 1 ? other : dose); })
              .find(here == 1 ? "iso::dose::ranked_calculator: a dose of planes"
                              : "iso::dose::ranked_calculator: another rank stopped here") == 0);
  }
  // All can go on.
  all.add(b, density, dose);
}

TEST_CASE("ranked_calculator: all ranks stop where one is cancelled") {
  Kokkos::Serial const exec;
  auto const density = volume_of<float>(patient, mixed);
  ranked_calculator<Kokkos::Serial, float> all(
      exec, all_ranks(), patient, iso::divide_planes(patient, all_ranks().size()),
      named_kernel("6mv"), named_spectrum("mohan_6mv"), options_of({}));
  auto const dose = all.make_dose("dose");
  bool const last = all_ranks().rank() + 1 == all_ranks().size();
  CHECK_THROWS_AS(all.add(beams()[0], density, dose, {{}, [&] { return last; }}), iso::cancelled);
}
