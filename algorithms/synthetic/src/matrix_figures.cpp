// SPDX-License-Identifier: BSD-3-Clause
// Where the entries of a synthetic dose matrix lie: closed forms of hashes, for counting and
// filling.
#include "generate_impl.hpp"

#include <iso/core/check.hpp>
#include <iso/core/math.hpp>
#include <iso/synthetic/detail/counter_random.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace iso::synthetic {
namespace detail {
namespace {

constexpr std::int64_t stretch_rows = 32;  ///< neighbouring rows that share their runs
constexpr std::int64_t cell_columns = 64;  ///< at most one run lies in a cell of columns
constexpr std::int64_t longest_run = 28;   ///< typical length of a run: 12 to this
constexpr std::int64_t run_cap = 40;       ///< before the lengths of a pair are spread

/// Shares of all rows in a random but exactly spread order: number i of a population of `count`,
/// of which `filled` are not empty.
struct population {
  random_order order;
  std::int64_t filled = 0;

  /// Where in the distribution of lengths, in (0, 1); negative where the row is empty.
  [[nodiscard]] KOKKOS_FUNCTION double quantile(std::int64_t i) const {
    std::int64_t const rank = order(i);
    return rank < filled ? (double(rank) + 0.5) / double(filled) : -1.0;
  }
};

/// Inverse of the distribution of row lengths: below `short_share` 1 to 31 with equal logarithms,
/// above it 32 (longest / 32)^(t^power).
struct length_law {
  double short_share = 0;
  double power = 1;
  double log_ratio = 0;  ///< log(longest / 32)
  std::int64_t longest = 32;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t operator()(double u) const {
    if (u < short_share) {
      double const log_32 = 0x1.bb9d3beb8c86bp+1;
      auto const n = std::int64_t(iso::math::exp(log_32 * (u / short_share)));
      return n < 1 ? 1 : n > 31 ? 31 : n;
    }
    double const t = (u - short_share) / (1 - short_share);
    double const exponent = t > 0 ? iso::math::exp(power * iso::math::log(t)) : 0.0;
    auto const n = std::int64_t(32 * iso::math::exp(log_ratio * exponent));
    return n < 32 ? 32 : n > longest ? longest : n;
  }
};

/// One row: `runs` runs of consecutive columns in cells of their own, lengths base or base + 1,
/// then spread within pairs.
struct matrix_figures_row {
  std::uint64_t key = 0;
  std::int64_t length = 0;
  std::int64_t runs = 1;
  std::int64_t base = 0;
  std::int64_t longer = 0;  ///< this many runs, the first ones, have base + 1
  std::int64_t first_cell = 0;
  std::int64_t spread = 1;  ///< cells that the runs are spread over
  double slack = 0;         ///< free columns that a run's start is drawn from
  double shift = 0;         ///< columns, common to the row

  /// The number of the first entry of run k. The second run of a pair gives the first some entries.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t start(std::int64_t k) const {
    std::int64_t const even = k * base + (k < longer ? k : longer);
    if (k % 2 == 0 || k >= runs) {
      return even;
    }
    double const share = unit_number(key_of(key, std::uint64_t(3 * (k / 2))));
    return even + std::int64_t(share * double(base / 2 + 1));
  }
  /// The run that holds entry j.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t run_of(std::int64_t j) const {
    std::int64_t const in_longer = longer * (base + 1);
    std::int64_t const k =
        j < in_longer ? j / (base + 1) : longer + (j - in_longer) / (base > 0 ? base : 1);
    return k % 2 == 1 && j < start(k) ? k - 1 : k;
  }
  /// The first column of run k.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t column(std::int64_t k) const {
    std::int64_t const cell = first_cell + k * spread / runs;
    double const place = slack * unit_number(key_of(key, std::uint64_t(3 * k + 1))) + shift;
    return cell * cell_columns + std::int64_t(place);
  }
  /// Dose: a Gaussian across the run, the runs' heights over three and a half decades. From 1.2e-4
  /// to 8, so that half precision holds each to full length.
  [[nodiscard]] KOKKOS_FUNCTION float value(std::int64_t k, std::int64_t j) const {
    std::int64_t const from = start(k);
    std::int64_t const to = k + 1 < runs ? start(k + 1) : length;
    auto const height = float(unit_number(key_of(key, std::uint64_t(3 * k + 2))));
    float const across = 2.25F * ((2 * float(j - from) + 1) / float(to - from) - 1);
    return 8 * iso::math::exp(Kokkos::fma(-8.0F, height, -0.5F * across * across));
  }
};

