// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/ranked_product.hpp
//! Multiplies matrices of which each rank of a job holds some rows, or some columns.
//!
//! docs/algorithms/ranks.md has the bytes that are sent and held.
#pragma once

#include <iso/backend/carrier.hpp>
#include <iso/backend/communicator.hpp>
#include <iso/core/rank_report.hpp>
#include <iso/detail/agreement.hpp>
#include <iso/sparse/detail/ranked_vectors.hpp>
#include <iso/sparse/detail/value_word.hpp>
#include <iso/sparse/rank_plan.hpp>
#include <iso/sparse/spmv.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace iso::sparse {

/// The product y = alpha A x + beta y of a matrix of which each rank holds the rows that it owns
/// (rank_plan). A rank gives and gets the elements of x and y that it owns. All x is gathered on
/// each rank, and no sum crosses: each row is multiplied where it lies, by spmv.
///
///     iso::sparse::rank_plan const plan(iso::sparse::divide_rows(offsets_of_a, ranks.size()),
///                                       iso::sparse::divide_rows(offsets_of_at, ranks.size()));
///     iso::sparse::ranked_product forward(exec, ranks, plan, rows_of_a);
///     iso::sparse::ranked_product back(exec, ranks, plan.transposed(), rows_of_at);
///     forward.apply(x, y);  // y = A x
///     back.apply(y, x);     // x = A^T y
///
/// All ranks make their products and call their functions together, in the same order. A rank that
/// throws leaves the others waiting, unless all throw: it ends the job (communicator::abort).
/// Determinism: backend_to_backend, for any plan: the bits of spmv of the whole matrix, in any
/// format, with any type of values, either sum and any number of vectors.
template <execution_space Exec, class Matrix, real T = double>
class ranked_product final {
 public:
  using space = typename Exec::memory_space;
  static_assert(accesses<Exec, typename Matrix::memory_space>,
                "iso::sparse::ranked_product: the matrix lies in memory that this execution space "
                "cannot reach");

  /// Makes the plan of the product, and allocates. Waits for `exec`.
  /// \param ranks    must outlive it
  /// \param rows     of A, a csr_view or row_block_csr [rows that this rank owns, columns of A],
  ///                 valid; a rank without rows may give an empty object
  /// \param vectors  that are multiplied at once, at most
  /// \throws iso::invalid_argument  on every rank: a plan for another number of ranks, ranks of
  ///                                other plans, types or numbers of vectors; a matrix of another
  ///                                shape, or rows that begin within a row block, on any rank
  /// \throws iso::out_of_memory     as iso::allocate, on this rank; the others throw too
  ranked_product(Exec const& exec, backend::communicator& ranks, rank_plan const& plan,
                 Matrix const& rows, std::int64_t vectors = 1)
      : exec_(exec),
        plan_(detail::agreed_plan(ranks, plan, types(vectors), function)),
        carrier_(exec, ranks),
        rank_(ranks.rank()),
        matrix_(rows),
        vectors_(vectors) {
    bool const here = plan_.rows(rank_).count() > 0;
    iso::detail::check_together(ranks, function, [&] {
      if (here) {
        detail::validate_shape(matrix_, function);
        detail::validate_part(shape_of(matrix_), plan_.rows(rank_), {0, plan_.num_cols()},
                              function);
        product_ = make_plan(exec_, matrix_);
        scratch_.reserve(spmv_bytes_needed<T>(exec_, matrix_, product_, vectors_));
      }
      for (int rank = 0; rank < plan_.size(); ++rank) {
        owned_.push_back(plan_.columns(rank));
      }
      gathered_.reserve(plan_.num_cols() * vectors_);
    });
    one_format_ = detail::agree_on_blocks(ranks, here ? shape_of(matrix_).rows_per_block : 0);
  }

  // Neither copies nor moves: calls of other ranks wait for this one.
  ranked_product(ranked_product const&) = delete;
  ranked_product& operator=(ranked_product const&) = delete;
  ~ranked_product() = default;

