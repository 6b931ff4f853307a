// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/backend/detail/cuda_address.hpp>
#include <iso/backend/detail/cuda_lane_part.hpp>
#include <iso/backend/lane_value.hpp>
#include <iso/backend/loads.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::backend::detail {

template <class Exec>
inline constexpr bool is_cuda = false;
/// Tells whether `Exec` has threads of a processor, whose vector registers lane groups use.
template <class Exec>
inline constexpr bool is_processor = std::is_same_v<Exec, Kokkos::Serial>;
#if ISO_HAS_OPENMP
template <>
inline constexpr bool is_processor<Kokkos::OpenMP> = true;
#endif

// From Hopper on; both sides of a launch must have been compiled for it.
#if ISO_HAS_CUDA && (defined(KOKKOS_ARCH_HOPPER) || defined(KOKKOS_ARCH_BLACKWELL))
#define ISO_CUDA_LAUNCHES_EARLY
#endif

#if ISO_HAS_CUDA
template <>
inline constexpr bool is_cuda<Kokkos::Cuda> = true;

/// Holds the sums that a warp has made, shared out over its lanes.
template <class T, int Count>
struct group_sums {
  int lane;
  T value;

  /// Calls f(n, sum n) for every n, each on one lane.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(F&& f) const {
    if (lane % (32 / Count) == 0) {
      f(lane / (32 / Count), value);
    }
  }
  /// Returns whether f(sum n) holds for some n.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION bool any(F&& f) const {
    KOKKOS_IF_ON_DEVICE((return __any_sync(0xffffffffU, f(value)) != 0;))
    KOKKOS_IF_ON_HOST((return f(value);))
  }
};

/// Represents a warp of a block of `Threads`. What a lane keeps is a register, so that indexing it
/// costs nothing.
template <unsigned Threads>
class cuda_lane_group {
 public:
  /// Holds what a lane keeps between operations, `Rows` values: as in array_lane_group.
  template <class T, int Rows = 1>
  class lane_array {
   public:
    lane_array() = default;
    KOKKOS_FUNCTION lane_array(T x) {
      for (T& value : value_) {
        value = x;
      }
    }
    KOKKOS_FORCEINLINE_FUNCTION T& operator[](int) { return value_[0]; }
    KOKKOS_FORCEINLINE_FUNCTION T const& operator[](int) const { return value_[0]; }
    KOKKOS_FORCEINLINE_FUNCTION T& operator()(int row, int) { return value_[row]; }
    KOKKOS_FORCEINLINE_FUNCTION T const& operator()(int row, int) const { return value_[row]; }

   private:
    T value_[Rows];
  };

  /// Represents a lane of each of `Rows` rows.
  template <int Rows>
  using part = cuda_lane_part<Rows>;
  /// Calls f(part) once, `rows` being Rows: all that this thread has.
  template <class T, int, int Rows = 1, class F>
  KOKKOS_FORCEINLINE_FUNCTION void parts(int, F const& f) const {
    f(part<Rows>(lane_));
  }
  template <class T, int Registers, class F>
  KOKKOS_FORCEINLINE_FUNCTION void parts(F const& f) const {
    parts<T, Registers, 1>(1, f);
  }
  template <class T, int N, class F>
  KOKKOS_FORCEINLINE_FUNCTION void parts_of_sums(F const& f) const {
    f(part<N>(lane_));
  }
  template <class T, int N>
  static constexpr bool sums_in_one_part = true;
  static constexpr bool has_windows = false;

  KOKKOS_FUNCTION explicit cuda_lane_group(int lane) : lane_(lane) {}

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(F&& f) const {
    f(lane_);
  }

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each_in_turn(F&& f) const {
    f(lane_);
  }

