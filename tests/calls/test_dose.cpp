// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include <iso/backend/communicator.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/core/workspace.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/calculator.hpp>
#include <iso/dose/cones.hpp>
#include <iso/dose/convolution.hpp>
#include <iso/dose/density.hpp>
#include <iso/dose/kernel.hpp>
#include <iso/dose/ranked_calculator.hpp>
#include <iso/dose/slab_phantom.hpp>
#include <iso/dose/spectrum.hpp>
#include <iso/dose/terma.hpp>

#include <variant>

namespace {

using namespace calls;

iso::dose::beam field() {
  return {.gantry = 0.1, .fluence = iso::dose::fluence_map::rectangle(-40, 40, -40, 40)};
}

}  // namespace

TEST_CASE("dose of a beam") {
  exec_space const exec;
  auto const patient = iso::grid::centred({8, 8, 8}, {20, 20, 20});
  auto const density = volume_of(patient, 1);
  auto const dose = volume_of(patient, 0);
  iso::dose::calculator<exec_space, float> calculator(exec, patient, iso::dose::named_kernel("6mv"),
                                                      iso::dose::named_spectrum("mohan_6mv"));
  calculator.add(field(), density, dose);

  auto const region = iso::dose::region_around(field(), patient);
  CHECK(iso::dose::frame_of(field()).source_distance == 1000);
  iso::dose::terma_plan const release(exec, field(), iso::dose::named_spectrum("mohan_6mv"));
  auto const terma = volume_of(region, 0);
  iso::dose::terma(exec, release, density, terma);
  iso::dose::convolution_plan<float, space> const plan(
      exec, region, field(), iso::dose::make_cones(iso::dose::named_kernel("6mv")));
  iso::workspace<space> const scratch(iso::dose::convolve_bytes_needed<float>(exec, plan));
  iso::dose::convolve(exec, plan, terma, density, dose, scratch);
  iso::dose::convolve(exec, plan, terma, density, dose, scratch, iso::onto::stored);
  exec.fence();
}

TEST_CASE("const inputs of doses") {
  exec_space const exec;
  auto const patient = iso::grid::centred({8, 8, 8}, {20, 20, 20});
  iso::volume_view<float const, space> const density = volume_of(patient, 1);
  auto const dose = volume_of(patient, 0);
  iso::dose::calculator<exec_space, float> calculator(exec, patient, iso::dose::named_kernel("6mv"),
                                                      iso::dose::named_spectrum("mohan_6mv"));
  calculator.add(field(), density, dose);
  iso::dose::terma_plan const release(exec, field(), iso::dose::named_spectrum("mohan_6mv"));
  auto const terma = volume_of(patient, 0);
  iso::dose::terma(exec, release, density, terma);
  iso::dose::convolution_plan<float, space> const plan(
      exec, patient, field(), iso::dose::make_cones(iso::dose::named_kernel("6mv")));
  iso::workspace<space> const scratch(iso::dose::convolve_bytes_needed<float>(exec, plan));
  iso::volume_view<float const, space> const released = terma;
  iso::dose::convolve(exec, plan, released, density, dose, scratch);
  CHECK(iso::dose::validate(exec, density).sound());
}

TEST_CASE("densities") {
  exec_space const exec;
  auto const grid = iso::grid::centred({2, 2, 2}, {1, 1, 1});
  auto const density = volume_of(grid, 0);
  iso::dose::staged_density_table const table(exec,
                                              iso::dose::named_density_table("schneider_2000"));
  iso::dose::density_from_hounsfield(exec, table, volume_of(grid, 0), density);
  iso::dose::density_from_hounsfield(
      exec,
      iso::dose::staged_density_table<space>(
          exec, iso::dose::parse_density_table("-1000,0\n0,1\n", "mine")),
      volume_of(grid, 0), density);
  auto const report = iso::dose::validate(exec, density);
  CHECK(report.sound());
  CHECK(iso::dose::to_string(report).empty());
  CHECK(iso::dose::slab_phantom().size() == 11);
  CHECK(iso::dose::slab_phantom_grid(32).extent[0] == 8);
  CHECK(iso::dose::mean_density({{10, 1}, {10, 2}}, 5, 15) == 1.5);
}

TEST_CASE("dose of a beam on ranks") {
  exec_space const exec;
  iso::backend::one_rank ranks;
  auto const patient = iso::grid::centred({8, 8, 8}, {20, 20, 20});
  iso::dose::ranked_calculator<exec_space, float> calculator(
      exec, ranks, patient, iso::divide_planes(patient, ranks.size()),
      iso::dose::named_kernel("6mv"), iso::dose::named_spectrum("mohan_6mv"));
  auto const dose = calculator.make_dose("dose");
  calculator.add(field(), volume_of(patient, 1), dose);
  CHECK(calculator.report().bytes_sent == 0);
  CHECK(calculator.planes().count() == 8);
}

TEST_CASE("kernels and spectra") {
  auto const spectrum = iso::dose::parse_spectrum("1,0.5,0.07,0.03\n2,0.5,0.05,0.026\n", "mine");
  iso::dose::validate(spectrum, "calls");
  CHECK(iso::dose::terma_at(iso::dose::named_spectrum("mohan_6mv"), 10) > 0);
  auto const kernel = iso::dose::named_kernel("6mv");
  iso::dose::validate(kernel, "calls");
  CHECK(iso::dose::absorbed_within(kernel, 10) > 0.5);
  CHECK(iso::dose::parse_exponential_kernel("0,180,0.001,0.1,0.02,4\n", "mine").num_terms == 2);

  auto const mixed = iso::dose::mix_kernels(iso::dose::water_kernels(), spectrum);
  iso::dose::validate(mixed, "calls");
  CHECK(iso::dose::absorbed_within(mixed, 10) > 0.5);
  CHECK(iso::dose::split_by_energy(iso::dose::water_kernels(), spectrum).size() == 2);
  char const* const table = "90,1,0.3\n90,15,0.3\n180,1,0.1\n180,15,0.1\n";
  auto const parsed = iso::dose::parse_tabulated_kernel(table, "mine");
  CHECK(iso::dose::parse_mono_kernels("1,90,1,0.3\n1,180,1,0.3\n", "mine").size() == 1);
  auto const either = iso::dose::parse_kernel(table, "mine", spectrum);
  iso::dose::validate(either, "calls");
  CHECK(std::holds_alternative<iso::dose::tabulated_kernel>(either));

  CHECK(iso::dose::make_cones(kernel, {.cones = 4}).cones.size() == 4);
  CHECK(iso::dose::make_cones(parsed).is_table());
  CHECK(iso::dose::make_cones(either).is_table());
}
