// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/dose_matrix.hpp
//! Makes a dose matrix ready for products: from arrays to A x and A^T y in three lines.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/detail/job_parts.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/sparse/convert.hpp>
#include <iso/sparse/formats.hpp>
#include <iso/sparse/matrix_options.hpp>
#include <iso/sparse/spmv.hpp>
#include <iso/sparse/validate.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace iso::sparse {

/// The arrays of a matrix by compressed rows (CSR) or columns (CSC), on the host or in device
/// memory; made by csr_arrays or csc_arrays.
template <class Value, class Space>
struct compressed_arrays {
  template <class T>
  using array = Kokkos::View<T const*, Kokkos::LayoutRight, Space, Kokkos::MemoryUnmanaged>;

  entry_order stored;
  std::int64_t num_rows;
  std::int64_t num_cols;
  array<std::int64_t> offsets;  ///< [rows or columns + 1]
  array<std::int32_t> indices;  ///< [entries], of columns or rows
  array<Value> values;          ///< [entries]
};

namespace detail {

/// Returns what a View or a contiguous range on the host shows, as a View.
template <class From>
auto array_of(From const& from) {
  using value = std::remove_cvref_t<decltype(*std::ranges::data(from))>;
  if constexpr (Kokkos::is_view_v<From>) {
    static_assert(From::rank() == 1, "iso::sparse: arrays of a matrix have one index");
    validate_contiguous(from, "an array of the matrix", "iso::sparse::dose_matrix");
    validate_memory({memory_of(from, "an array of the matrix")}, "iso::sparse::dose_matrix");
    return typename compressed_arrays<value, typename From::memory_space>::template array<value>(
        from.data(), from.extent(0));
  } else {
    return typename compressed_arrays<value, Kokkos::HostSpace>::template array<value>(
        std::ranges::data(from), std::size_t(std::ranges::size(from)));
  }
}

template <class Offsets, class Indices, class Values>
auto arrays_of(entry_order stored, std::int64_t num_rows, std::int64_t num_cols,
               Offsets const& offsets, Indices const& indices, Values const& values) {
  auto const from = array_of(values);
  using from_type = std::remove_const_t<decltype(from)>;
  using arrays =
      compressed_arrays<typename from_type::non_const_value_type, typename from_type::memory_space>;
  auto const these = array_of(offsets);
  auto const those = array_of(indices);
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(these)>,
                     typename arrays::template array<std::int64_t>> &&
          std::is_same_v<std::remove_const_t<decltype(those)>,
                         typename arrays::template array<std::int32_t>>,
      "iso::sparse: offsets are of std::int64_t, indices of std::int32_t, all in one memory");
  return arrays{stored, num_rows, num_cols, these, those, from};
}

}  // namespace detail

/// Returns the arrays of a matrix by rows: row r holds entries [offsets[r], offsets[r + 1]), entry
/// i being values[i] in column columns[i]. Each array is a Kokkos::View or a contiguous range on
/// the host; none is copied. Determinism: backend_to_backend.
/// \throws iso::invalid_argument  a View with gaps, an array that has elements and no memory
template <class Offsets, class Columns, class Values>
auto csr_arrays(std::int64_t num_rows, std::int64_t num_cols, Offsets const& offsets,
                Columns const& columns, Values const& values) {
  return detail::arrays_of(entry_order::by_rows, num_rows, num_cols, offsets, columns, values);
}
/// Does the same by columns: column c holds entries [offsets[c], offsets[c + 1]), in rows rows[i].
/// Determinism: backend_to_backend.
template <class Offsets, class Rows, class Values>
auto csc_arrays(std::int64_t num_rows, std::int64_t num_cols, Offsets const& offsets,
                Rows const& rows, Values const& values) {
  return detail::arrays_of(entry_order::by_columns, num_rows, num_cols, offsets, rows, values);
}

/// Returns one line. Determinism: backend_to_backend.
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

template <class Space>
struct dose_matrix_sides {
  dose_matrix_side<Space> forward;
  dose_matrix_side<Space> transposed;
};

/// Makes the directions wanted of `a`, A or, stored by columns, A^T: in the formats that are
/// chosen, with plans. Defined in src/sparse for every backend and type of values. Fences `exec`.
template <execution_space Exec, class Value>
dose_matrix_sides<typename Exec::memory_space> make_sides(
    Exec const& exec, csr_view<Value, std::int32_t, typename Exec::memory_space> const& a,
    entry_order stored, dose_matrix_options const& options, job const& control);

void validate_options(dose_matrix_options const& options);
/// Returns dose_matrix::bytes_needed of values of `value` bytes.
std::int64_t bytes_of_dose_matrix(std::int64_t value, entry_order stored, std::int64_t num_rows,
                                  std::int64_t num_cols, std::int64_t num_entries,
                                  dose_matrix_options const& options);
