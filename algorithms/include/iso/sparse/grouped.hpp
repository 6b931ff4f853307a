// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/grouped.hpp
//! Sparse matrices whose neighbouring rows share their columns.
#pragma once

#include <iso/core/workspace.hpp>
#include <iso/sparse/csr.hpp>

#include <cstdint>

namespace iso::sparse {

/// How far a column lies from the base of its slot.
template <class T>
concept slot_offset = std::same_as<T, std::uint8_t> || std::same_as<T, std::uint16_t>;

/// Where the 32 columns of a slot lie. With offsets of 16 bits: so far beyond `first`.
template <slot_offset Offset>
struct slot_base {
  std::int32_t first;

  KOKKOS_FUNCTION std::int32_t column(int, Offset offset) const { return first + offset; }
};

/// With offsets of 8 bits, of which one gap in a hundred or so would not fit: those from place
/// `jump` mod 32 on are `jump` / 32 columns further.
template <>
struct alignas(8) slot_base<std::uint8_t> {
  std::int32_t first;
  std::uint32_t jump;

  KOKKOS_FUNCTION std::int32_t column(int place, std::uint8_t offset) const {
    std::int32_t const further = place >= int(jump % 32) ? std::int32_t(jump / 32) : 0;
    return first + further + offset;
  }
};

/// Rows [R g, R g + R) form group g, whose columns, ascending and each once, lie in slots of 32:
/// slots [slot_offsets(g), slot_offsets(g + 1)). Place l of slot s is column bases(s).column(l,
/// offsets(32 s + l)); what row R g + r has there is values((32 s + l) R + r). Where a row has no
/// entry the value is negative zero, the fill; zeros that the matrix stores are positive. A slot
/// has its columns in its first places, one at least. Behind them all values are fill, and what
/// their offsets name is read all the same: some column of the matrix. `make_grouped` ends a slot
/// early only where an offset would not fit, and at the end of a group. Any slot may be as short:
/// products and to_csr are right, only longer, and ordered sums follow the places.
///
/// For values of 16 bits, where columns weigh most. Cheap to copy; owns what its Kokkos::Views own.
/// Made by `make_grouped`.
template <class Value, slot_offset Offset, int R, class Space>
  requires stored_real<std::remove_const_t<Value>> && (sizeof(Value) == 2) &&
           (R == 2 || R == 4 || R == 8)
struct grouped_view {
  template <class T>
  using array = Kokkos::View<std::conditional_t<std::is_const_v<Value>, T const, T>*,
                             Kokkos::LayoutRight, Space>;

  using value_type = std::remove_const_t<Value>;
  using offset_type = Offset;
  using memory_space = Space;
  static constexpr int rows = R;

  std::int64_t num_rows = 0;
  std::int64_t num_cols = 0;
  std::int64_t entries = 0;          ///< of the matrix, without fill
  array<std::int64_t> slot_offsets;  ///< [ceil(num_rows / R) + 1]
  array<slot_base<Offset>> bases;    ///< [slots]
  array<Offset> offsets;             ///< [slots 32]
  array<value_type> values;          ///< [slots 32 R]
  /// As csr_view::row_scales.
  Kokkos::View<double const*, Kokkos::LayoutRight, Space> row_scales;

  [[nodiscard]] std::int64_t num_entries() const { return entries; }
  [[nodiscard]] std::int64_t num_groups() const { return (num_rows + R - 1) / R; }
  [[nodiscard]] std::int64_t num_slots() const { return std::int64_t(bases.extent(0)); }

  [[nodiscard]] grouped_view<value_type const, Offset, R, Space> as_const() const {
    return {num_rows, num_cols, entries, slot_offsets, bases, offsets, values, row_scales};
  }
  template <class U = Value>
    requires(!std::is_const_v<U>)
  operator grouped_view<U const, Offset, R, Space>() const {
    return as_const();
  }
};

/// `a` in the grouped format, exactly; row_scales are shared. Runs on `exec`, fences it, allocates.
/// Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  with their numbers: entries not ascending, doubled columns,
///                                stored negative zeros (the fill); lengths that disagree
/// \throws iso::out_of_memory
template <int R, slot_offset Offset, execution_space Exec, class Value, column_index Column>
grouped_view<std::remove_const_t<Value>, Offset, R, typename Exec::memory_space> make_grouped(
    Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a);

/// The matrix by rows, as it was before make_grouped. Runs on `exec`, fences it, allocates.
/// Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  another number of entries than `a` says; lengths that disagree
/// \throws iso::out_of_memory
template <execution_space Exec, class Value, slot_offset Offset, int R>
csr_view<std::remove_const_t<Value>, std::int32_t, typename Exec::memory_space> to_csr(
    Exec const& exec, grouped_view<Value, Offset, R, typename Exec::memory_space> const& a);

}  // namespace iso::sparse

#include <iso/sparse/detail/grouped_impl.hpp>
