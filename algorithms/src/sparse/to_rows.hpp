// SPDX-License-Identifier: BSD-3-Clause
//! The entries of groups of rows as rows again.
#pragma once

#include "launch.hpp"
#include "merge_rows.hpp"

namespace iso::sparse::detail {

/// `Entries` calls entries.each(row, f) with f(column, value) for the entries of a row, ascending.
template <class Entries>
struct entry_counter {
  Entries entries;
  std::int64_t* row_offsets;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t count = 0;
    entries.each(row, [&](std::int32_t, std::uint16_t) { ++count; });
    row_offsets[row + 1] = count;
  }
};

template <class Entries>
struct row_writer {
  Entries entries;
  std::int64_t const* row_offsets;
  std::int32_t* columns;
  std::uint16_t* values;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t at = row_offsets[row];
    entries.each(row, [&](std::int32_t column, std::uint16_t value) {
      columns[at] = column;
      values[at] = value;
      ++at;
    });
  }
};

/// Running totals of the entries of every row; returns the last. Fences `exec`.
template <class Exec, class Entries>
std::int64_t count_entries(Exec const& exec, Entries const& entries, std::int64_t num_rows,
                           std::int64_t* row_offsets) {
  Kokkos::parallel_for("iso::sparse::to_csr: lengths", range<Exec>(exec, 0, num_rows),
                       entry_counter<Entries>{entries, row_offsets});
  return add_up(exec, num_rows, row_offsets);
}

template <class Exec, class Entries>
void write_rows(Exec const& exec, Entries const& entries, std::int64_t num_rows,
                std::int64_t const* row_offsets, std::int32_t* columns, std::uint16_t* values) {
  Kokkos::parallel_for("iso::sparse::to_csr: entries", range<Exec>(exec, 0, num_rows),
                       row_writer<Entries>{entries, row_offsets, columns, values});
}

}  // namespace iso::sparse::detail
