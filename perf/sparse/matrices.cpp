// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/matrices.hpp"

#include "support/bench.hpp"

#include <cstdlib>
#include <utility>

namespace iso::perf {
namespace {

using synthetic::plan_case;
using synthetic::table_of;

constexpr double liver_nonzeros = 1.48e9;
constexpr double prostate_nonzeros = 9.5e7;

double nonzeros_or(double usual) {
  char const* const given = std::getenv("ISO_BENCH_NONZEROS");
  double const wanted = given != nullptr ? std::strtod(given, nullptr) : 0;
  return wanted > 0 ? wanted : usual;
}

synthetic::matrix_figures tiny(double similarity) {
  return {
      .rows = 6000, .columns = 700, .nonzeros = 200000, .longest = 250, .similarity = similarity};
}

matrix_source prostate_of(double nonzeros) {
  return {"prostate", table_of(plan_case::prostate_1, nonzeros / prostate_nonzeros)};
}

matrix_source uncorrelated_of(double nonzeros) {
  auto figures = table_of(plan_case::liver_1, nonzeros / liver_nonzeros);
  figures.similarity = 0;
  return {"uncorrelated", figures, extent::brief};
}

/// A cube of 300 mm around a spherical target.
matrix_source pencil_of(std::int64_t size, double radius, double spots) {
  synthetic::pencil_beams field;
  double const spacing = 300.0 / double(size);
  field.voxels = grid::centred({size, size, size}, {spacing, spacing, spacing});
  field.radius = radius;
  field.margin = spots;
  field.spot_spacing = spots;
  field.layer_spacing = spots;
  return {"pencil", field, extent::brief};
}

}  // namespace

matrix_source liver_of(double nonzeros) {
  return {"liver", table_of(plan_case::liver_1, nonzeros / liver_nonzeros)};
}

std::vector<matrix_source> matrix_sources(machine where) {
  if (smoke()) {
    return {{"liver", tiny(1)}, {"uncorrelated", tiny(0), extent::brief}, pencil_of(20, 20, 10)};
  }
  std::vector<matrix_source> all;
  switch (where) {
    case machine::device:
      all = {liver_of(nonzeros_or(4.9e8)), prostate_of(nonzeros_or(prostate_nonzeros)),
             pencil_of(150, 50, 5), uncorrelated_of(2.4e8)};
      all.push_back(liver_of(liver_nonzeros));
      all.back().name = "liver_full";
      all.back().rows = extent::brief;
      break;
    case machine::threads:
      all = {liver_of(nonzeros_or(1e8)), prostate_of(nonzeros_or(prostate_nonzeros)),
             pencil_of(100, 30, 5), uncorrelated_of(2e7)};
      break;
    case machine::one_thread:
      all = {prostate_of(nonzeros_or(1.9e7))};
      break;
  }
  if (char const* const path = std::getenv("ISO_BENCH_MATRIX"); path != nullptr && *path != '\0') {
    all.push_back({"real", std::filesystem::path(path)});
  }
  return all;
}

std::vector<matrix_source> choice_sources(machine where) {
  auto all = matrix_sources(where == machine::one_thread ? machine::threads : where);
  if (where == machine::device && !smoke()) {
    // The other cases of the table; livers a third of the size, as above.
    for (auto const& [name, figures] :
         {std::pair{"liver_2", plan_case::liver_2}, std::pair{"liver_3", plan_case::liver_3},
          std::pair{"liver_4", plan_case::liver_4}}) {
      all.push_back({name, table_of(figures, 0.33), extent::brief});
    }
    all.push_back({"prostate_2", table_of(plan_case::prostate_2, 1), extent::brief});
  }
  return all;
}

}  // namespace iso::perf
