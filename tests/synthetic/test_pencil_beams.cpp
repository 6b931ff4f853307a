// SPDX-License-Identifier: BSD-3-Clause
// Pencil beams in water and in slabs: against the model evaluated directly, voxel by voxel and spot
// by spot, and against what must be conserved.
#include "generate_support.hpp"
#include "instances.hpp"

#include <iso/core/error.hpp>
#include <iso/synthetic/bragg_curve.hpp>
#include <iso/synthetic/generate.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

namespace {

using namespace iso::synthetic;
using namespace iso::sparse;
using iso::test::fault;
using iso::test::on_host;

constexpr double pi = std::numbers::pi;
/// Gy for 1e11 protons, from MeV/g for one.
constexpr double gray = 1.602176634e-10 * 1e11;

pencil_beams small_field() {
  pencil_beams f;
  f.voxels = iso::grid::centred({24, 20, 22}, {4, 4, 4});
  f.entrance = 80;
  f.radius = 12;
  f.layer_spacing = 6;
  f.target = {3, -2, 1.5};
  return f;
}

/// The dose of spot `s` at p, without cut-offs; `water` turns depth into water-equivalent depth.
template <class Water>
double model(pencil_beams const& f, field_plan const& plan, spot const& s, iso::vec3<double> p,
             Water const& water) {
  double const c = std::cos(f.angle);
  double const n = std::sin(f.angle);
  double const depth = c * p.x + n * p.y + f.entrance;
  double const u = -n * (p.x - f.target.x) + c * (p.y - f.target.y) - s.u;
  double const v = p.z - f.target.z - s.v;
  proton_beam beam;
  beam.range = plan.layers[std::size_t(s.layer)].range;
  beam.energy_spread = f.energy_spread;
  beam.initial_sigma = f.initial_sigma;
  double const sigma = lateral_sigma(beam, water(depth)) / 10;  // cm
  double const lateral =
      std::exp(-(u * u + v * v) / 100 / (2 * sigma * sigma)) / (2 * pi * sigma * sigma);
  return gray * depth_dose(beam, water(depth)) * lateral;
}

iso::vec3<double> centre_of(iso::grid const& g, std::int64_t row) {
  auto const nz = g.extent[2];
  auto const ny = g.extent[1];
  return {g.origin.x + g.spacing.x * double(row / nz / ny),
          g.origin.y + g.spacing.y * double(row / nz % ny),
          g.origin.z + g.spacing.z * double(row % nz)};
}

/// Entries against the model; every spot that is not an entry lies outside the circle or behind
/// the distal cut.
template <class Water>
void check_model(pencil_beams const& f, Water const& water) {
  auto const plan = plan_of(f);
  auto const a = on_host(generate<double>(Kokkos::Serial(), f));
  REQUIRE(fault(a).empty());
  REQUIRE(a.columns == std::int64_t(plan.spots.size()));
  double const reach = std::sqrt(-2 * std::log(f.lateral_loss));
  int compared = 0;
  for (std::int64_t row = 0; row < a.rows; row += 7) {
    auto const p = centre_of(f.voxels, row);
    auto entry = a.offsets[std::size_t(row)];
    for (std::int64_t c = 0; c < a.columns; ++c) {
      auto const& s = plan.spots[std::size_t(c)];
      bool const present = entry < a.offsets[std::size_t(row) + 1] &&
                           a.places[std::size_t(entry)] == std::int32_t(c);
      if (present) {
        double const expected = model(f, plan, s, p, water);
        REQUIRE(a.values[std::size_t(entry)] == doctest::Approx(expected).epsilon(0.01));
        ++entry;
        ++compared;
      } else if (c % 5 == 0) {
        double const n = std::sin(f.angle);
        double const k = std::cos(f.angle);
        double const depth = k * p.x + n * p.y + f.entrance;
        proton_beam beam;
        beam.range = plan.layers[std::size_t(s.layer)].range;
        beam.initial_sigma = f.initial_sigma;
        double const u = -n * (p.x - f.target.x) + k * (p.y - f.target.y) - s.u;
        double const off = std::hypot(u, p.z - f.target.z - s.v);
        bool const outside = depth < 0 || off > 0.999 * reach * lateral_sigma(beam, water(depth));
        bool const behind = water(depth) > beam.range;
        REQUIRE((outside || behind));
      }
    }
  }
  CHECK(compared > 1000);
}

}  // namespace

TEST_CASE("entries are the model's doses: water") {
  check_model(small_field(), [](double depth) { return depth; });
}

TEST_CASE("entries are the model's doses: slabs, an oblique beam") {
  auto f = small_field();
  f.angle = 0.7;
  f.slabs = {{30, 1.0}, {20, 0.3}, {15, 1.6}};
  check_model(f, [](double depth) {
    return depth < 30   ? depth
           : depth < 50 ? 30 + 0.3 * (depth - 30)
           : depth < 65 ? 36 + 1.6 * (depth - 50)
                        : 60 + (depth - 65);
  });
}

