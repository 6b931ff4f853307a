// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/synthetic/statistics.hpp
//! What a matrix looks like: lengths of rows, runs of columns, similarity of neighbours.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/job.hpp>
#include <iso/sparse/csr.hpp>
#include <iso/sparse/detail/csr_rows.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::synthetic {

/// The statistics of a matrix, as counts; element k of a histogram is that of sizes from 2^k to
/// below 2^(k+1).
struct matrix_statistics {
  static constexpr int bins = 32;
  using histogram = Kokkos::Array<std::int64_t, bins>;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;
  std::int64_t empty_rows = 0;
  std::int64_t short_rows = 0;  ///< not empty, fewer than 32 entries
  std::int64_t longest = 0;     ///< entries of a row
  histogram row_lengths{};      ///< of rows that are not empty
  std::int64_t runs = 0;        ///< of consecutive columns
  histogram run_lengths{};
  std::int64_t gaps = 0;       ///< between runs of one row
  std::int64_t wide_gaps = 0;  ///< columns that differ by more than 255
  /// Entries in a column that the row before has too, and rows for whom there is a row before that
  /// is not empty either: the Jaccard similarity of neighbours.
  std::int64_t shared = 0;
  std::int64_t neighbour_rows = 0;
  std::int64_t neighbour_entries = 0;  ///< of both rows of all pairs
  /// Of those pairs, by what they have in common: element k counts the pairs of whose columns, in
  /// either row, 10 k to below 10 k + 10 percent stand in both; element 10 those of equal rows.
  Kokkos::Array<std::int64_t, 11> jaccard_histogram{};
  /// Columns of the union of 2, 4, 8 rows from a multiple of that number on, over all such blocks.
  Kokkos::Array<std::int64_t, 3> unions{};

  [[nodiscard]] double empty_share() const { return ratio(empty_rows, rows); }
  /// Returns the share of short rows among those that are not empty.
  [[nodiscard]] double short_share() const { return ratio(short_rows, rows - empty_rows); }
  [[nodiscard]] double mean_length() const { return ratio(nonzeros, rows - empty_rows); }
  [[nodiscard]] double mean_run() const { return ratio(nonzeros, runs); }
  /// Returns the share of the steps from entry to entry of a row that exceed 255 columns.
  [[nodiscard]] double wide_share() const {
    return ratio(wide_gaps, nonzeros - (rows - empty_rows));
  }
  /// Returns entries over stored values, where blocks of 2, 4 or 8 rows share one list of columns:
  /// element 0, 1, 2.
  [[nodiscard]] double fill(int block) const {
    return ratio(nonzeros, unions[block] << (block + 1));
  }
  /// Returns the number of columns in both rows over that of columns in either, over all pairs of
  /// neighbours that are not empty.
  [[nodiscard]] double jaccard() const { return ratio(shared, neighbour_entries - shared); }

 private:
  static double ratio(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? double(part) / double(whole) : 0;
  }
};

/// Counts the statistics on `exec`, which it fences. Rows must ascend without doubled columns, else
/// the counts of runs, gaps, shared entries and unions mean nothing; nothing is read outside the
/// matrix either way. Reads the pattern alone, in one pass by one work item a row. Determinism:
/// backend_to_backend; integers.
///
/// \param[in]  pattern  a matrix that `validate` accepts
/// \param      control  asked between batches of rows
/// \throws iso::invalid_argument  arrays whose lengths disagree
/// \throws iso::cancelled         as job::step
template <execution_space Exec, class Value, sparse::column_index Column, class Space>
  requires accesses<Exec, Space>
matrix_statistics statistics(Exec const& exec,
                             sparse::csr_view<Value, Column, Space> const& pattern,
                             job const& control = {});

namespace detail {

/// Counts everything but rows, columns and nonzeros; `bases` is null where columns are absolute.
template <execution_space Exec, class Column>
matrix_statistics count(Exec const& exec, std::int64_t rows, std::int64_t const* offsets,
                        Column const* columns, std::int32_t const* bases, job const& control);

}  // namespace detail

template <execution_space Exec, class Value, sparse::column_index Column, class Space>
  requires accesses<Exec, Space>
matrix_statistics statistics(Exec const& exec,
                             sparse::csr_view<Value, Column, Space> const& pattern,
                             job const& control) {
  sparse::detail::validate_shape(pattern, "iso::synthetic::statistics");
  auto s = detail::count(exec, pattern.num_rows, pattern.row_offsets.data(), pattern.columns.data(),
                         sparse::detail::data_or_null(pattern.row_bases), control);
  s.rows = pattern.num_rows;
  s.columns = pattern.num_cols;
  s.nonzeros = pattern.num_entries();
  return s;
}

}  // namespace iso::synthetic
