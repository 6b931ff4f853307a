// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/plan.hpp
//! Holds what a product wants to know of its matrix, found once.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/workspace.hpp>
#include <iso/sparse/detail/row_block_rows.hpp>

#include <cstdint>

namespace iso::sparse {

/// The bounds of every row of the whole matrix, by which reproducible sums are rounded. Padding
/// does not count, nor do numbers that are not finite. Of parts of a matrix split by columns: the
/// sum of their entries and the larger of their maxima.
template <class Space>
struct bounds {
  Kokkos::View<double*, Kokkos::LayoutRight, Space> max_abs;        ///< largest finite |value|
  Kokkos::View<std::int32_t*, Kokkos::LayoutRight, Space> entries;  ///< stored zeros included
};

/// The plan of a product: bounds of the rows, and the work of each lane group, in an order that
/// changes no bit of a result: the parts of long rows, then other rows with entries whole. A plan
/// belongs to the matrix that it was made for, and to others of the same format and pattern as long
/// as `rows` holds. spmv compares extents, format and numbers of entries; where each row begins it
/// cannot compare without reading, and 16-bit columns read with another row's base may lead beyond
/// x.
template <class Space>
struct spmv_plan {
  Kokkos::View<row_segment*, Kokkos::LayoutRight, Space> segments;
  /// The blocks without entries: bit b mod 32 of word b / 32 is set where block b has none. Empty
  /// where all blocks have entries.
  Kokkos::View<std::uint32_t*, Kokkos::LayoutRight, Space> empty;
  matrix_shape matrix;            ///< of what it was made for
  std::int64_t num_long = 0;      ///< blocks that have several parts
  std::int64_t num_parts = 0;     ///< segments that are parts
  std::int64_t num_segments = 0;  ///< the parts, and blocks that are one segment
  Kokkos::View<std::int64_t*, Kokkos::LayoutRight, Space> first_part;  ///< [num_long + 1]
  bounds<Space> rows;
  /// The exponent with which reproducible sums of a row begin, but for the vector: the least e_a of
  /// spmv's comment, -1200 where all is zero; of every row and of those that pad the last eight.
  Kokkos::View<std::int16_t*, Kokkos::LayoutRight, Space> exponents;
};

namespace detail {
// Defined in src/sparse for every backend and format.
template <execution_space Exec, class Rows>
bounds<typename Exec::memory_space> bounds_of(Exec const& exec, Rows const& rows,
                                              matrix_shape const& shape, job const& control);
template <execution_space Exec, class Rows>
spmv_plan<typename Exec::memory_space> plan_of(Exec const& exec, Rows const& rows,
                                               matrix_shape const& shape,
                                               bounds<typename Exec::memory_space> const& whole);
}  // namespace detail

/// Computes the bounds of a matrix, the same from every format. Enqueued on `exec`; allocates. With
/// a job that has callbacks it waits for parts of the matrix, between which the job is asked.
/// Determinism: backend_to_backend.
/// \throws iso::cancelled  as job::step
template <execution_space Exec, class Matrix>
bounds<typename Exec::memory_space> make_bounds(Exec const& exec, Matrix const& a,
                                                job const& control = {}) {
  static_assert(accesses<Exec, typename Matrix::memory_space>,
                "iso::sparse: the matrix lies in memory that this execution space cannot reach");
  detail::validate_shape(a, "iso::sparse::make_bounds");
  return detail::bounds_of(exec, detail::rows_of(a), shape_of(a), control);
}

/// Makes a plan for a valid csr_view or a row_block_csr. Fences `exec`; allocates. Determinism:
/// backend_to_backend, but for the order of the segments, which suits the kind of processor.
///
/// \param[in] whole  bounds of the rows of the whole matrix, where `a` is a part of it by columns
/// \throws iso::invalid_argument  arrays whose lengths disagree
/// \throws iso::out_of_memory
/// \throws iso::cancelled         as make_bounds
template <execution_space Exec, class Matrix>
spmv_plan<typename Exec::memory_space> make_plan(Exec const& exec, Matrix const& a,
                                                 bounds<typename Exec::memory_space> const& whole) {
  detail::validate_shape(a, "iso::sparse::make_plan");
  return detail::plan_of(exec, detail::starts_of(a), shape_of(a), whole);
}
template <execution_space Exec, class Matrix>
spmv_plan<typename Exec::memory_space> make_plan(Exec const& exec, Matrix const& a,
                                                 job const& control = {}) {
  return make_plan(exec, a, make_bounds(exec, a, control));
}

}  // namespace iso::sparse
