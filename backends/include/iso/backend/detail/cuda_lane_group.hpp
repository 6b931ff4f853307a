// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/backends.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::backend::detail {

template <class Exec>
inline constexpr bool is_cuda = false;

// From Hopper on; both sides of a launch must have been compiled for it.
#if ISO_HAS_CUDA && (defined(KOKKOS_ARCH_HOPPER) || defined(KOKKOS_ARCH_BLACKWELL))
#define ISO_CUDA_LAUNCHES_EARLY
#endif

#if ISO_HAS_CUDA
template <>
inline constexpr bool is_cuda<Kokkos::Cuda> = true;

/// The sums that a warp has made, shared out over its lanes.
template <class T, int Count>
struct group_sums {
  int lane;
  T value;

  /// f(n, sum n) for every n, each on one lane.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(F&& f) const {
    if (lane % (32 / Count) == 0) {
      f(lane / (32 / Count), value);
    }
  }
  /// Whether f(sum n) holds for some n.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION bool any(F&& f) const {
    KOKKOS_IF_ON_DEVICE((return __any_sync(0xffffffffU, f(value)) != 0;))
    KOKKOS_IF_ON_HOST((return f(value);))
  }
};

/// A warp. What a lane keeps is a register, so that indexing it costs nothing.
class cuda_lane_group {
 public:
  template <class T>
  class per_lane {
   public:
    per_lane() = default;
    KOKKOS_FUNCTION per_lane(T x) : value_(x) {}
    KOKKOS_FUNCTION T& operator[](int) { return value_; }
    KOKKOS_FUNCTION T const& operator[](int) const { return value_; }

   private:
    T value_;
  };

  KOKKOS_FUNCTION explicit cuda_lane_group(int lane) : lane_(lane) {}

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(F&& f) const {
    f(lane_);
  }

  template <class Index, class F>
  KOKKOS_FORCEINLINE_FUNCTION void strided(Index begin, Index end, F&& f) const {
    for (Index i = begin + Index(lane_); i < end; i += Index(32)) {
      f(lane_, i);
    }
  }

  /// f(lane) on the lanes below `count`.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each_below(std::int32_t count, F&& f) const {
    if (lane_ < count) {
      f(lane_);
    }
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T sum(per_lane<T> const& x) const {
    T total = x[0];
    KOKKOS_IF_ON_DEVICE((for (int offset = 16; offset > 0; offset /= 2) {
      total = total + __shfl_xor_sync(0xffffffffU, total, offset);
    }))
    return total;
  }

  /// `Count` sums at once, each by the tree of `sum`: every step halves the values that a lane
  /// still carries. Sum n ends in the lanes from 32 n / Count on.
  template <int Count, class T>
  KOKKOS_FORCEINLINE_FUNCTION group_sums<T, Count> sums(per_lane<T> (&x)[Count]) const {
    static_assert(Count >= 1 && Count <= 32 && (Count & (Count - 1)) == 0,
                  "iso::backend: sums of 1, 2, 4, 8, 16 or 32 at once");
    return {lane_, halved<Count, 16>(x)};
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION per_lane<T> shuffle(per_lane<T> const& x,
                                                  per_lane<int> const& from) const {
    KOKKOS_IF_ON_DEVICE((return per_lane<T>(__shfl_sync(0xffffffffU, x[0], from[0]));))
    KOKKOS_IF_ON_HOST((static_cast<void>(from); return x;))
  }

  /// x of one lane, for all.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T broadcast(per_lane<T> const& x, int from) const {
    KOKKOS_IF_ON_DEVICE((return __shfl_sync(0xffffffffU, x[0], from);))
    KOKKOS_IF_ON_HOST((static_cast<void>(from); return x[0];))
  }

  KOKKOS_FORCEINLINE_FUNCTION bool any(per_lane<bool> const& x) const {
    KOKKOS_IF_ON_DEVICE((return __any_sync(0xffffffffU, x[0]) != 0;))
    KOKKOS_IF_ON_HOST((return x[0];))
  }

