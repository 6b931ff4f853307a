// SPDX-License-Identifier: BSD-3-Clause
//! Sums of a paired_view's rows for four vectors at once, in the order in which matrix
//! instructions add: three chains of fma a sum. Places of shared slots go to the first where
//! l mod 8 < 4, else to the second; those of pairs go to the third.
#pragma once

#include <iso/backend/detail/cuda_matrix.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/backend/widen.hpp>
#include <iso/core/numerics.hpp>
#include <iso/sparse/detail/number_bits.hpp>
#include <iso/sparse/detail/paired_rows.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace iso::sparse::detail {

/// Whether ordered sums of these rows, K vectors at once, are chains; order-free ones have the same
/// bits in any order.
template <class Rows, int K>
inline constexpr bool adds_in_chains = false;
template <class Value>
inline constexpr bool adds_in_chains<paired_rows<Value>, 4> = true;

/// Sum n of a piece, of row n / 4 and vector n mod 4, on lane n; `Entries`: without fill.
template <bool Entries, class Group, class Value, class X>
KOKKOS_FUNCTION auto chained_sums(Group const& group, paired_rows<Value> const& matrix,
                                  paired_piece const& piece, X const* x) {
  typename Group::template per_lane<double> chain[3];
  for (int c = 0; c < 3; ++c) {
    group.each([&](int n) { chain[c][n] = 0; });
  }
  auto const add = [&](auto which, int n, Value a, double at) {
    double const sum = Kokkos::fma(backend::widen<double>(a), at, chain[which][n]);
    chain[which][n] = Entries && is_fill(a) ? chain[which][n] : sum;
  };
  auto const& shared = matrix.shared;
  for (std::int64_t slot = piece.first; slot < piece.first + piece.count; ++slot) {
    for (int block = 0; block < 32; block += 8) {
      backend::unrolled<8>([&](auto place) {
        int const l = block + place;
        X const& at = x[shared.bases[slot].column(l, shared.offsets[32 * slot + l])];
        entry<Value, 8> const& a = shared.values[32 * slot + l];
        group.each([&](int n) {
          add(backend::constant<int(place) / 4>(), n, a.row[n / 4], at.vector[n % 4]);
        });
      });
    }
  }
  std::int64_t const first = piece.pairs.first;
  for (std::int64_t slot = first; slot < first + piece.pairs.count; ++slot) {
    for (int l = 0; l < 32; ++l) {
      auto const base = matrix.bases[slot];
      auto const offset = matrix.offsets[32 * slot + l];
      X const& upper = x[base.upper + offset.upper];
      X const& lower = x[base.lower + offset.lower];
      entry<Value, 8> const& a = matrix.values[32 * slot + l];
      group.each([&](int n) {
        double const at = n < 16 ? upper.vector[n % 4] : lower.vector[n % 4];
        add(backend::constant<2>(), n, a.row[n / 4], at);
      });
    }
  }
  group.each([&](int n) { chain[0][n] = (chain[0][n] + chain[1][n]) + chain[2][n]; });
  return chain[0];
}

