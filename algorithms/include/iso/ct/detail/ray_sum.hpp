// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/order_free.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Driving planes of one block. A ray's ordered sum adds its samples block by block, plane by plane
/// from low to high, and then the blocks' sums from low to high.
inline constexpr std::int32_t block_planes = 64;

/// A single ray on its own, for kernels whose lanes do not run in step.
struct single_lane {
  template <class T>
  class per_lane {
   public:
    KOKKOS_FUNCTION T& operator[](int) { return value_; }
    KOKKOS_FUNCTION T const& operator[](int) const { return value_; }

   private:
    T value_;
  };
};

/// What order-free sums of a volume's samples want.
template <class T>
struct ray_sum_scale {
  order_free_scale<T> scale;
  bool all_finite;  ///< no sample can be infinite or NaN; false where that is not known
};

/// The lanes' ordered sums.
template <class T>
class ordered_sum {
 public:
  static constexpr bool keeps_flags = false;

  template <class Group>
  struct state {
    typename Group::template per_lane<T> block;
    typename Group::template per_lane<T> total;
  };
  explicit KOKKOS_FUNCTION ordered_sum(ray_sum_scale<T> const*) {}

  /// Begins with what the slab before left in the output.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void start(state<Group>& s, int lane, T carried) const {
    s.block[lane] = 0;
    s.total[lane] = carried;
  }
  /// Whether every sample is known to be finite: then `add` need not look (`Finite`).
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static constexpr bool all_finite() { return true; }
  template <bool Finite = false, class Group>
  KOKKOS_FORCEINLINE_FUNCTION void add(state<Group>& s, int lane, T sample) const {
    s.block[lane] = s.block[lane] + sample;
  }
  /// For a group that walks columns by itself.
  template <class Group>
  [[nodiscard]] backend::detail::ordered_lanes<T> lanes(state<Group>& s) const {
    return {&s.block[0]};
  }
  /// To be called after each run of `count` additions.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void added(state<Group>&, int, std::int32_t) const {}
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void end_block(state<Group>& s, int lane) const {
    s.total[lane] = s.total[lane] + s.block[lane];
    s.block[lane] = 0;
  }
  /// What the output keeps for the next slab.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION T carried(state<Group> const& s, int lane) const {
    return s.total[lane];
  }
  /// Takes up what another walk through the next block left.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void join(state<Group>& s, int lane, T carried) const {
    s.total[lane] = s.total[lane] + carried;
  }
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION bool flagged(state<Group> const&, int) const {
    return false;
  }
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION T value(state<Group> const& s, int lane) const {
    return s.total[lane];
  }
};

/// The lanes' order-free sums (iso/core/order_free.hpp).
template <class T>
class order_free_sum {
 public:
  static constexpr bool keeps_flags = true;

  using word = bits_of<T>;
  template <class Group>
  struct state {
    typename Group::template per_lane<word> sum;
    typename Group::template per_lane<word> flags;
  };
  explicit KOKKOS_FUNCTION order_free_sum(ray_sum_scale<T> const* scale)
      : scale_(scale->scale), all_finite_(scale->all_finite) {}

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void start(state<Group>& s, int lane, T carried) const {
    s.sum[lane] = Kokkos::bit_cast<word>(carried);
    s.flags[lane] = 0;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool all_finite() const { return all_finite_; }
  template <bool Finite = false, class Group>
  KOKKOS_FORCEINLINE_FUNCTION void add(state<Group>& s, int lane, T sample) const {
    word const term = scale_.round(sample);
    s.sum[lane] += term;
    if constexpr (!Finite) {
      s.flags[lane] |= term;
    }
  }
  /// For a group that walks columns by itself.
  template <class Group>
  [[nodiscard]] backend::detail::order_free_lanes<T, word> lanes(state<Group>& s) const {
    return {&s.sum[0], &s.flags[0], scale_.scale(), order_free_scale<T>::rounder};
  }
  /// To be called after each run of `count` additions: takes off their rounding constants.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void added(state<Group>& s, int lane, std::int32_t count) const {
    s.sum[lane] = scale_.without_rounder(s.sum[lane], word(count));
  }
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void end_block(state<Group>&, int) const {}
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION T carried(state<Group> const& s, int lane) const {
    return Kokkos::bit_cast<T>(s.sum[lane]);
  }
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void join(state<Group>& s, int lane, T carried) const {
    s.sum[lane] += Kokkos::bit_cast<word>(carried);
  }
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION bool flagged(state<Group> const& s, int lane) const {
    return scale_.flagged(s.flags[lane]);
  }
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION T value(state<Group> const& s, int lane) const {
    return scale_.value(s.sum[lane]);
  }

 private:
  order_free_scale<T> scale_;
  bool all_finite_;
};

}  // namespace iso::ct::detail
