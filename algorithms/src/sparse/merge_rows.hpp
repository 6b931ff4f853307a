// SPDX-License-Identifier: BSD-3-Clause
//! The columns of a row block, as they are put into chunks.
#pragma once

#include "launch.hpp"

#include <limits>

namespace iso::sparse::detail {

inline constexpr std::int64_t no_column = std::numeric_limits<std::int64_t>::max();

/// f(column, at) for every column of a block of R rows, ascending; at[r] is the entry of row r
/// there, or -1.
template <int R, class Rows, class F>
KOKKOS_FUNCTION void merge_rows(Rows const& p, std::int64_t block, F const& f) {
  std::int64_t at[R] = {};
  std::int64_t end[R] = {};
  std::int64_t column[R] = {};
  auto const look = [&](int r, std::int64_t row) {
    if (at[r] < end[r]) {
      column[r] = p.base(row) + std::int64_t(p.columns[at[r]]);
    } else {
      column[r] = no_column;  // there may be no such row
    }
  };
  std::int64_t const first = block * R;
  for (int r = 0; r < R; ++r) {
    bool const exists = first + r < p.num_rows;
    at[r] = exists ? p.row_offsets[first + r] : 0;
    end[r] = exists ? p.row_offsets[first + r + 1] : 0;
    look(r, first + r);
  }
  while (true) {
    std::int64_t next = no_column;
    for (int r = 0; r < R; ++r) {
      next = column[r] < next ? column[r] : next;
    }
    if (next == no_column) {
      return;
    }
    std::int64_t here[R];
    for (int r = 0; r < R; ++r) {
      here[r] = column[r] == next ? at[r] : -1;
      if (column[r] == next) {
        ++at[r];
        look(r, first + r);
      }
    }
    f(next, here);
  }
}

/// Deals ascending columns into chunks.
class chunk_dealer {
 public:
  KOKKOS_FUNCTION void take(std::int64_t column) {
    if (used_ == 32 || column - base_ > 65535) {
      base_ = column;
      used_ = 0;
      ++chunks_;
    }
    ++used_;
    offset_ = column - base_;
  }

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t chunks() const { return chunks_; }
  /// Of the column taken last.
  [[nodiscard]] KOKKOS_FUNCTION int lane() const { return used_ - 1; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t offset() const { return offset_; }
  /// Its chunk's.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t base() const { return base_; }

 private:
  std::int64_t base_ = 0;
  std::int64_t chunks_ = 0;
  int used_ = 32;
  std::int64_t offset_ = 0;
};

}  // namespace iso::sparse::detail
