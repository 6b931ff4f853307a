// SPDX-License-Identifier: BSD-3-Clause
//! Tells whether a matrix may be multiplied with, and whether its products fit the memory.
#pragma once

#include "csr_memory.hpp"

#include <iso/cases/product.hpp>
#include <iso/jobs/matrix_product.hpp>
#include <iso/sparse/validate.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace iso::jobs {

using namespace cases;

/// The columns' order: row blocks want ascending ones, and no stored negative zero, which is
/// their padding.
enum class column_order { ascending, any };

/// Throws unless `a` may be multiplied with; tells whether it may become row blocks.
template <class Exec, class Matrix>
column_order checked_order(Exec const& exec, Matrix const& a, job const& control) {
  sparse::csr_demands demands;
  demands.values = sparse::csr_demands::of_values::finite;
  auto const report = sparse::validate(exec, a, demands, control);
  if (!report.sound()) {
    throw invalid_argument(sparse::to_string(report));
  }
  bool const blocks = report.descending == 0 && report.doubled == 0 && report.negative_zeros == 0;
  return blocks ? column_order::ascending : column_order::any;
}

/// Throws iso::out_of_memory before anything is made: the matrix, of `bytes_per_entry` in all its
/// forms together, and `vectors` of x and y with their copies, those that a product packs, and a
/// result with what it is compared with.
template <class Exec>
void check_products(Exec const& exec, files::host_matrix const& m, matrix_side side,
                    std::int64_t bytes_per_entry, std::int64_t vectors) {
  bool const turned = side == matrix_side::transposed;
  std::int64_t const rows = turned ? m.columns : m.rows;
  std::int64_t const columns = turned ? m.rows : m.columns;
  std::int64_t const offsets = 8 * (turned ? rows + columns : rows) + 16;
  std::int64_t const there =
      bytes_per_entry * m.entries() + offsets + 8 * vectors * (rows + 2 * columns);
  std::int64_t const host = 8 * (columns + rows) + 8 * (vectors + 3) * rows;
  check_free(exec, there, host, "iso matrix: its products");
}

}  // namespace iso::jobs
