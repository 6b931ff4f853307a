// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/detail/cuda_products.hpp>
#include <iso/backend/read_once.hpp>
#include <iso/sparse/detail/csr_rows.hpp>
#include <iso/sparse/detail/number_bits.hpp>
#include <iso/sparse/grouped.hpp>

namespace iso::sparse::detail {

/// The groups of rows of a grouped_view, as kernels walk them.
template <class Value, class Offset, int R>
struct grouped_rows {
  using value_type = Value;
  static constexpr int rows = R;
  static constexpr bool has_fill = true;

  /// Whether K vectors of these are multiplied by hand on processors.
  template <int>
  static constexpr bool has_products = sizeof(Value) == 2;

  std::int64_t num_rows;
  std::int64_t const* slot_offsets;
  slot_base<Offset> const* bases;
  Offset const* offsets;
  entry<Value, R> const* values;

  using piece_type = row_piece;

  KOKKOS_FUNCTION row_piece whole(std::int64_t group) const {
    std::int64_t const first = slot_offsets[group];
    return {first, std::int32_t(slot_offsets[group + 1] - first), std::int32_t(group)};
  }
  /// Turns of 32 lanes that a piece takes.
  KOKKOS_FUNCTION static std::int64_t turns(row_piece const& piece) { return piece.count; }
  /// The turns of a piece from `turn` on, at most part_turns.
  KOKKOS_FUNCTION static row_piece part(row_piece const& piece, std::int32_t turn) {
    return piece.from(turn, part_turns);
  }

  /// The sums of a piece's rows for K vectors, by hand: (r, k) from origins[r K + k], all lanes.
  template <backend::detail::lane_sums Sums, int K>
  backend::detail::host_group_sums<double, R * K> products(row_piece const& piece, double const* x,
                                                           double const* origins) const {
    backend::detail::host_group_sums<double, R * K> found;
    if constexpr (R == 8 && K == 4) {
      backend::detail::eight_row_products<narrow_kind<Value>, Sums, Offset>(
          x, eight_row_slots(&piece), {}, origins, found.value);
    } else {
      backend::detail::slot_products<narrow_kind<Value>, Sums, R, K>(
          x, reinterpret_cast<std::int32_t const*>(bases + piece.first), offsets + 32 * piece.first,
          reinterpret_cast<std::uint16_t const*>(values + 32 * piece.first), piece.count, origins,
          found.value);
    }
    return found;
  }
  /// The same of eight rows and four vectors by matrix instructions.
  template <backend::detail::lane_sums Sums>
  KOKKOS_FUNCTION auto matrix_products(int lane, row_piece const* piece, double const* x,
                                       double const (&origins)[2]) const {
    return backend::detail::matrix_walk<narrow_kind<Value>, Sums, Offset, false>(
               lane, eight_row_slots(piece), {}, x, origins)
        .sums();
  }
  KOKKOS_FUNCTION backend::detail::eight_row_slots<Offset> eight_row_slots(
      row_piece const* piece) const {
    return {reinterpret_cast<std::int32_t const*>(bases), offsets,
            reinterpret_cast<std::uint16_t const*>(values), &piece->first, &piece->count};
  }

  /// add(lane, entry, fetch(column), first row) for the columns of a piece: place l of every slot
  /// on lane l; the entry is of all the group's rows. `Ahead` as in each_turn.
  template <int Ahead, class Group, class Fetch, class Add>
  KOKKOS_FORCEINLINE_FUNCTION void each(Group const& group, row_piece const& piece,
                                        Fetch const& fetch, Add const& add) const {
    slot_base<Offset> const* KOKKOS_RESTRICT const base = bases + piece.first;
    typename Group::template in_turns<Offset> const offset(group, offsets + 32 * piece.first);
    typename Group::template in_turns<entry<Value, R>> const value(group,
                                                                   values + 32 * piece.first);
    auto const columns_at = [&](std::int32_t slot) {
      return [=, &offset, from = backend::read_whole(base + slot)](int lane) {
        return from.column(lane, backend::read_once(offset.at(slot, lane)));
      };
    };
    auto const entry_at = [&](std::int32_t slot, int lane) {
      return backend::kept_once(value.at(slot, lane));
    };
    auto const add_kept = [&](int lane, auto const& kept, auto const& fetched) {
      add(lane, kept.get(), fetched, backend::constant<0>());
    };
    each_turn<Ahead>(group, piece.count, columns_at, entry_at, fetch, add_kept);
  }
};

template <class Value, class Offset, int R, class Space>
auto rows_of(grouped_view<Value, Offset, R, Space> const& a) {
  using plain = std::remove_const_t<Value>;
  return grouped_rows<plain, Offset, R>{a.num_rows, a.slot_offsets.data(), a.bases.data(),
                                        a.offsets.data(),
                                        reinterpret_cast<entry<plain, R> const*>(a.values.data())};
}

template <class Value, class Offset, int R, class Space>
std::int64_t num_places(grouped_view<Value, Offset, R, Space> const& a) {
  return a.num_slots();
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
