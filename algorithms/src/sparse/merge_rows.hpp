// SPDX-License-Identifier: BSD-3-Clause
//! How rows that share their columns are put together.
#pragma once

#include "launch.hpp"

#include <iso/sparse/formats.hpp>

#include <limits>

namespace iso::sparse::detail {

inline constexpr std::int64_t beyond = std::numeric_limits<std::int64_t>::max();

/// f(column, at) for every column of a group of R rows, ascending; at[r] is the entry of row r
/// there, or -1.
template <int R, class Column, class F>
KOKKOS_FUNCTION void merge_rows(pattern<Column> const& p, std::int64_t group, F const& f) {
  std::int64_t at[R] = {};
  std::int64_t end[R] = {};
  std::int64_t column[R] = {};
  auto const look = [&](int r, std::int64_t row) {
    if (at[r] < end[r]) {
      std::int64_t const base = p.row_bases != nullptr ? p.row_bases[row] : 0;
      column[r] = base + std::int64_t(p.columns[at[r]]);
    } else {
      column[r] = beyond;  // there may be no such row
    }
  };
  std::int64_t const first = group * R;
  for (int r = 0; r < R; ++r) {
    bool const exists = first + r < p.num_rows;
    at[r] = exists ? p.row_offsets[first + r] : 0;
    end[r] = exists ? p.row_offsets[first + r + 1] : 0;
    look(r, first + r);
  }
  while (true) {
    std::int64_t next = beyond;
    for (int r = 0; r < R; ++r) {
      next = column[r] < next ? column[r] : next;
    }
    if (next == beyond) {
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

/// Deals ascending columns into slots.
class slot_dealer {
 public:
  KOKKOS_FUNCTION explicit slot_dealer(int offset_bits)
      : widest_((std::int64_t(1) << offset_bits) - 1), may_jump_(offset_bits == 8) {}

  KOKKOS_FUNCTION void take(std::int64_t column) {
    bool fits = used_ < 32;
    if (fits && column - from_ > widest_) {
      fits = may_jump_ && jump_ == 0 && column - from_ < std::int64_t(1) << 27;
      if (fits) {
        jump_ = std::uint32_t(column - from_) * 32 + std::uint32_t(used_);
        from_ = column;
      }
    }
    if (!fits) {
      first_ = column;
      from_ = column;
      jump_ = 0;
      used_ = 0;
      ++slots_;
    }
    ++used_;
    offset_ = column - from_;
  }

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t slots() const { return slots_; }
  /// Of the column taken last.
  [[nodiscard]] KOKKOS_FUNCTION int place() const { return used_ - 1; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t offset() const { return offset_; }
  /// Its slot's, so far.
  KOKKOS_FUNCTION void write(slot_base<std::uint8_t>& to) const {
    to = {std::int32_t(first_), jump_};
  }
  KOKKOS_FUNCTION void write(slot_base<std::uint16_t>& to) const { to = {std::int32_t(first_)}; }

 private:
  std::int64_t widest_;
  bool may_jump_;
  std::int64_t first_ = 0;
  std::int64_t from_ = 0;  ///< what offsets are counted from
  std::uint32_t jump_ = 0;
  std::int64_t slots_ = 0;
  int used_ = 32;
  std::int64_t offset_ = 0;
};

template <class Offset>
struct place_cleaner {
  grouped_arrays<Offset> to;
  int rows;
  KOKKOS_FUNCTION void operator()(std::int64_t place) const {
    to.offsets[place] = 0;
    for (int r = 0; r < rows; ++r) {
      to.values[place * rows + r] = fill;
    }
  }
};

template <class Exec>
std::int64_t add_up(Exec const& exec, std::int64_t count, std::int64_t* offsets) {
  std::int64_t total = 0;
  Kokkos::parallel_scan("iso::sparse: running totals", range<Exec>(exec, 0, count),
                        running_total{offsets}, total);
  exec.fence("iso::sparse: the total is here");
  return total;
}

}  // namespace iso::sparse::detail
