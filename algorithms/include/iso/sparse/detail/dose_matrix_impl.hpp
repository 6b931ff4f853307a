// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/core/view_checks.hpp>
#include <iso/sparse/dose_matrix.hpp>
#include <iso/sparse/validate.hpp>

#include <algorithm>

namespace iso::sparse {
namespace detail {

/// A View of what a View or a contiguous range on the host shows.
template <class T, class From>
auto array_of(From const& from) {
  if constexpr (Kokkos::is_view_v<From>) {
    static_assert(std::is_same_v<typename From::non_const_value_type, T> && From::rank() == 1,
                  "iso::sparse: offsets are of std::int64_t, indices of std::int32_t");
    validate_contiguous(from, "an array of the matrix", "iso::sparse::dose_matrix");
    validate_memory({memory_of(from, "an array of the matrix")}, "iso::sparse::dose_matrix");
    using space = typename From::memory_space;
    return Kokkos::View<T const*, Kokkos::LayoutRight, space, Kokkos::MemoryUnmanaged>(
        from.data(), from.extent(0));
  } else {
    static_assert(std::is_same_v<std::ranges::range_value_t<From>, T>,
                  "iso::sparse: offsets are of std::int64_t, indices of std::int32_t");
    return Kokkos::View<T const*, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
        std::ranges::data(from), std::size_t(std::ranges::size(from)));
  }
}

template <class Values>
struct value_of {
  using type = std::ranges::range_value_t<Values>;
};
template <class Values>
  requires Kokkos::is_view_v<Values>
struct value_of<Values> {
  using type = typename Values::non_const_value_type;
};

template <class Offsets, class Indices, class Values>
auto arrays_of(bool by_rows, std::int64_t num_rows, std::int64_t num_cols, Offsets const& offsets,
               Indices const& indices, Values const& values) {
  auto const from = array_of<typename value_of<Values>::type>(values);
  using space = typename decltype(from)::memory_space;
  using arrays = compressed_arrays<typename value_of<Values>::type, space>;
  auto const these = array_of<std::int64_t>(offsets);
  static_assert(std::is_same_v<typename decltype(these)::memory_space, space>,
                "iso::sparse: the arrays of a matrix lie in one memory");
  return arrays{by_rows ? arrays::order::by_rows : arrays::order::by_columns,
                num_rows,
                num_cols,
                these,
                array_of<std::int32_t>(indices),
                from};
}

/// One direction: `a` in the format that is chosen, and its plan. Defined in src/sparse for every
/// backend and type of values. Fences `exec`.
template <execution_space Exec, class Value>
dose_matrix_side<typename Exec::memory_space> make_side(
    Exec const& exec, csr_view<Value, std::int32_t, typename Exec::memory_space> const& a,
    dose_matrix_options const& options);

void validate_vectors_at_once(std::int64_t vectors, std::int64_t most);
[[noreturn]] void refuse_direction();
[[noreturn]] void refuse_float_vectors();

/// Arrays that are checked, by rows of what is stored.
template <class Exec, class Value, class From>
csr_view<Value, std::int32_t, typename Exec::memory_space> copied_rows(
    Exec const& exec, compressed_arrays<Value, From> const& from) {
  bool const by_rows = from.stored == compressed_arrays<Value, From>::order::by_rows;
  csr_view<Value, std::int32_t, typename Exec::memory_space> a;
  a.num_rows = by_rows ? from.num_rows : from.num_cols;
  a.num_cols = by_rows ? from.num_cols : from.num_rows;
  auto const copy = [&]<class Array>(Array& to, char const* name, auto const& array) {
    to = allocate<Array>(name, {std::int64_t(array.extent(0))}, exec, Kokkos::WithoutInitializing);
    Kokkos::deep_copy(exec, to, array);
  };
  copy(a.row_offsets, "iso::sparse::dose_matrix: offsets", from.offsets);
  copy(a.columns, "iso::sparse::dose_matrix: indices", from.indices);
  copy(a.values, "iso::sparse::dose_matrix: values", from.values);
  exec.fence("iso::sparse::dose_matrix: the arrays are copied");
  auto const report = validate(exec, a, {.values = csr_demands::of_values::finite});
  if (!report.sound()) {
    fail_argument("iso::sparse::dose_matrix: {}", to_string(report));
  }
  return a;
}

}  // namespace detail

template <class Offsets, class Columns, class Values>
auto csr_arrays(std::int64_t num_rows, std::int64_t num_cols, Offsets const& offsets,
                Columns const& columns, Values const& values) {
  return detail::arrays_of(true, num_rows, num_cols, offsets, columns, values);
}
template <class Offsets, class Rows, class Values>
auto csc_arrays(std::int64_t num_rows, std::int64_t num_cols, Offsets const& offsets,
                Rows const& rows, Values const& values) {
  return detail::arrays_of(false, num_rows, num_cols, offsets, rows, values);
}

template <class Space>
template <execution_space Exec, class Value, class From>
  requires std::same_as<typename Exec::memory_space, Space>
dose_matrix<Space>::dose_matrix(Exec const& exec, compressed_arrays<Value, From> const& arrays,
                                dose_matrix_options const& options)
    : num_rows_(arrays.num_rows),
      num_cols_(arrays.num_cols),
      num_entries_(std::int64_t(arrays.values.extent(0))),
      vectors_(options.vectors) {
  detail::validate_vectors_at_once(1, options.vectors);
  auto const stored = detail::copied_rows(exec, arrays);
  bool const by_rows = arrays.stored == compressed_arrays<Value, From>::order::by_rows;
  auto const make = [&](side& to, direction other, bool as_stored) {
    if (options.products == other) {
      return;
    }
    to =
        detail::make_side<Exec, Value>(exec, as_stored ? stored : transpose(exec, stored), options);
    std::visit(
        [&]<class Matrix>(Matrix const& a) {
          if constexpr (!std::is_same_v<Matrix, std::monostate>) {
            scratch_.reserve(spmv_bytes_needed<double>(a, to.plan, vectors_));
          }
        },
        to.matrix);
  };
  make(forward_, direction::transposed, by_rows);
  make(transposed_, direction::forward, !by_rows);
}

template <class Space>
auto dose_matrix<Space>::checked(side const& of) -> side const& {
  if (of.matrix.index() == 0) {
    detail::refuse_direction();
  }
  return of;
}

template <class Space>
std::int64_t dose_matrix<Space>::bytes() const {
  auto const of = [](side const& s) { return s.report.matrix_bytes + s.report.plan_bytes; };
  return of(forward_) + of(transposed_) + scratch_.size();
}

template <class Space>
template <class Exec, class X, class Y>
void dose_matrix<Space>::multiply(Exec const& exec, side const& of, double alpha, X const& x,
                                  double beta, Y const& y, spmv_options const& options) const {
  checked(of);
  detail::validate_vectors_at_once(detail::facts_of(x).vectors, vectors_);
  std::visit(
      [&]<class Matrix>(Matrix const& a) {
        if constexpr (!std::is_same_v<Matrix, std::monostate>) {
          using scalar = typename Y::non_const_value_type;
          if constexpr (std::is_same_v<scalar, double> ||
                        std::is_same_v<typename Matrix::value_type, float>) {
            spmv(exec, alpha, a, x, beta, y, of.plan, scratch_, options);
          } else {
            detail::refuse_float_vectors();
          }
        }
      },
      of.matrix);
}

}  // namespace iso::sparse