  /// Computes this rank's part of y = alpha A x + beta y: one vector, or several with their number
  /// last, as spmv. Enqueued on the instance; waits for it while x is gathered, but where carriers
  /// link GPUs (backend::carrying).
  /// Determinism: backend_to_backend.
  /// \param[in]     x  [columns that this rank owns] or [columns, vectors]
  /// \param[in,out] y  [rows that it owns] or [rows, vectors]
  /// \throws iso::invalid_argument  on every rank: ranks with other factors, numbers of vectors or
  ///                                sums, ordered sums where some ranks have row blocks and others
  ///                                do not; lengths that are not the plan's, more vectors than it
  ///                                was made for, or what spmv refuses, on any rank
  template <view X, view Y>
  void apply(double alpha, X const& x, double beta, Y const& y, spmv_options const& options = {}) {
    static_assert(std::is_same_v<T, typename X::non_const_value_type> &&
                      std::is_same_v<T, typename Y::non_const_value_type>,
                  "iso::sparse::ranked_product: x and y are of the type that it was made for");
    static_assert(X::rank() == Y::rank(),
                  "iso::sparse::ranked_product: x and y have as many indices");
    static_assert(
        accesses<Exec, typename X::memory_space> && accesses<Exec, typename Y::memory_space>,
        "iso::sparse::ranked_product: x or y lies in memory that this execution space cannot "
        "reach");
    detail::vector_facts in{};
    detail::agree_on_call(carrier_.ranks(), called, [&] {
      in = detail::facts_of(x, "x", called);
      detail::validate_part_vectors(in, plan_.columns(rank_), detail::facts_of(y, "y", called),
                                    plan_.rows(rank_), vectors_, called);
      summation const sum = options.sum.value_or(usual_sum);
      ISO_VALIDATE(one_format_ || sum == summation::reproducible,
                   "{}: ordered sums of ranks with row blocks of other sizes (a block's order is "
                   "that of its columns); give all ranks the same format, or choose reproducible "
                   "sums",
                   called);
      return detail::fingerprint_of(alpha, beta, in.vectors, sum);
    });
    T const* const whole = gathered_.run(exec_, carrier_, owned_, x.data(), in);
    iso::detail::check_together(carrier_.ranks(), called, [&] {
      if (plan_.rows(rank_).count() > 0) {
        spmv(exec_, alpha, matrix_,
             detail::vectors_at<X, T const, space>(whole, plan_.num_cols(), in.vectors), beta, y,
             product_, scratch_, options);
      }
    });
  }
  /// Computes this rank's part of y = A x likewise.
  /// Determinism: backend_to_backend.
  template <view X, view Y>
  void apply(X const& x, Y const& y, spmv_options const& options = {}) {
    apply(1, x, 0, y, options);
  }

  [[nodiscard]] rank_plan const& plan() const { return plan_; }
  /// Returns what is sent and held. Vectors of all ranks, the plan of the product and scratch are
  /// held, beside the matrix.
  [[nodiscard]] rank_report report() const {
    return {gathered_.bytes_sent(),
            gathered_.bytes_held() + scratch_.size() + detail::bytes_of_plan(product_)};
  }

 private:
  static constexpr char const* function = "iso::sparse::ranked_product";
  static constexpr char const* called = "iso::sparse::ranked_product::apply";
  using value = typename Matrix::value_type;
  static constexpr summation usual_sum = sizeof(value) == 2 && std::is_same_v<T, double>
                                             ? summation::reproducible
                                             : summation::ordered;

  static detail::ranked_types types(std::int64_t vectors) {
    return {detail::value_word<value>(), sizeof(T), vectors};
  }

  Exec exec_;
  rank_plan plan_;
  backend::carrier<Exec> carrier_;
  int rank_;
  Matrix matrix_;
  std::int64_t vectors_;
  bool one_format_ = true;
  spmv_plan<space> product_;
  workspace<space> scratch_;
  std::vector<row_range> owned_;
  detail::gathered_vectors<Exec, T> gathered_;
};

/// The product y = alpha A x + beta y of a matrix of which each rank holds the columns that it owns
/// (rank_plan): where there are rows of A alone, for A^T, or columns alone, for A. No x is
/// gathered. A rank multiplies its columns by its part of x, and the owner of a row adds what ranks
/// have of it: reproducible sums are multiples of one unit a row, integers that double holds, so
/// they add exactly and in any order. Vectors are of double.
///
/// All ranks make their products and call their functions together, in the same order. A rank that
/// throws leaves the others waiting, unless all throw: it ends the job (communicator::abort).
/// Determinism: backend_to_backend, for any plan: the bits of spmv of the whole matrix, without row
/// scales, with reproducible sums, in any format and any number of vectors.
template <execution_space Exec, class Matrix>
class ranked_column_product final {
 public:
  using space = typename Exec::memory_space;
  static_assert(accesses<Exec, typename Matrix::memory_space>,
                "iso::sparse::ranked_column_product: the matrix lies in memory that this execution "
                "space cannot reach");