  /// Smallest and largest of all lanes.
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t lowest(per_lane<std::int32_t> const& x) const {
    return -highest_of(-1 - x[0]) - 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t highest(per_lane<std::int32_t> const& x) const {
    return highest_of(x[0]);
  }

  /// Largest of all lanes, of numbers that are none of NaN.
  KOKKOS_FORCEINLINE_FUNCTION double highest(per_lane<double> const& x) const {
    return highest_of(x[0]);
  }

  /// Bit l of the result is x of lane l.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t mask(per_lane<bool> const& x) const {
    KOKKOS_IF_ON_DEVICE((return __ballot_sync(0xffffffffU, x[0]);))
    KOKKOS_IF_ON_HOST((return x[0] ? 1U : 0U;))
  }

  /// Calls f from one lane only, for what the group writes once.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void once(F&& f) const {
    if (lane_ == 0) {
      f();
    }
  }

  /// Lets the next launch of lane groups begin, where it was told to (`beginning::early`), once a
  /// group of every block of this one has come here or all of its groups have ended.
  KOKKOS_FORCEINLINE_FUNCTION static void let_next_begin() {
#ifdef ISO_CUDA_LAUNCHES_EARLY
    KOKKOS_IF_ON_DEVICE((asm volatile("griddepcontrol.launch_dependents;" :: : "memory");))
#endif
  }
  /// Waits for the end of all launches before this one, and sees what they wrote.
  KOKKOS_FORCEINLINE_FUNCTION static void await_previous() {
#ifdef ISO_CUDA_LAUNCHES_EARLY
    KOKKOS_IF_ON_DEVICE((asm volatile("griddepcontrol.wait;" :: : "memory");))
#endif
  }

  /// Whether sums of products are made by hand.
  static constexpr bool has_products = false;
  static constexpr bool walks_columns = false;

  /// Turns of a strided walk that are worth asking for before the ones at hand are used.
  static constexpr int turns_ahead = 4;

  /// An address that the compiler must not take apart again: it would form those that follow from
  /// it anew from its sum.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T const* kept_address(T const* p) {
    KOKKOS_IF_ON_DEVICE((asm("" : "+l"(p)); __builtin_assume(__isGlobal(p));))
    return p;
  }

  /// An array that is walked 32 places a turn: at(turn, lane) is its place 32 turn + lane. One
  /// pointer with the lane in it.
  template <class T>
  class in_turns {
   public:
    KOKKOS_FUNCTION in_turns(cuda_lane_group const& group, T const* array)
        : place_(kept_address(array + group.lane_)) {}
    KOKKOS_FORCEINLINE_FUNCTION T const* at(std::int32_t turn, int) const {
      return place_ + 32 * turn;
    }

   private:
    T const* place_;
  };

  /// Nothing to do: other warps hide the wait.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void prefetch(T const*, std::int32_t) {}

  /// What `split` adds to every integer part; `blend_columns` expects columns moved back by as
  /// much.
  template <class T>
  static constexpr std::uint32_t index_bias = sizeof(T) == 4 ? 0x4b400000U : 0U;

  /// z to its floor (plus index_bias, modulo 2^32) and the rest, for |z| < 2^22: an addition that
  /// rounds down, where a conversion would wait for the slower pipe.
  KOKKOS_FORCEINLINE_FUNCTION static void split(float z, std::uint32_t& whole, float& rest) {
    KOKKOS_IF_ON_DEVICE((float const shifted = __fadd_rd(z, 12582912.0F);
                         whole = __float_as_uint(shifted); rest = z - (shifted - 12582912.0F);))
    KOKKOS_IF_ON_HOST((whole = std::uint32_t(z); rest = z - float(whole);))
  }
  KOKKOS_FORCEINLINE_FUNCTION static void split(double z, std::uint32_t& whole, double& rest) {
    KOKKOS_IF_ON_DEVICE((double const shifted = __dadd_rd(z, 6755399441055744.0);
                         whole = std::uint32_t(__double2loint(shifted));
                         rest = z - (shifted - 6755399441055744.0);))
    KOKKOS_IF_ON_HOST((whole = std::uint32_t(z); rest = z - double(whole);))
  }
  /// The same without the bias.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void split_signed(T z, std::int32_t& whole, T& rest) {
    std::uint32_t biased;
    split(z, biased, rest);
    whole = std::int32_t(biased - index_bias<T>);
  }

  /// Where a column begins, as the machine's own number: one wide multiply-add a step, which the
  /// compiler, left alone with pointers, makes two or three of.
  template <class T>
  class address {
   public:
    KOKKOS_FUNCTION explicit address(T const* p) : value_(0) {
      KOKKOS_IF_ON_DEVICE((value_ = __cvta_generic_to_global(p);))
      KOKKOS_IF_ON_HOST((static_cast<void>(p);))
    }
    /// `count` times `bytes` further on.
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION address plus(std::uint32_t count,
                                                           std::uint32_t bytes) const {
      address to = *this;
      KOKKOS_IF_ON_DEVICE((asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(to.value_) : "r"(count),
                               "r"(bytes), "l"(value_));))
      KOKKOS_IF_ON_HOST((to.value_ += std::uint64_t(count) * bytes;))
      return to;
    }
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION address plus(std::uint64_t bytes) const {
      address to = *this;
      to.value_ += bytes;
      return to;
    }
    /// `count` values further on, or back.
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION address at(std::int32_t count) const {
      address to = *this;
      KOKKOS_IF_ON_DEVICE((asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(to.value_) : "r"(count),
                               "n"(int(sizeof(T))), "l"(value_));))
      KOKKOS_IF_ON_HOST((to.value_ += std::uint64_t(std::int64_t(count)) * sizeof(T);))
      return to;
    }
    /// The value `Index` further on.
    template <int Index>
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T read() const {
      T x{};
      KOKKOS_IF_ON_DEVICE((
          if constexpr (sizeof(T) == 4) {
            asm("ld.global.nc.f32 %0, [%1 + %2];" : "=f"(x) : "l"(value_), "n"(4 * Index));
          } else {
            asm("ld.global.nc.f64 %0, [%1 + %2];" : "=d"(x) : "l"(value_), "n"(8 * Index));
          }))
      return x;
    }
    /// The same where i < limit, else zero: a guarded load, no branch.
    template <int Index>
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T read_if_below(std::uint32_t i,
                                                              std::uint32_t limit) const {
      T x{};
      KOKKOS_IF_ON_DEVICE((
          if constexpr (sizeof(T) == 4) {
            asm("{.reg .pred p; setp.lt.u32 p, %2, %3; mov.f32 %0, 0f00000000;"
                " @p ld.global.nc.f32 %0, [%1 + %4];}"
                : "=f"(x)
                : "l"(value_), "r"(i), "r"(limit), "n"(4 * Index));
          } else {
            asm("{.reg .pred p; setp.lt.u32 p, %2, %3; mov.f64 %0, 0d0000000000000000;"
                " @p ld.global.nc.f64 %0, [%1 + %4];}"
                : "=d"(x)
                : "l"(value_), "r"(i), "r"(limit), "n"(8 * Index));
          }))
      KOKKOS_IF_ON_HOST((static_cast<void>(i); static_cast<void>(limit);))
      return x;
    }

   private:
    friend class cuda_lane_group;
    std::uint64_t value_;
  };

  /// The same near a `place`: 32 bits to reckon with, the others are its own.
  template <class T>
  class near_address {
   public:
    KOKKOS_FUNCTION near_address(address<T> const& a, T const* place)
        : low_(std::uint32_t(a.value_)),
          high_(std::uint32_t(reinterpret_cast<std::uintptr_t>(place) >> 32U)) {}
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION near_address plus(std::uint32_t count,
                                                                std::uint32_t bytes) const {
      return plus(count * bytes);
    }
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION near_address plus(std::uint32_t bytes) const {
      near_address to = *this;
      to.low_ += bytes;
      return to;
    }
    template <int Index>
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T read() const {
      address<T> whole(nullptr);
      KOKKOS_IF_ON_DEVICE(
          (asm("mov.b64 %0, {%1, %2};" : "=l"(whole.value_) : "r"(low_), "r"(high_));))
      return whole.template read<Index>();
    }

   private:
    std::uint32_t low_;
    std::uint32_t high_;
  };
  /// Whether no multiple of 4 GiB lies between `first` and `last`: then the upper halves of all
  /// addresses between them are one.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static bool near(T const* first, T const* last) {
    return reinterpret_cast<std::uintptr_t>(first) >> 32U ==
           reinterpret_cast<std::uintptr_t>(last) >> 32U;
  }

  /// Four voxels about a point of each lane, on their way: of two neighbouring columns, at the
  /// heights z and z + 1.
  template <class T>
  struct columns {
    T lower_at_z;
    T lower_above;
    T upper_at_z;
    T upper_above;
  };

  /// Asks for the four voxels, the upper column `next` bytes beyond the lower; `blend_columns`
  /// waits for them.
  template <template <class> class Address, class T>
  KOKKOS_FORCEINLINE_FUNCTION columns<T> read_columns(Address<T> const& lower, std::uint32_t next,
                                                      std::int32_t,
                                                      per_lane<std::uint32_t> const& z) const {
    Address<T> const p = lower.plus(z[0], sizeof(T));
    Address<T> const q = p.plus(next);
    return {p.template read<0>(), p.template read<1>(), q.template read<0>(), q.template read<1>()};
  }

  /// Interpolates: the columns with weight w, then the heights with the lane's fraction.
  template <class T, class Blend>
  KOKKOS_FORCEINLINE_FUNCTION void blend_columns(columns<T> const& c, T w,
                                                 per_lane<T> const& fraction, per_lane<T>& out,
                                                 Blend const& blend) const {
    out[0] = blend(fraction[0], blend(w, c.lower_at_z, c.upper_at_z),
                   blend(w, c.lower_above, c.upper_above));
  }

  /// The same where neighbours may be missing: heights outside [0, lower_height) of the lower
  /// column and [0, upper_height) of the upper count as zero. z lies in [-2, height].
  template <class T, class Blend>
  KOKKOS_FORCEINLINE_FUNCTION void blend_columns_at_edge(
      address<T> lower, address<T> upper, std::int32_t lower_height, std::int32_t upper_height, T w,
      per_lane<std::int32_t> const& z, per_lane<T> const& fraction, per_lane<T>& out,
      Blend const& blend) const {
    auto const at_z = std::uint32_t(z[0]);
    std::uint32_t const above = at_z + 1;
    auto const most_p = std::uint32_t(lower_height);
    auto const most_q = std::uint32_t(upper_height);
    address<T> const p = lower.at(z[0]);
    address<T> const q = upper.at(z[0]);
    T const p0 = p.template read_if_below<0>(at_z, most_p);
    T const q0 = q.template read_if_below<0>(at_z, most_q);
    T const p1 = p.template read_if_below<1>(above, most_p);
    T const q1 = q.template read_if_below<1>(above, most_q);
    T const a = blend(w, p0, q0);
    T const b = blend(w, p1, q1);
    out[0] = blend(fraction[0], a, b);
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

  template <int Count, int Offset, class T>
  KOKKOS_FORCEINLINE_FUNCTION T halved(per_lane<T> (&x)[Count]) const {
    if constexpr (Offset == 0) {
      return x[0][0];
    } else if constexpr (Count == 1) {
      KOKKOS_IF_ON_DEVICE((x[0][0] += __shfl_xor_sync(0xffffffffU, x[0][0], Offset);))
      return halved<1, Offset / 2>(x);
    } else {
      bool const upper = (lane_ & Offset) != 0;
      per_lane<T> kept[Count / 2];
      for (int n = 0; n < Count / 2; ++n) {
        kept[n] = upper ? x[n + Count / 2][0] : x[n][0];
        [[maybe_unused]] T const given = upper ? x[n][0] : x[n + Count / 2][0];
        KOKKOS_IF_ON_DEVICE((kept[n][0] += __shfl_xor_sync(0xffffffffU, given, Offset);))
      }
      return halved<Count / 2, Offset / 2>(kept);
    }
  }

  int lane_;
};
#endif

}  // namespace iso::backend::detail