/// The whole matrix as a function of the row.
struct matrix_figures_law {
  std::uint64_t seed = 0;
  std::int64_t cells = 1;
  std::int64_t uncorrelated_of_2_20 = 0;  ///< share of stretches of unrelated rows, times 2^20
  population stretches;
  population uncorrelated;
  length_law lengths;

  /// Unrelated stretches before number q: they are spread evenly.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t uncorrelated_before(std::int64_t q) const {
    return q * uncorrelated_of_2_20 >> 20;
  }

  [[nodiscard]] KOKKOS_FUNCTION matrix_figures_row operator()(std::int64_t row) const {
    std::int64_t const q = row / stretch_rows;
    std::int64_t const i = row % stretch_rows;
    std::int64_t const before = uncorrelated_before(q);
    bool const is_uncorrelated = uncorrelated_before(q + 1) != before;
    double const u = is_uncorrelated ? uncorrelated.quantile(before * stretch_rows + i)
                                     : stretches.quantile(q - before);
    if (u < 0) {
      return {};
    }
    return shaped(key_of(seed, std::uint64_t(is_uncorrelated ? row : -1 - q)), u,
                  is_uncorrelated ? 0 : i);
  }

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t length(std::int64_t row) const {
    return (*this)(row).length;
  }
  template <class Group, class Value>
  KOKKOS_FUNCTION void fill(Group const& group, std::int64_t row, std::int32_t* columns,
                            Value* values) const {
    matrix_figures_row const shape = (*this)(row);
    group.strided(std::int64_t(0), shape.length, [&](int, std::int64_t j) {
      std::int64_t const k = shape.run_of(j);
      columns[j] = std::int32_t(shape.column(k) + j - shape.start(k));
      half const rounded(shape.value(k, j));
      values[j] = Value(float(rounded));
    });
  }

 private:
  /// Row i of a stretch; the key and u belong to the stretch, so that only lengths and the common
  /// shift tell its rows apart.
  [[nodiscard]] KOKKOS_FUNCTION matrix_figures_row shaped(std::uint64_t key, double u,
                                                          std::int64_t i) const {
    auto const draw = [&](int n) { return unit_number(key_of(~key, std::uint64_t(n))); };
    std::int64_t const typical = lengths(u);
    // Moved along the distribution and folded at its ends: all lengths stay as frequent.
    double const slope = 0.04 * (2 * draw(0) - 1);
    double moved = u + slope * double(2 * i - stretch_rows) / double(2 * stretch_rows);
    moved = moved < 0 ? -moved : moved > 1 ? 2 - moved : moved;

    matrix_figures_row row;
    row.key = key;
    std::int64_t const wanted = 12 + std::int64_t(draw(1) * double(longest_run - 11));
    std::int64_t const runs = (typical + wanted - 1) / wanted;
    row.runs = runs < cells ? runs : cells;
    std::int64_t const mean = (typical + row.runs - 1) / row.runs;
    std::int64_t const most = 3 * (wanted > mean ? wanted : mean) / 2;
    std::int64_t const cap = most < run_cap ? most : run_cap;
    std::int64_t const length = lengths(moved);
    row.length = length < cap * row.runs ? length : cap * row.runs;
    row.base = row.length / row.runs;
    row.longer = row.length % row.runs;

    std::int64_t const widest = 8 * row.runs < cells ? 8 * row.runs : cells;
    row.spread = row.runs + std::int64_t(draw(2) * double(widest - row.runs + 1));
    row.first_cell = std::int64_t(draw(3) * double(cells - row.spread + 1));
    row.slack = double(cell_columns - 2 - (3 * cap / 2 + 1));
    double const drift = 0.7 + 0.6 * draw(4);
    row.shift = drift * double(draw(5) < 0.5 ? i : stretch_rows - 1 - i);
    return row;
  }
};

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

