// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/grouped.hpp
//! Sparse matrices whose neighbouring rows share their columns.
#pragma once

#include <iso/backend/registry.hpp>
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

/// What a matrix costs in a format.
struct format_report {
  int rows = 1;                ///< rows a group, R; 1: csr_view
  int offset_bits = 32;        ///< of a column: 8 or 16 in slots, 16 or 32 in csr_view
  std::int64_t slots = 0;      ///< of 32 columns
  double bytes_per_entry = 0;  ///< of the matrix's arrays
  double fill = 1;             ///< entries over places for them, those at the slots' ends included
  double reads_per_entry = 1;  ///< values of x read an entry
};

/// What `a`, valid and its rows ascending, would cost in groups of `rows` (2, 4 or 8) with offsets
/// of `offset_bits` (8 or 16); rows = 1: as csr_view with columns of 32 or 16 bits, be its rows
/// narrow enough for these or not. Fences `exec`. Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  another number of rows or bits; arrays whose lengths disagree
template <execution_space Exec, class Value, column_index Column>
format_report measure_format(Exec const& exec,
                             csr_view<Value, Column, typename Exec::memory_space> const& a,
                             int rows, int offset_bits);

/// What a product runs on.
enum class processor {
  host,       ///< few fast threads; vectors are what compilers make
  wide_host,  ///< a host with AVX-512, for which products of 16-bit values are written by hand
  device,     ///< many lanes that wait for memory: a GPU
};

/// That of an execution space on this machine. Determinism: run_to_run.
template <execution_space Exec>
processor processor_of();

/// How long a product in a format takes, an entry. Only the ratio of two costs on one kind of
/// processor means something. On a device, in bytes of streamed matrix,
///
///     max(bytes_per_entry, 6.3 reads_per_entry):
///
/// 6.3 bytes take as long as one read of x by a lane on an H200 (0.776 ms for 4.9e8 reads at 56 %
/// of the read ceiling with 16-bit columns); csr_view with 16-bit columns takes 0.9 of that, since
/// fewer bytes come with the reads (0.88 to 0.94 on prostate and TG119 protons). On a host
///
///     (1 + 1.95 rows) reads_per_entry,
///
/// 1.4 times as much with offsets of 8 bits, 1.3 times with csr_view's columns of 16: a value takes
/// at most 1.95 times as long as finding and reading its place of x, and bases and jumps cost
/// vectors more than their bytes save. On a wide host 0.6 for 1.95, 1.3 for 1.4, and csr_view's
/// columns of 16 bits gain nothing that can be relied upon. (One thread, perf/sparse/choice.py: the
/// upper edge of what was measured, so that no format is taken for what it does not gain.)
/// Determinism: backend_to_backend.
double product_cost(format_report const& format, processor kind);

/// The format that a product should be fastest in on this kind of processor: of csr_view and, for
/// values of 16 bits, csr_view with 16-bit columns where no row is wider than 65535 columns
/// (`to_relative_columns`) and the grouped formats with R = 2, 4, 8 and 8- or 16-bit offsets, the
/// one with the smallest product_cost. A grouped format must beat csr_view by a tenth; equal costs
/// go to the smaller R and the shorter offset. On a host columns must lie together as well (not on
/// a wide one): where 8-bit offsets want twice the slots of 16-bit ones, reads of x leave the first
/// cache, and groups wait for them longer than rows do. Ordered sums depend on the grouped format,
/// so name `kind` where they must not depend on where they are computed. Fences `exec`.
/// Determinism: backend_to_backend, of one kind.
///
/// \param[in] a  valid, its rows ascending
/// \throws iso::invalid_argument  arrays whose lengths disagree
template <execution_space Exec, class Value, column_index Column>
format_report choose_format(Exec const& exec,
                            csr_view<Value, Column, typename Exec::memory_space> const& a,
                            processor kind = processor_of<Exec>());

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
