// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/spmv.hpp
//! Products of sparse matrices and vectors.
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/summation.hpp>
#include <iso/core/workspace.hpp>
#include <iso/sparse/plan.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>

namespace iso::sparse {

struct spmv_options {
  /// How the products of a row are added. Absent: reproducible for 16-bit values and vectors of
  /// double, else ordered.
  std::optional<summation> sum = {};
  /// reproducible: where the largest finite |x| of each vector lies, in memory that the kernels
  /// read (max_abs makes it). Null: found by a reduction on the way. Of the whole x, where the
  /// matrix is a part by columns.
  double const* max_abs_x = nullptr;
  backend::launch_shape shape = {};
};

/// Bytes of scratch that spmv wants for `vectors` right-hand sides of type T. Enqueues nothing.
/// Determinism: backend_to_backend.
template <class T, class Matrix>
std::int64_t spmv_bytes_needed(Matrix const& a,
                               spmv_plan<typename Matrix::memory_space> const& plan,
                               std::int64_t vectors);

/// The largest finite |x| of each vector, written to `to` [vectors]. Enqueued on `exec`.
/// Determinism: backend_to_backend.
template <execution_space Exec, view X>
void max_abs(Exec const& exec, X const& x,
             Kokkos::View<double*, typename Exec::memory_space> const& to);

/// y = alpha A x + beta y.
///
/// `a` is a csr_view or row_block_csr; A^T is `transpose(exec, a)`, as fast as A. x and
/// y are views of double: one vector, [num_cols] and [num_rows], or several, [num_cols, vectors]
/// and [num_rows, vectors], the vector's number fastest; a pass over the matrix serves four of
/// them. Float values take vectors of float too. Enqueued on `exec`; does not fence and does not
/// allocate.
///
/// Determinism: backend_to_backend, both sums. Products are added by fma in the vectors' type.
/// - ordered, csr_view: entry j of a row belongs to lane j mod 32, each lane adds its entries
///   ascending, then lanes l and l + 16, + 8, 4, 2, 1 are added: a tree. row_block_csr: the same
///   over the columns of the row's block, lane l of every column chunk on lane l. Rows of more
///   than 2048 entries, blocks of more than 64 chunks, are added in parts of as
///   many, each so, and these from the first to the last.
/// - reproducible: each product a x', x' being x with the last bit of its significand set, is
///   rounded to the nearest multiple of u = 2^(e-52) a row, by an fma onto a sum that begins at
///   1.5 2^e, and these add exactly: any order, every format, the transposed matrix, permuted
///   entries and any split by rows or columns (without row scales, alpha = 1, beta = 0 or 1, with
///   the bounds and max_abs_x of the whole) give the same bits. e = max(-900, e_a + e_x), with the
///   least e_a and e_x such that 2^e_a >= max(2 min(n, 64), n / 2) max|a| (1 + 2^-20), for the n
///   entries of the row, and 2^e_x >= max(max|x|, 2^-1000).
///
/// Neither plan nor `shape` nor the number of vectors changes a bit. A sum that
/// is zero is +0. Then sum * row_scales(r), times alpha, and beta y is added by one fma; the
/// canonical NaN is the only one that leaves.
///
/// beta = 0: y is not read. alpha = 0: neither a nor x is read. What is not finite reaches those
/// rows that have an entry there, as IEEE arithmetic has it: infinite, or NaN for infinities of
/// both signs or times zero. Reproducible sums are NaN where e exceeds 1023.
///
/// Error a row, n entries, where nothing underflows: ordered (min(ceil(n / 32), 64) + 5 +
/// ceil(n / 2048)) eps sum|a x| (of row blocks, n columns of the block), eps = 2^-53, of vectors of
/// float 2^-24; reproducible n (max(4 min(n, 64), n)
/// + 1) 2^-52 (1 + 2^-20) max|a| max(max|x|, 2^-1000), and 2^-953 n at least.
///
/// \param[in]     a        valid (iso::sparse::validate says)
/// \param[in,out] y        must not overlap x or the matrix
/// \param[in]     plan     of `a`: make_plan
/// \param         scratch  at least spmv_bytes_needed; free again after the next fence
/// \throws iso::invalid_argument  extents or lengths that disagree, views with gaps, a plan for
///                                other extents, another format or other numbers of entries, too
///                                little scratch, reproducible sums of floats
/// \par Method  F. Liu, N. Jansson, A. Podobas, A. Fredriksson, S. Markidis, 2021: a warp a row,
///              half values, double vectors. J. Demmel, H. D. Nguyen, "Parallel reproducible
///              summation", IEEE Trans. Comput. 64(7), 2015: the rounding, one fold; their last
///              bit, which they set in every term, is set in x, so that a term costs one fma.
template <execution_space Exec, class Matrix, view X, view Y>
void spmv(Exec const& exec, double alpha, Matrix const& a, X const& x, double beta, Y const& y,
          spmv_plan<typename Exec::memory_space> const& plan,
          workspace<typename Exec::memory_space> const& scratch, spmv_options const& options = {});

}  // namespace iso::sparse

#include <iso/sparse/detail/spmv_impl.hpp>
