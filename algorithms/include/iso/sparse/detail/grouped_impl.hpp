// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/sparse/detail/grouped_rows.hpp>
#include <iso/sparse/detail/validate_impl.hpp>
#include <iso/sparse/grouped.hpp>

#include <limits>

namespace iso::sparse {
namespace detail {

/// Where the entries of a csr_view lie.
template <class Column>
struct pattern {
  std::int64_t num_rows;
  std::int64_t const* row_offsets;
  Column const* columns;
  std::int32_t const* row_bases;
};

/// A grouped matrix to be written; values of either 16-bit type as their bits.
template <class Offset>
struct grouped_arrays {
  std::int64_t const* slot_offsets;
  slot_base<Offset>* bases;
  Offset* offsets;
  std::uint16_t* values;
};

// Defined in src/sparse for every backend.

/// Slots of every group of `rows` rows, as running totals; returns their number. Fences `exec`.
template <execution_space Exec, class Column>
std::int64_t launch_slot_offsets(Exec const& exec, pattern<Column> const& p, int rows,
                                 int offset_bits, std::int64_t* slot_offsets);
template <execution_space Exec, class Column, class Offset>
void launch_group(Exec const& exec, pattern<Column> const& p, std::uint16_t const* values, int rows,
                  std::int64_t num_slots, grouped_arrays<Offset> const& to);
/// Running totals of the entries of every row. Fences `exec`.
template <execution_space Exec, class Offset>
std::int64_t launch_row_offsets(Exec const& exec, grouped_arrays<Offset> const& from, int rows,
                                std::int64_t num_rows, std::int64_t* row_offsets);
template <execution_space Exec, class Offset>
void launch_ungroup(Exec const& exec, grouped_arrays<Offset> const& from, int rows,
                    std::int64_t num_rows, std::int64_t const* row_offsets, std::int32_t* columns,
                    std::uint16_t* values);

/// Throws unless rows ascend and no zero is negative.
void refuse_to_group(csr_report const& report, char const* function);
/// Throws unless to_csr found as many entries as the matrix says it has.
void validate_found(std::int64_t found, std::int64_t said);
template <class Value, class Column, class Space>
pattern<Column> pattern_of(csr_view<Value, Column, Space> const& a) {
  return {a.num_rows, a.row_offsets.data(), a.columns.data(), data_or_null(a.row_bases)};
}

template <class Value, class Offset, int R, class Space>
grouped_arrays<Offset> arrays_of(grouped_view<Value, Offset, R, Space> const& a) {
  return {
      a.slot_offsets.data(), const_cast<slot_base<Offset>*>(a.bases.data()),
      const_cast<Offset*>(a.offsets.data()),
      reinterpret_cast<std::uint16_t*>(const_cast<std::remove_const_t<Value>*>(a.values.data()))};
}

}  // namespace detail

template <int R, slot_offset Offset, execution_space Exec, class Value, column_index Column>
grouped_view<std::remove_const_t<Value>, Offset, R, typename Exec::memory_space> make_grouped(
    Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a) {
  using grouped = grouped_view<std::remove_const_t<Value>, Offset, R, typename Exec::memory_space>;
  detail::validate_shape(a, "iso::sparse::make_grouped");
  detail::refuse_to_group(
      validate(exec, a.as_const(), {.columns = csr_demands::of_columns::ascending}),
      "iso::sparse::make_grouped");
  auto const p = detail::pattern_of(a);
  grouped g{a.num_rows, a.num_cols, a.num_entries(), {}, {}, {}, {}, a.row_scales};
  g.slot_offsets = allocate<typename grouped::template array<std::int64_t>>(
      "iso::sparse::grouped: slot offsets", {g.num_groups() + 1}, exec);
  std::int64_t const slots =
      detail::launch_slot_offsets(exec, p, R, 8 * int(sizeof(Offset)), g.slot_offsets.data());
  auto const raw = [&]<class Array>(Array& to, char const* name, std::int64_t length) {
    to = allocate<Array>(name, {length}, exec, Kokkos::WithoutInitializing);
  };
  raw(g.bases, "iso::sparse::grouped: bases", slots);
  raw(g.offsets, "iso::sparse::grouped: offsets", 32 * slots);
  raw(g.values, "iso::sparse::grouped: values", 32 * slots * R);
  detail::launch_group(exec, p, reinterpret_cast<std::uint16_t const*>(a.values.data()), R, slots,
                       detail::arrays_of(g));
  exec.fence("iso::sparse::make_grouped: done");
  return g;
}

template <execution_space Exec, class Value, slot_offset Offset, int R>
csr_view<std::remove_const_t<Value>, std::int32_t, typename Exec::memory_space> to_csr(
    Exec const& exec, grouped_view<Value, Offset, R, typename Exec::memory_space> const& a) {
  detail::validate_shape(a, "iso::sparse::to_csr");
  auto csr = make_csr<std::remove_const_t<Value>, std::int32_t>(exec, "iso::sparse::to_csr",
                                                                a.num_rows, a.num_cols, a.entries);
  csr.row_scales = a.row_scales;
  auto const from = detail::arrays_of(a);
  std::int64_t const found =
      detail::launch_row_offsets(exec, from, R, a.num_rows, csr.row_offsets.data());
  detail::validate_found(found, a.entries);
  detail::launch_ungroup(exec, from, R, a.num_rows, csr.row_offsets.data(), csr.columns.data(),
                         reinterpret_cast<std::uint16_t*>(csr.values.data()));
  exec.fence("iso::sparse::to_csr: done");
  return csr;
}

}  // namespace iso::sparse
