// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/sparse/convert.hpp>
#include <iso/sparse/detail/validate_impl.hpp>

#include <algorithm>
#include <cstdint>

namespace iso::sparse {
namespace detail {

/// Values are moved by their size alone.
template <class Value>
using bits_like =
    std::conditional_t<sizeof(Value) == 2, std::uint16_t,
                       std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>>;

// Defined in src/sparse for every backend.

/// Writes values, and scales where `to_scales` is not null. Fences `exec`.
template <execution_space Exec, class From, class To>
value_report launch_convert(Exec const& exec, std::int64_t rows, std::int64_t const* offsets,
                            From const* from, double const* from_scales, To* to, double* to_scales);
template <execution_space Exec>
void launch_relative(Exec const& exec, std::int64_t rows, std::int64_t const* offsets,
                     std::int32_t const* from, row_facts const* facts, std::int32_t* bases,
                     std::uint16_t* to);
template <execution_space Exec>
void launch_absolute(Exec const& exec, std::int64_t rows, std::int64_t const* offsets,
                     std::int32_t const* bases, std::uint16_t const* from, std::int32_t* to);
/// Rows that are wider than 65535 columns, and the widest. Fences `exec`.
struct wide_rows {
  std::int64_t count;
  std::int64_t widest;
};
template <execution_space Exec>
wide_rows count_wide_rows(Exec const& exec, std::int64_t rows, row_facts const* facts);

/// Parts of the rows, of about as many entries each, that are counted one by one.
struct transpose_parts {
  std::int64_t parts;
  std::int32_t* counts;  ///< [parts, cols]
};
template <execution_space Exec, class Column, class Bits>
void launch_transpose(Exec const& exec, std::int64_t rows, std::int64_t cols, std::int64_t entries,
                      std::int64_t const* offsets, Column const* columns, std::int32_t const* bases,
                      Bits const* values, transpose_parts const& parts, std::int64_t* to_offsets,
                      std::int32_t* to_columns, Bits* to_values);

/// As many as there are threads, as far as memory goes.
inline std::int64_t num_transpose_parts(std::int64_t threads, std::int64_t rows, std::int64_t cols,
                                        std::int64_t entries) {
  std::int64_t const bytes = std::max(std::int64_t(1) << 26, 4 * entries);
  std::int64_t const room = bytes / (4 * std::max<std::int64_t>(cols, 1));
  return std::max<std::int64_t>(1, std::min({threads, rows, room}));
}

template <class T, class Exec>
auto raw_array(Exec const& exec, std::string const& name, std::int64_t length) {
  return allocate<Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space>>(
      name, {length}, exec, Kokkos::WithoutInitializing);
}

template <class Exec, class View>
auto copied(Exec const& exec, View const& v) {
  auto const out =
      raw_array<typename View::non_const_value_type>(exec, v.label(), std::int64_t(v.extent(0)));
  Kokkos::deep_copy(exec, out, v);
  return out;
}

}  // namespace detail

template <stored_real To, execution_space Exec, class Value, column_index Column>
converted<csr_view<To, Column, typename Exec::memory_space>> convert_values(
    Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a,
    row_scaling scaling) {
  detail::validate_shape(a, "iso::sparse::convert_values");
  csr_view<To, Column, typename Exec::memory_space> to{
      a.num_rows,
      a.num_cols,
      detail::copied(exec, a.row_offsets),
      detail::copied(exec, a.columns),
      detail::raw_array<To>(exec, "iso::sparse::convert_values", a.num_entries()),
      detail::copied(exec, a.row_bases),
      a.row_scales};
  double* scales = nullptr;
  if (scaling == row_scaling::by_largest) {
    auto const fresh =
        detail::raw_array<double>(exec, "iso::sparse::convert_values: scales", a.num_rows);
    scales = fresh.data();
    to.row_scales = fresh;
  }
  value_report const report = detail::launch_convert<Exec, std::remove_const_t<Value>, To>(
      exec, a.num_rows, a.row_offsets.data(), a.values.data(), detail::data_or_null(a.row_scales),
      to.values.data(), scales);
  return {to, report};
}

template <execution_space Exec, class Value>
csr_view<std::remove_const_t<Value>, std::uint16_t, typename Exec::memory_space>
to_relative_columns(Exec const& exec,
                    csr_view<Value, std::int32_t, typename Exec::memory_space> const& a) {
  detail::validate_shape(a, "iso::sparse::to_relative_columns");
  auto const facts = detail::make_row_facts(exec, a.num_rows);
  detail::launch_check_rows(exec, detail::rows_of(a), a.num_cols, facts.data());
  auto const wide = detail::count_wide_rows(exec, a.num_rows, facts.data());
  ISO_VALIDATE(wide.count == 0,
               "iso::sparse::to_relative_columns: {} rows with columns further apart than 65535, "
               "the widest by {} (16 bits do not reach) keep 32-bit columns",
               wide.count, wide.widest);
  csr_view<std::remove_const_t<Value>, std::uint16_t, typename Exec::memory_space> to{
      a.num_rows,
      a.num_cols,
      detail::copied(exec, a.row_offsets),
      detail::raw_array<std::uint16_t>(exec, "iso::sparse: 16-bit columns", a.num_entries()),
      detail::copied(exec, a.values),
      detail::raw_array<std::int32_t>(exec, "iso::sparse: row bases", a.num_rows),
      a.row_scales};
  detail::launch_relative(exec, a.num_rows, a.row_offsets.data(), a.columns.data(), facts.data(),
                          to.row_bases.data(), to.columns.data());
  exec.fence("iso::sparse::to_relative_columns: done");
  return to;
}

template <execution_space Exec, class Value>
csr_view<std::remove_const_t<Value>, std::int32_t, typename Exec::memory_space> to_absolute_columns(
    Exec const& exec, csr_view<Value, std::uint16_t, typename Exec::memory_space> const& a) {
  detail::validate_shape(a, "iso::sparse::to_absolute_columns");
  csr_view<std::remove_const_t<Value>, std::int32_t, typename Exec::memory_space> to{
      a.num_rows,
      a.num_cols,
      detail::copied(exec, a.row_offsets),
      detail::raw_array<std::int32_t>(exec, "iso::sparse: 32-bit columns", a.num_entries()),
      detail::copied(exec, a.values),
      {},
      a.row_scales};
  detail::launch_absolute(exec, a.num_rows, a.row_offsets.data(), a.row_bases.data(),
                          a.columns.data(), to.columns.data());
  exec.fence("iso::sparse::to_absolute_columns: done");
  return to;
}

template <execution_space Exec, class Value, column_index Column>
csr_view<std::remove_const_t<Value>, std::int32_t, typename Exec::memory_space> transpose(
    Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a) {
  using plain = std::remove_const_t<Value>;
  using bits = detail::bits_like<plain>;
  detail::validate_shape(a, "iso::sparse::transpose");
  ISO_VALIDATE(a.row_scales.extent(0) == 0,
               "iso::sparse::transpose: a matrix with row scales (they would scale columns) "
               "transpose before scaling");
  auto const to = make_csr<plain, std::int32_t>(exec, "iso::sparse::transpose", a.num_cols,
                                                a.num_rows, a.num_entries());
  std::int64_t const parts = detail::num_transpose_parts(std::int64_t(exec.concurrency()),
                                                         a.num_rows, a.num_cols, a.num_entries());
  auto const counts = allocate<Kokkos::View<std::int32_t*, typename Exec::memory_space>>(
      "iso::sparse::transpose: counts", {parts * a.num_cols}, exec);
  detail::launch_transpose(exec, a.num_rows, a.num_cols, a.num_entries(), a.row_offsets.data(),
                           a.columns.data(), detail::data_or_null(a.row_bases),
                           reinterpret_cast<bits const*>(a.values.data()), {parts, counts.data()},
                           to.row_offsets.data(), to.columns.data(),
                           reinterpret_cast<bits*>(to.values.data()));
  exec.fence("iso::sparse::transpose: the counts may go");
  return to;
}

}  // namespace iso::sparse
