// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/kernel.hpp>

#include <iso/core/check.hpp>

#include <iso/dose/detail/tables.hpp>

#include "angles.hpp"
#include "csv.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace iso::dose {

exponential_kernel named_kernel(std::string_view name) {
  for (detail::named_text const& table : detail::kernel_tables) {
    if (table.name == name) {
      return parse_exponential_kernel(table.text, table.name);
    }
  }
  fail_argument(
      "named_kernel: \"{}\" (no such kernel) choose 4mv, 6mv, 6mv_quad, 10mv, 15mv or 24mv, or "
      "read a table of your own",
      name);
}

exponential_kernel parse_exponential_kernel(std::string_view csv, std::string_view name) {
  auto const rows = detail::read_csv(csv, name);
  std::size_t const length = rows.front().numbers.size();
  ISO_VALIDATE(
      length == 6 || length == 10,
      "{}, line {}: {} numbers (two angles and two or four pairs of amplitude and rate are "
      "6 or 10)",
      name, std::int64_t(rows.front().line), std::int64_t(length));
  exponential_kernel k{int(length - 2) / 2, {}};
  double before = 0;
  for (auto const& row : rows) {
    auto const& x = row.numbers;
    auto const line = std::int64_t(row.line);
    ISO_VALIDATE(x.size() == length, "{}, line {}: {} numbers (the first line has {})", name, line,
                 std::int64_t(x.size()), std::int64_t(length));
    ISO_VALIDATE(x[0] == before && x[1] > x[0],
                 "{}, line {}: angles from {} to {} degrees (must begin at {}, where the cone "
                 "before ends, and rise)",
                 name, line, x[0], x[1], before);
    kernel_cone cone{x[0] * std::numbers::pi / 180, x[1] * std::numbers::pi / 180, {}};
    double first = 0;
    double energy = 0;
    for (int c = 0; c < k.num_terms; ++c) {
      kernel_term const term{x[std::size_t(2 + 2 * c)], x[std::size_t(3 + 2 * c)]};
      ISO_VALIDATE(term.rate > 0, "{}, line {}: a rate of {} /cm (must be positive)", name, line,
                   term.rate);
      cone.terms[std::size_t(c)] = term;
      first += term.amplitude;
      energy += term.amplitude / term.rate;
    }
    ISO_VALIDATE(
        first >= 0 && energy > 0,
        "{}, line {}: the cone absorbs {} /(sr cm) at its apex and {} /sr in all (a kernel "
        "must not be negative)",
        name, line, first, energy);
    k.cones.push_back(cone);
    before = x[1];
  }
  ISO_VALIDATE(before == 180, "{}: the cones end at {} degrees (they must reach 180)", name,
               before);
  return k;
}

double absorbed_within(exponential_kernel const& k, double radius) {
  double sum = 0;
  for (kernel_cone const& cone : k.cones) {
    double const solid_angle =
        2 * std::numbers::pi *
        (detail::cosine_of(cone.theta_low) - detail::cosine_of(cone.theta_high));
    for (int c = 0; c < k.num_terms; ++c) {
      kernel_term const& t = cone.terms[std::size_t(c)];
      sum -= solid_angle * t.amplitude / t.rate * math::expm1(-t.rate * radius);
    }
  }
  return sum;
}

}  // namespace iso::dose
