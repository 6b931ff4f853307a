// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/dose_matrix.hpp
//! A dose matrix ready for products: from arrays to A x and A^T y in three lines.
#pragma once

#include <iso/sparse/convert.hpp>
#include <iso/sparse/formats.hpp>
#include <iso/sparse/spmv.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <variant>

namespace iso::sparse {

/// Arrays of a matrix by compressed rows (CSR) or columns (CSC), on the host or in device memory;
/// made by csr_arrays or csc_arrays.
template <class Value, class Space>
struct compressed_arrays {
  template <class T>
  using array = Kokkos::View<T const*, Kokkos::LayoutRight, Space, Kokkos::MemoryUnmanaged>;

  enum class order { by_rows, by_columns } stored;
  std::int64_t num_rows;
  std::int64_t num_cols;
  array<std::int64_t> offsets;  ///< [rows or columns + 1]
  array<std::int32_t> indices;  ///< [entries], of columns or rows
  array<Value> values;          ///< [entries]
};

/// The arrays of a matrix by rows: row r holds entries [offsets[r], offsets[r + 1]), entry i being
/// values[i] in column columns[i]. Each array is a Kokkos::View or a contiguous range on the host;
/// none is copied. Determinism: backend_to_backend.
/// \throws iso::invalid_argument  a View with gaps, an array that has elements and no memory
template <class Offsets, class Columns, class Values>
auto csr_arrays(std::int64_t num_rows, std::int64_t num_cols, Offsets const& offsets,
                Columns const& columns, Values const& values);
/// The same by columns: column c holds entries [offsets[c], offsets[c + 1]), in rows rows[i].
/// Determinism: backend_to_backend.
template <class Offsets, class Rows, class Values>
auto csc_arrays(std::int64_t num_rows, std::int64_t num_cols, Offsets const& offsets,
                Rows const& rows, Values const& values);

struct dose_matrix_options {
  /// Products that are wanted; each direction is a matrix of its own.
  enum class directions { both, forward, transposed } products = directions::both;
  /// As they are given, or rounded to 16 bits: where the type cannot hold every value, each row is
  /// divided by a power of two (row_scaling::by_largest).
  enum class value_storage { as_given, half, bfloat16 } values = value_storage::as_given;
  /// Vectors that a product multiplies at once, at most.
  std::int64_t vectors = 1;
  /// Absent: what `choose_format` takes.
  std::optional<matrix_format> format = {};
  /// What a format is chosen for. Absent: where the matrix lies.
  std::optional<processor> kind = {};
};

/// What a dose_matrix chose for one direction, and what it costs.
struct dose_matrix_report {
  matrix_format format = matrix_format::csr32;
  std::string values;  ///< half, bfloat16, float or double
  std::int64_t num_entries = 0;
  std::int64_t matrix_bytes = 0;
  std::int64_t plan_bytes = 0;
  value_report rounding;  ///< what became of the values
};

/// One line. Determinism: backend_to_backend.
std::string to_string(dose_matrix_report const& report);

namespace detail {

template <class Space>
struct dose_matrix_side {
  std::variant<std::monostate, csr_view<half, std::int32_t, Space>,
               csr_view<half, std::uint16_t, Space>, row_block_csr<half, 4, Space>,
               row_block_csr<half, 8, Space>, csr_view<bfloat16, std::int32_t, Space>,
               csr_view<bfloat16, std::uint16_t, Space>, row_block_csr<bfloat16, 4, Space>,
               row_block_csr<bfloat16, 8, Space>, csr_view<float, std::int32_t, Space>,
               csr_view<float, std::uint16_t, Space>, csr_view<double, std::int32_t, Space>,
               csr_view<double, std::uint16_t, Space>>
      matrix;
  spmv_plan<Space> plan;
  dose_matrix_report report;
};

}  // namespace detail

/// A matrix that multiplies: the format that `choose_format` takes, plan and scratch, made once.
///
///     iso::sparse::dose_matrix<space> const a(
///         exec, iso::sparse::csr_arrays(rows, cols, offsets, columns, values));
///     a.apply(exec, weights, dose);               // dose = A weights
///     a.apply_transposed(exec, dose, gradient);   // gradient = A^T dose
///
/// Rows that do not ascend, or hold a column twice or a negative zero, stay csr32. Scratch is one:
/// products of one object, and of its copies, are enqueued on one execution-space instance at a
/// time.
///
/// Reproducible sums, the default for 16-bit values, round every product of a row to a grid that
/// max|a| of the row and max|x| set: the identity times [1e10, 1e-9] is [1e10, 0]. Choose
/// summation::ordered where the entries of a row or of x spread over more than twelve decades and
/// the small ones count.
template <class Space>
class dose_matrix {
 public:
  using memory_space = Space;
  using direction = dose_matrix_options::directions;

