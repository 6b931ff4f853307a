// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/check.hpp>
#include <iso/synthetic/bragg_curve.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace iso::synthetic {
namespace {

// Bortfeld's constants; lengths in cm.
constexpr double range_factor = 0.0022;  // cm / MeV^p
constexpr double range_power = 1.77;
constexpr double fluence_slope = 0.012;  // 1/cm
constexpr double local_share = 0.6;      // of the energy of nuclear reactions
constexpr double straggling_factor = 0.012;
constexpr double straggling_power = 0.935;
constexpr double proton_rest = 938.272;  // MeV

/// Integral over t > 0 of t^(v-1) e^(-(t-s)^2/2): the substitution w = t^v takes the pole at 0
/// away. Simpson's rule over what is not below 1e-22 of the peak.
double gaussian_of_power(double v, double s) {
  double const lowest = std::max(0.0, s - 10);
  double const highest = s + 10;
  if (highest <= 0) {
    return 0;
  }
  double const from = std::pow(lowest, v);
  double const to = std::pow(highest, v);
  // Away from 0 the integrand is a smooth bell, which converges at once.
  int const steps = lowest > 0 ? 200 : 2000;
  double const h = (to - from) / steps;
  auto const value = [&](int i) {
    double const t = std::pow(from + h * i, 1 / v);
    return std::exp(-0.5 * (t - s) * (t - s));
  };
  double total = value(0) + value(steps);
  for (int i = 1; i < steps; ++i) {
    total += (i % 2 == 1 ? 4 : 2) * value(i);
  }
  return total * h / 3 / v;
}

/// Integral of ((depth - z) / pv(z))^2 dz / X0 in mm2 / MeV2, over the depth; cm inside.
double scattering_moment(double range, double depth) {
  constexpr double radiation_length = 36.08;
  constexpr int steps = 400;
  double const end = std::min(depth, range);
  auto const value = [&](double z) {
    double const energy = std::pow(std::max(range - z, 1e-12) / range_factor, 1 / range_power);
    double const pv = energy * (energy + 2 * proton_rest) / (energy + proton_rest);
    double const arm = (end - z) / pv;
    return arm * arm / radiation_length;
  };
  double const h = end / steps;
  double total = value(0);  // the other end is zero
  for (int i = 1; i < steps; ++i) {
    total += (i % 2 == 1 ? 4 : 2) * value(h * i);
  }
  return 100 * total * h / 3;
}

}  // namespace

double range_of_energy(double energy) { return 10 * range_factor * std::pow(energy, range_power); }

double energy_of_range(double range) {
  return std::pow(range / (10 * range_factor), 1 / range_power);
}

double range_sigma(proton_beam const& beam) {
  double const range = beam.range / 10;
  double const mono = straggling_factor * std::pow(range, straggling_power);
  // dR = p R dE / E
  double const spread = range_power * range * beam.energy_spread / 100;
  return 10 * std::hypot(mono, spread);
}

double depth_dose(proton_beam const& beam, double depth) {
  double const range = beam.range / 10;
  double const sigma = range_sigma(beam) / 10;
  double const s = (range - depth / 10) / sigma;
  double const v = 1 / range_power;
  double const front = 1 / (range_power * std::pow(range_factor, v) * (1 + fluence_slope * range)) *
                       std::pow(sigma, v) / std::sqrt(2 * std::numbers::pi);
  double const nuclear = fluence_slope + local_share * fluence_slope * range_power +
                         beam.low_energy * range_power / range;
  return front * (gaussian_of_power(v, s) / sigma + nuclear * gaussian_of_power(v + 1, s));
}

double lateral_sigma(proton_beam const& beam, double depth) {
  double const range = beam.range / 10;
  double const z = std::min(depth / 10, range);
  if (z <= 0) {
    return beam.initial_sigma;
  }
  // Highland's logarithm is not meant for depths far below a percent of a radiation length.
  double const thickness = std::max(z / 36.08, 1e-3);
  double const factor = 14.1 * (1 + std::log10(thickness) / 9);
  return std::hypot(beam.initial_sigma, factor * std::sqrt(scattering_moment(range, z)));
}

bragg_table tabulate(proton_beam const& beam, double distal_cut) {
  ISO_VALIDATE(beam.range >= 1 && beam.range <= 1000,
               "iso::synthetic::proton_beam: range {} mm (the formulae hold from 1 to 1000 mm); "
               "choose a range within these",
               beam.range);
  ISO_VALIDATE(beam.energy_spread >= 0 && beam.energy_spread <= 20,
               "iso::synthetic::proton_beam: energy spread {} % (must be from 0 to 20); give a "
               "percentage of the energy",
               beam.energy_spread);
  ISO_VALIDATE(beam.low_energy >= 0 && beam.low_energy <= 1,
               "iso::synthetic::proton_beam: share of low energies {} (must be from 0 to 1); give "
               "0 for none",
               beam.low_energy);
  ISO_VALIDATE(beam.initial_sigma > 0 && beam.initial_sigma <= 1000,
               "iso::synthetic::proton_beam: lateral sigma {} mm (must be positive, at most 1000); "
               "give the sigma at the entrance in mm",
               beam.initial_sigma);
  ISO_VALIDATE(distal_cut > 0 && distal_cut < 1,
               "iso::synthetic::proton_beam: distal cut-off {} (must be between 0 and 1); give a "
               "share of the peak's dose",
               distal_cut);
  bragg_table table;
  table.step = std::min(1.0, range_sigma(beam) / 24);
  for (int i = 0;; ++i) {
    double const depth = table.step * i;
    double const dose = depth_dose(beam, depth);
    table.dose.push_back(dose);
    table.variance.push_back(std::pow(lateral_sigma(beam, depth), 2));
    if (dose > table.peak) {
      table.peak = dose;
      table.peak_depth = depth;
    } else if (depth > beam.range && dose < distal_cut * table.peak) {
      break;
    }
  }
  table.end = table.step * double(table.dose.size() - 1);
  return table;
}

}  // namespace iso::synthetic
