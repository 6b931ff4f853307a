// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/spectrum.hpp
//! Gives photon spectra, and the TERMA that they release in water.
#pragma once

#include <string_view>
#include <vector>

namespace iso::dose {

/// The dose of one MeV absorbed in one gram, Gy.
inline constexpr double gray_per_mev_per_gram = 1.602176634e-10;

/// The photons of one bin of energy.
struct energy_bin {
  double energy;       ///< MeV
  double fluence;      ///< of one photon of the spectrum, how many are in this bin
  double attenuation;  ///< mu / rho of water at this energy, cm2/g
  double absorption;   ///< mu_en / rho of water, cm2/g
};

/// The spectrum of a photon beam: bins in ascending order of energy, whose fluences add up to 1.
struct spectrum {
  std::vector<energy_bin> bins;
};

/// Returns a spectrum that the library carries: "mohan_6mv" (Mohan et al., 6 MV, 24 bins, as EGSnrc
/// distributes it) or "sheikh_bagheri_6mv". model/data/spectrum_6mv.csv tells where the
/// numbers are from, model/data/water_attenuation.csv the coefficients (NIST SRD 126),
/// interpolated linearly in the logarithms at the middle of each bin.
/// Determinism: backend_to_backend; made on the host from iso::math.
/// \throws iso::invalid_argument  no such spectrum
spectrum named_spectrum(std::string_view name);

/// Reads lines of "energy, fluence, mu / rho, mu_en / rho" (MeV, any unit, cm2/g, cm2/g). Lines
/// that begin with # and one line of names are left out; fluences are scaled to add up to 1.
/// \param name  of the table, for messages
/// Determinism: backend_to_backend; made on the host from iso::math.
/// \throws iso::invalid_argument  a line with other than four numbers, energies that do not rise, a
///                                negative or infinite number, coefficients of zero, no photons
spectrum parse_spectrum(std::string_view csv, std::string_view name);

/// Checks a spectrum.
/// Determinism: backend_to_backend; a check made on the host.
/// \throws iso::invalid_argument  naming `function`: what parse_spectrum refuses
void validate(spectrum const& s, char const* function);

struct terma_options {
  /// Whether the TERMA at every depth is multiplied by the mean of mu_en / mu over the spectrum at
  /// that depth, relative to the surface: one kernel for all depths then deposits about what the
  /// kernels of a hardened spectrum would (equation 3 of the paper; Hoban 1995).
  bool hardening_correction = true;
};

/// Returns the energy released per mass behind `depth` of water, for one photon/cm2 in air, without
/// the inverse square of distance: sum over the bins of fluence energy mu exp(-mu depth), in Gy.
/// \param depth  radiological, g/cm2
/// Determinism: backend_to_backend; made on the host from iso::math.
/// \par Method  J. Neylon et al., Med. Phys. 41, 2014, doi:10.1118/1.4895822, equations 2 and 3
double terma_at(spectrum const& s, double depth, terma_options const& options = {});

}  // namespace iso::dose
