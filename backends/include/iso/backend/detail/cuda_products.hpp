// SPDX-License-Identifier: BSD-3-Clause
//! Eight rows of a sparse matrix times four vectors, by the matrix instructions of a warp. Its sums
//! are three chains of fma each: of the places of shared slots, l of 32, to the first where l mod 8
//! < 4, else to the second; of those of pairs to the third.
#pragma once

#include <iso/backend/detail/cuda_matrix.hpp>
#include <iso/backend/detail/narrow_products.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::backend::detail {

/// Of the shared slots and those of pairs, which where not `HasPairs` are none; for code that runs
/// where Group::multiplies_matrices holds.
template <narrow Kind, lane_sums Sums, class Offset, bool HasPairs>
class matrix_walk;

#ifdef ISO_CUDA_MULTIPLIES_MATRICES
/// The sums that a warp's matrix instructions have made: lane l has two of row l / 4 where l mod 4
/// is below 2.
struct eight_row_sums {
  int lane;
  double two[2];

  /// f(4 row + vector, sum) for each, on one lane.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(F&& f) const {
    if (lane % 4 < 2) {
      int const n = 4 * (lane / 4) + 2 * (lane % 4);
      f(n, two[0]);
      f(n + 1, two[1]);
    }
  }
  /// Whether f(sum) holds for some.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION bool any(F&& f) const {
    bool const mine = lane % 4 < 2 && (f(two[0]) || f(two[1]));
    KOKKOS_IF_ON_DEVICE((return __any_sync(0xffffffffU, mine) != 0;))
    KOKKOS_IF_ON_HOST((return mine;))
  }
};

/// Lane (g, t) = (l / 4, l mod 4) keeps of eight rows row g, and asks for vector g mod 4 of x: for
/// shared slots at places 8 i + t, or where g >= 4 at 8 i + 4 + t, so that the products of the
/// first four vectors belong to the upper eight of sixteen rows and those of the others to the
/// lower eight, which are the same rows at those places. What else the instruction adds up nobody
/// reads. For pairs it is the halves' columns of one place.
///
/// Two shared slots or one of pairs at a time: x is asked for, then what comes after, and only then
/// are products added. Registers are short, so what is used once a piece is read again and not
/// kept. `origin` is where the sums of row g and vectors 2 (t mod 2) and the next begin, where
/// `exact`; then the chains are put by before they leave their range.
template <narrow Kind, lane_sums Sums, class Offset, bool HasPairs>
class matrix_walk {
 public:
  /// \param x  four vectors side by side
  __device__ matrix_walk(int lane, eight_row_slots<Offset> const& shared,
                         eight_row_slots<std::uint16_t> const& pairs, double const* x,
                         double const (&origin)[2])
      : shared_(shared), pairs_(pairs), lane_(unsigned(lane)), origin_{origin[0], origin[1]} {
    x_ = cuda_lane_group::kept_address(x + lane_ / 4 % 4);
  }

