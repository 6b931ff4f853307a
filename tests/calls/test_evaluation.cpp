// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include <iso/backend/communicator.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/dvh/dose_volume.hpp>
#include <iso/dvh/ranked_dose.hpp>
#include <iso/dvh/structure.hpp>
#include <iso/gamma/gamma_index.hpp>
#include <iso/gamma/ranked_gamma.hpp>

#include <vector>

namespace {

using namespace calls;

iso::grid const patient = iso::grid::centred({8, 8, 8}, {5, 5, 5});

iso::dvh::structure box() {
  return {"box",
          {{{{-10, -10, -5}, {10, -10, -5}, {10, 10, -5}, {-10, 10, -5}}},
           {{{-10, -10, 5}, {10, -10, 5}, {10, 10, 5}, {-10, 10, 5}}}}};
}

}  // namespace

// First of all that makes a region: g++ 12 ended here, by an error of its own, where nothing had
// made one before.
TEST_CASE("doses and regions in braces") {
  exec_space const exec;
  auto const dose = volume_of(patient, 2);
  auto const fractions = volume_of(patient, 1);
  auto const d95 = iso::dvh::quantity_named("D95");
  CHECK(iso::dvh::evaluate<exec_space, float>(exec, {dose}, {{fractions}}, {d95})[0][0][0] ==
        doctest::Approx(2));
}

TEST_CASE("structures") {
  exec_space const exec;
  CHECK(iso::dvh::voxel_fractions(box(), patient).size() == 512);
  CHECK(iso::dvh::voxel_fractions({"box", box().contours},
                                  {{8, 8, 8}, {5, 5, 5}, {-17.5, -17.5, -17.5}},
                                  {.caps = iso::dvh::end_cap::none})
            .size() == 512);
  CHECK(iso::dvh::rasterise(exec, box(), volume_of(patient, 0)).planes == 2);
  CHECK(iso::dvh::rasterise_bytes_needed<float>(exec, patient) == 512 * 12);
  CHECK(iso::dvh::structure_grid(box(), patient).size() > 0);
  CHECK(!iso::dvh::surface_points(box(), 2).empty());
  iso::dvh::structure_plan const plan(box());
  iso::dvh::structure_plan const open({"box", box().contours}, {.caps = iso::dvh::end_cap::none});
  CHECK(iso::dvh::rasterise(exec, open, volume_of(patient, 0)).planes == 2);
  CHECK(iso::dvh::voxel_fractions(plan, patient).size() == 512);
  CHECK(iso::dvh::rasterise(exec, plan, volume_of(patient, 0)).planes == 2);
  CHECK(iso::dvh::structure_grid(plan, patient).size() > 0);
  CHECK(!iso::dvh::surface_points(plan, 2).empty());
  std::vector const all{box()};
  CHECK(iso::dvh::structure_named(all, "box").contours.size() == 2);
}

TEST_CASE("dose-volume histograms") {
  exec_space const exec;
  auto const dose = volume_of(patient, 2);
  iso::volume_view<float const, space> const const_dose = dose;
  auto const fractions = volume_of(patient, 1);
  iso::dvh::region const where{fractions};
  iso::dvh::region<float, space> const with_surface{
      fractions, Kokkos::View<iso::vec3<double>*, space>("surface", 1)};
  CHECK(iso::dvh::statistics(exec, dose, where).mean == 2);
  CHECK(iso::dvh::statistics(exec, const_dose, {fractions}).mean == 2);
  CHECK(iso::dvh::statistics(exec, dose, with_surface, iso::dvh::extremes::whole_voxels).mean == 2);
  CHECK(iso::dvh::volumes_at(exec, dose, where, {1, 3})[1] == 0);
  CHECK(iso::dvh::volumes_at(exec, const_dose, {fractions}, {1}).size() == 1);
  CHECK(iso::dvh::doses_at(exec, dose, {fractions}, {100}).size() == 1);
  CHECK(iso::dvh::doses_at(exec, const_dose, where, {100}).size() == 1);
  CHECK(iso::dvh::conformity(exec, dose, {fractions}, 1) == doctest::Approx(1));
  CHECK(iso::dvh::conformity(exec, const_dose, where, 1) == doctest::Approx(1));

  auto const d95 = iso::dvh::quantity_named("D95");
  CHECK(iso::dvh::evaluate<exec_space, float>(exec, {const_dose}, {{fractions}},
                                              {iso::dvh::quantity_named("mean"), d95})[0][0]
            .size() == 2);
  std::vector const doses{dose, dose};
  std::vector const structures{where};
  CHECK(iso::dvh::evaluate(exec, doses, structures, {d95}).size() == 2);
  CHECK(iso::dvh::evaluate(exec, doses, {{fractions}, {fractions}}, {d95})[0].size() == 2);
  CHECK(iso::dvh::evaluate(exec, {dose}, structures, {d95}).size() == 1);
  CHECK(iso::dvh::evaluate(exec, std::vector{const_dose}, {where}, {d95}).size() == 1);
  CHECK(iso::dvh::histograms<exec_space, float>(exec, {dose}, {{fractions}}).size() == 1);
  CHECK(iso::dvh::histograms(exec, doses, structures, {.bins = 10}).size() == 2);
  iso::dvh::histogrammer const placed(exec, dose, with_surface);
  iso::dvh::histogrammer<exec_space, float> const same(exec, const_dose, {fractions});
  CHECK(placed.evaluate({d95}) == same.evaluate({d95}, iso::dvh::extremes::whole_voxels));
  CHECK(iso::dvh::histogrammer<exec_space, float>::bytes_needed(patient, patient, {d95}, 10) > 0);
  iso::dvh::slab_source<float, space> source{patient,
                                             patient,
                                             {},
                                             [&](iso::slab const&) { return const_dose; },
                                             [&](iso::slab const&) { return fractions; },
                                             {}};
  source.slabs = {{0, 3}, {3, 8}};
  CHECK(iso::dvh::histogrammer(exec, source).evaluate({d95}) == same.evaluate({d95}));
  CHECK(iso::dvh::planes_needed(patient, patient, {0, 3}).dose.count() == 5);
}

