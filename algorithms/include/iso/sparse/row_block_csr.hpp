// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/row_block_csr.hpp
//! Holds sparse matrices by blocks of rows that share their columns.
#pragma once

#include <iso/core/job.hpp>
#include <iso/sparse/csr.hpp>

#include <cstdint>

namespace iso::sparse {

namespace detail {
struct row_block_access;
}  // namespace detail

/// A sparse matrix by blocks of R rows. Rows [R b, R b + R) form row block b. Its columns are the
/// union of those of its rows, ascending, in column chunks of 32 lanes: chunks [chunk_offsets(b),
/// chunk_offsets(b + 1)). Lane l of chunk c is column bases(c) + offsets(32 c + l), and the value
/// of row R b + r there is values((32 c + l) R + r). Where a row has no entry the value is the
/// padding, negative zero; zeros that the matrix stores are positive. A chunk uses its first lanes,
/// at least one. The values of other lanes are padding, and their offsets name some column of the
/// matrix. A chunk ends early only where an offset would not fit in 16 bits, and at the end of a
/// block.
///
/// For values of 16 bits, where columns weigh most. Only `make_row_blocks` makes one, and nothing
/// changes it: every object is valid. Cheap to copy; owns what its Kokkos::Views own.
template <class Value, int R, class Space>
  requires stored_real<Value> && (sizeof(Value) == 2) && (R == 4 || R == 8)
class row_block_csr {
 public:
  template <class T>
  using array = Kokkos::View<T const*, Kokkos::LayoutRight, Space>;

  using value_type = Value;
  using memory_space = Space;
  static constexpr int rows = R;

  // No moves: a Kokkos::View that is moved from would dangle, and a copy shares its memory.
  row_block_csr(row_block_csr const&) = default;
  row_block_csr& operator=(row_block_csr const&) = default;
  ~row_block_csr() = default;

  /// Makes a matrix of 0 x 0.
  row_block_csr() = default;

  [[nodiscard]] std::int64_t num_rows() const { return num_rows_; }
  [[nodiscard]] std::int64_t num_cols() const { return num_cols_; }
  /// Returns the number of entries of the matrix, without padding.
  [[nodiscard]] std::int64_t num_entries() const { return num_entries_; }
  [[nodiscard]] std::int64_t num_blocks() const { return (num_rows_ + R - 1) / R; }
  [[nodiscard]] std::int64_t num_chunks() const { return std::int64_t(bases_.extent(0)); }

  /// Returns the offsets of chunks, [num_blocks() + 1].
  [[nodiscard]] array<std::int64_t> const& chunk_offsets() const { return chunk_offsets_; }
  /// Returns the base column of each chunk, [num_chunks()].
  [[nodiscard]] array<std::int32_t> const& bases() const { return bases_; }
  /// Returns the columns' distances from their base, [32 num_chunks()].
  [[nodiscard]] array<std::uint16_t> const& offsets() const { return offsets_; }
  /// Returns the values, [32 R num_chunks()].
  [[nodiscard]] array<Value> const& values() const { return values_; }
  /// Returns the scales of the rows, as csr_view::row_scales.
  [[nodiscard]] array<double> const& row_scales() const { return row_scales_; }

 private:
  friend detail::row_block_access;

  std::int64_t num_rows_ = 0;
  std::int64_t num_cols_ = 0;
  std::int64_t num_entries_ = 0;
  array<std::int64_t> chunk_offsets_;
  array<std::int32_t> bases_;
  array<std::uint16_t> offsets_;
  array<Value> values_;
  array<double> row_scales_;
};

/// Returns the shape of a matrix.
/// Determinism: backend_to_backend.
template <class Value, int R, class Space>
matrix_shape shape_of(row_block_csr<Value, R, Space> const& a) {
  return {a.num_rows(),
          a.num_cols(),
          a.num_entries(),
          R,
          a.num_chunks(),
          detail::bytes_of(a.chunk_offsets(), a.bases(), a.offsets(), a.values(), a.row_scales())};
}

/// Returns `a` by row blocks, exactly. Runs on `exec`, fences it, allocates. Asks `control` as the
/// functions of iso/sparse/convert.hpp do.
/// Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  with their numbers: entries not ascending, doubled columns,
///                                stored negative zeros (the padding); lengths that disagree
/// \throws iso::out_of_memory
/// \throws iso::cancelled
template <int R, execution_space Exec, class Value, column_index Column>
row_block_csr<std::remove_const_t<Value>, R, typename Exec::memory_space> make_row_blocks(
    Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a,
    job const& control = {});

/// Returns the matrix by rows, as before make_row_blocks. Runs on `exec`, fences it, allocates.
/// Asks `control` likewise.
/// Determinism: backend_to_backend.
///
/// \throws iso::out_of_memory
/// \throws iso::cancelled
template <execution_space Exec, class Value, int R>
csr_view<Value, std::int32_t, typename Exec::memory_space> to_csr(
    Exec const& exec, row_block_csr<Value, R, typename Exec::memory_space> const& a,
    job const& control = {});

}  // namespace iso::sparse
