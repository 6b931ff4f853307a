// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/sparse/detail/csr_rows.hpp>
#include <iso/sparse/validate.hpp>

#include <limits>

namespace iso::sparse {
namespace detail {

/// What is seen in a row.
struct row_facts {
  std::int32_t bad_columns;
  std::int32_t not_finite;
  std::int32_t descending;
  std::int32_t doubled;
  std::int32_t stored_zeros;
  std::int32_t negative_zeros;
  std::int32_t least_column;  ///< above most_column in a row without entries
  std::int32_t most_column;
};

/// What can be said without reading an array.
csr_report lengths_report(std::int64_t rows, std::int64_t cols, std::int64_t offsets,
                          std::int64_t columns, std::int64_t values, std::int64_t bases,
                          bool relative, std::int64_t scales, bool null);

// Defined in src/sparse for every backend.

/// Fences `exec`.
template <execution_space Exec>
void check_offsets(Exec const& exec, std::int64_t const* offsets, std::int64_t rows,
                   std::int64_t entries, csr_report& report);
/// Facts of every row, of sound row offsets. Enqueued on `exec`.
template <execution_space Exec, class Value, class Column>
void launch_check_rows(Exec const& exec, csr_rows<Value, Column> const& rows, std::int64_t num_cols,
                       row_facts* facts);
/// Adds the facts up. Fences `exec`.
template <execution_space Exec, class Column>
void total_facts(Exec const& exec, std::int64_t const* offsets, Column const* columns,
                 std::int32_t const* bases, double const* scales, row_facts const* facts,
                 std::int64_t num_rows, std::int64_t num_cols, csr_demands const& demands,
                 csr_report& report);

template <class Exec>
auto make_row_facts(Exec const& exec, std::int64_t rows) {
  return allocate<Kokkos::View<row_facts*, typename Exec::memory_space>>(
      "iso::sparse: row facts", {rows}, exec, Kokkos::WithoutInitializing);
}

}  // namespace detail

template <execution_space Exec, class Value, column_index Column>
csr_report validate(Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a,
                    csr_demands const& demands) {
  auto const null = [](auto const& v) { return v.extent(0) > 0 && v.data() == nullptr; };
  csr_report report = detail::lengths_report(
      a.num_rows, a.num_cols, std::int64_t(a.row_offsets.extent(0)),
      std::int64_t(a.columns.extent(0)), a.num_entries(), std::int64_t(a.row_bases.extent(0)),
      a.relative, std::int64_t(a.row_scales.extent(0)),
      null(a.row_offsets) || null(a.columns) || null(a.values) || null(a.row_bases) ||
          null(a.row_scales));
  if (!report.sound()) {
    return report;
  }
  detail::check_offsets(exec, a.row_offsets.data(), a.num_rows, a.num_entries(), report);
  if (!report.sound()) {
    return report;
  }
  auto const facts = detail::make_row_facts(exec, a.num_rows);
  detail::launch_check_rows(exec, detail::rows_of(a), a.num_cols, facts.data());
  detail::total_facts<Exec, Column>(
      exec, a.row_offsets.data(), a.columns.data(), detail::data_or_null(a.row_bases),
      detail::data_or_null(a.row_scales), facts.data(), a.num_rows, a.num_cols, demands, report);
  return report;
}

}  // namespace iso::sparse