TEST_CASE("a spot's dose in a plane is the depth dose, less what is cut off") {
  pencil_beams f;
  f.voxels = iso::grid::centred({75, 40, 40}, {2, 2, 2});
  f.entrance = 75;
  f.radius = 1;
  f.layer_spacing = 100;
  f.margin = 0;
  f.target = {30, 0.4, -0.3};
  for (double const loss : {0.1, 0.01, 0.001}) {
    f.lateral_loss = loss;
    auto const a = on_host(generate<double>(Kokkos::Serial(), f));
    REQUIRE(a.columns == 1);
    proton_beam beam;
    beam.range = plan_of(f).layers[0].range;
    double total = 0;
    double whole = 0;
    for (std::int64_t x = 0; x < 75; ++x) {
      double plane = 0;
      for (std::int64_t row = x * 1600; row < (x + 1) * 1600; ++row) {
        if (a.length(row) == 1) {
          plane += a.values[std::size_t(a.offsets[std::size_t(row)])];
        }
      }
      double const depth = centre_of(f.voxels, x * 1600).x + f.entrance;
      // Voxels of 2 mm: 0.04 cm2 each.
      double const integral = plane * 0.04 / gray;
      double const expected = depth_dose(beam, depth);
      total += integral;
      whole += expected;
      if (depth < beam.range) {
        CAPTURE(depth);
        // The cut's edge runs through voxels: a tenth of what it cuts off, at most.
        CHECK(integral == doctest::Approx(expected * (1 - loss)).epsilon(0.003 + 0.2 * loss));
      }
    }
    CHECK(total == doctest::Approx(whole * (1 - loss)).epsilon(0.003 + 0.05 * loss));
  }
}

TEST_CASE("the deepest layer's peak lies at the target's far side, by the range relation") {
  auto f = small_field();
  f.target = {0, 0, 0};
  f.slabs = {{20, 1.5}};
  auto const plan = plan_of(f);
  // 92 mm behind the entrance, ten more for the slab.
  CHECK(plan.layers[0].range == doctest::Approx(102));
  CHECK(plan.layers[0].range == doctest::Approx(0.022 * std::pow(plan.layers[0].energy, 1.77)));
  CHECK(std::abs(plan.layers[0].peak_depth - 102) < 3);
  CHECK(plan.layers.size() == 5);  // 24 mm of target, 6 apart
  for (std::size_t n = 1; n < plan.layers.size(); ++n) {
    CHECK(plan.layers[n].range == doctest::Approx(102 - 6 * double(n)));
    CHECK(plan.layers[n].first_column ==
          plan.layers[n - 1].first_column + plan.layers[n - 1].spots);
  }
}

TEST_CASE("spots: lines along u, v rising, every other one backwards, all within the target") {
  auto const f = small_field();
  auto const plan = plan_of(f);
  std::size_t steps = 0;
  for (std::size_t c = 0; c < plan.spots.size(); ++c) {
    auto const& s = plan.spots[c];
    CHECK(std::hypot(s.u, s.v) <= f.radius + f.margin + 1e-9);
    if (c > 0 && plan.spots[c - 1].layer == s.layer) {
      auto const& before = plan.spots[c - 1];
      if (before.v == s.v) {
        CHECK(std::abs(s.u - before.u) == f.spot_spacing);
        ++steps;
      } else {
        CHECK(s.v - before.v == f.spot_spacing);
        CHECK(s.u * before.u >= 0);  // turned round at the end of the line
      }
    }
  }
  CHECK(steps > plan.spots.size() / 2);
}

TEST_CASE("the same bits on every backend with any number of threads") {
  auto f = small_field();
  f.angle = 1.1;
  f.slabs = {{25, 0.4}};
  auto const expected = on_host(generate<iso::half>(Kokkos::Serial(), f));
  CHECK(expected.places.size() > 10000);
  iso::test::for_each_instance(
      [&](auto const& exec) { CHECK(on_host(generate<iso::half>(exec, f)) == expected); });
}

TEST_CASE("a quarter turn of beam and target permutes the rows, bit for bit") {
  pencil_beams f;
  f.voxels = iso::grid::centred({20, 20, 12}, {4, 4, 4});
  f.entrance = 60;
  f.radius = 10;
  auto const a = on_host(generate<double>(Kokkos::Serial(), f));
  f.angle = pi / 2;
  auto const b = on_host(generate<double>(Kokkos::Serial(), f));
  REQUIRE(a.places.size() == b.places.size());
  for (std::int64_t x = 0; x < 20; ++x) {
    for (std::int64_t y = 0; y < 20; ++y) {
      for (std::int64_t z = 0; z < 12; ++z) {
        // (x, y) goes to (-y, x).
        auto const from = std::size_t((x * 20 + y) * 12 + z);
        auto const to = std::size_t(((19 - y) * 20 + x) * 12 + z);
        REQUIRE(a.length(std::int64_t(from)) == b.length(std::int64_t(to)));
        for (std::int64_t i = 0; i < a.length(std::int64_t(from)); ++i) {
          auto const p = std::size_t(a.offsets[from] + i);
          auto const q = std::size_t(b.offsets[to] + i);
          REQUIRE(a.places[p] == b.places[q]);
          REQUIRE(a.values[p] == b.values[q]);
        }
      }
    }
  }
}