  /// Finds the bounds of whole rows, makes the plan of the product, and allocates. Waits for
  /// `exec`.
  /// \param ranks    must outlive it
  /// \param columns  of A, a csr_view or row_block_csr [rows of A, columns that this rank owns],
  ///                 valid, without row scales; a rank without columns may give an empty object
  /// \param vectors  that are multiplied at once, at most
  /// \throws iso::invalid_argument  on every rank: a plan for another number of ranks, ranks of
  ///                                other plans, types or numbers of vectors; a matrix of another
  ///                                shape or with row scales, on any rank
  /// \throws iso::out_of_memory     as iso::allocate, on this rank; the others throw too
  ranked_column_product(Exec const& exec, backend::communicator& ranks, rank_plan const& plan,
                        Matrix const& columns, std::int64_t vectors = 1)
      : exec_(exec),
        plan_(detail::agreed_plan(ranks, plan, types(vectors), function)),
        carrier_(exec, ranks),
        rank_(ranks.rank()),
        matrix_(columns),
        vectors_(vectors) {
    bounds<space> whole;
    iso::detail::check_together(ranks, function, [&] {
      whole = bounds_here();
      maxima_ = allocate<array>("iso::sparse::ranked_column_product: max_abs", {vectors_}, exec_);
    });
    // The bits of numbers that are not negative have their order.
    carrier_.maximum(reinterpret_cast<std::uint64_t*>(whole.max_abs.data()), plan_.num_rows());
    carrier_.sum(reinterpret_cast<std::uint32_t*>(whole.entries.data()), plan_.num_rows());
    iso::detail::check_together(ranks, function, [&] {
      std::int64_t scratch = 0;
      if (has_columns()) {
        product_ = make_plan(exec_, matrix_, whole);
        scratch = spmv_bytes_needed<double>(exec_, matrix_, product_, vectors_);
      }
      scratch_.reserve(scratch);
      sums_.reserve(parts_of(nullptr).bytes);
    });
  }

  // Neither copies nor moves: calls of other ranks wait for this one.
  ranked_column_product(ranked_column_product const&) = delete;
  ranked_column_product& operator=(ranked_column_product const&) = delete;
  ~ranked_column_product() = default;

  /// Computes this rank's part of y = alpha A x + beta y: one vector, or several with their number
  /// last, as spmv. Enqueued on the instance; waits for it while sums go to their owners, but where
  /// carriers link GPUs (backend::carrying).
  /// Determinism: backend_to_backend.
  /// \param[in]     x  [columns that this rank owns] or [columns, vectors]
  /// \param[in,out] y  [rows that it owns] or [rows, vectors]; must not overlap the matrix
  /// \throws iso::invalid_argument  on every rank: ranks with other factors or numbers of vectors;
  ///                                lengths that are not the plan's, more vectors than it was made
  ///                                for, or what spmv refuses, on any rank
  template <view X, view Y>
  void apply(double alpha, X const& x, double beta, Y const& y, launch_shape const& shape = {}) {
    static_assert(std::is_same_v<double, typename X::non_const_value_type> &&
                      std::is_same_v<double, typename Y::non_const_value_type>,
                  "iso::sparse::ranked_column_product: vectors are of double");
    static_assert(
        accesses<Exec, typename X::memory_space> && accesses<Exec, typename Y::memory_space>,
        "iso::sparse::ranked_column_product: x or y lies in memory that this execution space "
        "cannot reach");
    detail::vector_facts in{};
    detail::vector_facts out{};
    detail::agree_on_call(carrier_.ranks(), called, [&] {
      in = detail::facts_of(x, "x", called);
      out = detail::facts_of(y, "y", called);
      detail::validate_part_vectors(in, plan_.columns(rank_), out, plan_.rows(rank_), vectors_,
                                    called);
      return detail::fingerprint_of(alpha, beta, in.vectors, summation::reproducible);
    });
    auto const part = parts_of(sums_.data());
    if (alpha != 0) {
      multiply(x, in, part, shape);
      exchange(part, in.vectors);
    }
    std::int64_t const place = plan_.rows(rank_).first * in.vectors;
    detail::finish_rows(exec_,
                        {alpha != 0 ? part.all + place : nullptr, part.come, plan_.size() - 1},
                        alpha, beta, y.data(), out);
  }
  /// Computes this rank's part of y = A x likewise.
  /// Determinism: backend_to_backend.
  template <view X, view Y>
  void apply(X const& x, Y const& y, launch_shape const& shape = {}) {
    apply(1, x, 0, y, shape);
  }