TEST_CASE("the gamma index") {
  exec_space const exec;
  auto const reference = volume_of(patient, 1);
  auto const evaluated = volume_of(patient, 1.01);
  iso::gamma::gamma_plan const plan(exec, reference, evaluated, {{0.03, 3}});
  iso::gamma::gamma_plan<float, space> const local(
      exec, reference, evaluated, {{.dose_difference = 0.03, .distance = 3}, {0.02, 2}},
      {.normalise = iso::gamma::normalisation::local});
  iso::volume_view<float const, space> const const_dose = evaluated;
  iso::gamma::gamma_plan const of_const(exec, const_dose, const_dose, {{0.03, 3}});
  iso::gamma::gamma_plan const of_either(exec, reference, const_dose, {{0.03, 3}});
  iso::gamma::gamma_values<float, space> const gamma("gamma", 1, 8, 8, 8);
  iso::gamma::status_values<space> const status("status", 8, 8, 8);
  iso::gamma::gamma_index(exec, plan, gamma, status);
  CHECK(iso::gamma::summarise(exec, plan, gamma, status).at(0).pass_rate == 1);
  iso::gamma::const_status_values<space> const read_status = status;
  CHECK(iso::gamma::summarise(exec, plan, iso::gamma::gamma_values<float const, space>(gamma),
                              read_status, {.bins = 10})
            .size() == 1);

  auto const part = iso::make_slab<float, space>(exec, "part", patient, {2, 4});
  auto const bounds =
      iso::gamma::bounds_of(exec, part).joined(iso::gamma::bounds_of(exec, reference));
  CHECK(iso::gamma::planes_needed(patient, patient, {2, 4}, {{0.03, 3}}).count() > 2);
  iso::gamma::gamma_plan const by_slab(exec, part, evaluated, {{0.03, 3}}, {}, bounds,
                                       iso::gamma::bounds_of(exec, evaluated));
  CHECK(iso::gamma::gamma_plan<float, space>::bytes_needed(patient, patient, {{0.03, 3}}) > 0);
  CHECK(by_slab.reference().planes().count() == 2);
  iso::gamma::gamma_sums sums(patient, {{0.03, 3}}, {});
  sums.add(exec, plan, gamma, status);
  CHECK(sums.finish().size() == 1);
}

TEST_CASE("the gamma index on ranks") {
  exec_space const exec;
  iso::backend::one_rank ranks;
  auto const planes = iso::divide_planes(patient, ranks.size());
  iso::gamma::ranked_gamma<exec_space, float> comparison(
      exec, ranks, volume_of(patient, 2), volume_of(patient, 2), planes, planes, {{0.03, 3}});
  auto const gamma = comparison.make_gamma("gamma");
  auto const status = comparison.make_status("status");
  comparison.apply(gamma, status);
  CHECK(comparison.summarise(gamma, status, {.bins = 10}).at(0).pass_rate == 1);
  CHECK(comparison.report().bytes_sent == 0);
  iso::gamma::gamma_sums sums(patient, {{0.03, 3}}, {});
  sums.add_ranks(ranks, planes);
}

TEST_CASE("dose-volume histograms on ranks") {
  exec_space const exec;
  iso::backend::one_rank ranks;
  auto const fractions = volume_of(patient, 1);
  iso::dvh::ranked_dose<exec_space, float> const dose(
      exec, ranks, volume_of(patient, 2), iso::divide_planes(patient, ranks.size()), {patient});
  iso::dvh::histogrammer const placed(
      exec, ranks, dose.source(patient, [fractions](iso::slab const&) { return fractions; }));
  CHECK(placed.statistics().mean == 2);
  CHECK(dose.report().bytes_sent == 0);
  CHECK(dose.planes().count() == 8);
}
