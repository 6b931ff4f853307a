// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include <iso/core/half.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/synthetic/bragg_curve.hpp>
#include <iso/synthetic/detector_readings.hpp>
#include <iso/synthetic/generate.hpp>
#include <iso/synthetic/poisson_counts.hpp>
#include <iso/synthetic/statistics.hpp>

using namespace calls;

TEST_CASE("matrices without a patient") {
  exec_space const exec;
  auto const figures = iso::synthetic::table_of(iso::synthetic::plan_case::prostate_1, 0.001);
  iso::synthetic::validate(figures, "calls");
  auto const a = iso::synthetic::generate<iso::half>(exec, figures);
  CHECK(iso::synthetic::statistics(exec, a).rows == figures.rows);
  CHECK(iso::synthetic::statistics(exec, a.as_const()).nonzeros == a.num_entries());

  iso::synthetic::pencil_beams const field{
      .voxels = iso::grid::centred({12, 12, 12}, {8, 8, 8}), .slabs = {{10, 1.5}}, .radius = 10};
  auto const plan = iso::synthetic::plan_of(field);
  auto const b = iso::synthetic::generate<float>(exec, field);
  CHECK(b.num_cols == std::int64_t(plan.spots.size()));
  iso::synthetic::generate<float>(exec,
                                  {.rows = 600, .columns = 256, .nonzeros = 8000, .longest = 80});
}

TEST_CASE("protons in water") {
  double const energy = iso::synthetic::energy_of_range(150);
  CHECK(iso::synthetic::range_of_energy(energy) == doctest::Approx(150));
  iso::synthetic::proton_beam const beam{.range = 150};
  CHECK(iso::synthetic::range_sigma(beam) > 0);
  CHECK(iso::synthetic::depth_dose(beam, 10) > 0);
  CHECK(iso::synthetic::depth_dose({}, 10) > 0);
  CHECK(iso::synthetic::lateral_sigma(beam, 10) > 4);
  CHECK(iso::synthetic::tabulate({.range = 100}, 0.001).peak_depth < 110);
}

TEST_CASE("readings with noise") {
  exec_space const exec;
  Kokkos::View<float*, space> const counts("counts", 8);
  Kokkos::deep_copy(exec, counts, 100.0F);
  iso::synthetic::poisson_counts(exec, counts, counts);
  iso::synthetic::poisson_counts(exec, Kokkos::View<float const*, space>(counts), counts,
                                 {.seed = 2});

  auto const integrals = iso::make_projections<float, space>(exec, "integrals", 1, 4, 4);
  auto const readings = iso::make_projections<float, space>(exec, "readings", 1, 4, 4);
  iso::synthetic::detector_readings(exec, {.photons = 1000}, 0, integrals, readings);
  exec.fence();
}