/// The same on a processor, fill and all: a slot's values are widened at once, and four vectors lie
/// side by side in registers.
template <class Group, class Value, class X>
[[gnu::always_inline]] inline auto host_chained_sums(Group const& group,
                                                     paired_rows<Value> const& matrix,
                                                     paired_piece const& piece, X const* x) {
  typename Group::template per_lane<double> chain[3] = {0.0, 0.0, 0.0};
  alignas(64) double wide[32 * 8];
  auto const widen = [&](entry<Value, 8> const* slot) {
    auto const* const values = reinterpret_cast<Value const*>(slot);
    for (int i = 0; i < 32 * 8; ++i) {
      wide[i] = backend::widen<double>(values[i]);
    }
  };
  auto const add = [&](int which, int l, X const& upper, X const& lower) {
    for (int r = 0; r < 8; ++r) {
      X const& at = r < 4 ? upper : lower;
      for (int k = 0; k < 4; ++k) {
        double& sum = chain[which][4 * r + k];
        sum = Kokkos::fma(wide[8 * l + r], at.vector[k], sum);
      }
    }
  };
  auto const& shared = matrix.shared;
  for (std::int64_t slot = piece.first; slot < piece.first + piece.count; ++slot) {
    widen(shared.values + 32 * slot);
    for (int l = 0; l < 32; ++l) {
      X const& at = x[shared.bases[slot].column(l, shared.offsets[32 * slot + l])];
      add(l % 8 / 4, l, at, at);
    }
  }
  std::int64_t const end = piece.pairs.first + piece.pairs.count;
  for (std::int64_t slot = piece.pairs.first; slot < end; ++slot) {
    widen(matrix.values + 32 * slot);
    auto const base = matrix.bases[slot];
    for (int l = 0; l < 32; ++l) {
      auto const offset = matrix.offsets[32 * slot + l];
      add(2, l, x[base.upper + offset.upper], x[base.lower + offset.lower]);
    }
  }
  group.each([&](int n) { chain[0][n] = (chain[0][n] + chain[1][n]) + chain[2][n]; });
  return chain[0];
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

#ifdef ISO_CUDA_MULTIPLIES_MATRICES
/// The sums that a warp's matrix instructions have made: lane l has two of row l / 4 where l mod 4
/// is below 2.
struct matrix_sums {
  int lane;
  double two[2];

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(F&& f) const {
    if (lane % 4 < 2) {
      int const n = 4 * (lane / 4) + 2 * (lane % 4);
      f(n, two[0]);
      f(n + 1, two[1]);
    }
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION bool any(F&& f) const {
    bool const mine = lane % 4 < 2 && (f(two[0]) || f(two[1]));
    KOKKOS_IF_ON_DEVICE((return __any_sync(0xffffffffU, mine) != 0;))
    KOKKOS_IF_ON_HOST((return mine;))
  }
};

/// Walks a piece by matrix instructions. Lane (g, t) = (l / 4, l mod 4) keeps of eight rows row g,
/// and asks for vector g mod 4 of x: for shared slots at places 8 i + t, or where g >= 4 at 8 i + 4
/// + t, so that the products of the first four vectors belong to the upper eight of sixteen rows
/// and those of the others to the lower eight, which are the same rows at those places. What else
/// the instruction adds up nobody reads. For pairs it is the halves' columns of one place.
///
/// Two shared slots or one of pairs at a time: x is asked for, then what comes after, and only then
/// are products added. Registers are short, so what is used once a piece is read again and not
/// kept. `origin` is where the sums of row g and vectors 2 (t mod 2) and the next begin, where sums
/// are order-free; then the chains are put by before they leave their range.
template <class Sum, class Value>
class matrix_walk {
 public:
  __device__ matrix_walk(int lane, paired_rows<Value> const& matrix, paired_piece const* piece,
                         void const* x, double const (&origin)[2])
      : matrix_(matrix), piece_(piece), lane_(unsigned(lane)), origin_{origin[0], origin[1]} {
    x_ = backend::detail::kept_address(static_cast<double const*>(x) + lane_ / 4 % 4);
  }

  /// The sums of the piece.
  __device__ __forceinline__ matrix_sums sums() {
    double chains[4] = {origin_[0], origin_[1], origin_[0], origin_[1]};
    std::int32_t left = load_in_turn(&piece_->count);
    if (left > 0) {
      go_to(matrix_.shared.values, load_in_turn(&piece_->first));
      ask_shared(left > 1);
    } else {
      go_to_pairs();
      ask_pairs();
    }
#pragma unroll 1
    for (; left > 0; left -= 2) {
      double x[8];
      ask_x(x, lane_ % 4 + 4 * (lane_ / 16), base_[1]);
      std::uint32_t now[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        now[i] = value_[i];
      }
      if (left > 2) {
        ask_shared(left > 3);
      } else if (load_in_turn(&piece_->pairs.count) > 0) {
        go_to_pairs();
        ask_pairs();
      }
#pragma unroll
      for (int i = 0; i < 8; i += 2) {
        double a[4];
        widen(now[i], a[0], a[1]);
        widen(now[i + 1], a[2], a[3]);
        double const b[2] = {Sum::prepared(x[i]), Sum::prepared(x[i + 1])};
        backend::detail::multiply_add(chains, a, b);
      }
      if constexpr (Sum::is_order_free) {
        bool const upper = lane_ % 4 < 2;
        put_by(upper ? chains[0] : chains[2], upper ? chains[1] : chains[3]);
        chains[0] = chains[2] = origin_[0];
        chains[1] = chains[3] = origin_[1];
      }
    }
    double of_pairs[2] = {origin_[0], origin_[1]};
#pragma unroll 1
    for (left = load_in_turn(&piece_->pairs.count); left > 0; --left) {
      double x[8];
      ask_x(x, 2 * (lane_ % 4) + lane_ / 16, base_[0]);
      std::uint32_t now[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        now[i] = value_[i];
      }
      if (left > 1) {
        ask_pairs();
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        double a[2];
        widen(now[i], a[0], a[1]);
        backend::detail::multiply_add(of_pairs, a[0], Sum::prepared(x[2 * i]));
        backend::detail::multiply_add(of_pairs, a[1], Sum::prepared(x[2 * i + 1]));
      }
      if constexpr (Sum::is_order_free) {
        // Those of the row's own half.
        bool const mine = (lane_ < 16) == (lane_ % 4 < 2);
        put_by(mine ? of_pairs[0] : origin_[0], mine ? of_pairs[1] : origin_[1]);
        of_pairs[0] = origin_[0];
        of_pairs[1] = origin_[1];
      }
    }
    matrix_sums result{int(lane_), {}};
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if constexpr (Sum::is_order_free) {
        result.two[k] = total_[k] + __shfl_xor_sync(0xffffffffU, total_[k], 2);
      } else {
        double const second = __shfl_xor_sync(0xffffffffU, chains[2 + k], 2);
        double const theirs = __shfl_xor_sync(0xffffffffU, of_pairs[k], 2);
        result.two[k] = (chains[k] + second) + (lane_ < 16 ? of_pairs[k] : theirs);
      }
    }
    return result;
  }

 private:
  template <class T>
  __device__ __forceinline__ static auto load_in_turn(T const* p) {
    return backend::detail::load_in_turn(p);
  }
  /// Two values of a lane's row, at places t and 4 + t of eight.
  __device__ __forceinline__ static void widen(std::uint32_t two, double& first, double& second) {
    backend::detail::widen_two<Value>(backend::detail::transposed(two), first, second);
  }

  /// Of eight places a lane reads the 32 bits that have them so when transposed.
  __device__ __forceinline__ void go_to(entry<Value, 8> const* values, std::int64_t slot) {
    // A slot takes 580 bytes or more: no GPU's memory has 2^31 of them.
    slot_ = unsigned(slot);
    unsigned const word = 4 * (lane_ / 8 + 4 * (lane_ / 4 % 2)) + lane_ % 4;
    values_ = backend::detail::kept_address(reinterpret_cast<std::uint32_t const*>(values) +
                                            (128 * slot + word));
  }
  __device__ __forceinline__ void go_to_pairs() {
    go_to(matrix_.values, load_in_turn(&piece_->pairs.first));
  }
  __device__ __forceinline__ void ask_shared(bool two) {
    auto const* const offsets = matrix_.shared.offsets + (32 * std::uint64_t(slot_) + lane_);
    auto const* const bases =
        reinterpret_cast<std::int32_t const*>(matrix_.shared.bases) + std::uint64_t(slot_);
    offset_[0] = load_in_turn(offsets);
    base_[0] = load_in_turn(bases);
    offset_[1] = load_in_turn(offsets + 32 * two);
    base_[1] = load_in_turn(bases + two);
    slot_ += 2;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      value_[i] = i < 4 || two ? backend::detail::load_once_in_turn(values_ + 32 * i) : 0U;
    }
    values_ += 256;
  }
  __device__ __forceinline__ void ask_pairs() {
    auto const* const offsets = reinterpret_cast<std::uint16_t const*>(matrix_.offsets) +
                                (64 * std::uint64_t(slot_) + lane_);
    offset_[0] = load_in_turn(offsets);
    offset_[1] = load_in_turn(offsets + 32);
    base_[0] = load_in_turn(reinterpret_cast<std::int32_t const*>(matrix_.bases) +
                            std::uint64_t(2 * slot_ + lane_ / 16));
    slot_ += 1;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      value_[i] = backend::detail::load_once_in_turn(values_ + 32 * i);
    }
    values_ += 128;
  }
  /// x at the places whose offsets lanes `from`, from + 8, + 16, + 24 have: four for each of two.
  __device__ __forceinline__ void ask_x(double (&x)[8], unsigned from, std::int32_t second) const {
    std::uint32_t const both = offset_[0] | offset_[1] << 16U;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      std::uint32_t const two = __shfl_sync(0xffffffffU, both, int(from) + 8 * i);
      x[i] = at_column((two & 0xffffU) + std::uint32_t(base_[0]));
      x[4 + i] = at_column((two >> 16U) + std::uint32_t(second));
    }
  }
  __device__ __forceinline__ double at_column(std::uint32_t column) const {
    return load_in_turn(x_ + std::uint64_t(column) * 4);
  }
  __device__ __forceinline__ void put_by(double sum, double next) {
    total_[0] += sum - origin_[0];
    total_[1] += next - origin_[1];
  }

  paired_rows<Value> const& matrix_;
  paired_piece const* piece_;
  unsigned lane_;
  double origin_[2];
  double total_[2] = {0, 0};
  double const* x_;
  std::uint32_t const* values_ = nullptr;
  unsigned slot_ = 0;
  std::uint32_t offset_[2];
  std::int32_t base_[2];
  std::uint32_t value_[8];
};
#endif

}  // namespace iso::sparse::detail
