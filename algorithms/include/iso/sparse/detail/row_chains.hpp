// SPDX-License-Identifier: BSD-3-Clause
//! Sums of eight rows for four vectors at once, in the order in which matrix instructions add: the
//! chains of backend/detail/cuda_products.hpp, on every other machine.
#pragma once

#include <iso/backend/unroll.hpp>
#include <iso/backend/widen.hpp>
#include <iso/sparse/detail/number_bits.hpp>
#include <iso/sparse/detail/paired_rows.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace iso::sparse::detail {

/// Whether ordered sums of these rows, K vectors at once, are chains; order-free ones have the same
/// bits in any order.
template <class Rows, int K>
inline constexpr bool adds_in_chains = Rows::rows == 8 && K == 4;

/// The places of a piece, slots ascending: begin(the slot's entries), then add(chain, l, column of
/// the upper four rows, column of the lower) for its 32.
template <class Value, class Offset, class Begin, class Add>
KOKKOS_FORCEINLINE_FUNCTION void each_place(grouped_rows<Value, Offset, 8> const& matrix,
                                            row_piece const& piece, Begin const& begin,
                                            Add const& add) {
  for (std::int64_t slot = piece.first; slot < piece.first + piece.count; ++slot) {
    begin(matrix.values + 32 * slot);
    for (int block = 0; block < 32; block += 8) {
      backend::unrolled<8>([&](auto place) {
        int const l = block + place;
        std::int32_t const at = matrix.bases[slot].column(l, matrix.offsets[32 * slot + l]);
        add(backend::constant<int(place) / 4>(), l, at, at);
      });
    }
  }
}
template <class Value, class Begin, class Add>
KOKKOS_FORCEINLINE_FUNCTION void each_place(paired_rows<Value> const& matrix,
                                            paired_piece const& piece, Begin const& begin,
                                            Add const& add) {
  each_place(matrix.shared, piece, begin, add);
  std::int64_t const end = piece.pairs.first + piece.pairs.count;
  for (std::int64_t slot = piece.pairs.first; slot < end; ++slot) {
    begin(matrix.values + 32 * slot);
    auto const base = matrix.bases[slot];
    for (int l = 0; l < 32; ++l) {
      auto const offset = matrix.offsets[32 * slot + l];
      add(backend::constant<2>(), l, base.upper + offset.upper, base.lower + offset.lower);
    }
  }
}

/// Sum n of a piece, of row n / 4 and vector n mod 4, on lane n; `Entries`: without fill.
template <bool Entries, class Group, class Rows, class X>
KOKKOS_FUNCTION auto chained_sums(Group const& group, Rows const& matrix,
                                  typename Rows::piece_type const& piece, X const* x) {
  typename Group::template per_lane<double> chain[3];
  for (int c = 0; c < 3; ++c) {
    group.each([&](int n) { chain[c][n] = 0; });
  }
  entry<typename Rows::value_type, 8> const* entries = nullptr;
  each_place(
      matrix, piece, [&](auto const* slot) { entries = slot; },
      [&](auto which, int l, std::int32_t upper, std::int32_t lower) {
        group.each([&](int n) {
          auto const a = entries[l].row[n / 4];
          double const at = x[n < 16 ? upper : lower].vector[n % 4];
          double const sum = Kokkos::fma(backend::widen<double>(a), at, chain[which][n]);
          chain[which][n] = Entries && is_fill(a) ? chain[which][n] : sum;
        });
      });
  group.each([&](int n) { chain[0][n] = (chain[0][n] + chain[1][n]) + chain[2][n]; });
  return chain[0];
}

/// The same on a processor, fill and all: a slot's values are widened at once, and eight rows lie
/// side by side in registers.
template <class Group, class Rows, class X>
[[gnu::always_inline]] inline auto host_chained_sums(Group const& group, Rows const& matrix,
                                                     typename Rows::piece_type const& piece,
                                                     X const* x) {
  using value_type = typename Rows::value_type;
  // By chain, vector and row, the fastest.
  alignas(64) double sum[3][4][8] = {};
  alignas(64) double wide[32 * 8];
  each_place(
      matrix, piece,
      [&](entry<value_type, 8> const* slot) {
        auto const* const values = reinterpret_cast<value_type const*>(slot);
        for (int i = 0; i < 32 * 8; ++i) {
          wide[i] = backend::widen<double>(values[i]);
        }
      },
      [&](auto which, int l, std::int32_t upper, std::int32_t lower) {
        for (int k = 0; k < 4; ++k) {
          double const at[2] = {x[upper].vector[k], x[lower].vector[k]};
          for (int r = 0; r < 8; ++r) {
            double& total = sum[which][k][r];
            total = Kokkos::fma(wide[8 * l + r], at[r / 4], total);
          }
        }
      });
  typename Group::template per_lane<double> result;
  group.each([&](int n) {
    auto const of = [&](int chain) { return sum[chain][n % 4][n / 4]; };
    result[n] = (of(0) + of(1)) + of(2);
  });
  return result;
}

/// Sums by lane, as `sums` of a lane group has them.
template <class Group>
struct lane_sums_of {
  Group const& group;
  typename Group::template per_lane<double> sum;

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(F&& f) const {
    group.each([&](int n) { f(n, sum[n]); });
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION bool any(F&& f) const {
    typename Group::template per_lane<bool> holds;
    group.each([&](int n) { holds[n] = f(sum[n]); });
    return group.any(holds);
  }
};

}  // namespace iso::sparse::detail
