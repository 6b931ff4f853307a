// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/synthetic/statistics.hpp
//! What a matrix looks like: lengths of rows, runs of columns, similarity of neighbours.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/job.hpp>
#include <iso/sparse/csr.hpp>
#include <iso/sparse/detail/csr_rows.hpp>
#include <iso/synthetic/matrix_options.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::synthetic {

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
