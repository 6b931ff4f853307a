// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/rank_plan.hpp
//! Says which rows and which columns of a matrix each rank of a job owns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace iso::sparse {

/// Rows [first, last) of a matrix, or columns: rows of its transpose.
struct row_range {
  std::int64_t first = 0;
  std::int64_t last = 0;

  [[nodiscard]] std::int64_t count() const { return last - first; }

  friend bool operator==(row_range const&, row_range const&) = default;
};

/// Divides the rows of a matrix among ranks so that they have much the same work: a row counts as
/// its entries and one more. Rows are cut at multiples of eight, so that row blocks of a part are
/// row blocks of the whole. Given the offsets of A^T, it divides the columns of A. Some ranges are
/// empty where there are more ranks than rows.
/// Determinism: backend_to_backend; computed on the host, the same on every rank.
/// \param row_offsets  [rows + 1], as csr_view::row_offsets, on the host
/// \param speeds       of each rank, in any unit; empty: all are alike
/// \throws iso::invalid_argument  no offset, offsets that descend, no rank, as many speeds as there
///                                are no ranks, a speed that is negative or not finite, no speed
///                                above 0
std::vector<row_range> divide_rows(std::span<std::int64_t const> row_offsets, int ranks,
                                   std::vector<double> const& speeds = {});
/// Divides so many rows likewise, whatever their entries are.
/// Determinism: backend_to_backend; computed on the host.
/// \throws iso::invalid_argument  likewise; a negative number of rows
std::vector<row_range> divide_rows(std::int64_t num_rows, int ranks,
                                   std::vector<double> const& speeds = {});

/// The division of a matrix A among ranks. Each row and each column has one owner. In y = A x, the
/// owner of a row owns its element of y, and that of a column its element of x. A rank holds the
/// rows of A that it owns, or those of A^T, which are its columns of A, or both.
///
/// Determinism: backend_to_backend; computed on the host, the same on every rank.
class rank_plan {
 public:
  /// \param rows     of each rank, as divide_rows returns them
  /// \param columns  likewise
  /// \throws iso::invalid_argument  ranges that do not follow each other from 0 on; rows of more or
  ///                                fewer ranks than columns are of; no rank
  rank_plan(std::vector<row_range> rows, std::vector<row_range> columns);

  [[nodiscard]] int size() const { return int(rows_.size()); }  ///< the number of ranks
  [[nodiscard]] std::int64_t num_rows() const { return rows_.empty() ? 0 : rows_.back().last; }
  [[nodiscard]] std::int64_t num_cols() const { return rows_.empty() ? 0 : columns_.back().last; }
  /// Returns what a rank owns.
  /// \throws iso::invalid_argument  no such rank
  [[nodiscard]] row_range const& rows(int rank) const;
  [[nodiscard]] row_range const& columns(int rank) const;
  /// Returns the plan of A^T.
  [[nodiscard]] rank_plan transposed() const { return {columns_, rows_}; }
  /// Returns the number of ranks that own neither rows nor columns.
  [[nodiscard]] int idle() const;

 private:
  std::vector<row_range> rows_;
  std::vector<row_range> columns_;
};

}  // namespace iso::sparse
