// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/sparse/detail/paired_rows.hpp>
#include <iso/sparse/plan.hpp>

namespace iso::sparse {
namespace detail {

/// Defined in src/sparse for every backend and format.
template <execution_space Exec, class Rows>
void launch_bounds(Exec const& exec, Rows const& rows, std::int64_t num_groups, double* largest,
                   std::int32_t* entries);
/// Groups of several parts, their parts, and groups that are one piece.
struct piece_counts {
  std::int64_t longs = 0;
  std::int64_t parts = 0;
  std::int64_t whole = 0;
  KOKKOS_FUNCTION piece_counts& operator+=(piece_counts const& more) {
    longs += more.longs;
    parts += more.parts;
    whole += more.whole;
    return *this;
  }
};
/// Entries of spmv_plan::pieces that say what a lane group adds up at once.
template <class Rows>
inline constexpr std::int64_t reads_a_piece =
    sizeof(typename std::remove_const_t<Rows>::piece_type) / sizeof(row_piece);
/// Fences `exec`.
template <execution_space Exec, class Rows>
piece_counts launch_count_pieces(Exec const& exec, Rows const& rows, std::int64_t num_groups);
/// Fills `pieces`, `first_part` unless there are no long rows, and `empty` unless every group has
/// entries. Fences `exec`.
template <execution_space Exec, class Rows>
void launch_pieces(Exec const& exec, Rows const& rows, std::int64_t num_groups,
                   piece_counts const& found, row_piece* pieces, std::int64_t* first_part,
                   std::uint32_t* empty);
template <execution_space Exec>
void launch_exponents(Exec const& exec, std::int64_t num_rows, double const* largest,
                      std::int32_t const* entries, std::int64_t length, std::int16_t* exponents);

/// Words of spmv_plan::empty.
inline std::int64_t empty_words(std::int64_t num_groups) { return (num_groups + 31) / 32; }

/// Rows, up to whole groups of eight: what lanes read of a group's rows at once.
inline std::int64_t padded_rows(std::int64_t num_rows) { return (num_rows + 7) / 8 * 8; }

void validate_bounds(std::int64_t rows, std::int64_t largest, std::int64_t entries);

}  // namespace detail

template <execution_space Exec, class Matrix>
bounds<typename Exec::memory_space> make_bounds(Exec const& exec, Matrix const& a) {
  using space = typename Exec::memory_space;
  static_assert(accesses<Exec, typename Matrix::memory_space>,
                "iso::sparse: the matrix lies in memory that this execution space cannot reach");
  detail::validate_shape(a, "iso::sparse::make_bounds");
  bounds<space> b;
  b.largest = allocate<decltype(b.largest)>("iso::sparse::bounds: largest", {a.num_rows}, exec,
                                            Kokkos::WithoutInitializing);
  b.entries = allocate<decltype(b.entries)>("iso::sparse::bounds: entries", {a.num_rows}, exec,
                                            Kokkos::WithoutInitializing);
  auto const rows = detail::rows_of(a);
  detail::launch_bounds<Exec>(exec, rows, (a.num_rows + rows.rows - 1) / rows.rows,
                              b.largest.data(), b.entries.data());
  return b;
}

template <execution_space Exec, class Matrix>
spmv_plan<typename Exec::memory_space> make_plan(Exec const& exec, Matrix const& a,
                                                 bounds<typename Exec::memory_space> const& whole) {
  using space = typename Exec::memory_space;
  detail::validate_shape(a, "iso::sparse::make_plan");
  detail::validate_bounds(a.num_rows, std::int64_t(whole.largest.extent(0)),
                          std::int64_t(whole.entries.extent(0)));
  auto const rows = detail::rows_of(a);
  spmv_plan<space> plan;
  plan.rows = whole;
  plan.num_entries = a.num_entries();
  plan.num_places = detail::num_places(a);
  plan.num_pairs = detail::num_pairs(a);
  plan.rows_a_group = rows.rows;
  plan.num_groups = (a.num_rows + rows.rows - 1) / rows.rows;
  std::int64_t const padded = detail::padded_rows(a.num_rows);
  plan.exponents = allocate<decltype(plan.exponents)>("iso::sparse::spmv_plan: exponents", {padded},
                                                      exec, Kokkos::WithoutInitializing);
  detail::launch_exponents(exec, a.num_rows, whole.largest.data(), whole.entries.data(), padded,
                           plan.exponents.data());
  auto const found = detail::launch_count_pieces<Exec>(exec, rows, plan.num_groups);
  plan.num_long = found.longs;
  plan.num_parts = found.parts;
  plan.num_pieces = found.parts + found.whole;
  plan.pieces = allocate<decltype(plan.pieces)>(
      "iso::sparse::spmv_plan: pieces", {plan.num_pieces * detail::reads_a_piece<decltype(rows)>},
      exec, Kokkos::WithoutInitializing);
  plan.first_part = allocate<decltype(plan.first_part)>("iso::sparse::spmv_plan: parts",
                                                        {found.longs > 0 ? found.longs + 1 : 0},
                                                        exec, Kokkos::WithoutInitializing);
  bool const all_have_entries = found.longs + found.whole == plan.num_groups;
  plan.empty =
      allocate<decltype(plan.empty)>("iso::sparse::spmv_plan: empty",
                                     {all_have_entries ? 0 : detail::empty_words(plan.num_groups)},
                                     exec, Kokkos::WithoutInitializing);
  detail::launch_pieces<Exec>(exec, rows, plan.num_groups, found, plan.pieces.data(),
                              plan.first_part.data(), detail::data_or_null(plan.empty));
  return plan;
}

}  // namespace iso::sparse
