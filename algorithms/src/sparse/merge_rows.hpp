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
    // There may be no such row.
    column[r] = at[r] < end[r] ? p.base(row) + std::int64_t(p.columns[at[r]]) : no_column;
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

/// A dealer of ascending columns into chunks.
struct chunk_dealer {
  std::int64_t chunks = 0;
  int lane = 31;            ///< of the column taken last
  std::int64_t base = 0;    ///< its chunk's
  std::int64_t offset = 0;  ///< from there

  KOKKOS_FUNCTION void take(std::int64_t column) {
    ++lane;
    if (lane == 32 || column - base > 65535) {
      base = column;
      lane = 0;
      ++chunks;
    }
    offset = column - base;
  }
};

/// Column chunks, and the sum of the columns that each spans.
struct chunk_counts {
  std::int64_t chunks;
  std::int64_t columns;
};

/// Of a block of R rows.
template <int R, class Rows>
KOKKOS_FUNCTION chunk_counts chunks_of(Rows const& p, std::int64_t block) {
  chunk_dealer dealer;
  std::int64_t columns = 0;
  merge_rows<R>(p, block, [&](std::int64_t column, auto const&) {
    std::int64_t const before = dealer.offset;
    dealer.take(column);
    columns += dealer.lane == 0 ? 1 : dealer.offset - before;
  });
  return {dealer.chunks, columns};
}

}  // namespace iso::sparse::detail
