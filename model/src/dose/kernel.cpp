// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/kernel.hpp>

#include <iso/core/check.hpp>
#include <iso/detail/angles.hpp>

#include "csv.hpp"
#include "tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>

namespace iso::dose {

exponential_kernel named_kernel(std::string_view name) {
  for (std::string_view const known : {"4mv", "6mv", "6mv_quad", "10mv", "15mv", "24mv"}) {
    if (name == known) {
      return parse_exponential_kernel(detail::table_text("kernel_" + std::string(name)), name);
    }
  }
  fail_argument(
      "iso::dose::named_kernel: \"{}\" (no such kernel); choose 4mv, 6mv, 6mv_quad, 10mv, 15mv or "
      "24mv, or read a table of your own",
      name);
}

namespace {

constexpr double max_absorbed = 1.1;   // of the released energy: tables are off by a few per cent
constexpr double min_absorbed = 1e-6;  // a dose of much less would end where floats do

/// Cones of either kernel, one behind the other.
template <class Cone>
void validate_angles(std::vector<Cone> const& cones, std::string_view function) {
  ISO_VALIDATE(!cones.empty(),
               "{}: a kernel without cones (its directions are missing); give cones from 0 to pi",
               function);
  double before = 0;
  for (Cone const& cone : cones) {
    ISO_VALIDATE(std::fabs(cone.theta_low - before) < 1e-9 && cone.theta_high > before,
                 "{}: a kernel's cone from {} to {} rad (must begin at {}, where the one before "
                 "ends, and rise); sort the cones and close gaps",
                 function, cone.theta_low, cone.theta_high, before);
    before = cone.theta_high;
  }
  ISO_VALIDATE(std::fabs(before - std::numbers::pi) < 1e-9,
               "{}: a kernel's cones end at {} rad (must reach pi); add the cones that are missing",
               function, before);
}

void validate_absorbed(double fraction, std::string_view function) {
  ISO_VALIDATE(
      fraction >= min_absorbed && fraction <= max_absorbed,
      "{}: the kernel absorbs {} of the released energy (must be from {} to {}); check the "
      "unit of the amplitudes or fractions",
      function, fraction, min_absorbed, max_absorbed);
}

/// To a millionth, for messages.
double degrees(double angle) { return 1e-6 * std::nearbyint(angle * 180e6 / std::numbers::pi); }

}  // namespace

void validate(exponential_kernel const& k, std::string_view function) {
  ISO_VALIDATE(k.num_terms == 2 || k.num_terms == max_kernel_terms,
               "{}: a kernel of {} terms (must be 2 or 4); fit it with one of these numbers",
               function, k.num_terms);
  validate_angles(k.cones, function);
  for (kernel_cone const& cone : k.cones) {
    std::string const where =
        message("{}: the cone from {} to {} degrees",
                {function, degrees(cone.theta_low), degrees(cone.theta_high)});
    double first = 0;
    double energy = 0;
    for (std::size_t c = 0; c < std::size_t(k.num_terms); ++c) {
      kernel_term const& t = cone.terms[c];
      ISO_VALIDATE(t.rate > 0 && std::isfinite(t.rate),
                   "{} has a rate of {} /cm (must be positive); give rates of decay per cm", where,
                   t.rate);
      // Between two cones a term's energy is interpolated by its logarithm.
      double const sign = k.cones.front().terms[c].amplitude;
      ISO_VALIDATE(
          t.amplitude * sign > 0 && std::isfinite(t.amplitude),
          "{} has an amplitude of {} /(sr cm), the first cone {} (a term must keep its sign and "
          "must not be 0); give it 1e-9 of that sign where it absorbs next to nothing",
          where, t.amplitude, sign);
      first += t.amplitude;
      energy += t.amplitude / t.rate;
    }
    ISO_VALIDATE(first >= 0 && energy > 0,
                 "{} absorbs {} /(sr cm) at its apex and {} /sr in all (a kernel must not be "
                 "negative); fit its amplitudes anew",
                 where, first, energy);
  }
  validate_absorbed(absorbed_within(k, std::numeric_limits<double>::infinity()), function);
}

void validate(tabulated_kernel const& k, std::string_view function) {
  double before = 0;
  for (double const radius : k.radii) {
    ISO_VALIDATE(
        radius > before && std::isfinite(radius),
        "{}: a shell up to {} cm (radii must be positive and rise); sort the shells by radius",
        function, radius);
    before = radius;
  }
  validate_angles(k.cones, function);
  for (tabulated_cone const& cone : k.cones) {
    ISO_VALIDATE(!k.radii.empty() && cone.fraction.size() == k.radii.size(),
                 "{}: the cone up to {} degrees has {} shells (there are {}); give each cone a "
                 "fraction for each radius",
                 function, degrees(cone.theta_high), std::int64_t(cone.fraction.size()),
                 std::int64_t(k.radii.size()));
    for (double const fraction : cone.fraction) {
      ISO_VALIDATE(fraction >= 0 && std::isfinite(fraction),
                   "{}: a fraction of {} in the cone up to {} degrees (must not be negative); give "
                   "0 where nothing is absorbed",
                   function, fraction, degrees(cone.theta_high));
    }
    ISO_VALIDATE(absorbed_within({k.radii, {cone}}, tilt_radius) > 0,
                 "{}: the cone up to {} degrees absorbs nothing within {} cm (its range cannot be "
                 "told); give it a small fraction there",
                 function, degrees(cone.theta_high), tilt_radius);
  }
  validate_absorbed(absorbed_within(k, k.radii.back()), function);
}

void validate(point_kernel const& k, std::string_view function) {
  std::visit([&](auto const& kernel) { validate(kernel, function); }, k);
}

exponential_kernel parse_exponential_kernel(std::string_view csv, std::string_view name) {
  auto const rows = detail::read_csv(csv, name);
  std::size_t const length = rows.front().numbers.size();
  ISO_VALIDATE(length == 6 || length == 10,
               "{}, line {}: {} numbers (two angles and two or four pairs of amplitude and rate "
               "are 6 or 10); write one or the other",
               name, std::int64_t(rows.front().line), std::int64_t(length));
  exponential_kernel k{int(length - 2) / 2, {}};
  double before = 0;
  for (auto const& row : rows) {
    auto const& x = row.numbers;
    auto const line = std::int64_t(row.line);
    ISO_VALIDATE(x.size() == length,
                 "{}, line {}: {} numbers (the first line has {}); write as many in each line",
                 name, line, std::int64_t(x.size()), std::int64_t(length));
    ISO_VALIDATE(x[0] == before && x[1] > x[0],
                 "{}, line {}: angles from {} to {} degrees (must begin at {}, where the cone "
                 "before ends, and rise); sort the lines and close gaps",
                 name, line, x[0], x[1], before);
    kernel_cone cone{x[0] * std::numbers::pi / 180, x[1] * std::numbers::pi / 180, {}};
    for (int c = 0; c < k.num_terms; ++c) {
      cone.terms[std::size_t(c)] = {x[std::size_t(2 + 2 * c)], x[std::size_t(3 + 2 * c)]};
    }
    k.cones.push_back(cone);
    before = x[1];
  }
  ISO_VALIDATE(
      before == 180,
      "{}: the cones end at {} degrees (they must reach 180); add the lines that are missing", name,
      before);
  validate(k, name);
  return k;
}

namespace {

/// Rows of "angle, radius, fraction" from column `first` on, as a kernel.
tabulated_kernel tabulate(std::vector<detail::csv_row> const& rows, std::size_t first,
                          std::string_view name) {
  tabulated_kernel k;
  for (auto const& row : rows) {
    double const angle = row.numbers[first];
    double const radius = row.numbers[first + 1];
    double const fraction = row.numbers[first + 2];
    auto const line = std::int64_t(row.line);
    double const low = k.cones.empty() ? 0.0 : k.cones.back().theta_high;
    bool const begins = k.cones.empty() || angle * std::numbers::pi / 180 != low;
    if (begins) {
      ISO_VALIDATE(k.cones.size() < 2 || k.cones.back().fraction.size() == k.radii.size(),
                   "{}, line {}: the cone before has {} shells (the first has {}; the table has a "
                   "hole); write a line for each shell of each cone",
                   name, line, std::int64_t(k.cones.back().fraction.size()),
                   std::int64_t(k.radii.size()));
      ISO_VALIDATE(
          angle * std::numbers::pi / 180 > low && angle <= 180,
          "{}, line {}: a cone up to {} degrees (angles must rise to 180); sort the lines by angle",
          name, line, angle);
      k.cones.push_back({low, angle * std::numbers::pi / 180, {}});
    }
    std::size_t const shell = k.cones.back().fraction.size();
    if (k.cones.size() == 1) {
      ISO_VALIDATE(radius > (k.radii.empty() ? 0.0 : k.radii.back()),
                   "{}, line {}: a shell up to {} cm (radii must be positive and rise); sort the "
                   "lines of a cone by radius",
                   name, line, radius);
      k.radii.push_back(radius);
    }
    ISO_VALIDATE(shell < k.radii.size() && radius == k.radii[shell],
                 "{}, line {}: a shell up to {} cm (all cones must have the shells of the first); "
                 "write the same radii for each cone",
                 name, line, radius);
    k.cones.back().fraction.push_back(fraction);
  }
  ISO_VALIDATE(k.cones.back().fraction.size() == k.radii.size() &&
                   k.cones.back().theta_high == 180 * std::numbers::pi / 180,
               "{}: the last cone ends at {} degrees, with {} of {} shells (the table has a hole); "
               "add the lines that are missing",
               name, k.cones.back().theta_high * 180 / std::numbers::pi,
               std::int64_t(k.cones.back().fraction.size()), std::int64_t(k.radii.size()));
  validate(k, name);
  return k;
}

/// Kernels of the same cells, energies ascending.
void validate_kernels(std::vector<mono_kernel> const& kernels, std::string_view name) {
  ISO_VALIDATE(!kernels.empty(), "{}: no kernels (at least one energy is needed); give one or more",
               name);
  tabulated_kernel const& first = kernels.front().kernel;
  double before = 0;
  for (mono_kernel const& k : kernels) {
    ISO_VALIDATE(
        k.energy > before && std::isfinite(k.energy),
        "{}: a kernel of {} MeV (energies must be positive and rise); sort the kernels by energy",
        name, k.energy);
    before = k.energy;
    validate(k.kernel, name);
    ISO_VALIDATE(k.kernel.radii == first.radii &&
                     std::equal(k.kernel.cones.begin(), k.kernel.cones.end(), first.cones.begin(),
                                first.cones.end(),
                                [](tabulated_cone const& a, tabulated_cone const& b) {
                                  return a.theta_low == b.theta_low && a.theta_high == b.theta_high;
                                }),
                 "{}: the kernel of {} MeV has other cones or shells than that of {} MeV (they are "
                 "mixed cell by cell); tabulate all on the same angles and radii",
                 name, k.energy, kernels.front().energy);
  }
}

void check_lengths(std::vector<detail::csv_row> const& rows, std::size_t length,
                   std::string_view what, std::string_view name) {
  for (auto const& row : rows) {
    ISO_VALIDATE(row.numbers.size() == length,
                 "{}, line {}: {} numbers ({} are {}); write as many in each line", name,
                 std::int64_t(row.line), std::int64_t(row.numbers.size()), what,
                 std::int64_t(length));
  }
}

}  // namespace

tabulated_kernel parse_tabulated_kernel(std::string_view csv, std::string_view name) {
  auto const rows = detail::read_csv(csv, name);
  check_lengths(rows, 3, "angle, radius and fraction", name);
  return tabulate(rows, 0, name);
}

std::vector<mono_kernel> parse_mono_kernels(std::string_view csv, std::string_view name) {
  auto const rows = detail::read_csv(csv, name);
  check_lengths(rows, 4, "energy, angle, radius and fraction", name);
  std::vector<mono_kernel> out;
  for (std::size_t first = 0; first < rows.size();) {
    double const energy = rows[first].numbers[0];
    std::size_t last = first;
    while (last < rows.size() && rows[last].numbers[0] == energy) {
      ++last;
    }
    auto const begin = rows.begin() + std::ptrdiff_t(first);
    out.push_back({energy, tabulate({begin, begin + std::ptrdiff_t(last - first)}, 1, name)});
    first = last;
  }
  validate_kernels(out, name);
  return out;
}

std::vector<mono_kernel> water_kernels() {
  return parse_mono_kernels(detail::table_text("kernel_mono"), "kernel_mono.csv");
}

tabulated_kernel mix_kernels(std::vector<mono_kernel> const& kernels, spectrum const& s) {
  validate(s, "iso::dose::mix_kernels");
  validate_kernels(kernels, "iso::dose::mix_kernels");
  tabulated_kernel out = kernels.front().kernel;
  for (tabulated_cone& cone : out.cones) {
    cone.fraction.assign(cone.fraction.size(), 0);
  }
  double released = 0;
  for (energy_bin const& b : s.bins) {
    released += b.fluence * b.energy * b.attenuation;
  }
  for (energy_bin const& b : s.bins) {
    ISO_VALIDATE(b.energy <= kernels.back().energy || b.fluence == 0,
                 "iso::dose::mix_kernels: photons of {} MeV (the kernels end at {} MeV); leave out "
                 "bins above, or add a kernel of higher energy",
                 b.energy, kernels.back().energy);
    std::size_t above = 0;
    while (above + 1 < kernels.size() && kernels[above].energy < b.energy) {
      ++above;
    }
    std::size_t const below = above == 0 ? 0 : above - 1;
    double const span = kernels[above].energy - kernels[below].energy;
    double const f =
        span > 0 ? std::fmin(std::fmax((b.energy - kernels[below].energy) / span, 0.0), 1.0) : 0.0;
    double const share = b.fluence * b.energy * b.attenuation / released;
    for (std::size_t i = 0; i < out.cones.size(); ++i) {
      for (std::size_t j = 0; j < out.radii.size(); ++j) {
        out.cones[i].fraction[j] += share * ((1 - f) * kernels[below].kernel.cones[i].fraction[j] +
                                             f * kernels[above].kernel.cones[i].fraction[j]);
      }
    }
  }
  return out;
}

std::vector<energy_component> split_by_energy(std::vector<mono_kernel> const& kernels,
                                              spectrum const& s) {
  validate(s, "iso::dose::split_by_energy");
  std::vector<energy_component> out;
  for (energy_bin const& b : s.bins) {
    if (b.fluence > 0) {
      spectrum const alone{{{b.energy, 1, b.attenuation, b.absorption}}};
      out.push_back({b.fluence, alone, mix_kernels(kernels, alone)});
    }
  }
  return out;
}

point_kernel parse_kernel(std::string_view csv, std::string_view name, spectrum const& s) {
  switch (detail::read_csv(csv, name).front().numbers.size()) {
    case 3:
      return parse_tabulated_kernel(csv, name);
    case 4:
      return mix_kernels(parse_mono_kernels(csv, name), s);
    default:
      return parse_exponential_kernel(csv, name);
  }
}

double absorbed_within(tabulated_kernel const& k, double radius) {
  double sum = 0;
  for (tabulated_cone const& cone : k.cones) {
    double low = 0;
    for (std::size_t j = 0; j < cone.fraction.size(); ++j) {
      double const part = (radius - low) / (k.radii[j] - low);
      sum += cone.fraction[j] * std::fmin(std::fmax(part, 0.0), 1.0);
      low = k.radii[j];
    }
  }
  return sum;
}

double absorbed_within(exponential_kernel const& k, double radius) {
  double sum = 0;
  for (kernel_cone const& cone : k.cones) {
    double const solid_angle =
        2 * std::numbers::pi *
        (iso::detail::cosine_of(cone.theta_low) - iso::detail::cosine_of(cone.theta_high));
    for (int c = 0; c < k.num_terms; ++c) {
      kernel_term const& t = cone.terms[std::size_t(c)];
      sum -= solid_angle * t.amplitude / t.rate * math::expm1(-t.rate * radius);
    }
  }
  return sum;
}

}  // namespace iso::dose
