// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/spmv.hpp
//! Computes products of sparse matrices and vectors.
#pragma once

#include <iso/core/launch_shape.hpp>
#include <iso/core/summation.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/core/workspace.hpp>
#include <iso/sparse/plan.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace iso::sparse {

struct spmv_options {
  /// The way in which the products of a row are added. Absent: reproducible for 16-bit values and
  /// vectors of double, else ordered.
  std::optional<summation> sum = {};
  /// The largest finite |x| of each vector, for reproducible sums, in memory that the kernels read
  /// (max_abs computes it). Null: found by a reduction on the way. Where the matrix is a part by
  /// columns, it is that of the whole x.
  double const* max_abs_x = nullptr;
  launch_shape shape = {};
};

namespace detail {

/// The facts about one or several vectors that are checked without their type.
struct vector_facts {
  std::int64_t length;
  std::int64_t vectors;
  std::int64_t stride;
  memory_range memory;
};

template <class View>
vector_facts facts_of(View const& v, char const* name, char const* function) {
  static_assert(
      View::rank() == 1 || View::rank() == 2,
      "iso::sparse: vectors are views of one index, or of two (the vector's number last)");
  constexpr bool several = View::rank() == 2;
  auto const length = std::int64_t(v.extent(0));
  auto const vectors = std::int64_t(several ? v.extent(1) : 1);
  auto const inner = std::int64_t(v.stride(several ? 1 : 0));
  // The stride of a single row says nothing, nor does that of a single vector.
  std::int64_t const stride = several && length > 1 ? std::int64_t(v.stride(0)) : vectors;
  bool const plain = (several ? vectors : length) <= 1 || inner == 1;
  ISO_VALIDATE(plain && stride >= vectors,
               "{}: {} has gaps between its numbers (those of a vector, or of several at one "
               "place, must follow each other); use a plain view",
               function, name);
  memory_range const memory = memory_of(v, name);
  validate_memory({memory}, function);
  return {length, vectors, stride, memory};
}

/// The arguments of spmv.
template <class Exec, class Rows, class T>
struct product_call {
  Rows rows;
  matrix_shape shape;
  std::array<memory_range, 5> memory;
  double const* row_scales;
  double alpha;
  T const* x;
  vector_facts in;
  double beta;
  T* y;
  vector_facts out;
  spmv_plan<typename Exec::memory_space> const& plan;
  workspace<typename Exec::memory_space> const& scratch;
  spmv_options const& options;
};

/// The parts of the scratch of a product. Up to four vectors are multiplied at a time.
template <class T>
struct product_scratch {
  double* max_abs;  ///< [vectors]
  T* packed;        ///< these vectors as their passes read them, where they do not lie so already
  T* part_sums;     ///< of the parts of long rows
  bool* to_fix;     ///< [segments]

  template <class Plan>
  product_scratch(workspace_parts& parts, Plan const& plan, std::int64_t num_cols,
                  std::int64_t vectors)
      : max_abs(parts.take<double>({vectors})),
        packed(parts.take<T>({num_cols, vectors > 2 ? 4 : vectors})),
        part_sums(
            parts.take<T>({plan.num_parts, plan.matrix.rows_per_block, vectors > 2 ? 4 : vectors})),
        to_fix(parts.take<bool>({plan.num_segments})) {}
};

// Defined in src/sparse for every backend, format and type of vectors.
template <execution_space Exec, class Rows, real T>
void launch_product(Exec const& exec, product_call<Exec, Rows, T> const& call);
template <execution_space Exec, real T>
void launch_max_abs(Exec const& exec, T const* x, vector_facts const& facts, double* max_abs);

}  // namespace detail

/// Returns the scratch bytes that spmv wants for `vectors` right-hand sides of T. Enqueues nothing.
/// Determinism: backend_to_backend.
template <real T, execution_space Exec, class Matrix>
std::int64_t spmv_bytes_needed(Exec const&, Matrix const& a,
                               spmv_plan<typename Matrix::memory_space> const& plan,
                               std::int64_t vectors) {
  workspace_parts parts("iso::sparse::spmv");
  detail::product_scratch<T>(parts, plan, shape_of(a).num_cols, vectors);
  return parts.bytes();
}

