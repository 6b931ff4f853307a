// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/read_once.hpp>
#include <iso/core/numerics.hpp>
#include <iso/sparse/detail/csr_rows.hpp>
#include <iso/sparse/grouped.hpp>

#include <limits>

namespace iso::sparse::detail {

KOKKOS_INLINE_FUNCTION std::uint16_t stored_bits(half x) { return x.bits; }
KOKKOS_INLINE_FUNCTION std::uint16_t stored_bits(bfloat16 x) { return x.bits; }
template <real T>
KOKKOS_INLINE_FUNCTION bits_of<T> stored_bits(T x) {
  return Kokkos::bit_cast<bits_of<T>>(x);
}

/// Negative zero stands for no entry.
template <class Value>
KOKKOS_INLINE_FUNCTION bool is_fill(Value x) {
  using bits = decltype(stored_bits(x));
  return stored_bits(x) == bits(bits(1) << (sizeof(bits) * 8 - 1));
}

/// The groups of rows of a grouped_view, as kernels walk them.
template <class Value, class Offset, int R>
struct grouped_rows {
  using value_type = Value;
  static constexpr int rows = R;
  static constexpr bool has_fill = true;

  std::int64_t num_rows;
  std::int64_t const* slot_offsets;
  std::int32_t const* bases;
  Offset const* offsets;
  entry<Value, R> const* values;

  KOKKOS_FUNCTION std::int32_t turns(std::int64_t group) const {
    return std::int32_t(slot_offsets[group + 1] - slot_offsets[group]);
  }

  /// f(lane, column, entry) for the columns of a group of rows in some of its slots: place l of
  /// every slot on lane l.
  template <class Group, class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(Group const& group, std::int64_t index, turn_range slots,
                                        F const& f) const {
    std::int64_t const first = slot_offsets[index] + slots.first;
    std::int32_t const count = slots.last - slots.first;
    std::int32_t const* KOKKOS_RESTRICT const base = bases + first;
    Offset const* KOKKOS_RESTRICT const offset = offsets + 32 * first;
    entry<Value, R> const* KOKKOS_RESTRICT const value = values + 32 * first;
    std::int32_t slot = 0;
    if constexpr (Group::turns_ahead > 0) {
      // Some slots are on their way while those before them wait for x.
      auto const read = [&](std::int32_t slot, place<Group>& at) {
        std::int32_t const from = base[slot];
        group.each([&](int lane) {
          std::int32_t const j = 32 * slot + lane;
          at.column[lane] = from + std::int32_t(backend::read_once(offset + j));
          at.value[lane] = backend::read_once(value + j);
        });
      };
      auto const use = [&](place<Group> const& at) {
        group.each([&](int lane) { f(lane, at.column[lane], at.value[lane]); });
      };
      constexpr int ahead = R == 8 ? Group::turns_ahead / 2 : Group::turns_ahead;
      if (count >= ahead) {
        place<Group> now[ahead];
        backend::unrolled<ahead>([&](auto u) { read(int(u), now[u]); });
        for (slot = ahead; slot + ahead <= count; slot += ahead) {
          place<Group> next[ahead];
          backend::unrolled<ahead>([&](auto u) { read(slot + int(u), next[u]); });
          backend::unrolled<ahead>([&](auto u) { use(now[u]); });
          backend::unrolled<ahead>([&](auto u) { now[u] = next[u]; });
        }
        backend::unrolled<ahead>([&](auto u) { use(now[u]); });
      }
    }
    for (; slot < count; ++slot) {
      std::int32_t const from = base[slot];
      group.each([&](int lane) {
        std::int32_t const j = 32 * slot + lane;
        f(lane, from + std::int32_t(backend::read_once(offset + j)), backend::read_once(value + j));
      });
    }
  }

 private:
  /// What one slot gives the lanes.
  template <class Group>
  struct place {
    typename Group::template per_lane<std::int32_t> column;
    typename Group::template per_lane<entry<Value, R>> value;
  };
};

template <class Value, class Offset, int R, class Space>
auto rows_of(grouped_view<Value, Offset, R, Space> const& a) {
  using plain = std::remove_const_t<Value>;
  return grouped_rows<plain, Offset, R>{a.num_rows, a.slot_offsets.data(), a.bases.data(),
                                        a.offsets.data(),
                                        reinterpret_cast<entry<plain, R> const*>(a.values.data())};
}

void validate_grouped_lengths(char const* function, std::int64_t groups, std::int64_t slot_offsets,
                              std::int64_t slots, std::int64_t offsets, std::int64_t values,
                              int rows, std::int64_t num_rows, std::int64_t scales, bool aligned);

template <class Value, class Offset, int R, class Space>
void validate_shape(grouped_view<Value, Offset, R, Space> const& a, char const* function) {
  validate_extents(function, a.num_rows, a.num_cols, a.num_entries());
  using place = entry<std::remove_const_t<Value>, R>;
  validate_grouped_lengths(function, a.num_groups(), std::int64_t(a.slot_offsets.extent(0)),
                           a.num_slots(), std::int64_t(a.offsets.extent(0)),
                           std::int64_t(a.values.extent(0)), R, a.num_rows,
                           std::int64_t(a.row_scales.extent(0)),
                           reinterpret_cast<std::uintptr_t>(a.values.data()) % alignof(place) == 0);
}

}  // namespace iso::sparse::detail