  /// No matrix: every product is refused.
  dose_matrix() = default;

  /// Copies the arrays, checks them, and makes what is asked for. Fences `exec`; allocates, on the
  /// way up to four times the arrays. Determinism: backend_to_backend, of one kind of processor.
  ///
  /// \throws iso::invalid_argument  arrays that are no matrix, as `validate` says it (of CSC arrays
  ///                                rows are meant by columns); values that are not finite; a
  ///                                format that the matrix cannot have
  /// \throws iso::out_of_memory
  template <execution_space Exec, class Value, class From>
    requires std::same_as<typename Exec::memory_space, Space>
  dose_matrix(Exec const& exec, compressed_arrays<Value, From> const& arrays,
              dose_matrix_options const& options = {});

  [[nodiscard]] std::int64_t num_rows() const { return num_rows_; }
  [[nodiscard]] std::int64_t num_cols() const { return num_cols_; }
  [[nodiscard]] std::int64_t num_entries() const { return num_entries_; }

  /// y = alpha A x + beta y, as `spmv` computes it: one vector, or several with their number last.
  /// Enqueued on `exec`; does not fence and does not allocate. Determinism: backend_to_backend.
  ///
  /// \throws iso::invalid_argument  as spmv; a direction that was not asked for, more vectors than
  ///                                were; vectors of float with values that are not
  template <execution_space Exec, view X, view Y>
  void apply(Exec const& exec, double alpha, X const& x, double beta, Y const& y,
             spmv_options const& options = {}) const {
    multiply(exec, forward_, alpha, x, beta, y, options);
  }
  /// y = A x.
  template <execution_space Exec, view X, view Y>
  void apply(Exec const& exec, X const& x, Y const& y, spmv_options const& options = {}) const {
    multiply(exec, forward_, 1, x, 0, y, options);
  }
  /// y = alpha A^T x + beta y, as `apply`.
  template <execution_space Exec, view X, view Y>
  void apply_transposed(Exec const& exec, double alpha, X const& x, double beta, Y const& y,
                        spmv_options const& options = {}) const {
    multiply(exec, transposed_, alpha, x, beta, y, options);
  }
  /// y = A^T x.
  template <execution_space Exec, view X, view Y>
  void apply_transposed(Exec const& exec, X const& x, Y const& y,
                        spmv_options const& options = {}) const {
    multiply(exec, transposed_, 1, x, 0, y, options);
  }

  /// What was chosen for A (`forward`) or A^T (`transposed`).
  /// \throws iso::invalid_argument  a direction that was not asked for
  [[nodiscard]] dose_matrix_report const& report(direction of = direction::forward) const {
    return checked(of == direction::transposed ? transposed_ : forward_).report;
  }
  /// Of everything that is kept: matrices, plans and scratch.
  [[nodiscard]] std::int64_t bytes() const;

 private:
  using side = detail::dose_matrix_side<Space>;

  template <class Exec, class X, class Y>
  void multiply(Exec const& exec, side const& of, double alpha, X const& x, double beta, Y const& y,
                spmv_options const& options) const;
  static side const& checked(side const& of);

  std::int64_t num_rows_ = 0;
  std::int64_t num_cols_ = 0;
  std::int64_t num_entries_ = 0;
  std::int64_t vectors_ = 1;
  side forward_;
  side transposed_;
  workspace<Space> scratch_;
};

}  // namespace iso::sparse

#include <iso/sparse/detail/dose_matrix_impl.hpp>