TEST_CASE("fields that cannot be planned are refused by name and value") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  auto const says = [](auto change, std::string const& sentence) {
    auto f = small_field();
    change(f);
    CHECK_THROWS_WITH_AS(plan_of(f), sentence.c_str(), iso::invalid_argument);
  };
  auto const refused = [&](auto change, std::string const& sentence) {
    says(change, "iso::synthetic::generate: " + sentence);
  };
  refused([](auto& f) { f.voxels.extent[0] = 0; },
          "grid of [0, 20, 22] voxels (every extent must be at least 1); check that the volume was "
          "read");
  refused([](auto& f) { f.voxels.extent = {2048, 2048, 512}; },
          "2147483648 voxels (a matrix has at most 2^31 - 1 rows); take larger voxels, or fewer");
  std::string const finite =
      " (must be finite, the angle at most 1e5); give the angle in radians and the target in mm";
  refused([&](auto& f) { f.angle = nan; }, "angle nan rad, target at (3, -2, 1.5)" + finite);
  refused([](auto& f) { f.angle = 100001; }, "angle 100001 rad, target at (3, -2, 1.5)" + finite);
  refused([&](auto& f) { f.target.z = nan; }, "angle 0 rad, target at (3, -2, nan)" + finite);
  std::string const sizes =
      " mm (must be at most 1000, the radius above 0, the margin not negative); give both in mm";
  refused([&](auto& f) { f.radius = nan; }, "target radius nan mm, margin 5" + sizes);
  refused([](auto& f) { f.radius = 0; }, "target radius 0 mm, margin 5" + sizes);
  refused([](auto& f) { f.margin = -1; }, "target radius 12 mm, margin -1" + sizes);
  std::string const apart = " mm apart (must be from 0.1 to 1000); give both in mm";
  refused([](auto& f) { f.spot_spacing = 0; }, "spots 0 mm, layers 6" + apart);
  refused([&](auto& f) { f.layer_spacing = nan; }, "spots 5 mm, layers nan" + apart);
  refused(
      [](auto& f) { f.lateral_loss = 0; },
      "lateral loss 0 (must be between 0 and 1); give the share of a spot's dose that is cut off");
  refused([](auto& f) { f.slabs.assign(17, {1, 1}); },
          "17 slabs (at most 16 can be taken); join slabs of one material");
  refused([&](auto& f) { f.entrance = nan; },
          "entrance nan mm (must be finite); give the phantom's depth before the isocentre");
  std::string const slab =
      " times as much as water (both must be positive, at most 1e4 and 100); give a thickness and "
      "a stopping power for each slab";
  refused([](auto& f) { f.slabs = {{-1, 1}}; }, "slab 0 is -1 mm thick and stops 1" + slab);
  refused([](auto& f) { f.slabs = {{1, 1}, {2, 101}}; },
          "slab 1 is 2 mm thick and stops 101" + slab);
  // The target's centre lies 3 mm behind the isocenter, and so 8 behind this entrance.
  refused([](auto& f) { f.entrance = 5; },
          "the target begins 4 mm before the phantom (it must lie inside); move the entrance or "
          "the target");
  refused(
      [](auto& f) {
        f.layer_spacing = 0.1;
        f.radius = 60;
      },
      "1200 layers (at most 1000); put layers farther apart");
  // In one layer, and in several: before memory is taken for any.
  auto const too_many = [&](double margin, double layers, double spots, std::string const& lines) {
    refused(
        [=](auto& f) {
          f.entrance = 200;
          f.radius = 100;
          f.margin = margin;
          f.layer_spacing = layers;
          f.spot_spacing = spots;
        },
        "2^28 spots or more (a layer has " + lines + " lines); put spots farther apart");
  };
  too_many(1000, 6, 0.1, "20001");
  too_many(500, 1, 0.2, "5475");
  // What a beam must be is a beam's to say.
  says([](auto& f) { f.entrance = 1e5; },
       "iso::synthetic::proton_beam: range 100015 mm (the formulae hold from 1 to 1000 mm); choose "
       "a range within these");
  says([](auto& f) { f.energy_spread = -1; },
       "iso::synthetic::proton_beam: energy spread -1 % (must be from 0 to 20); give a percentage "
       "of the energy");
  says([](auto& f) { f.initial_sigma = 0; },
       "iso::synthetic::proton_beam: lateral sigma 0 mm (must be positive, at most 1000); give the "
       "sigma at the entrance in mm");
  says([](auto& f) { f.distal_cut = 1; },
       "iso::synthetic::proton_beam: distal cut-off 1 (must be between 0 and 1); give a share of "
       "the peak's dose");
}
