// SPDX-License-Identifier: BSD-3-Clause
//! Adds a Joseph ray's samples: in blocks of planes, or reproducibly.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_RAY_SUM_HPP
#define ISO_CT_DETAIL_RAY_SUM_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/reproducible.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// The number of driving planes of one block. A ray's ordered sum adds its samples block by block,
/// plane by plane from low to high, and then the blocks' sums from low to high.
inline constexpr std::int32_t block_planes = 64;

/// What reproducible sums of a volume's samples want.
template <class T>
struct ray_sum_scale {
  reproducible_scale<T> scale;
  bool all_finite;  ///< no sample can be infinite or NaN; false where that is not known
};

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/ray_sum.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// A single ray on its own, for kernels whose lanes do not run in step: a group of one lane.
struct single_lane {
  template <class T, int Rows = 1>
  class lane_array {
   public:
    KOKKOS_FUNCTION T& operator()(int, int) { return value_; }
    KOKKOS_FUNCTION T const& operator()(int, int) const { return value_; }
    KOKKOS_FUNCTION T* data() { return &value_; }
    KOKKOS_FUNCTION T const* data() const { return &value_; }

   private:
    T value_;
  };
  using part = backend::one_lane_part;
};

/// The ordered sums of `Rows` rows of lanes.
template <class T>
class ordered_sum {
 public:
  ISO_KERNEL(ordered_sum<T>);
  static constexpr bool keeps_flags = false;

  template <class Group, int Rows>
  struct state {
    typename Group::template lane_array<T, Rows> block;
    typename Group::template lane_array<T, Rows> total;
  };
  /// A part's sums while samples are added.
  template <class Part>
  struct running {
    typename Part::template per_lane<T> block;

    template <class State>
    KOKKOS_FORCEINLINE_FUNCTION running(ordered_sum const&, Part const& part, State const& s)
        : block(part.load(s.block)) {}
    template <bool Finite>
    KOKKOS_FORCEINLINE_FUNCTION void add(typename Part::template per_lane<T> const& sample) {
      block = block + sample;
    }
    /// Stores sums after `count` additions.
    template <class State>
    KOKKOS_FORCEINLINE_FUNCTION void store(Part const& part, State& s, std::int32_t) const {
      part.store(s.block, block);
    }
  };
  explicit KOKKOS_FUNCTION ordered_sum(ray_sum_scale<T> const*) {}

  /// Begins with what the slab before left in the output.
  KOKKOS_FORCEINLINE_FUNCTION void start(auto& s, int row, int lane, T carried) const {
    s.block(row, lane) = 0;
    s.total(row, lane) = carried;
  }
  /// Returns whether every sample is known to be finite: then `add` need not look (`Finite`).
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static constexpr bool all_finite() { return true; }
  KOKKOS_FORCEINLINE_FUNCTION void end_block(auto& s, int row, int lane) const {
    s.total(row, lane) = s.total(row, lane) + s.block(row, lane);
    s.block(row, lane) = 0;
  }
  /// Returns what the output keeps for the next slab.
  KOKKOS_FORCEINLINE_FUNCTION T carried(auto const& s, int row, int lane) const {
    return s.total(row, lane);
  }
  /// Takes up what another walk through the next block left.
  KOKKOS_FORCEINLINE_FUNCTION void join(auto& s, T carried) const {
    s.total(0, 0) = s.total(0, 0) + carried;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool flagged(auto const&, int, int) const { return false; }
  KOKKOS_FORCEINLINE_FUNCTION T value(auto const& s, int row, int lane) const {
    return s.total(row, lane);
  }
};

/// The same sums, reproducible (iso/core/reproducible.hpp).
template <class T>
class reproducible_sum {
 public:
  ISO_KERNEL(reproducible_sum<T>);
  static constexpr bool keeps_flags = true;

  using word = bits_of<T>;
  template <class Group, int Rows>
  struct state {
    typename Group::template lane_array<word, Rows> sum;
    typename Group::template lane_array<word, Rows> flags;
  };
  template <class Part>
  struct running {
    using value = typename Part::template per_lane<T>;
    using words = typename Part::template per_lane<word>;
    words sum;
    words flags;
    value scale;
    reproducible_scale<T> const& grid;

    template <class State>
    KOKKOS_FORCEINLINE_FUNCTION running(reproducible_sum const& of, Part const& part,
                                        State const& s)
        : sum(part.load(s.sum)),
          flags(part.load(s.flags)),
          scale(of.scale_.scale()),
          grid(of.scale_) {}
    template <bool Finite>
    KOKKOS_FORCEINLINE_FUNCTION void add(value const& sample) {
      words const term =
          backend::bit_cast<word>(fma(sample, scale, value(T(reproducible_scale<T>::rounder))));
      sum = sum + term;
      if constexpr (!Finite) {
        flags = flags | term;
      }
    }
    /// Stores sums after `count` additions: takes off their rounding constants.
    template <class State>
    KOKKOS_FORCEINLINE_FUNCTION void store(Part const& part, State& s, std::int32_t count) const {
      part.store(s.sum, sum - words(word(0) - grid.without_rounder(word(0), word(count))));
      part.store(s.flags, flags);
    }
  };
  explicit KOKKOS_FUNCTION reproducible_sum(ray_sum_scale<T> const* scale)
      : scale_(scale->scale), all_finite_(scale->all_finite) {}

  KOKKOS_FORCEINLINE_FUNCTION void start(auto& s, int row, int lane, T carried) const {
    s.sum(row, lane) = Kokkos::bit_cast<word>(carried);
    s.flags(row, lane) = 0;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool all_finite() const { return all_finite_; }
  KOKKOS_FORCEINLINE_FUNCTION void end_block(auto&, int, int) const {}
  KOKKOS_FORCEINLINE_FUNCTION T carried(auto const& s, int row, int lane) const {
    return Kokkos::bit_cast<T>(s.sum(row, lane));
  }
  KOKKOS_FORCEINLINE_FUNCTION void join(auto& s, T carried) const {
    s.sum(0, 0) += Kokkos::bit_cast<word>(carried);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool flagged(auto const& s, int row, int lane) const {
    return scale_.flagged(s.flags(row, lane));
  }
  KOKKOS_FORCEINLINE_FUNCTION T value(auto const& s, int row, int lane) const {
    return scale_.value(s.sum(row, lane));
  }

 private:
  reproducible_scale<T> scale_;
  bool all_finite_;
};

}  // namespace iso::ct::detail::ISO_SET

#endif