  template <class Index, class F>
  KOKKOS_FORCEINLINE_FUNCTION void strided(Index begin, Index end, F&& f) const {
    for (Index i = begin + Index(lane_); i < end; i += Index(32)) {
      f(lane_, i);
    }
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T sum(lane_array<T> const& x) const {
    T total = x[0];
    KOKKOS_IF_ON_DEVICE((for (int offset = 16; offset > 0; offset /= 2) {
      total = total + __shfl_xor_sync(0xffffffffU, total, offset);
    }))
    return total;
  }

  /// Returns the sums of `Count` numbers a lane, as parts_of_sums leaves them, each by the tree of
  /// `sum`, of f(number): every step halves the values that a lane still carries. Sum n ends in the
  /// lanes from 32 n / Count on.
  template <int Count, class T, class F>
  KOKKOS_FORCEINLINE_FUNCTION group_sums<T, Count> sums(lane_array<T, Count> const& x,
                                                        F const& f) const {
    static_assert(Count >= 1 && Count <= 32 && (Count & (Count - 1)) == 0,
                  "iso::backend: sums of 1, 2, 4, 8, 16 or 32 at once");
    T found[Count];
    ISO_EACH_REGISTER(int n = 0; n < Count; ++n) {
      found[n] = f(lane_value<T, lane_shape<scalar_lanes, 1, 1>>(x(n, lane_))).r[0];
    }
    return {lane_, halved<16>(found)};
  }

  KOKKOS_FORCEINLINE_FUNCTION bool any(lane_array<bool> const& x) const {
    KOKKOS_IF_ON_DEVICE((return __any_sync(0xffffffffU, x[0]) != 0;))
    KOKKOS_IF_ON_HOST((return x[0];))
  }

  /// Returns the smallest and largest of all lanes.
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t lowest(lane_array<std::int32_t> const& x) const {
    return -highest_of(-1 - x[0]) - 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t highest(lane_array<std::int32_t> const& x) const {
    return highest_of(x[0]);
  }

  /// Returns the largest of all lanes, of numbers that are none of NaN.
  KOKKOS_FORCEINLINE_FUNCTION double highest(lane_array<double> const& x) const {
    return highest_of(x[0]);
  }

  /// Returns a mask whose bit l is x of lane l.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t mask(lane_array<bool> const& x) const {
    KOKKOS_IF_ON_DEVICE((return __ballot_sync(0xffffffffU, x[0]);))
    KOKKOS_IF_ON_HOST((return x[0] ? 1U : 0U;))
  }

  /// Returns x, which is the same in all lanes, in a register that the compiler knows to be so:
  /// branches on it need no reconvergence. A vote or a load alone does not tell it.
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t uniform(std::uint32_t x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffU, x);
#else
    return x;
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::int32_t uniform(std::int32_t x) {
    return std::int32_t(uniform(std::uint32_t(x)));
  }

  /// Holds `N` values that all lanes read and write, in the multiprocessor's shared memory. One
  /// such array a kernel, whose `shared_bytes` are its size.
  template <class T, int N>
  class shared_array {
   public:
    KOKKOS_FUNCTION explicit shared_array(cuda_lane_group const&) : values_(nullptr) {
      KOKKOS_IF_ON_DEVICE((extern __shared__ uint4 iso_shared_memory[];
                           values_ = reinterpret_cast<T*>(iso_shared_memory) +
                                     uniform(std::uint32_t(threadIdx.x / 32)) * N;))
    }
    KOKKOS_FORCEINLINE_FUNCTION T& operator[](int n) const { return values_[n]; }

   private:
    T* values_;
  };
  /// Lets every lane see what the others wrote to a shared_array before it.
  KOKKOS_FORCEINLINE_FUNCTION static void sync() { KOKKOS_IF_ON_DEVICE((__syncwarp();)) }

  /// Calls f from one lane only, for what the group writes once.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void once(F&& f) const {
    if (lane_ == 0) {
      f();
    }
  }

  /// Holds what lanes find out for the whole group, in shared memory: as in array_lane_group.
  template <class Entry, int Count>
  class table {
   public:
    KOKKOS_FORCEINLINE_FUNCTION explicit table(cuda_lane_group const& group) : lane_(group.lane_) {
      static_assert(Count <= 32, "iso::backend: a table has an entry a lane at most");
      KOKKOS_IF_ON_DEVICE((__shared__ Entry entries[(Threads / 32) * Count];
                           entries_ = entries + threadIdx.x / 32 * Count;))
    }
    template <class F>
    KOKKOS_FORCEINLINE_FUNCTION int fill(int count, F const& f) const {
      KOKKOS_IF_ON_DEVICE(
          (__syncwarp(); Entry found; bool const keeps = lane_ < count && f(lane_, found);
           unsigned const kept = __ballot_sync(0xffffffffU, keeps);
           if (keeps) { entries_[__popc(kept & ((1U << lane_) - 1U))] = found; } __syncwarp();
           return __popc(kept);))
      KOKKOS_IF_ON_HOST((static_cast<void>(f); return count;))
    }
    KOKKOS_FORCEINLINE_FUNCTION Entry const& operator[](int n) const { return entries_[n]; }

   private:
    Entry* entries_;
    int lane_;
  };

