// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/spectrum.hpp>

#include <iso/core/check.hpp>
#include <iso/core/math.hpp>

#include "csv.hpp"
#include "tables.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace iso::dose {
namespace {

/// Column `column` of the attenuation table at `energy`, linear in the logarithms.
double coefficient(std::vector<detail::csv_row> const& table, double energy, std::size_t column) {
  std::size_t i = 0;
  while (i + 2 < table.size() && energy > table[i + 1].numbers[0]) {
    ++i;
  }
  auto const& low = table[i].numbers;
  auto const& high = table[i + 1].numbers;
  double const f = math::log(energy / low[0]) / math::log(high[0] / low[0]);
  return math::exp(math::log(low[column]) * (1 - f) + math::log(high[column]) * f);
}

void scale_to_one_photon(spectrum& s) {
  double sum = 0;
  for (energy_bin const& b : s.bins) {
    sum += b.fluence;
  }
  for (energy_bin& b : s.bins) {
    b.fluence /= sum;
  }
}

}  // namespace

spectrum named_spectrum(std::string_view name) {
  ISO_VALIDATE(name == "mohan_6mv" || name == "sheikh_bagheri_6mv",
               "iso::dose::named_spectrum: \"{}\" (no such spectrum); choose mohan_6mv or "
               "sheikh_bagheri_6mv, or read a table of your own",
               name);
  auto const water =
      detail::read_csv(detail::table_text("water_attenuation"), "water_attenuation.csv");
  spectrum s;
  for (auto const& row : detail::read_csv(detail::table_text("spectrum_6mv"), "spectrum_6mv.csv")) {
    double const energy = row.numbers[2];
    s.bins.push_back({energy, row.numbers[name == "mohan_6mv" ? 3 : 4],
                      coefficient(water, energy, 1), coefficient(water, energy, 2)});
  }
  scale_to_one_photon(s);
  return s;
}

spectrum parse_spectrum(std::string_view csv, std::string_view name) {
  spectrum s;
  for (auto const& row : detail::read_csv(csv, name)) {
    auto const& x = row.numbers;
    ISO_VALIDATE(x.size() == 4,
                 "{}, line {}: {} numbers (energy, fluence, mu/rho and mu_en/rho are four); write "
                 "four in each line",
                 name, std::int64_t(row.line), std::int64_t(x.size()));
    s.bins.push_back({x[0], x[1], x[2], x[3]});
  }
  std::string const function(name);
  validate(s, function.c_str());
  scale_to_one_photon(s);
  return s;
}

void validate(spectrum const& s, char const* function) {
  double sum = 0;
  for (std::size_t i = 0; i < s.bins.size(); ++i) {
    energy_bin const& b = s.bins[i];
    auto const number = std::int64_t(i);
    ISO_VALIDATE(b.energy > (i == 0 ? 0.0 : s.bins[i - 1].energy) && std::isfinite(b.energy),
                 "{}: bin {} of the spectrum has an energy of {} MeV (energies must be positive "
                 "and rise); sort the bins by energy",
                 function, number, b.energy);
    ISO_VALIDATE(b.fluence >= 0 && std::isfinite(b.fluence),
                 "{}: bin {} of the spectrum has a fluence of {} (must not be negative); give 0 "
                 "for a bin without photons",
                 function, number, b.fluence);
    ISO_VALIDATE(b.attenuation > 0 && b.absorption > 0 && b.absorption <= b.attenuation &&
                     std::isfinite(b.attenuation),
                 "{}: bin {} of the spectrum has mu/rho = {} and mu_en/rho = {} cm2/g (0 < "
                 "mu_en/rho <= mu/rho must hold); check their order",
                 function, number, b.attenuation, b.absorption);
    // Floats would hold none of the dose, or not its digits.
    ISO_VALIDATE(
        b.energy >= 1e-9 && b.energy <= 1e9 && b.absorption >= 1e-9 && b.attenuation <= 1e9,
        "{}: bin {} of the spectrum has {} MeV, mu/rho = {} and mu_en/rho = {} cm2/g (all "
        "must be from 1e-9 to 1e9); check their units",
        function, number, b.energy, b.attenuation, b.absorption);
    sum += b.fluence;
  }
  ISO_VALIDATE(sum > 0, "{}: the spectrum has no photons (all fluences are 0); give a bin above 0",
               function);
  ISO_VALIDATE(std::isfinite(sum),
               "{}: the spectrum's fluences add up to {} (their sum must be finite); scale them, "
               "since only their shares count",
               function, sum);
}

double terma_at(spectrum const& s, double depth, terma_options const& options) {
  double released = 0;
  double absorbed = 0;
  double released_before = 0;
  double absorbed_before = 0;
  for (energy_bin const& b : s.bins) {
    double const energy = b.fluence * b.energy;
    double const left = math::exp(-b.attenuation * depth);
    released += energy * b.attenuation * left;
    absorbed += energy * b.absorption * left;
    released_before += energy * b.attenuation;
    absorbed_before += energy * b.absorption;
  }
  double const correction = options.hardening_correction && released > 0
                                ? (absorbed / released) / (absorbed_before / released_before)
                                : 1.0;
  return gray_per_mev_per_gram * released * correction;
}

}  // namespace iso::dose