length_law lengths_of(matrix_figures const& f, double power) {
  return {f.short_share, power, std::log(double(f.longest) / 32), f.longest};
}

/// The law of lengths whose mean is that of the figures.
length_law lengths_of(matrix_figures const& figures) {
  length_law law = lengths_of(figures, 1);
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

matrix_figures_law law_of(matrix_figures const& figures) {
  matrix_figures_law law;
  law.seed = mix(figures.seed + 0x9e3779b97f4a7c15ULL);
  law.cells = cells_of(figures.columns);
  law.uncorrelated_of_2_20 = std::llround((1 - figures.similarity) * 0x1p20);
  std::int64_t const stretches = (figures.rows + stretch_rows - 1) / stretch_rows;
  std::int64_t const uncorrelated = law.uncorrelated_before(stretches);
  auto const population_of = [&](std::uint64_t key, std::int64_t count) -> population {
    return {random_order(key_of(law.seed, key), std::max<std::int64_t>(count, 1)),
            filled_of(count, figures.empty_share)};
  };
  law.stretches = population_of(1, stretches - uncorrelated);
  law.uncorrelated = population_of(2, uncorrelated * stretch_rows);
  law.lengths = lengths_of(figures);
  return law;
}

}  // namespace
}  // namespace detail

matrix_figures table_of(plan_case which, double factor) {
  ISO_VALIDATE(factor > 0 && factor <= 100,
               "iso::synthetic::table_of: factor {} (must be positive, at most 100); use 1 for the "
               "matrix of the table",
               factor);
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
      "{}: {} rows x {} columns (rows must be from 1, columns from {}, both to {}); choose extents "
      "between",
      function, f.rows, f.columns, 4 * detail::cell_columns, most);
  ISO_VALIDATE(f.empty_share >= 0 && f.empty_share < 1 && f.short_share >= 0 && f.short_share < 1,
               "{}: empty share {}, short share {} (each must be from 0 to below 1); give shares "
               "of the rows",
               function, f.empty_share, f.short_share);
  ISO_VALIDATE(f.similarity >= 0 && f.similarity <= 1,
               "{}: similarity {} (must be from 0 to 1); give the share of rows that are like "
               "their neighbours",
               function, f.similarity);
  std::int64_t const room = detail::longest_run * detail::cells_of(f.columns);
  ISO_VALIDATE(
      f.longest > 32 && f.longest <= room,
      "{}: longest row {} (must be from 33 to {} with {} columns); choose a length between",
      function, f.longest, room, f.columns);
  std::int64_t const filled = detail::filled_of(f.rows, f.empty_share);
  ISO_VALIDATE(filled >= 1,
               "{}: no row is left (of {} rows a share of {} is empty); ask for more rows, or "
               "fewer empty ones",
               function, f.rows, f.empty_share);
  double const mean = double(f.nonzeros) / double(filled);
  double const least = detail::mean_length(detail::lengths_of(f, 1e3));
  double const greatest = detail::mean_length(detail::lengths_of(f, 1e-3));
  ISO_VALIDATE(mean >= least && mean <= greatest,
               "{}: {} non-zeros, {} a row that is not empty (must be from {} to {} with these "
               "shares); ask for a number between",
               function, f.nonzeros, mean, least, greatest);
}

template <stored_real Value, execution_space Exec>
generated<Value, Exec> generate(Exec const& exec, matrix_figures const& figures,
                                job const& control) {
  validate(figures, "iso::synthetic::generate");
  return detail::generate_by<Value>(exec, figures.rows, figures.columns, detail::law_of(figures),
                                    control);
}
ISO_FOR_EACH_VALUE(ISO_SYNTHETIC_GENERATE, matrix_figures)

}  // namespace iso::synthetic
