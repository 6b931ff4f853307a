// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/sparse/spmv.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

namespace iso::sparse {
namespace detail {

/// A product of which every argument has been checked.
template <class T>
struct product_call {
  row_segment const* segments;
  std::int64_t num_long;
  std::int64_t num_parts;
  std::int64_t num_segments;
  std::int64_t num_blocks;
  std::uint32_t const* empty;  ///< null: every block is
  std::int64_t num_empty_words;
  std::int64_t const* first_part;
  std::int64_t num_cols;
  T alpha;
  T beta;
  T const* x;
  std::int64_t x_stride;
  T* y;
  std::int64_t y_stride;
  std::int64_t vectors;
  double const* row_scales;
  std::int16_t const* exponents;
  double const* max_abs_x;  ///< null: find it
  summation sum;
  backend::launch_shape shape;
  std::byte* scratch;
  std::byte* sums;  ///< of the parts of long rows, then what is to be repeated; within scratch
};

/// Vectors that one pass over the matrix multiplies, of `vectors`.
inline std::int64_t vectors_at_once(std::int64_t vectors) { return vectors > 2 ? 4 : vectors; }

/// Defined in src/sparse for every backend, format and type of vectors.
template <execution_space Exec, class Rows, real T>
void launch_product(Exec const& exec, Rows const& rows, product_call<T> const& call);
template <execution_space Exec, real T>
void launch_max_abs(Exec const& exec, T const* x, std::int64_t length, std::int64_t stride,
                    std::int64_t vectors, double* max_abs);

/// What is known of a vector or several, to be checked without its type.
struct vector_facts {
  std::int64_t length;
  std::int64_t vectors;
  std::int64_t stride;
  void const* first;
  void const* last;
  bool plain;  ///< without gaps between the vectors' numbers
};

template <class View>
vector_facts facts_of(View const& v) {
  static_assert(
      View::rank() == 1 || View::rank() == 2,
      "iso::sparse: vectors are views of one index, or of two (the vector's number last)");
  auto const* const last = v.data() + v.span();
  if constexpr (View::rank() == 1) {
    auto const length = std::int64_t(v.extent(0));
    return {length, 1, 1, v.data(), last, length <= 1 || v.stride(0) == 1};
  } else {
    auto const length = std::int64_t(v.extent(0));
    auto const vectors = std::int64_t(v.extent(1));
    // The stride of a single row says nothing, nor does that of a single vector.
    std::int64_t const stride = length <= 1 ? vectors : std::int64_t(v.stride(0));
    return {length, vectors, stride, v.data(), last, vectors <= 1 || v.stride(1) == 1};
  }
}

/// The lengths of a plan, to be checked without its memory; of a matrix the first five.
struct plan_facts {
  std::int64_t entries;
  std::int64_t chunks;
  int rows_per_block;
  std::int64_t rows;
  std::int64_t blocks;
  std::int64_t segments;
  std::int64_t num_long;
  std::int64_t num_parts;
  std::int64_t num_segments;
  std::int64_t empty_words;
};

/// Throws unless the vectors fit a matrix of num_rows x num_cols, and the options are of their
/// enumerations.
void validate_product(plan_facts const& matrix, std::int64_t num_cols, vector_facts const& x,
                      vector_facts const& y, plan_facts const& plan, spmv_options const& options,
                      bool float_vectors, std::int64_t scratch, std::int64_t needed);
void validate_max_abs(vector_facts const& x, std::int64_t length);

template <class Matrix, class T>
summation chosen_sum(spmv_options const& options) {
  if (options.sum) {
    return *options.sum;
  }
  constexpr bool narrow = sizeof(typename Matrix::value_type) == 2;
  return narrow && std::is_same_v<T, double> ? summation::reproducible : summation::ordered;
}

/// Where the sums of parts begin in the scratch of a product: behind max|x| of each vector,
/// and the vectors of a pass side by side, for those that do not lie so already.
template <class T>
std::int64_t sums_offset(std::int64_t num_cols, std::int64_t vectors) {
  std::int64_t const maxima = iso::detail::workspace_part(vectors * std::int64_t(sizeof(double)));
  std::int64_t const packed = num_cols * vectors_at_once(vectors) * std::int64_t(sizeof(T));
  return maxima + iso::detail::workspace_part(packed);
}

}  // namespace detail

template <class T, class Matrix>
std::int64_t spmv_bytes_needed(Matrix const& a,
                               spmv_plan<typename Matrix::memory_space> const& plan,
                               std::int64_t vectors) {
  std::int64_t const part_sums =
      plan.num_parts * decltype(detail::rows_of(a))::rows * detail::vectors_at_once(vectors);
  return detail::sums_offset<T>(shape_of(a).num_cols, vectors) +
         part_sums * std::int64_t(sizeof(T)) + plan.num_segments * std::int64_t(sizeof(bool));
}

template <execution_space Exec, view X>
void max_abs(Exec const& exec, X const& x,
             Kokkos::View<double*, typename Exec::memory_space> const& to) {
  auto const facts = detail::facts_of(x);
  detail::validate_max_abs(facts, std::int64_t(to.extent(0)));
  detail::launch_max_abs<Exec, typename X::non_const_value_type>(
      exec, x.data(), facts.length, facts.stride, facts.vectors, to.data());
}

template <execution_space Exec, class Matrix, view X, view Y>
void spmv(Exec const& exec, double alpha, Matrix const& a, X const& x, double beta, Y const& y,
          spmv_plan<typename Exec::memory_space> const& plan,
          workspace<typename Exec::memory_space> const& scratch, spmv_options const& options) {
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
  detail::validate_shape(a, "iso::sparse::spmv");
  auto const rows = detail::rows_of(a);
  auto const shape = shape_of(a);
  auto const in = detail::facts_of(x);
  auto const out = detail::facts_of(y);
  summation const sum = detail::chosen_sum<Matrix, scalar>(options);
  detail::plan_facts facts{};
  facts.entries = plan.num_entries;
  facts.chunks = plan.num_chunks;
  facts.rows_per_block = plan.rows_per_block;
  facts.rows = std::int64_t(plan.rows.entries.extent(0));
  facts.blocks = plan.num_blocks;
  facts.segments = std::int64_t(plan.segments.extent(0));
  facts.num_long = plan.num_long;
  facts.num_parts = plan.num_parts;
  facts.num_segments = plan.num_segments;
  facts.empty_words = std::int64_t(plan.empty.extent(0));
  std::int64_t const needed = spmv_bytes_needed<scalar>(a, plan, in.vectors);
  detail::plan_facts matrix{};
  matrix.entries = shape.num_entries;
  matrix.chunks = shape.num_chunks;
  matrix.rows_per_block = rows.rows;
  matrix.rows = shape.num_rows;
  matrix.blocks = shape.num_blocks();
  detail::validate_product(matrix, shape.num_cols, in, out, facts, options,
                           std::is_same_v<scalar, float>, scratch.size(), needed);
  bool const multiplies = alpha != 0;
  Kokkos::Profiling::ScopedRegion const region("iso::sparse::spmv");
  detail::launch_product<Exec>(
      exec, rows,
      detail::product_call<scalar>{
          plan.segments.data(),
          multiplies ? plan.num_long : 0,
          multiplies ? plan.num_parts : 0,
          multiplies ? plan.num_segments : 0,
          shape.num_blocks(),
          multiplies ? detail::data_or_null(plan.empty) : nullptr,
          multiplies ? facts.empty_words : detail::empty_words(shape.num_blocks()),
          plan.first_part.data(),
          shape.num_cols,
          scalar(alpha),
          scalar(beta),
          x.data(),
          in.stride,
          y.data(),
          out.stride,
          in.vectors,
          multiplies ? detail::row_scales_of(a) : nullptr,
          plan.exponents.data(),
          options.max_abs_x,
          sum,
          options.shape,
          scratch.data(),
          scratch.data() + detail::sums_offset<scalar>(shape.num_cols, in.vectors)});
}

}  // namespace iso::sparse
