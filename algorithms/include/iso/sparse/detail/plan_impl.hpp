// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/sparse/detail/grouped_rows.hpp>
#include <iso/sparse/plan.hpp>

namespace iso::sparse {
namespace detail {

/// Defined in src/sparse for every backend and format.
template <execution_space Exec, class Rows>
void launch_bounds(Exec const& exec, Rows const& rows, std::int64_t num_groups, double* largest,
                   std::int32_t* entries);
/// Rows of several parts, and their parts.
struct long_rows {
  std::int64_t rows = 0;
  std::int64_t parts = 0;
  KOKKOS_FUNCTION long_rows& operator+=(long_rows const& more) {
    rows += more.rows;
    parts += more.parts;
    return *this;
  }
};
/// Fences `exec`.
template <execution_space Exec, class Rows>
long_rows launch_count_parts(Exec const& exec, Rows const& rows, std::int64_t num_groups);
/// Fills `pieces`, and `first_part` unless there are no long rows; returns how many pieces have
/// entries. Fences `exec`.
template <execution_space Exec, class Rows>
std::int64_t launch_pieces(Exec const& exec, Rows const& rows, std::int64_t num_groups,
                           long_rows const& found, row_piece* pieces, std::int64_t* first_part);
template <execution_space Exec>
void launch_reach(Exec const& exec, std::int64_t num_rows, double const* largest,
                  std::int32_t const* entries, double* reach);

void validate_bounds(std::int64_t rows, std::int64_t largest, std::int64_t entries);

}  // namespace detail

template <execution_space Exec, class Matrix>
bounds<typename Exec::memory_space> make_bounds(Exec const& exec, Matrix const& a) {
  using space = typename Exec::memory_space;
  static_assert(accesses<Exec, typename Matrix::memory_space>,
                "iso::sparse: the matrix lies in memory that this execution space cannot reach");
  detail::validate_shape(a, "iso::sparse::make_bounds");
  auto const length = std::size_t(a.num_rows);
  bounds<space> b;
  b.largest = decltype(b.largest)(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::sparse::bounds: largest"),
      length);
  b.entries = decltype(b.entries)(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::sparse::bounds: entries"),
      length);
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
  plan.num_groups = (a.num_rows + rows.rows - 1) / rows.rows;
  plan.reach = decltype(plan.reach)(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::sparse::spmv_plan: reach"),
      std::size_t(a.num_rows));
  detail::launch_reach(exec, a.num_rows, whole.largest.data(), whole.entries.data(),
                       plan.reach.data());
  auto const found = detail::launch_count_parts<Exec>(exec, rows, plan.num_groups);
  plan.num_long = found.rows;
  plan.num_parts = found.parts;
  plan.pieces = decltype(plan.pieces)(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::sparse::spmv_plan: pieces"),
      std::size_t(plan.num_groups - found.rows + found.parts));
  plan.first_part = decltype(plan.first_part)(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::sparse::spmv_plan: parts"),
      std::size_t(found.rows > 0 ? found.rows + 1 : 0));
  plan.num_working = detail::launch_pieces<Exec>(exec, rows, plan.num_groups, found,
                                                 plan.pieces.data(), plan.first_part.data());
  return plan;
}

}  // namespace iso::sparse