void validate_vectors_at_once(std::int64_t vectors, std::int64_t most);
/// Returns alpha times the power of two that values were divided by. Throws where it is not exact.
double scaled_alpha(double alpha, double scale);

/// Calls f(matrix) of what a direction has. Throws where it was not asked for.
template <class Space, class F>
void with_matrix(dose_matrix_side<Space> const& side, F const& f) {
  std::visit(
      [&]<class Matrix>(Matrix const& a) {
        if constexpr (std::is_same_v<Matrix, std::monostate>) {
          fail_argument(
              "iso::sparse::dose_matrix: a product in the other direction (it was not asked for); "
              "make the matrix for both directions");
        } else {
          f(a);
        }
      },
      side.matrix);
}

/// Copies arrays that are checked, by rows of what is stored.
template <class Exec, class Value, class From>
csr_view<Value, std::int32_t, typename Exec::memory_space> copied_rows(
    Exec const& exec, compressed_arrays<Value, From> const& from, job const& control) {
  bool const by_rows = from.stored == entry_order::by_rows;
  csr_view<Value, std::int32_t, typename Exec::memory_space> a;
  a.num_rows = by_rows ? from.num_rows : from.num_cols;
  a.num_cols = by_rows ? from.num_cols : from.num_rows;
  auto const asked = iso::detail::asked_only(control);
  auto const copy = [&]<class Array>(Array& to, char const* name, auto const& array) {
    to = allocate<Array>(name, {std::int64_t(array.extent(0))}, exec, Kokkos::WithoutInitializing);
    iso::detail::copy_in_parts(exec, to, array, asked);
  };
  copy(a.row_offsets, "iso::sparse::dose_matrix: offsets", from.offsets);
  copy(a.columns, "iso::sparse::dose_matrix: indices", from.indices);
  copy(a.values, "iso::sparse::dose_matrix: values", from.values);
  exec.fence("iso::sparse::dose_matrix: the arrays are copied");
  throw_unless_sound(validate(exec, a, {.values = csr_demands::of_values::finite}, control),
                     "iso::sparse::dose_matrix");
  return a;
}

}  // namespace detail