/// Writes the largest finite |x| of each vector to `to` [vectors]. Enqueued on `exec`; does not
/// fence and does not allocate.
/// Determinism: backend_to_backend.
template <execution_space Exec, view X>
void max_abs(Exec const& exec, X const& x,
             Kokkos::View<double*, typename Exec::memory_space> const& to) {
  char const* const function = "iso::sparse::max_abs";
  auto const facts = detail::facts_of(x, "x", function);
  ISO_VALIDATE(std::int64_t(to.extent(0)) == facts.vectors,
               "{}: {} numbers for {} vectors (each vector has one largest magnitude); give one "
               "number for each vector",
               function, to.extent(0), facts.vectors);
  detail::launch_max_abs<Exec, typename X::non_const_value_type>(exec, x.data(), facts, to.data());
}

/// Computes y = alpha A x + beta y.
///
/// `a` is a csr_view or row_block_csr; A^T is `transpose(exec, a)`, as fast as A. x and
/// y are views of double: one vector, [num_cols] and [num_rows], or several, [num_cols, vectors]
/// and [num_rows, vectors], the vector's number fastest; a pass over the matrix serves four of
/// them, or one where that is faster: row blocks of eight rows on a processor with AVX-512. What
/// several vectors cost beside as many products of one: docs/product_benchmarks.md. Float values
/// take vectors of float too. Enqueued on `exec`; does not fence and does not allocate.
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
/// \param[in,out] y        must not overlap x, the matrix or the scratch
/// \param[in]     plan     of `a`: make_plan
/// \param         scratch  at least spmv_bytes_needed, apart from all others; free after the next
/// fence
/// \throws iso::invalid_argument  extents or lengths that disagree, views with gaps, a plan for
///                                other extents, another format or other numbers of entries, too
///                                little scratch, reproducible sums of floats, memory that overlaps
/// \par Method  F. Liu, N. Jansson, A. Podobas, A. Fredriksson, S. Markidis, 2021: a warp a row,
///              half values, double vectors. J. Demmel, H. D. Nguyen, "Parallel reproducible
///              summation", IEEE Trans. Comput. 64(7), 2015: the rounding, one fold; their last
///              bit, which they set in every term, is set in x, so that a term costs one fma.
template <execution_space Exec, class Matrix, view X, view Y>
void spmv(Exec const& exec, double alpha, Matrix const& a, X const& x, double beta, Y const& y,
          spmv_plan<typename Exec::memory_space> const& plan,
          workspace<typename Exec::memory_space> const& scratch, spmv_options const& options = {}) {
  using scalar = typename Y::non_const_value_type;
  static_assert(std::is_same_v<scalar, typename X::non_const_value_type>,
                "iso::sparse::spmv: x and y are of one type");
  static_assert(
      std::is_same_v<scalar, double> || std::is_same_v<typename Matrix::value_type, float>,
      "iso::sparse::spmv: vectors of float go with values of float");
  static_assert(accesses<Exec, typename Matrix::memory_space> &&
                    accesses<Exec, typename X::memory_space> &&
                    accesses<Exec, typename Y::memory_space>,
                "iso::sparse::spmv: an argument lies in memory that this execution space cannot "
                "reach");
  char const* const function = "iso::sparse::spmv";
  detail::validate_shape(a, function);
  Kokkos::Profiling::ScopedRegion const region(function);
  using call = detail::product_call<Exec, decltype(detail::rows_of(a)), scalar>;
  detail::launch_product(
      exec, call{detail::rows_of(a), shape_of(a), detail::memory_of_matrix(a),
                 detail::row_scales_of(a), alpha, x.data(), detail::facts_of(x, "x", function),
                 beta, y.data(), detail::facts_of(y, "y", function), plan, scratch, options});
}

}  // namespace iso::sparse
