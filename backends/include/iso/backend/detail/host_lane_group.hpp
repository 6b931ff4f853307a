// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_BACKEND_DETAIL_HOST_LANE_GROUP_HPP
#define ISO_BACKEND_DETAIL_HOST_LANE_GROUP_HPP

#include <iso/backend/detail/host_team.hpp>
#include <iso/backend/detail/lane_part.hpp>
#include <iso/backend/detail/lanes_scalar.hpp>
#include <iso/backend/host_vectors.hpp>

#if defined(__x86_64__)
#include <iso/backend/detail/lanes_avx2.hpp>
#include <iso/backend/detail/lanes_avx512.hpp>
#endif

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::backend::ISO_SET {

/// Thirty-two lanes of one work item, in arrays between operations and in registers of `Isa` within
/// them: on processors, and with scalar_lanes on any execution space of Kokkos.
template <class Isa>
class array_lane_group {
 public:
  using isa = Isa;

  /// The values that the lanes keep between operations, `Rows` each: a value of its own for every
  /// lane, at [lane] or at (row, lane).
  template <class T, int Rows = 1>
  class lane_array {
   public:
    lane_array() = default;
    KOKKOS_FUNCTION lane_array(T x) {
      for (T& value : value_) {
        value = x;
      }
    }
    KOKKOS_FORCEINLINE_FUNCTION T& operator[](int lane) { return value_[lane]; }
    KOKKOS_FORCEINLINE_FUNCTION T const& operator[](int lane) const { return value_[lane]; }
    KOKKOS_FORCEINLINE_FUNCTION T& operator()(int row, int lane) { return value_[32 * row + lane]; }
    KOKKOS_FORCEINLINE_FUNCTION T const& operator()(int row, int lane) const {
      return value_[32 * row + lane];
    }
    KOKKOS_FORCEINLINE_FUNCTION T* data() { return value_; }
    KOKKOS_FORCEINLINE_FUNCTION T const* data() const { return value_; }

   private:
    alignas(64) T value_[32 * Rows];
  };

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(F&& f) const {
#pragma GCC ivdep
    for (int lane = 0; lane < 32; ++lane) {
      f(lane);
    }
  }

  /// Does the same for what lanes do to one another's data, as adding to a team's words.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each_in_turn(F&& f) const {
    for (int lane = 0; lane < 32; ++lane) {
      f(lane);
    }
  }

  template <class Index, class F>
  KOKKOS_FORCEINLINE_FUNCTION void strided(Index begin, Index end, F&& f) const {
    Index i = begin;
    for (; i + 32 <= end; i += 32) {
#pragma GCC ivdep
      for (int lane = 0; lane < 32; ++lane) {
        f(lane, i + Index(lane));
      }
    }
    for (int lane = 0; i + Index(lane) < end; ++lane) {
      f(lane, i + Index(lane));
    }
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T sum(lane_array<T> const& x) const {
    lane_array<T> partial = x;
    for (int offset = 16; offset > 0; offset /= 2) {
      for (int lane = 0; lane < offset; ++lane) {
        partial[lane] = partial[lane] + partial[lane + offset];
      }
    }
    return partial[0];
  }

  KOKKOS_FORCEINLINE_FUNCTION bool any(lane_array<bool> const& x) const {
    bool found = false;
    for (int lane = 0; lane < 32; ++lane) {
      found |= x[lane];
    }
    return found;
  }

  /// Returns the smallest and largest of all lanes.
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t lowest(lane_array<std::int32_t> const& x) const {
    std::int32_t least = x[0];
    for (int lane = 1; lane < 32; ++lane) {
      least = x[lane] < least ? x[lane] : least;
    }
    return least;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T highest(lane_array<T> const& x) const {
    T most = x[0];
    for (int lane = 1; lane < 32; ++lane) {
      most = x[lane] > most ? x[lane] : most;
    }
    return most;
  }

  /// Returns a mask whose bit l is x of lane l.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t mask(lane_array<bool> const& x) const {
    std::uint32_t bits = 0;
    for (int lane = 0; lane < 32; ++lane) {
      bits |= std::uint32_t(x[lane]) << lane;
    }
    return bits;
  }

  /// Returns x, which is the same in all lanes.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T uniform(T x) {
    return x;
  }

  /// An array of `N` values that all lanes read and write.
  template <class T, int N, bool Uniform = false>
  class shared_array {
   public:
    KOKKOS_FUNCTION explicit shared_array(array_lane_group const&) {}
    KOKKOS_FORCEINLINE_FUNCTION T& operator[](int n) { return values_[n]; }
    KOKKOS_FORCEINLINE_FUNCTION T const& operator[](int n) const { return values_[n]; }

   private:
    alignas(64) T values_[N];
  };
  KOKKOS_FORCEINLINE_FUNCTION static void sync() {}

  /// Calls f once for the group, for what it writes once.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void once(F&& f) const {
    f();
  }

  /// Does nothing: on a processor a launch begins when the one before it has ended.
  KOKKOS_FORCEINLINE_FUNCTION static void trigger_dependent_launch() {}
  KOKKOS_FORCEINLINE_FUNCTION static void wait_for_previous_launch() {}

  /// A register of `Count` lanes.
  template <int Count>
  using part = lane_part<Isa, Count, Count>;
  /// Calls f(part) for parts of the 32 `rows` lanes, rows at most Rows, whose values take
  /// `Registers` registers of T each.
  template <class T, int Registers, int Rows = 1, class F>
  KOKKOS_FORCEINLINE_FUNCTION static void parts(int rows, F const& f) {
    constexpr int width = Isa::template width<T>;
    constexpr int count = Registers * width < 32 ? Registers * width : 32;
    for (int first = 0; first < 32 * rows; first += count) {
      f(lane_part<Isa, count, width>{first});
    }
  }
  template <class T, int Registers, class F>
  KOKKOS_FORCEINLINE_FUNCTION static void parts(F const& f) {
    parts<T, Registers>(1, f);
  }
  /// True where a part picks neighbouring places out of registers.
  static constexpr bool has_windows = Isa::template width<float> > 1;

  /// Splits z >= 0 into its integer part, biased by index_bias, and the rest. A form whose
  /// index_bias is not zero splits any z, of less than 2^22, into its floor and the rest.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void split(T z, std::uint32_t& whole, T& rest) {
    auto const truncated = std::int32_t(z);
    whole = std::uint32_t(truncated);
    rest = z - T(truncated);
  }
  /// Splits any z of less than 2^31 into its floor and the rest.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void split_signed(T z, std::int32_t& whole, T& rest) {
    T const down = Kokkos::floor(z);
    whole = std::int32_t(down);
    rest = z - down;
  }
  template <class T>
  static constexpr std::uint32_t index_bias = 0;

  /// The place of something in memory.
  template <class T>
  using address = T const*;
  template <class T>
  using near_address = T const*;
  /// Returns p, moved on by count times `bytes`.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T const* moved(T const* p, std::uint32_t count,
                                                    std::uint32_t bytes) {
    return reinterpret_cast<T const*>(reinterpret_cast<char const*>(p) +
                                      std::uint64_t(count) * bytes);
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T const* moved_by(T const* p, std::uint64_t bytes) {
    return reinterpret_cast<T const*>(reinterpret_cast<char const*>(p) + bytes);
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T const* near_to(T const* p, T const*) {
    return p;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static bool near(T const*, T const*) {
    return true;
  }
};

/// The group of this set's registers.
using lane_group = array_lane_group<native_lanes>;

/// Runs a kernel for one index: with a lane group, or with a team of one (iso/backend/team.hpp).
template <class Kernel>
KOKKOS_FUNCTION void run_one(Kernel const& kernel, std::int64_t index) {
  if constexpr (detail::runs_by_teams<Kernel>) {
    kernel(host_team<lane_group, Kernel::team_words>(), index);
  } else {
    kernel(lane_group(), index);
  }
}

/// Runs the kernel at `kernel` for one index. It has the target of the set, and so can inline what
/// the kernel calls.
template <class Kernel>
void run_kernel(void const* kernel, std::int64_t index) {
  run_one(*static_cast<Kernel const*>(kernel), index);
}

}  // namespace iso::backend::ISO_SET

#endif
