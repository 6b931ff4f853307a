// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/synthetic/bragg_curve.hpp
//! Protons in water, in closed form: range, depth dose, lateral spread. Host, double.
#pragma once

#include <vector>

namespace iso::synthetic {

/// A broad proton beam that enters water at depth 0. Depths are water-equivalent.
struct proton_beam {
  double range = 150;        ///< mm: the depth behind which 80 % of the peak is left, nearly
  double energy_spread = 1;  ///< % of the mean energy, one standard deviation
  double low_energy = 0.1;   ///< share of the fluence in the tail of low energies
  double initial_sigma = 4;  ///< mm, lateral standard deviation at the entrance
};

/// Returns the range in mm of protons of `energy` MeV: 0.022 E^1.77 (Bragg and Kleeman's rule in
/// water).
/// Determinism: not_guaranteed (host library functions).
double range_of_energy(double energy);
/// Returns the energy of protons of a range: the inverse of range_of_energy, MeV. Determinism:
/// not_guaranteed (host library functions).
double energy_of_range(double range);

/// Returns the standard deviation (mm) of where protons of one beam stop: range straggling and
/// energy spread.
/// Determinism: not_guaranteed (host library functions).
double range_sigma(proton_beam const& beam);

/// Returns the dose at `depth` mm for a fluence of one proton a cm2, in MeV/g: the same number is
/// the dose integrated over a lateral plane, for one proton, in MeV cm2/g. Zero beyond ten standard
/// deviations behind the range, where it is below 1e-22 of the peak.
/// Determinism: not_guaranteed (host library functions).
///
/// The two parabolic cylinder functions of the formula are Gaussian convolutions of powers:
/// e^(-s^2/4) D_(-v)(-s) = integral of t^(v-1) e^(-(t-s)^2/2) dt / Gamma(v); they are integrated
/// numerically in w = t^v, to a relative error of 1e-7.
/// \par Source  Bortfeld 1997, An analytical approximation of the Bragg curve for therapeutic
///              proton beams, Med. Phys. 24, 2024: equation 29 with alpha = 0.0022, p = 1.77,
///              beta = 0.012/cm, gamma = 0.6.
double depth_dose(proton_beam const& beam, double depth);

/// Returns the lateral standard deviation (mm) at `depth`: that of the entrance and, in quadrature,
/// that of multiple scattering in water. Beyond the range it stays what it is there.
/// Determinism: not_guaranteed (host library functions).
/// \par Source  Highland's formula in Gottschalk's generalised form, as Hong et al. 1996 (Phys.
///              Med. Biol. 41, 1305) use it: 14.1 MeV, radiation length 360.8 mm, residual energy
///              by Bragg and Kleeman's rule.
double lateral_sigma(proton_beam const& beam, double depth);

/// A table for kernels: values at equal steps of depth, interpolated linearly.
struct bragg_table {
  double step = 0;               ///< mm between samples; the first lies at depth 0
  double end = 0;                ///< mm: the last depth whose dose is not cut off
  double peak_depth = 0;         ///< mm
  double peak = 0;               ///< dose there, MeV cm2/g
  std::vector<double> dose;      ///< MeV cm2/g
  std::vector<double> variance;  ///< lateral, mm2
};

/// Samples a beam's curve from 0 to where, behind the peak, the dose falls below `distal_cut` of
/// it; at least 24 a standard deviation of the range.
/// Determinism: not_guaranteed (host library functions).
/// \throws iso::invalid_argument  a beam or cut outside what the formulae describe
bragg_table tabulate(proton_beam const& beam, double distal_cut);

}  // namespace iso::synthetic