/// A matrix ready for products, in the format that `choose_format` takes; plan and scratch are made
/// once.
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

  /// Makes an object without a matrix, which refuses every product. An object that was moved from
  /// is the same.
  dose_matrix() = default;
  dose_matrix(dose_matrix const&) = default;
  dose_matrix& operator=(dose_matrix const&) = default;
  // A Kokkos::View that is moved from keeps its address, not its memory: the defaults would dangle.
  dose_matrix(dose_matrix&& other) noexcept : state_(std::exchange(other.state_, {})) {}
  dose_matrix& operator=(dose_matrix&& other) noexcept {
    state_ = std::exchange(other.state_, {});
    return *this;
  }
  ~dose_matrix() = default;

  /// Copies the arrays, checks them, and makes what is asked for. Fences `exec`; allocates, on the
  /// way up to four times the arrays. Asks `control` as the functions of iso/sparse/convert.hpp do.
  /// Determinism: backend_to_backend, of one kind of processor.
  ///
  /// \throws iso::invalid_argument  arrays that are no matrix, as `validate` says it (of CSC arrays
  ///                                rows are meant by columns); values that are not finite; a
  ///                                format that the matrix cannot have; an option that is none of
  ///                                its enumeration
  /// \throws iso::out_of_memory
  /// \throws iso::cancelled
  template <execution_space Exec, class Value, class From>
    requires std::same_as<typename Exec::memory_space, Space>
  dose_matrix(Exec const& exec, compressed_arrays<Value, From> const& arrays,
              dose_matrix_options const& options = {}, job const& control = {})
      : state_{.num_rows = arrays.num_rows,
               .num_cols = arrays.num_cols,
               .num_entries = std::int64_t(arrays.values.extent(0)),
               .vectors = options.vectors} {
    detail::validate_options(options);
    auto const rows = detail::copied_rows(exec, arrays, iso::detail::part_of(control, 0, 0.2));
    state_.sides = detail::make_sides<Exec, Value>(exec, rows, arrays.stored, options,
                                                   iso::detail::part_of(control, 0.2, 1));
    auto const reserve = [&](side const& of, direction other) {
      if (options.products != other) {
        detail::with_matrix(of, [&](auto const& a) {
          state_.scratch.reserve(spmv_bytes_needed<double>(exec, a, of.plan, state_.vectors));
        });
      }
    };
    reserve(state_.sides.forward, direction::transposed);
    reserve(state_.sides.transposed, direction::forward);
  }

  /// Returns the bytes that the constructor takes in the memory `Space` for arrays of Value, at
  /// most. They are within a tenth for a format of rows (csr32, csr16). Row blocks, and 16-bit
  /// values whose format is to be chosen, count as if a block's values were padded by half.
  /// \throws iso::invalid_argument  options that are none of their enumeration
  template <class Value>
  [[nodiscard]] static std::int64_t bytes_needed(entry_order stored, std::int64_t num_rows,
                                                 std::int64_t num_cols, std::int64_t num_entries,
                                                 dose_matrix_options const& options = {}) {
    return detail::bytes_of_dose_matrix(sizeof(Value), stored, num_rows, num_cols, num_entries,
                                        options);
  }

  [[nodiscard]] std::int64_t num_rows() const { return state_.num_rows; }
  [[nodiscard]] std::int64_t num_cols() const { return state_.num_cols; }
  [[nodiscard]] std::int64_t num_entries() const { return state_.num_entries; }

  /// Computes y = alpha A x + beta y as `spmv`: one vector, or several with their number last.
  /// Enqueued on `exec`; does not fence and does not allocate. Determinism: backend_to_backend.
  ///
  /// \throws iso::invalid_argument  as spmv; a direction that was not asked for, more vectors than
  ///                                were; vectors of float with values that are not; an alpha
  ///                                whose product with report().scale is no normal double
  template <execution_space Exec, view X, view Y>
  void apply(Exec const& exec, double alpha, X const& x, double beta, Y const& y,
             spmv_options const& options = {}) const {
    multiply(exec, state_.sides.forward, alpha, x, beta, y, options);
  }
  /// Computes y = A x, enqueued likewise.
  template <execution_space Exec, view X, view Y>
  void apply(Exec const& exec, X const& x, Y const& y, spmv_options const& options = {}) const {
    multiply(exec, state_.sides.forward, 1, x, 0, y, options);
  }
  /// Computes y = alpha A^T x + beta y, as `apply`.
  template <execution_space Exec, view X, view Y>
  void apply_transposed(Exec const& exec, double alpha, X const& x, double beta, Y const& y,
                        spmv_options const& options = {}) const {
    multiply(exec, state_.sides.transposed, alpha, x, beta, y, options);
  }
  /// Computes y = A^T x, enqueued likewise.
  template <execution_space Exec, view X, view Y>
  void apply_transposed(Exec const& exec, X const& x, Y const& y,
                        spmv_options const& options = {}) const {
    multiply(exec, state_.sides.transposed, 1, x, 0, y, options);
  }

  /// Returns what was chosen for A (`forward`) or A^T (`transposed`).
  /// \throws iso::invalid_argument  a direction that was not asked for
  [[nodiscard]] dose_matrix_report const& report(direction of = direction::forward) const {
    side const& s = of == direction::transposed ? state_.sides.transposed : state_.sides.forward;
    with(s, [](auto const&) {});
    return s.report;
  }
  /// Returns the bytes of everything that is kept: matrices, plans and scratch.
  [[nodiscard]] std::int64_t bytes() const {
    auto const of = [](side const& s) { return s.report.matrix_bytes + s.report.plan_bytes; };
    return of(state_.sides.forward) + of(state_.sides.transposed) + state_.scratch.size();
  }

 private:
  using side = detail::dose_matrix_side<Space>;

  template <class F>
  void with(side const& of, F const& f) const {
    ISO_VALIDATE(state_.vectors > 0,
                 "iso::sparse::dose_matrix: no matrix (it was made by default, or moved from); "
                 "make it from arrays");
    detail::with_matrix(of, f);
  }

  template <class Exec, class X, class Y>
  void multiply(Exec const& exec, side const& of, double alpha, X const& x, double beta, Y const& y,
                spmv_options const& options) const {
    with(of, [&]<class Matrix>(Matrix const& a) {
      std::int64_t const vectors = X::rank() == 1 ? 1 : std::int64_t(x.extent(X::rank() - 1));
      detail::validate_vectors_at_once(vectors, state_.vectors);
      using scalar = typename Y::non_const_value_type;
      if constexpr (std::is_same_v<scalar, double> ||
                    std::is_same_v<typename Matrix::value_type, float>) {
        double const scaled = detail::scaled_alpha(alpha, of.report.scale);
        spmv(exec, scaled, a, x, beta, y, of.plan, state_.scratch, options);
      } else {
        fail_argument(
            "iso::sparse::dose_matrix: vectors of float (they go with values of float); use "
            "vectors of double");
      }
    });
  }

  struct state {
    std::int64_t num_rows = 0;
    std::int64_t num_cols = 0;
    std::int64_t num_entries = 0;
    std::int64_t vectors = 0;  ///< 0: no matrix
    detail::dose_matrix_sides<Space> sides = {};
    workspace<Space> scratch = {};
  };
  state state_;
};
template <execution_space Exec, class Value, class From>
dose_matrix(Exec const&, compressed_arrays<Value, From> const&, dose_matrix_options const& = {},
            job const& = {}) -> dose_matrix<typename Exec::memory_space>;

}  // namespace iso::sparse
