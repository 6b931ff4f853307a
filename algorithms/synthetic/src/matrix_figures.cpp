// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/registry.hpp>

#include <iso/core/check.hpp>
#include <iso/synthetic/detail/generate_impl.hpp>
#include <iso/synthetic/detail/matrix_figures_kernel.hpp>
#include <iso/synthetic/generate.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace iso::synthetic {
namespace detail {
namespace {

struct table_row {
  double rows;
  double columns;
  double nonzeros;
};
constexpr table_row table[] = {{2.97e6, 6.80e4, 1.48e9}, {2.97e6, 6.77e4, 1.28e9},
                               {2.97e6, 6.99e4, 1.39e9}, {2.97e6, 6.32e4, 1.84e9},
                               {1.03e6, 5.09e3, 9.50e7}, {1.03e6, 4.96e3, 9.51e7}};

std::int64_t cells_of(std::int64_t columns) {
  // One cell is left free for the shift of a stretch.
  return (columns - cell_columns) / cell_columns;
}

double mean_length(length_law const& law) {
  constexpr int points = 8192;
  double total = 0;
  for (int i = 0; i < points; ++i) {
    total += double(law((i + 0.5) / points));
  }
  return total / points;
}

std::int64_t filled_of(std::int64_t count, double empty_share) {
  return std::llround(double(count) * (1 - empty_share));
}

/// The law of lengths whose mean is that of the figures.
length_law lengths_of(matrix_figures const& figures) {
  length_law law;
  law.short_share = figures.short_share;
  law.longest = figures.longest;
  law.log_ratio = std::log(double(figures.longest) / 32);
  double const mean =
      double(figures.nonzeros) / double(filled_of(figures.rows, figures.empty_share));
  double low = std::log(1e-3);
  double high = std::log(1e3);
  for (int step = 0; step < 60; ++step) {
    double const middle = (low + high) / 2;
    law.power = std::exp(middle);
    (mean_length(law) > mean ? low : high) = middle;
  }
  return law;
}

population population_of(std::uint64_t key, std::int64_t count, double empty_share) {
  return {random_order(key, std::max<std::int64_t>(count, 1)), filled_of(count, empty_share)};
}

matrix_figures_law law_of(matrix_figures const& figures) {
  matrix_figures_law law;
  law.seed = mix(figures.seed + 0x9e3779b97f4a7c15ULL);
  law.cells = cells_of(figures.columns);
  law.uncorrelated_of_2_20 = std::llround((1 - figures.similarity) * 0x1p20);
  std::int64_t const stretches = (figures.rows + stretch_rows - 1) / stretch_rows;
  std::int64_t const uncorrelated = law.uncorrelated_before(stretches);
  law.stretches = population_of(key_of(law.seed, 1), stretches - uncorrelated, figures.empty_share);
  law.uncorrelated =
      population_of(key_of(law.seed, 2), uncorrelated * stretch_rows, figures.empty_share);
  law.lengths = lengths_of(figures);
  return law;
}

/// The law with the two things that a matrix is made by.
struct matrix_figures_rows {
  matrix_figures_law law;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t length(std::int64_t row) const {
    return law(row).length;
  }
  template <class Group, class Value>
  KOKKOS_FUNCTION void fill(Group const& group, std::int64_t row, std::int32_t* columns,
                            Value* values) const {
    matrix_figures_row const shape = law(row);
    group.strided(std::int64_t(0), shape.length, [&](int, std::int64_t j) {
      std::int64_t const k = shape.run_of(j);
      columns[j] = std::int32_t(shape.column(k) + j - shape.start(k));
      half const rounded(shape.value(k, j));
      values[j] = Value(float(rounded));
    });
  }
};

}  // namespace
}  // namespace detail

matrix_figures table_of(plan_case which, double factor) {
  ISO_VALIDATE(factor > 0 && factor <= 100,
               "iso::synthetic::table_of: factor {} (must be positive, at most 100)", factor);
  auto const& row = detail::table[int(which)];
  bool const liver = which < plan_case::prostate_1;
  matrix_figures figures;
  figures.rows = std::llround(row.rows * factor);
  figures.columns = std::int64_t(row.columns);
  figures.nonzeros = std::llround(row.nonzeros * factor);
  figures.empty_share = 0.7;
  figures.short_share = liver ? 0.056 : 0.142;
  figures.longest = liver ? 16000 : 1800;
  figures.seed = std::uint64_t(which) + 1;
  return figures;
}

void validate(matrix_figures const& f, char const* function) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  ISO_VALIDATE(
      f.rows >= 1 && f.rows <= most && f.columns >= 4 * detail::cell_columns && f.columns <= most,
      "{}: {} x {} (rows from 1, columns from {}, both to {})", function, f.rows, f.columns,
      4 * detail::cell_columns, most);
  ISO_VALIDATE(f.empty_share >= 0 && f.empty_share < 1 && f.short_share >= 0 && f.short_share < 1,
               "{}: empty share {}, short share {} (each from 0 to below 1)", function,
               f.empty_share, f.short_share);
  ISO_VALIDATE(f.similarity >= 0 && f.similarity <= 1, "{}: similarity {} (must be from 0 to 1)",
               function, f.similarity);
  std::int64_t const room = detail::longest_run * detail::cells_of(f.columns);
  ISO_VALIDATE(f.longest > 32 && f.longest <= room,
               "{}: longest row {} (from 33 to {} with {} columns)", function, f.longest, room,
               f.columns);
  std::int64_t const filled = detail::filled_of(f.rows, f.empty_share);
  ISO_VALIDATE(filled >= 1, "{}: no row is left (of {} rows a share of {} is empty)", function,
               f.rows, f.empty_share);
  double const mean = double(f.nonzeros) / double(filled);
  auto bound = detail::length_law{f.short_share, 1e3, std::log(double(f.longest) / 32), f.longest};
  double const least = detail::mean_length(bound);
  bound.power = 1e-3;
  double const greatest = detail::mean_length(bound);
  ISO_VALIDATE(mean >= least && mean <= greatest,
               "{}: {} non-zeros (that is {} a row that is not empty) with these shares it must be "
               "from {} to {}",
               function, f.nonzeros, mean, least, greatest);
}

template <stored_real Value, execution_space Exec>
sparse::csr_view<Value, std::int32_t, typename Exec::memory_space> generate(
    Exec const& exec, matrix_figures const& figures) {
  validate(figures, "iso::synthetic::generate");
  return detail::generate_by<Value>(exec, figures.rows, figures.columns,
                                    detail::matrix_figures_rows{detail::law_of(figures)});
}

#define ISO_INSTANTIATE_VALUE(Exec, Value)                                            \
  template sparse::csr_view<Value, std::int32_t, Exec::memory_space> generate<Value>( \
      Exec const&, matrix_figures const&);
#define ISO_INSTANTIATE(Exec)           \
  ISO_INSTANTIATE_VALUE(Exec, half)     \
  ISO_INSTANTIATE_VALUE(Exec, bfloat16) \
  ISO_INSTANTIATE_VALUE(Exec, float)    \
  ISO_INSTANTIATE_VALUE(Exec, double)
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE_VALUE
#undef ISO_INSTANTIATE

}  // namespace iso::synthetic
