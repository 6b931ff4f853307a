// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/sparse/detail/validate_impl.hpp>
#include <iso/sparse/row_block_csr.hpp>

namespace iso::sparse {
namespace detail {

/// Where the entries of a csr_view lie.
template <class Column>
struct pattern {
  std::int64_t num_rows;
  std::int64_t const* row_offsets;
  Column const* columns;
  std::int32_t const* row_bases;
};

/// Row blocks to be written or read; values of either 16-bit type as their bits.
struct row_block_arrays {
  std::int64_t* chunk_offsets;
  std::int32_t* bases;
  std::uint16_t* offsets;
  std::uint16_t* values;
};

// Defined in src/sparse for every backend.

/// Column chunks of every block of `rows` rows, as running totals; returns their number. Fences
/// `exec`.
template <execution_space Exec, class Column>
std::int64_t launch_chunk_offsets(Exec const& exec, pattern<Column> const& p, int rows,
                                  std::int64_t* chunk_offsets);
template <execution_space Exec, class Column>
void launch_make_blocks(Exec const& exec, pattern<Column> const& p, std::uint16_t const* values,
                        int rows, std::int64_t num_chunks, row_block_arrays const& to);
/// Running totals of the entries of every row. Fences `exec`.
template <execution_space Exec>
void launch_row_offsets(Exec const& exec, row_block_arrays const& from, int rows,
                        std::int64_t num_rows, std::int64_t* row_offsets);
template <execution_space Exec>
void launch_unmake_blocks(Exec const& exec, row_block_arrays const& from, int rows,
                          std::int64_t num_rows, std::int64_t const* row_offsets,
                          std::int32_t* columns, std::uint16_t* values);

/// Throws unless rows ascend and no zero is negative.
void validate_for_blocks(csr_report const& report);

template <class Value, class Column, class Space>
pattern<Column> pattern_of(csr_view<Value, Column, Space> const& a) {
  return {a.num_rows, a.row_offsets.data(), a.columns.data(), data_or_null(a.row_bases)};
}

/// Makes row blocks, and reads them.
struct row_block_access {
  template <int R, class Exec, class Value, class Column>
  static auto make(Exec const& exec,
                   csr_view<Value, Column, typename Exec::memory_space> const& a) {
    using plain = std::remove_const_t<Value>;
    using space = typename Exec::memory_space;
    auto const raw = [&]<class T>(T, char const* name, std::int64_t length) {
      return allocate<Kokkos::View<T*, Kokkos::LayoutRight, space>>(name, {length}, exec,
                                                                    Kokkos::WithoutInitializing);
    };
    row_block_csr<plain, R, space> b;
    b.num_rows_ = a.num_rows;
    b.num_cols_ = a.num_cols;
    b.num_entries_ = a.num_entries();
    auto const p = pattern_of(a);
    auto const chunk_offsets = allocate<Kokkos::View<std::int64_t*, Kokkos::LayoutRight, space>>(
        "iso::sparse::row_block_csr: chunk offsets", {b.num_blocks() + 1}, exec);
    std::int64_t const chunks = launch_chunk_offsets(exec, p, R, chunk_offsets.data());
    auto const bases = raw(std::int32_t(), "iso::sparse::row_block_csr: bases", chunks);
    auto const offsets = raw(std::uint16_t(), "iso::sparse::row_block_csr: offsets", 32 * chunks);
    auto const values = raw(plain(), "iso::sparse::row_block_csr: values", 32 * chunks * R);
    launch_make_blocks(exec, p, reinterpret_cast<std::uint16_t const*>(a.values.data()), R, chunks,
                       {chunk_offsets.data(), bases.data(), offsets.data(),
                        reinterpret_cast<std::uint16_t*>(values.data())});
    exec.fence("iso::sparse::make_row_blocks: done");
    b.chunk_offsets_ = chunk_offsets;
    b.bases_ = bases;
    b.offsets_ = offsets;
    b.values_ = values;
    b.row_scales_ = a.row_scales;
    return b;
  }

  template <class Value, int R, class Space>
  static row_block_arrays arrays_of(row_block_csr<Value, R, Space> const& a) {
    return {const_cast<std::int64_t*>(a.chunk_offsets_.data()),
            const_cast<std::int32_t*>(a.bases_.data()),
            const_cast<std::uint16_t*>(a.offsets_.data()),
            reinterpret_cast<std::uint16_t*>(const_cast<Value*>(a.values_.data()))};
  }
};

}  // namespace detail

template <int R, execution_space Exec, class Value, column_index Column>
row_block_csr<std::remove_const_t<Value>, R, typename Exec::memory_space> make_row_blocks(
    Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a) {
  detail::validate_shape(a, "iso::sparse::make_row_blocks");
  detail::validate_for_blocks(
      validate(exec, a.as_const(), {.columns = csr_demands::of_columns::ascending}));
  return detail::row_block_access::make<R>(exec, a);
}

template <execution_space Exec, class Value, int R>
csr_view<Value, std::int32_t, typename Exec::memory_space> to_csr(
    Exec const& exec, row_block_csr<Value, R, typename Exec::memory_space> const& a) {
  auto csr = make_csr<Value, std::int32_t>(exec, "iso::sparse::to_csr", a.num_rows(), a.num_cols(),
                                           a.num_entries());
  csr.row_scales = a.row_scales();
  auto const from = detail::row_block_access::arrays_of(a);
  detail::launch_row_offsets(exec, from, R, a.num_rows(), csr.row_offsets.data());
  detail::launch_unmake_blocks(exec, from, R, a.num_rows(), csr.row_offsets.data(),
                               csr.columns.data(),
                               reinterpret_cast<std::uint16_t*>(csr.values.data()));
  exec.fence("iso::sparse::to_csr: done");
  return csr;
}

}  // namespace iso::sparse
