// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/csr.hpp
//! Describes sparse matrices by compressed rows.
#pragma once

#include <iso/core/allocate.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/half.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

namespace iso::sparse {

/// The types in which columns are stored: 32 bits each, or 16 bits that are added to a base of the
/// row.
template <class C>
concept column_index = std::same_as<C, std::int32_t> || std::same_as<C, std::uint16_t>;

/// A sparse matrix of `num_rows` x `num_cols` by rows (CSR): row r holds the entries
/// [row_offsets(r), row_offsets(r + 1)), entry i being values(i) in column columns(i), or, where
/// columns have 16 bits, in column row_bases(r) + columns(i).
///
/// Cheap to copy; owns what its Kokkos::Views own. `Value` may be const, and then all the arrays
/// are. Entries of a row may lie in any order; algorithms that want them ascending say so. Where
/// `row_scales` is not empty, row r of the matrix is row_scales(r) times what is stored.
template <class Value, column_index Column, class Space>
  requires stored_real<std::remove_const_t<Value>>
struct csr_view {
  template <class T>
  using array = Kokkos::View<std::conditional_t<std::is_const_v<Value>, T const, T>*,
                             Kokkos::LayoutRight, Space>;

  using value_type = std::remove_const_t<Value>;
  using column_type = Column;
  using memory_space = Space;
  /// True where columns are relative to the row's base.
  static constexpr bool relative = std::is_same_v<Column, std::uint16_t>;

  std::int64_t num_rows = 0;
  std::int64_t num_cols = 0;
  array<std::int64_t> row_offsets;  ///< [num_rows + 1], from 0 to num_entries()
  array<Column> columns;            ///< [num_entries()]
  array<value_type> values;         ///< [num_entries()]
  array<std::int32_t> row_bases;    ///< [num_rows] where columns are relative, else empty
  /// The scale of each row, [num_rows], powers of two. Empty: all are 1.
  Kokkos::View<double const*, Kokkos::LayoutRight, Space> row_scales;

  /// Returns the number of stored entries, zeros and doubled entries included.
  [[nodiscard]] std::int64_t num_entries() const { return std::int64_t(values.extent(0)); }

  [[nodiscard]] csr_view<value_type const, Column, Space> as_const() const {
    return {num_rows, num_cols, row_offsets, columns, values, row_bases, row_scales};
  }
  template <class U = Value>
    requires(!std::is_const_v<U>)
  operator csr_view<U const, Column, Space>() const {
    return as_const();
  }
};

/// The shape of a matrix in any format.
struct matrix_shape {
  std::int64_t num_rows = 0;
  std::int64_t num_cols = 0;
  std::int64_t num_entries = 0;
  int rows_per_block = 1;       ///< R of a row_block_csr, 1 of a csr_view
  std::int64_t num_chunks = 0;  ///< of a row_block_csr's columns; 0: a csr_view
  std::int64_t bytes = 0;       ///< of the arrays

  [[nodiscard]] std::int64_t num_blocks() const {
    return (num_rows + rows_per_block - 1) / rows_per_block;
  }
};

namespace detail {
/// Throws unless the extents make a matrix.
void validate_extents(char const* function, std::int64_t rows, std::int64_t cols,
                      std::int64_t entries);

template <class... Arrays>
std::int64_t bytes_of(Arrays const&... arrays) {
  return (0 + ... + std::int64_t(arrays.extent(0) * sizeof(typename Arrays::value_type)));
}
}  // namespace detail

/// Returns the shape of a matrix.
/// Determinism: backend_to_backend.
template <class Value, class Column, class Space>
matrix_shape shape_of(csr_view<Value, Column, Space> const& a) {
  return {a.num_rows,
          a.num_cols,
          a.num_entries(),
          1,
          0,
          detail::bytes_of(a.row_offsets, a.columns, a.values, a.row_bases, a.row_scales)};
}

/// Makes a matrix without a pattern: row offsets are zero, the other arrays not initialised.
/// Enqueued on `exec`; allocates. Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  extents that are negative or, of rows and columns, above 2^31 - 1
/// \throws iso::out_of_memory
template <stored_real Value, column_index Column, execution_space Exec>
csr_view<Value, Column, typename Exec::memory_space> make_csr(Exec const& exec,
                                                              std::string const& label,
                                                              std::int64_t rows, std::int64_t cols,
                                                              std::int64_t entries) {
  detail::validate_extents("iso::sparse::make_csr", rows, cols, entries);
  using matrix = csr_view<Value, Column, typename Exec::memory_space>;
  auto const raw = [&]<class Array>(Array& to, char const* name, std::int64_t length) {
    to = allocate<Array>(label + ": " + name, {length}, exec, Kokkos::WithoutInitializing);
  };
  matrix a{rows, cols, {}, {}, {}, {}, {}};
  a.row_offsets = allocate<typename matrix::template array<std::int64_t>>(label + ": row offsets",
                                                                          {rows + 1}, exec);
  raw(a.columns, "columns", entries);
  raw(a.values, "values", entries);
  if constexpr (matrix::relative) {
    raw(a.row_bases, "row bases", rows);
  }
  return a;
}

}  // namespace iso::sparse
