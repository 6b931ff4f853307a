// SPDX-License-Identifier: BSD-3-Clause
// The beam's formulae against independent evaluations: parabolic cylinder functions by Kummer's
// series in 50 digits, and published figures.
#include <iso/core/error.hpp>
#include <iso/synthetic/bragg_curve.hpp>

#include <doctest/doctest.h>
#include <boost/multiprecision/cpp_dec_float.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace {

using namespace iso::synthetic;
using exact = boost::multiprecision::cpp_dec_float_100;

exact kummer(exact const& a, exact const& b, exact const& x) {
  exact term = 1;
  exact sum = 1;
  for (int n = 0; n < 4000 && abs(term) > abs(sum) * exact("1e-90"); ++n) {
    term *= (a + n) / (b + n) * x / (n + 1);
    sum += term;
  }
  return sum;
}

/// D_v(x) by its expansion in Kummer functions (Abramowitz and Stegun 19.12).
exact cylinder(exact const& v, exact const& x) {
  exact const half_square = x * x / 2;
  exact const pi = boost::math::constants::pi<exact>();
  exact const even =
      sqrt(pi) / boost::math::tgamma((1 - v) / 2) * kummer(-v / 2, exact(1) / 2, half_square);
  exact const odd = sqrt(2 * pi) * x / boost::math::tgamma(-v / 2) *
                    kummer((1 - v) / 2, exact(3) / 2, half_square);
  return pow(exact(2), v / 2) * exp(-x * x / 4) * (even - odd);
}

/// Equation 29 of the paper, as it stands there, with depths in cm.
double printed_formula(proton_beam const& beam, double depth) {
  exact const p("1.77");
  exact const alpha("0.0022");
  exact const beta("0.012");
  exact const gamma("0.6");
  exact const range = exact(beam.range) / 10;
  exact const mono = exact("0.012") * pow(range, exact("0.935"));
  exact const energy = pow(range / alpha, 1 / p);
  exact const spread = exact(beam.energy_spread) / 100 * energy * alpha * p * pow(energy, p - 1);
  exact const sigma = sqrt(mono * mono + spread * spread);
  exact const zeta = (range - exact(depth) / 10) / sigma;
  exact const pi = boost::math::constants::pi<exact>();
  exact const front = exp(-zeta * zeta / 4) * pow(sigma, 1 / p) * boost::math::tgamma(1 / p) /
                      (sqrt(2 * pi) * p * pow(alpha, 1 / p) * (1 + beta * range));
  exact const value = front * (cylinder(-1 / p, -zeta) / sigma +
                               (beta / p + gamma * beta + exact(beam.low_energy) / range) *
                                   cylinder(-1 / p - 1, -zeta));
  return value.convert_to<double>();
}

}  // namespace

TEST_CASE("depth dose is the printed formula with exact parabolic cylinder functions") {
  for (double const range : {50.0, 150.0, 300.0}) {
    proton_beam beam;
    beam.range = range;
    double const sigma = range_sigma(beam);
    for (double const zeta : {-6.0, -3.0, -1.0, -0.25, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 12.0}) {
      double const depth = range - zeta * sigma;
      CAPTURE(range);
      CAPTURE(zeta);
      CHECK(depth_dose(beam, depth) == doctest::Approx(printed_formula(beam, depth)).epsilon(1e-6));
    }
  }
}

TEST_CASE("far before the peak the dose is the formula without straggling") {
  proton_beam beam;
  beam.energy_spread = 0;
  double const r = beam.range / 10;
  double const c = 0.012 + 0.6 * 0.012 * 1.77 + 0.1 * 1.77 / r;
  double const front = 1 / (1.77 * std::pow(0.0022, 1 / 1.77) * (1 + 0.012 * r));
  double const plain = front * (std::pow(r, 1 / 1.77 - 1) + c * std::pow(r, 1 / 1.77));
  CHECK(depth_dose(beam, 0) == doctest::Approx(plain).epsilon(1e-3));
}