  /// The sums of the piece.
  __device__ __forceinline__ eight_row_sums sums() {
    double chains[4] = {origin_[0], origin_[1], origin_[0], origin_[1]};
    std::int32_t left = load_in_turn(shared_.count);
    if (!HasPairs || left > 0) {
      go_to(shared_, load_in_turn(shared_.first));
      ask_shared(left > 1);
    } else {
      ask_first_pairs();
    }
#pragma unroll 1
    for (; left > 0; left -= 2) {
      double x[8];
      ask_x_of_shared(x);
      std::uint32_t now[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        now[i] = value_[i];
      }
      if (left > 2) {
        ask_shared(left > 3);
      } else if (num_pairs() > 0) {
        ask_first_pairs();
      }
#pragma unroll
      for (int i = 0; i < 8; i += 2) {
        double a[4];
        widen(now[i], a[0], a[1]);
        widen(now[i + 1], a[2], a[3]);
        double const b[2] = {prepared(x[i]), prepared(x[i + 1])};
        multiply_add(chains, a, b);
      }
      if constexpr (is_exact) {
        bool const upper = lane_ % 4 < 2;
        put_by(upper ? chains[0] : chains[2], upper ? chains[1] : chains[3]);
        chains[0] = chains[2] = origin_[0];
        chains[1] = chains[3] = origin_[1];
      }
    }
    double of_pairs[2] = {origin_[0], origin_[1]};
#pragma unroll 1
    for (left = num_pairs(); HasPairs && left > 0; --left) {
      double x[8];
      ask_x(x, 2 * (lane_ % 4) + lane_ / 16, base_[0], base_[0]);
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
        multiply_add(of_pairs, a[0], prepared(x[2 * i]));
        multiply_add(of_pairs, a[1], prepared(x[2 * i + 1]));
      }
      if constexpr (is_exact) {
        // Those of the row's own half.
        bool const mine = (lane_ < 16) == (lane_ % 4 < 2);
        put_by(mine ? of_pairs[0] : origin_[0], mine ? of_pairs[1] : origin_[1]);
        of_pairs[0] = origin_[0];
        of_pairs[1] = origin_[1];
      }
    }
    eight_row_sums result{int(lane_), {}};
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if constexpr (is_exact) {
        result.two[k] = total_[k] + __shfl_xor_sync(0xffffffffU, total_[k], 2);
      } else {
        result.two[k] = chains[k] + __shfl_xor_sync(0xffffffffU, chains[2 + k], 2);
        if constexpr (HasPairs) {
          double const theirs = __shfl_xor_sync(0xffffffffU, of_pairs[k], 2);
          result.two[k] += lane_ < 16 ? of_pairs[k] : theirs;
        }
      }
    }
    return result;
  }

 private:
  static constexpr bool is_exact = Sums == lane_sums::exact;
  static constexpr bool has_jumps = std::is_same_v<Offset, std::uint8_t>;

  __device__ __forceinline__ static double prepared(double x) {
    return is_exact ? __longlong_as_double(__double_as_longlong(x) | 1) : x;
  }
  /// Two values of a lane's row, at places t and 4 + t of eight.
  __device__ __forceinline__ static void widen(std::uint32_t two, double& first, double& second) {
    widen_two<Kind>(transposed(two), first, second);
  }

  __device__ __forceinline__ std::int32_t num_pairs() const {
    if constexpr (HasPairs) {
      return load_in_turn(pairs_.count);
    } else {
      return 0;
    }
  }
  /// Of eight places a lane reads the 32 bits that have them so when transposed.
  template <class Slots>
  __device__ __forceinline__ void go_to(Slots const& slots, std::int64_t slot) {
    // A slot takes 552 bytes or more: no GPU's memory has 2^31 of them.
    slot_ = unsigned(slot);
    unsigned const word = 4 * (lane_ / 8 + 4 * (lane_ / 4 % 2)) + lane_ % 4;
    values_ = cuda_lane_group::kept_address(reinterpret_cast<std::uint32_t const*>(slots.values) +
                                            (128 * slot + word));
  }
  __device__ __forceinline__ void ask_shared(bool two) {
    auto const* const offsets = shared_.offsets + (32 * std::uint64_t(slot_) + lane_);
    auto const* const bases = shared_.bases + (has_jumps ? 2 : 1) * std::uint64_t(slot_);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      bool const further = i == 1 && two;
      offset_[i] = load_in_turn(offsets + 32 * further);
      base_[i] = load_in_turn(bases + (has_jumps ? 2 : 1) * further);
      if constexpr (has_jumps) {
        jump_[i] = std::uint32_t(load_in_turn(bases + 2 * further + 1));
      }
    }
    slot_ += 2;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      value_[i] = i < 4 || two ? load_once_in_turn(values_ + 32 * i) : 0U;
    }
    values_ += 256;
  }
  __device__ __forceinline__ void ask_first_pairs() {
    go_to(pairs_, load_in_turn(pairs_.first));
    ask_pairs();
  }
  __device__ __forceinline__ void ask_pairs() {
    auto const* const offsets = pairs_.offsets + (64 * std::uint64_t(slot_) + lane_);
    offset_[0] = load_in_turn(offsets);
    offset_[1] = load_in_turn(offsets + 32);
    base_[0] = load_in_turn(pairs_.bases + std::uint64_t(2 * slot_ + lane_ / 16));
    slot_ += 1;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      value_[i] = load_once_in_turn(values_ + 32 * i);
    }
    values_ += 128;
  }
  __device__ __forceinline__ void ask_x_of_shared(double (&x)[8]) const {
    unsigned const from = lane_ % 4 + 4 * (lane_ / 16);
    if constexpr (has_jumps) {
      std::uint32_t column[2];
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        std::uint32_t const further = lane_ >= jump_[s] % 32 ? jump_[s] / 32 : 0;
        column[s] = std::uint32_t(base_[s]) + further + offset_[s];
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        x[i] = at_column(__shfl_sync(0xffffffffU, column[i / 4], int(from) + 8 * (i % 4)));
      }
    } else {
      ask_x(x, from, base_[0], base_[1]);
    }
  }
  /// x at the places whose 16-bit offsets lanes `from`, from + 8, + 16, + 24 have: four for each
  /// of two.
  __device__ __forceinline__ void ask_x(double (&x)[8], unsigned from, std::int32_t first,
                                        std::int32_t second) const {
    std::uint32_t const both = offset_[0] | offset_[1] << 16U;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      std::uint32_t const two = __shfl_sync(0xffffffffU, both, int(from) + 8 * i);
      x[i] = at_column((two & 0xffffU) + std::uint32_t(first));
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

  eight_row_slots<Offset> const& shared_;
  eight_row_slots<std::uint16_t> const& pairs_;
  unsigned lane_;
  double origin_[2];
  double total_[2] = {0, 0};
  double const* x_;
  std::uint32_t const* values_ = nullptr;
  unsigned slot_ = 0;
  std::uint32_t offset_[2];
  std::int32_t base_[2];
  std::uint32_t jump_[2];
  std::uint32_t value_[8];
};
#endif

}  // namespace iso::backend::detail