  /// Lets the next launch of lane groups begin (`launch_dependency::programmatic`) once a group of
  /// every block of this one has called this or all of its groups have ended.
  KOKKOS_FORCEINLINE_FUNCTION static void trigger_dependent_launch() {
#ifdef ISO_CUDA_LAUNCHES_EARLY
    KOKKOS_IF_ON_DEVICE((asm volatile("griddepcontrol.launch_dependents;" :: : "memory");))
#endif
  }
  /// Waits for the end of all launches before this one, and sees what they wrote.
  KOKKOS_FORCEINLINE_FUNCTION static void wait_for_previous_launch() {
#ifdef ISO_CUDA_LAUNCHES_EARLY
    KOKKOS_IF_ON_DEVICE((asm volatile("griddepcontrol.wait;" :: : "memory");))
#endif
  }

  /// Represents an array that is walked 32 places a step: ask(step) loads the lane's. One pointer
  /// with the lane in it.
  template <class T, caching Caching = caching::cached>
  class stepped_array {
   public:
    KOKKOS_FUNCTION stepped_array(cuda_lane_group const& group, T const* array)
        : place_(array + group.lane_) {
      // The compiler, which does not see through this, keeps the sum instead of its parts.
      KOKKOS_IF_ON_DEVICE((asm("" : "+l"(place_)); __builtin_assume(__isGlobal(place_));))
    }
    /// Returns the same from `step` on: what is asked of it by constants costs no arithmetic.
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION stepped_array from(std::int32_t step) const {
      stepped_array later = *this;
      later.place_ += 32 * step;
      return later;
    }
    KOKKOS_FORCEINLINE_FUNCTION auto ask(std::int32_t step) const {
      T const* const p = place_ + 32 * step;
      if constexpr (Caching == caching::cached) {
        return T(*p);
      } else if constexpr (sizeof(T) < 4) {
        return streaming_load(p);
      } else {
        return streamed<T>(p);
      }
    }

   private:
    T const* place_;
  };

  /// Does nothing: other warps hide the wait.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void prefetch(T const*, std::int32_t) {}
  template <class T>
  static constexpr std::uint32_t index_bias = cuda_index_bias<T>;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void split(T z, std::uint32_t& whole, T& rest) {
    cuda_split(z, whole, rest);
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void split_signed(T z, std::int32_t& whole, T& rest) {
    cuda_split_signed(z, whole, rest);
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void split_floor(T z, std::uint32_t& whole, T& rest) {
    cuda_split(z, whole, rest);
  }

  template <class T>
  using address = cuda_address<T>;
  template <class T>
  using near_address = cuda_near_address<T>;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static near_address<T> near_to(address<T> const& a, T const* place) {
    return {a, place};
  }
  /// Returns whether no multiple of 4 GiB lies between `first` and `last`: then the upper halves of
  /// all addresses between them are one.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static bool near(T const* first, T const* last) {
    return reinterpret_cast<std::uintptr_t>(first) >> 32U ==
           reinterpret_cast<std::uintptr_t>(last) >> 32U;
  }

  /// Returns p, moved on by count times `bytes`.
  template <class Address>
  KOKKOS_FORCEINLINE_FUNCTION static Address moved(Address const& p, std::uint32_t count,
                                                   std::uint32_t bytes) {
    return p.plus(count, bytes);
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static address<T> moved_by(address<T> const& p, std::uint64_t bytes) {
    return p.plus(bytes);
  }

 private:
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T highest_of(T most) {
    KOKKOS_IF_ON_DEVICE((for (int offset = 16; offset > 0; offset /= 2) {
      T const other = __shfl_xor_sync(0xffffffffU, most, offset);
      most = other > most ? other : most;
    }))
    return most;
  }

  template <int Offset, class T, int Count>
  KOKKOS_FORCEINLINE_FUNCTION T halved(T (&x)[Count]) const {
    if constexpr (Offset == 0) {
      return x[0];
    } else if constexpr (Count == 1) {
      KOKKOS_IF_ON_DEVICE((x[0] += __shfl_xor_sync(0xffffffffU, x[0], Offset);))
      return halved<Offset / 2>(x);
    } else {
      bool const upper = (lane_ & Offset) != 0;
      T kept[Count / 2];
      for (int n = 0; n < Count / 2; ++n) {
        kept[n] = upper ? x[n + Count / 2] : x[n];
        [[maybe_unused]] T const given = upper ? x[n] : x[n + Count / 2];
        KOKKOS_IF_ON_DEVICE((kept[n] += __shfl_xor_sync(0xffffffffU, given, Offset);))
      }
      return halved<Offset / 2>(kept);
    }
  }

  int lane_;
};
#endif

}  // namespace iso::backend::detail