TEST_CASE("range and energy: Bragg and Kleeman's rule; the 80 % depth is the range") {
  // 150 MeV: 15.6 cm; tables of stopping powers say 15.77 cm.
  CHECK(range_of_energy(150) == doctest::Approx(157.7).epsilon(0.02));
  CHECK(energy_of_range(range_of_energy(113.5)) == doctest::Approx(113.5).epsilon(1e-12));
  for (double const range : {50.0, 150.0, 300.0}) {
    CAPTURE(range);
    proton_beam beam;
    beam.range = range;
    beam.energy_spread = 0;
    auto const table = tabulate(beam, 1e-4);
    double const sigma = range_sigma(beam);
    CHECK(table.peak_depth < range);
    CHECK(table.peak_depth > range - 2 * sigma);
    double depth = table.peak_depth;
    while (depth_dose(beam, depth) > 0.8 * table.peak) {
      depth += 0.01;
    }
    CHECK(std::abs(depth - range) < 0.15 * sigma);
    CHECK(table.dose.back() < 1e-4 * table.peak);
  }
}

TEST_CASE("scattering spreads a beam to 2.2 % of its range at its end") {
  // Measured and computed spreads of stopping protons in water are 2.1 to 2.5 % of the range.
  for (double const range : {50.0, 100.0, 200.0, 300.0}) {
    proton_beam beam;
    beam.range = range;
    beam.initial_sigma = 4;
    double const at_end = lateral_sigma(beam, range);
    double const scattered = std::sqrt(at_end * at_end - 16);
    CAPTURE(range);
    CHECK(scattered > 0.021 * range);
    CHECK(scattered < 0.025 * range);
    double before = 4;
    for (double depth = 0; depth <= range; depth += range / 50) {
      double const here = lateral_sigma(beam, depth);
      CHECK(here >= before);
      before = here;
    }
    CHECK(lateral_sigma(beam, range + 20) == at_end);
  }
}

TEST_CASE("beams that the formulae do not describe are refused by name and value") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  auto const refused = [](auto change, std::string const& sentence) {
    proton_beam beam;
    double distal_cut = 1e-3;
    change(beam, distal_cut);
    CHECK_THROWS_WITH_AS(tabulate(beam, distal_cut),
                         ("iso::synthetic::proton_beam: " + sentence).c_str(),
                         iso::invalid_argument);
  };
  std::string const range =
      " mm (the formulae hold from 1 to 1000 mm); choose a range within these";
  refused([&](auto& b, double&) { b.range = nan; }, "range nan" + range);
  refused([](auto& b, double&) { b.range = 0.5; }, "range 0.5" + range);
  refused([](auto& b, double&) { b.range = 1001; }, "range 1001" + range);
  std::string const spread = " % (must be from 0 to 20); give a percentage of the energy";
  refused([&](auto& b, double&) { b.energy_spread = nan; }, "energy spread nan" + spread);
  refused([](auto& b, double&) { b.energy_spread = -1; }, "energy spread -1" + spread);
  refused([](auto& b, double&) { b.energy_spread = 20.5; }, "energy spread 20.5" + spread);
  std::string const share = " (must be from 0 to 1); give 0 for none";
  refused([&](auto& b, double&) { b.low_energy = nan; }, "share of low energies nan" + share);
  refused([](auto& b, double&) { b.low_energy = -0.5; }, "share of low energies -0.5" + share);
  refused([](auto& b, double&) { b.low_energy = 1.5; }, "share of low energies 1.5" + share);
  std::string const sigma =
      " mm (must be positive, at most 1000); give the sigma at the entrance in mm";
  refused([&](auto& b, double&) { b.initial_sigma = nan; }, "lateral sigma nan" + sigma);
  refused([](auto& b, double&) { b.initial_sigma = 0; }, "lateral sigma 0" + sigma);
  refused([](auto& b, double&) { b.initial_sigma = 1001; }, "lateral sigma 1001" + sigma);
  std::string const cut = " (must be between 0 and 1); give a share of the peak's dose";
  refused([&](auto&, double& c) { c = nan; }, "distal cut-off nan" + cut);
  refused([](auto&, double& c) { c = 0; }, "distal cut-off 0" + cut);
  refused([](auto&, double& c) { c = 1; }, "distal cut-off 1" + cut);
}
