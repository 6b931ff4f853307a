// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/sparse/detail/paired_rows.hpp>
#include <iso/sparse/paired.hpp>

namespace iso::sparse {
namespace detail {

/// What the groups of a paired_view hold.
struct paired_counts {
  std::int64_t shared = 0;   ///< slots
  std::int64_t pairs = 0;    ///< slots
  std::int64_t entries = 0;  ///< in shared columns
  KOKKOS_FUNCTION paired_counts& operator+=(paired_counts const& more) {
    shared += more.shared;
    pairs += more.pairs;
    entries += more.entries;
    return *this;
  }
};

/// A paired matrix to be written or read; values of either 16-bit type as their bits.
struct paired_arrays {
  grouped_arrays<std::uint16_t> shared;
  std::int64_t const* slot_offsets;
  half_pair<std::int32_t>* bases;
  half_pair<std::uint16_t>* offsets;
  std::uint16_t* values;
};

// Defined in src/sparse for every backend.

/// Fences `exec`.
template <execution_space Exec, class Column>
paired_counts launch_count_pairs(Exec const& exec, pattern<Column> const& p);
/// Slots of every group, of either kind, as running totals. Fences `exec`.
template <execution_space Exec, class Column>
paired_counts launch_pair_offsets(Exec const& exec, pattern<Column> const& p,
                                  std::int64_t* shared_offsets, std::int64_t* pair_offsets);
template <execution_space Exec, class Column>
void launch_pair(Exec const& exec, pattern<Column> const& p, std::uint16_t const* values,
                 paired_counts const& counts, paired_arrays const& to);
/// Running totals of the entries of every row. Fences `exec`.
template <execution_space Exec>
std::int64_t launch_paired_row_offsets(Exec const& exec, paired_arrays const& from,
                                       std::int64_t num_rows, std::int64_t* row_offsets);
template <execution_space Exec>
void launch_unpair(Exec const& exec, paired_arrays const& from, std::int64_t num_rows,
                   std::int64_t const* row_offsets, std::int32_t* columns, std::uint16_t* values);

template <class Value, class Space>
paired_arrays arrays_of(paired_view<Value, Space> const& a) {
  return {
      arrays_of(a.shared), a.slot_offsets.data(),
      const_cast<half_pair<std::int32_t>*>(a.bases.data()),
      const_cast<half_pair<std::uint16_t>*>(a.offsets.data()),
      reinterpret_cast<std::uint16_t*>(const_cast<std::remove_const_t<Value>*>(a.values.data()))};
}

}  // namespace detail

template <execution_space Exec, class Value, column_index Column>
paired_view<std::remove_const_t<Value>, typename Exec::memory_space> make_paired(
    Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a) {
  using paired = paired_view<std::remove_const_t<Value>, typename Exec::memory_space>;
  constexpr char const* name = "iso::sparse::make_paired";
  detail::validate_shape(a, name);
  detail::refuse_to_group(
      validate(exec, a.as_const(), {.columns = csr_demands::of_columns::ascending}), name);
  auto const p = detail::pattern_of(a);
  paired m{a.num_rows, a.num_cols, a.num_entries(), {}, {}, {}, {}, {}, a.row_scales};
  m.shared.num_rows = a.num_rows;
  m.shared.num_cols = a.num_cols;
  for (auto* const offsets : {&m.shared.slot_offsets, &m.slot_offsets}) {
    *offsets = allocate<typename paired::template array<std::int64_t>>(
        "iso::sparse::paired: slot offsets", {m.num_groups() + 1}, exec);
  }
  auto const counts =
      detail::launch_pair_offsets(exec, p, m.shared.slot_offsets.data(), m.slot_offsets.data());
  m.shared.entries = counts.entries;
  auto const raw = [&]<class Array>(Array& to, char const* label, std::int64_t length) {
    to = allocate<Array>(label, {length}, exec, Kokkos::WithoutInitializing);
  };
  raw(m.shared.bases, "iso::sparse::paired: bases", counts.shared);
  raw(m.shared.offsets, "iso::sparse::paired: offsets", 32 * counts.shared);
  raw(m.shared.values, "iso::sparse::paired: values", 32 * 8 * counts.shared);
  raw(m.bases, "iso::sparse::paired: bases of pairs", counts.pairs);
  raw(m.offsets, "iso::sparse::paired: offsets of pairs", 32 * counts.pairs);
  raw(m.values, "iso::sparse::paired: values of pairs", 32 * 8 * counts.pairs);
  detail::launch_pair(exec, p, reinterpret_cast<std::uint16_t const*>(a.values.data()), counts,
                      detail::arrays_of(m));
  exec.fence("iso::sparse::make_paired: done");
  return m;
}

template <execution_space Exec, class Value>
csr_view<std::remove_const_t<Value>, std::int32_t, typename Exec::memory_space> to_csr(
    Exec const& exec, paired_view<Value, typename Exec::memory_space> const& a) {
  detail::validate_shape(a, "iso::sparse::to_csr");
  auto csr = make_csr<std::remove_const_t<Value>, std::int32_t>(exec, "iso::sparse::to_csr",
                                                                a.num_rows, a.num_cols, a.entries);
  csr.row_scales = a.row_scales;
  auto const from = detail::arrays_of(a);
  detail::validate_found(
      detail::launch_paired_row_offsets(exec, from, a.num_rows, csr.row_offsets.data()), a.entries);
  detail::launch_unpair(exec, from, a.num_rows, csr.row_offsets.data(), csr.columns.data(),
                        reinterpret_cast<std::uint16_t*>(csr.values.data()));
  exec.fence("iso::sparse::to_csr: done");
  return csr;
}

}  // namespace iso::sparse
