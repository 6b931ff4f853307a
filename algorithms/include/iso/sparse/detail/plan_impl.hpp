// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/sparse/detail/row_block_rows.hpp>
#include <iso/sparse/plan.hpp>

namespace iso::sparse {
namespace detail {

/// Defined in src/sparse for every backend and format.
template <execution_space Exec, class Rows>
void launch_bounds(Exec const& exec, Rows const& rows, std::int64_t num_blocks, double* max_abs,
                   std::int32_t* entries);
/// Blocks of several parts, their parts, and blocks that are one segment.
struct segment_counts {
  std::int64_t longs = 0;
  std::int64_t parts = 0;
  std::int64_t whole = 0;
  KOKKOS_FUNCTION segment_counts& operator+=(segment_counts const& more) {
    longs += more.longs;
    parts += more.parts;
    whole += more.whole;
    return *this;
  }
};
/// Fences `exec`.
template <execution_space Exec, class Rows>
segment_counts launch_count_segments(Exec const& exec, Rows const& rows, std::int64_t num_blocks);
/// Fills `segments`, `first_part` unless there are no long rows, and `empty` unless every block has
/// entries. Fences `exec`.
template <execution_space Exec, class Rows>
void launch_segments(Exec const& exec, Rows const& rows, std::int64_t num_blocks,
                     segment_counts const& found, row_segment* segments, std::int64_t* first_part,
                     std::uint32_t* empty);
template <execution_space Exec>
void launch_exponents(Exec const& exec, std::int64_t num_rows, double const* max_abs,
                      std::int32_t const* entries, std::int64_t length, std::int16_t* exponents);

/// Words of spmv_plan::empty.
inline std::int64_t empty_words(std::int64_t num_blocks) { return (num_blocks + 31) / 32; }

/// Rows, up to whole blocks of eight: what lanes read of a block's rows at once.
inline std::int64_t padded_rows(std::int64_t num_rows) { return (num_rows + 7) / 8 * 8; }

void validate_bounds(std::int64_t rows, std::int64_t max_abs, std::int64_t entries);

}  // namespace detail

template <execution_space Exec, class Matrix>
bounds<typename Exec::memory_space> make_bounds(Exec const& exec, Matrix const& a) {
  using space = typename Exec::memory_space;
  static_assert(accesses<Exec, typename Matrix::memory_space>,
                "iso::sparse: the matrix lies in memory that this execution space cannot reach");
  detail::validate_shape(a, "iso::sparse::make_bounds");
  auto const shape = shape_of(a);
  bounds<space> b;
  b.max_abs = allocate<decltype(b.max_abs)>("iso::sparse::bounds: max_abs", {shape.num_rows}, exec,
                                            Kokkos::WithoutInitializing);
  b.entries = allocate<decltype(b.entries)>("iso::sparse::bounds: entries", {shape.num_rows}, exec,
                                            Kokkos::WithoutInitializing);
  detail::launch_bounds<Exec>(exec, detail::rows_of(a), shape.num_blocks(), b.max_abs.data(),
                              b.entries.data());
  return b;
}

template <execution_space Exec, class Matrix>
spmv_plan<typename Exec::memory_space> make_plan(Exec const& exec, Matrix const& a,
                                                 bounds<typename Exec::memory_space> const& whole) {
  using space = typename Exec::memory_space;
  detail::validate_shape(a, "iso::sparse::make_plan");
  auto const shape = shape_of(a);
  detail::validate_bounds(shape.num_rows, std::int64_t(whole.max_abs.extent(0)),
                          std::int64_t(whole.entries.extent(0)));
  auto const rows = detail::rows_of(a);
  spmv_plan<space> plan;
  plan.rows = whole;
  plan.num_entries = shape.num_entries;
  plan.num_chunks = shape.num_chunks;
  plan.rows_per_block = rows.rows;
  plan.num_blocks = shape.num_blocks();
  std::int64_t const padded = detail::padded_rows(shape.num_rows);
  plan.exponents = allocate<decltype(plan.exponents)>("iso::sparse::spmv_plan: exponents", {padded},
                                                      exec, Kokkos::WithoutInitializing);
  detail::launch_exponents(exec, shape.num_rows, whole.max_abs.data(), whole.entries.data(), padded,
                           plan.exponents.data());
  auto const found = detail::launch_count_segments<Exec>(exec, rows, plan.num_blocks);
  plan.num_long = found.longs;
  plan.num_parts = found.parts;
  plan.num_segments = found.parts + found.whole;
  plan.segments = allocate<decltype(plan.segments)>(
      "iso::sparse::spmv_plan: segments", {plan.num_segments}, exec, Kokkos::WithoutInitializing);
  plan.first_part = allocate<decltype(plan.first_part)>("iso::sparse::spmv_plan: parts",
                                                        {found.longs > 0 ? found.longs + 1 : 0},
                                                        exec, Kokkos::WithoutInitializing);
  bool const all_have_entries = found.longs + found.whole == plan.num_blocks;
  plan.empty =
      allocate<decltype(plan.empty)>("iso::sparse::spmv_plan: empty",
                                     {all_have_entries ? 0 : detail::empty_words(plan.num_blocks)},
                                     exec, Kokkos::WithoutInitializing);
  detail::launch_segments<Exec>(exec, rows, plan.num_blocks, found, plan.segments.data(),
                                plan.first_part.data(), detail::data_or_null(plan.empty));
  return plan;
}

}  // namespace iso::sparse
