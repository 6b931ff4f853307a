// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/sparse/paired.hpp>

namespace iso::sparse::detail {

/// Slots that a group shares, and then slots of pairs.
struct paired_piece : row_piece {
  row_piece pairs;
};

/// The groups of rows of a paired_view, as kernels walk them.
template <class Value>
struct paired_rows {
  using value_type = Value;
  using piece_type = paired_piece;
  static constexpr int rows = 8;
  static constexpr bool has_fill = true;
  template <int K>
  static constexpr bool has_products = K == 4;

  std::int64_t num_rows;
  grouped_rows<Value, std::uint16_t, 8> shared;
  std::int64_t const* slot_offsets;
  half_pair<std::int32_t> const* bases;
  half_pair<std::uint16_t> const* offsets;
  entry<Value, 8> const* values;

  KOKKOS_FUNCTION paired_piece whole(std::int64_t group) const {
    std::int64_t const first = slot_offsets[group];
    return {shared.whole(group),
            {first, std::int32_t(slot_offsets[group + 1] - first), std::int32_t(group)}};
  }
  /// Turns of 32 lanes that a piece takes.
  KOKKOS_FUNCTION static std::int64_t turns(paired_piece const& piece) {
    return std::int64_t(piece.count) + piece.pairs.count;
  }
  /// The turns of a piece from `turn` on, at most part_turns.
  KOKKOS_FUNCTION static paired_piece part(paired_piece const& piece, std::int32_t turn) {
    row_piece const here = piece.from(turn, part_turns);
    std::int32_t const done = turn > piece.count ? turn - piece.count : 0;
    return {here, piece.pairs.from(done, part_turns - here.count)};
  }

  /// As grouped_rows has them.
  template <backend::detail::lane_sums Sums, int K>
  backend::detail::host_group_sums<double, 8 * K> products(paired_piece const& piece,
                                                           double const* x,
                                                           double const* origins) const {
    backend::detail::host_group_sums<double, 8 * K> found;
    backend::detail::eight_row_products<narrow_kind<Value>, Sums, std::uint16_t>(
        x, shared.eight_row_slots(&piece), pair_slots(&piece), origins, found.value);
    return found;
  }
  template <backend::detail::lane_sums Sums>
  KOKKOS_FUNCTION auto matrix_products(int lane, paired_piece const* piece, double const* x,
                                       double const (&origins)[2]) const {
    return backend::detail::matrix_walk<narrow_kind<Value>, Sums, std::uint16_t, true>(
               lane, shared.eight_row_slots(piece), pair_slots(piece), x, origins)
        .sums();
  }
  KOKKOS_FUNCTION backend::detail::eight_row_slots<std::uint16_t> pair_slots(
      paired_piece const* piece) const {
    return {reinterpret_cast<std::int32_t const*>(bases),
            reinterpret_cast<std::uint16_t const*>(offsets),
            reinterpret_cast<std::uint16_t const*>(values), &piece->pairs.first,
            &piece->pairs.count};
  }

  /// add(lane, entry, fetch(column), first row) for the columns of a piece: place l of every slot
  /// on lane l. First the shared columns, the entry being of all eight rows; then the pairs, the
  /// upper half before the lower one. `Ahead` as in each_turn.
  template <int Ahead, class Group, class Fetch, class Add>
  KOKKOS_FORCEINLINE_FUNCTION void each(Group const& group, paired_piece const& piece,
                                        Fetch const& fetch, Add const& add) const {
    shared.template each<Ahead>(group, piece, fetch, add);
    std::int64_t const first = piece.pairs.first;
    half_pair<std::int32_t> const* KOKKOS_RESTRICT const base = bases + first;
    typename Group::template in_turns<half_pair<std::uint16_t>> const offset(group,
                                                                             offsets + 32 * first);
    typename Group::template in_turns<entry<Value, 8>> const value(group, values + 32 * first);
    auto const columns_at = [&](std::int32_t slot) {
      return [=, &offset, from = backend::read_whole(base + slot)](int lane) {
        auto const further = backend::read_once(offset.at(slot, lane));
        return columns{from.upper + further.upper, from.lower + further.lower};
      };
    };
    auto const entry_at = [&](std::int32_t slot, int lane) {
      return backend::kept_once(value.at(slot, lane));
    };
    auto const fetch_both = [&](columns at) {
      return fetched<decltype(fetch(at.upper))>{fetch(at.upper), fetch(at.lower)};
    };
    auto const add_both = [&](int lane, auto const& kept, auto const& at) {
      entry<Value, 8> const all = kept.get();
      entry<Value, 4> upper;
      entry<Value, 4> lower;
      for (int r = 0; r < 4; ++r) {
        upper.row[r] = all.row[r];
        lower.row[r] = all.row[4 + r];
      }
      add(lane, upper, at.upper, backend::constant<0>());
      add(lane, lower, at.lower, backend::constant<4>());
    };
    // Two columns a place: twice the values of x wait in registers, of several vectors too many.
    constexpr int numbers = sizeof(decltype(fetch(0))) / sizeof(double);
    constexpr int most = numbers < 2 ? Ahead : (numbers == 2 ? 3 : 2);
    each_turn<(Ahead < most ? Ahead : most)>(group, piece.pairs.count, columns_at, entry_at,
                                             fetch_both, add_both);
  }

 private:
  struct columns {
    std::int32_t upper;
    std::int32_t lower;
  };
  template <class T>
  struct fetched {
    T upper;
    T lower;
  };
};

template <class Value, class Space>
auto rows_of(paired_view<Value, Space> const& a) {
  using plain = std::remove_const_t<Value>;
  return paired_rows<plain>{
      a.num_rows,     rows_of(a.shared), a.slot_offsets.data(),
      a.bases.data(), a.offsets.data(),  reinterpret_cast<entry<plain, 8> const*>(a.values.data())};
}

template <class Value, class Space>
std::int64_t num_places(paired_view<Value, Space> const& a) {
  return num_places(a.shared) + a.num_pair_slots();
}

/// Of these, slots of pairs.
template <class Matrix>
std::int64_t num_pairs(Matrix const& a) {
  if constexpr (requires { a.num_pair_slots(); }) {
    return a.num_pair_slots();
  } else {
    return 0;
  }
}

/// Throws unless the part with shared columns belongs to the matrix.
void validate_shared(char const* function, std::int64_t num_rows, std::int64_t num_cols,
                     std::int64_t entries, std::int64_t shared_rows, std::int64_t shared_cols,
                     std::int64_t shared_entries, bool scaled);

template <class Value, class Space>
void validate_shape(paired_view<Value, Space> const& a, char const* function) {
  validate_extents(function, a.num_rows, a.num_cols, a.num_entries());
  validate_shape(a.shared, function);
  validate_shared(function, a.num_rows, a.num_cols, a.entries, a.shared.num_rows, a.shared.num_cols,
                  a.shared.entries, a.shared.row_scales.extent(0) > 0);
  validate_grouped_lengths(function, a.num_groups(), std::int64_t(a.slot_offsets.extent(0)),
                           a.num_pair_slots(), std::int64_t(a.offsets.extent(0)),
                           std::int64_t(a.values.extent(0)), 8, a.num_rows,
                           std::int64_t(a.row_scales.extent(0)),
                           reinterpret_cast<std::uintptr_t>(a.values.data()) %
                                   alignof(entry<std::remove_const_t<Value>, 8>) ==
                               0);
}

}  // namespace iso::sparse::detail