  [[nodiscard]] rank_plan const& plan() const { return plan_; }
  /// Returns what is sent and held. Vectors of all ranks, the plan of the product and scratch are
  /// held, beside the matrix.
  [[nodiscard]] rank_report report() const {
    return {sent_, sums_.size() + scratch_.size() + detail::bytes_of(maxima_) +
                       detail::bytes_of_plan(product_)};
  }

 private:
  static constexpr char const* function = "iso::sparse::ranked_column_product";
  static constexpr char const* called = "iso::sparse::ranked_column_product::apply";
  using array = Kokkos::View<double*, Kokkos::LayoutRight, space>;

  /// What this rank has of all rows' sums, and what others have of its own.
  struct sums {
    double* all = nullptr;   ///< [rows of A, vectors]
    double* come = nullptr;  ///< [other ranks, rows that this rank owns, vectors]
    std::int64_t bytes = 0;
  };

  static detail::ranked_types types(std::int64_t vectors) {
    return {detail::value_word<typename Matrix::value_type>(), sizeof(double), vectors};
  }
  [[nodiscard]] bool has_columns() const { return plan_.columns(rank_).count() > 0; }

  [[nodiscard]] sums parts_of(std::byte* memory) const {
    sums s;
    std::int64_t const all = plan_.num_rows() * vectors_;
    s.all = reinterpret_cast<double*>(memory);
    s.come = memory == nullptr ? nullptr : s.all + all;
    s.bytes = 8 * (all + (plan_.size() - 1) * plan_.rows(rank_).count() * vectors_);
    return s;
  }

  /// Returns the bounds of what is here of each row.
  bounds<space> bounds_here() const {
    if (has_columns()) {
      detail::validate_shape(matrix_, function);
      detail::validate_part(shape_of(matrix_), {0, plan_.num_rows()}, plan_.columns(rank_),
                            function);
      ISO_VALIDATE(detail::row_scales_of(matrix_) == nullptr,
                   "{}: row scales (parts of a row would be scaled one by one); convert the values "
                   "without them",
                   function);
      return make_bounds(exec_, matrix_);
    }
    bounds<space> none;
    none.max_abs =
        allocate<decltype(none.max_abs)>("iso::sparse::bounds: max_abs", {plan_.num_rows()}, exec_);
    none.entries =
        allocate<decltype(none.entries)>("iso::sparse::bounds: entries", {plan_.num_rows()}, exec_);
    return none;
  }

  /// Multiplies what is here.
  template <view X>
  void multiply(X const& x, detail::vector_facts const& in, sums const& part,
                launch_shape const& shape) {
    array const maxima(maxima_.data(), std::size_t(in.vectors));
    max_abs(exec_, x, maxima);
    carrier_.maximum(reinterpret_cast<std::uint64_t*>(maxima.data()), in.vectors);
    iso::detail::check_together(carrier_.ranks(), called, [&] {
      std::int64_t const rows = plan_.num_rows();
      if (has_columns()) {
        spmv(exec_, 1, matrix_, x, 0,
             detail::vectors_at<X, double, space>(part.all, rows, in.vectors), product_, scratch_,
             {.sum = summation::reproducible, .max_abs_x = maxima.data(), .shape = shape});
      } else {
        backend::for_each_index("iso::sparse::ranked_column_product: zeros", exec_,
                                rows * in.vectors, detail::zero_kernel{part.all});
      }
    });
  }

  /// Has each rank's sums go to the owners of their rows.
  void exchange(sums const& part, std::int64_t vectors) {
    std::vector<backend::parcel> out;
    std::vector<backend::parcel> in;
    row_range const& own = plan_.rows(rank_);
    for (int rank = 0; rank < plan_.size(); ++rank) {
      if (rank != rank_) {
        std::int64_t const place = std::int64_t(in.size()) * own.count();
        out.push_back(detail::parcel_of(rank, part.all, plan_.rows(rank), vectors));
        in.push_back(detail::parcel_of(rank, part.come, {place, place + own.count()}, vectors));
        sent_ += out.back().bytes;
      }
    }
    carrier_.exchange(out, in);
  }

  Exec exec_;
  rank_plan plan_;
  backend::carrier<Exec> carrier_;
  int rank_;
  Matrix matrix_;
  std::int64_t vectors_;
  array maxima_;
  spmv_plan<space> product_;
  workspace<space> scratch_;
  workspace<space> sums_;
  std::int64_t sent_ = 0;
};

}  // namespace iso::sparse
