// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/paired.hpp
//! Sparse matrices whose rows share their columns by eight, or by four.
#pragma once

#include <iso/sparse/grouped.hpp>

#include <cstdint>

namespace iso::sparse {

/// What belongs to the first four rows of a group of eight, and to the other four.
template <class T>
struct alignas(2 * sizeof(T)) half_pair {
  T upper;
  T lower;

  [[nodiscard]] KOKKOS_FUNCTION T of(int half) const { return half == 0 ? upper : lower; }
};

/// Rows [8 g, 8 g + 8) form group g. Columns in which both its upper four and its lower four rows
/// have entries lie in slots of `shared`, as grouped_view has them. A column that only one half
/// uses would fill the other half's four values; here it shares its place with a column of the
/// other half: slots [slot_offsets(g), slot_offsets(g + 1)) have two lists of 32 columns, place l
/// of slot s being column bases(s).of(h) + offsets(32 s + l).of(h) for half h, and what row
/// 8 g + 4 h + r has there is values((32 s + l) 8 + 4 h + r), negative zero where it is no entry.
///
/// In a list columns ascend through the group's slots, and those of a slot stand in its first
/// places; a slot may have none of a half. What offsets name elsewhere is read all the same: some
/// column of the matrix. No half has a column twice, in `shared` and here included.
///
/// Of dose matrices in groups of 8 rows a quarter is fill, most of it halves of places: generated
/// liver and prostate plans have 0.88 and 0.93 of their bytes in this format, and read about as
/// much of x. Cheap to copy; owns what its Kokkos::Views own. Made by `make_paired`.
template <class Value, class Space>
  requires stored_real<std::remove_const_t<Value>> && (sizeof(Value) == 2)
struct paired_view {
  template <class T>
  using array = Kokkos::View<std::conditional_t<std::is_const_v<Value>, T const, T>*,
                             Kokkos::LayoutRight, Space>;

  using value_type = std::remove_const_t<Value>;
  using memory_space = Space;
  static constexpr int rows = 8;

  std::int64_t num_rows = 0;
  std::int64_t num_cols = 0;
  std::int64_t entries = 0;  ///< of the matrix, without fill
  /// Of as many rows and columns as the matrix, without scales; its `entries` are those in it.
  grouped_view<Value, std::uint16_t, 8, Space> shared;
  array<std::int64_t> slot_offsets;         ///< [ceil(num_rows / 8) + 1]
  array<half_pair<std::int32_t>> bases;     ///< [slots]
  array<half_pair<std::uint16_t>> offsets;  ///< [slots 32]
  array<value_type> values;                 ///< [slots 32 8]
  /// As csr_view::row_scales.
  Kokkos::View<double const*, Kokkos::LayoutRight, Space> row_scales;

  [[nodiscard]] std::int64_t num_entries() const { return entries; }
  [[nodiscard]] std::int64_t num_groups() const { return (num_rows + 7) / 8; }
  /// Slots with two columns a place.
  [[nodiscard]] std::int64_t num_pair_slots() const { return std::int64_t(bases.extent(0)); }

  [[nodiscard]] paired_view<value_type const, Space> as_const() const {
    return {num_rows, num_cols, entries, shared.as_const(), slot_offsets,
            bases,    offsets,  values,  row_scales};
  }
  template <class U = Value>
    requires(!std::is_const_v<U>)
  operator paired_view<U const, Space>() const {
    return as_const();
  }
};

/// `a` as a paired_view, exactly; row_scales are shared. Runs on `exec`, fences it, allocates.
/// Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  as make_grouped
/// \throws iso::out_of_memory
template <execution_space Exec, class Value, column_index Column>
paired_view<std::remove_const_t<Value>, typename Exec::memory_space> make_paired(
    Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a);

/// The matrix by rows, as it was before make_paired. Runs on `exec`, fences it, allocates.
/// Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  another number of entries than `a` says; lengths that disagree
/// \throws iso::out_of_memory
template <execution_space Exec, class Value>
csr_view<std::remove_const_t<Value>, std::int32_t, typename Exec::memory_space> to_csr(
    Exec const& exec, paired_view<Value, typename Exec::memory_space> const& a);

}  // namespace iso::sparse

#include <iso/sparse/detail/paired_impl.hpp>
