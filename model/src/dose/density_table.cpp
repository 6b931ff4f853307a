// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/density_table.hpp>

#include <iso/core/check.hpp>

#include "csv.hpp"
#include "tables.hpp"

#include <cmath>
#include <cstddef>

namespace iso::dose {
namespace detail {
namespace {

constexpr std::size_t max_density_points = 1 << 20;

void validate_density_point(density_table const& table, std::size_t i, std::string_view where) {
  auto const& [hu, density] = table.points[i];
  double const before = i == 0 ? hu - 1 : table.points[i - 1].hounsfield;
  ISO_VALIDATE(std::isfinite(hu) && (i == 0 || hu > before),
               "{}: a CT number of {} HU behind one of {} HU (must be finite and rise); sort the "
               "table by CT numbers, each once",
               where, hu, before);
  ISO_VALIDATE(density >= 0 && density <= max_density,
               "{}: a density of {} g/cm3 at {} HU (must lie in 0..{}); give densities in g/cm3",
               where, density, hu, max_density);
}

void validate_density_count(density_table const& table, std::string_view where) {
  ISO_VALIDATE(table.points.size() >= 2 && table.points.size() <= max_density_points,
               "{}: a table of {} points (2 to {} make one); give at least one point at either end",
               where, table.points.size(), max_density_points);
}

std::string sentence_of(density_fault const& f, std::int64_t voxels, std::string_view what,
                        std::string_view why) {
  return message(
      "iso::dose::validate: {} of {} voxels {} (the first is ({}, {}, {}), with {} g/cm3); {}",
      {f.count, voxels, what, f.first[0], f.first[1], f.first[2], f.value, why});
}

}  // namespace

std::vector<density_segment> segments_of(density_table const& table) {
  validate_density_count(table, "iso::dose::staged_density_table");
  std::vector<density_segment> out;
  for (std::size_t i = 0; i < table.points.size(); ++i) {
    validate_density_point(table, i, "iso::dose::staged_density_table");
    auto const& p = table.points[i];
    bool const last = i + 1 == table.points.size();
    out.push_back({p.hounsfield, p.density,
                   last ? 0
                        : (table.points[i + 1].density - p.density) /
                              (table.points[i + 1].hounsfield - p.hounsfield)});
  }
  return out;
}

}  // namespace detail

density_table named_density_table(std::string_view name) {
  if (name == "schneider_2000") {
    return parse_density_table(detail::table_text("density_schneider_2000"), name);
  }
  fail_argument(
      "iso::dose::named_density_table: \"{}\" (no such table); choose schneider_2000, or read a "
      "table of your own",
      name);
}

density_table parse_density_table(std::string_view csv, std::string_view name) {
  density_table table;
  for (auto const& row : detail::read_csv(csv, name)) {
    ISO_VALIDATE(row.numbers.size() == 2,
                 "{}, line {}: {} numbers (CT number and density are two); write two in each line",
                 name, std::int64_t(row.line), std::int64_t(row.numbers.size()));
    table.points.push_back({row.numbers[0], row.numbers[1]});
    detail::validate_density_point(table, table.points.size() - 1,
                                   message("{}, line {}", {name, std::int64_t(row.line)}));
  }
  detail::validate_density_count(table, name);
  return table;
}

std::string to_string(density_report const& report) {
  if (report.not_finite.count > 0) {
    return detail::sentence_of(report.not_finite, report.voxels, "are NaN or infinite",
                               "replace them by numbers");
  }
  if (report.negative.count > 0) {
    return detail::sentence_of(report.negative, report.voxels, "are negative",
                               "convert Hounsfield units, if these are, to densities first");
  }
  if (report.absurd.count > 0) {
    return detail::sentence_of(report.absurd, report.voxels,
                               message("are above {} g/cm3", {max_density}),
                               "check that the unit is g/cm3, not kg/m3");
  }
  return "";
}

}  // namespace iso::dose
