// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/backend/detail/lanes_scalar.hpp>
#include <iso/backend/lane_value.hpp>
#include <iso/backend/pack.hpp>
#include <iso/backend/read_once.hpp>
#include <iso/backend/widen.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::backend::detail {

template <class Exec>
inline constexpr bool is_cuda = false;
/// Threads of a processor, whose vector registers lane groups use.
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
  /// What a lane keeps between operations, `Rows` values: as in array_lane_group.
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

  /// A lane of each of `Rows` rows.
  template <int Rows>
  class part;
  /// f(part) once, `rows` being Rows: all that this thread has.
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
  KOKKOS_FORCEINLINE_FUNCTION T sum(lane_array<T> const& x) const {
    T total = x[0];
    KOKKOS_IF_ON_DEVICE((for (int offset = 16; offset > 0; offset /= 2) {
      total = total + __shfl_xor_sync(0xffffffffU, total, offset);
    }))
    return total;
  }

  /// `Count` sums at once, each by the tree of `sum`: every step halves the values that a lane
  /// still carries. Sum n ends in the lanes from 32 n / Count on.
  template <int Count, class T>
  KOKKOS_FORCEINLINE_FUNCTION group_sums<T, Count> sums(lane_array<T> (&x)[Count]) const {
    static_assert(Count >= 1 && Count <= 32 && (Count & (Count - 1)) == 0,
                  "iso::backend: sums of 1, 2, 4, 8, 16 or 32 at once");
    return {lane_, halved<Count, 16>(x)};
  }
  /// The same of f(number), of `Count` numbers a lane that parts_of_sums left.
  template <int Count, class T, class F>
  KOKKOS_FORCEINLINE_FUNCTION group_sums<T, Count> sums(lane_array<T, Count> const& x,
                                                        F const& f) const {
    lane_array<T> found[Count];
    ISO_EACH_REGISTER(int n = 0; n < Count; ++n) {
      found[n] = f(lane_value<T, lane_shape<scalar_lanes, 1, 1>>(x(n, lane_))).r[0];
    }
    return sums(found);
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION lane_array<T> shuffle(lane_array<T> const& x,
                                                    lane_array<int> const& from) const {
    KOKKOS_IF_ON_DEVICE((return lane_array<T>(__shfl_sync(0xffffffffU, x[0], from[0]));))
    KOKKOS_IF_ON_HOST((static_cast<void>(from); return x;))
  }

  /// x of one lane, for all.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T broadcast(lane_array<T> const& x, int from) const {
    KOKKOS_IF_ON_DEVICE((return __shfl_sync(0xffffffffU, x[0], from);))
    KOKKOS_IF_ON_HOST((static_cast<void>(from); return x[0];))
  }

  KOKKOS_FORCEINLINE_FUNCTION bool any(lane_array<bool> const& x) const {
    KOKKOS_IF_ON_DEVICE((return __any_sync(0xffffffffU, x[0]) != 0;))
    KOKKOS_IF_ON_HOST((return x[0];))
  }

  /// Smallest and largest of all lanes.
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t lowest(lane_array<std::int32_t> const& x) const {
    return -highest_of(-1 - x[0]) - 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t highest(lane_array<std::int32_t> const& x) const {
    return highest_of(x[0]);
  }

  /// Largest of all lanes, of numbers that are none of NaN.
  KOKKOS_FORCEINLINE_FUNCTION double highest(lane_array<double> const& x) const {
    return highest_of(x[0]);
  }

  /// Bit l of the result is x of lane l.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t mask(lane_array<bool> const& x) const {
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

  /// An address that the compiler must not take apart again: it would form those that follow from
  /// it anew from its sum.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T const* kept_address(T const* p) {
    KOKKOS_IF_ON_DEVICE((asm("" : "+l"(p)); __builtin_assume(__isGlobal(p));))
    return p;
  }

  /// An array that is walked 32 places a turn: ask(turn) loads the lane's. One pointer with the
  /// lane in it.
  template <class T, reading Reading = reading::again>
  class in_turns {
   public:
    KOKKOS_FUNCTION in_turns(cuda_lane_group const& group, T const* array)
        : place_(kept_address(array + group.lane_)) {}
    KOKKOS_FORCEINLINE_FUNCTION auto ask(std::int32_t turn) const {
      T const* const p = place_ + 32 * turn;
      if constexpr (Reading == reading::again) {
        return T(*p);
      } else if constexpr (sizeof(T) < 4) {
        return read_once(p);
      } else {
        return kept_once<T>(p);
      }
    }

   private:
    T const* place_;
  };

  /// Nothing to do: other warps hide the wait.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void prefetch(T const*, std::int32_t) {}

  /// What `split` adds to every integer part, for the caller to take off.
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

  /// Where an array begins, as the machine's own number: one wide multiply-add a step, which the
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
      // Opaque, so that sums are formed in the order in which they are written.
      KOKKOS_IF_ON_DEVICE((asm("add.u32 %0, %1, %2;" : "=r"(to.low_) : "r"(low_), "r"(bytes));))
      KOKKOS_IF_ON_HOST((to.low_ += bytes;))
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
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static near_address<T> near_to(address<T> const& a, T const* place) {
    return {a, place};
  }
  /// Whether no multiple of 4 GiB lies between `first` and `last`: then the upper halves of all
  /// addresses between them are one.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static bool near(T const* first, T const* last) {
    return reinterpret_cast<std::uintptr_t>(first) >> 32U ==
           reinterpret_cast<std::uintptr_t>(last) >> 32U;
  }

  /// p, moved on by count times `bytes`.
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

  template <int Count, int Offset, class T>
  KOKKOS_FORCEINLINE_FUNCTION T halved(lane_array<T> (&x)[Count]) const {
    if constexpr (Offset == 0) {
      return x[0][0];
    } else if constexpr (Count == 1) {
      KOKKOS_IF_ON_DEVICE((x[0][0] += __shfl_xor_sync(0xffffffffU, x[0][0], Offset);))
      return halved<1, Offset / 2>(x);
    } else {
      bool const upper = (lane_ & Offset) != 0;
      lane_array<T> kept[Count / 2];
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

template <int Rows>
class cuda_lane_group::part {
 public:
  using shape = lane_shape<scalar_lanes, Rows, 1>;
  template <class T>
  using per_lane = lane_value<T, shape>;
  using index = per_lane<std::int32_t>;
  using mask = lane_mask<std::int32_t, shape>;
  static constexpr int num_rows = Rows;

  KOKKOS_FUNCTION explicit part(int lane) : lane_(lane) {}

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static int first_row() { return 0; }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION per_lane<T> load(T const* p) const {
    per_lane<T> out;
    ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) { out.r[row] = p[lane_ + 32 * row]; }
    return out;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void store(T* p, per_lane<T> const& x) const {
    ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) { p[lane_ + 32 * row] = x.r[row]; }
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION per_lane<T> load(lane_array<T, Rows> const& a) const {
    per_lane<T> out;
    ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) { out.r[row] = a(row, lane_); }
    return out;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void store(lane_array<T, Rows>& a, per_lane<T> const& x) const {
    ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) { a(row, lane_) = x.r[row]; }
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION index lane() const { return index(lane_); }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void split(per_lane<T> const& z, index& whole,
                                                per_lane<T>& rest) {
    ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) {
      std::uint32_t k;
      cuda_lane_group::split(z.r[row], k, rest.r[row]);
      whole.r[row] = std::int32_t(k);
    }
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void split_signed(per_lane<T> const& z, index& whole,
                                                       per_lane<T>& rest) {
    ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) {
      cuda_lane_group::split_signed(z.r[row], whole.r[row], rest.r[row]);
    }
  }

  /// A place of each lane's own, `Offset` beyond k.
  template <int Offset>
  struct places {
    index const& k;

    template <template <class> class Address, class T>
    KOKKOS_FORCEINLINE_FUNCTION per_lane<T> load(Address<T> const& p) const {
      per_lane<T> out;
      ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) {
        out.r[row] = p.plus(std::uint32_t(k.r[row]), sizeof(T)).template read<Offset>();
      }
      return out;
    }
    /// The same of the array that lies `bytes` further on.
    template <template <class> class Address, class T>
    KOKKOS_FORCEINLINE_FUNCTION per_lane<T> load(Address<T> const& p, std::uint32_t bytes) const {
      per_lane<T> out;
      ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) {
        out.r[row] = p.plus(std::uint32_t(k.r[row]), sizeof(T)).plus(bytes).template read<Offset>();
      }
      return out;
    }
  };
  /// The same where it lies in [0, count), elsewhere a zero.
  template <int Offset>
  struct places_within {
    index const& k;
    std::uint32_t count;

    template <class T>
    KOKKOS_FORCEINLINE_FUNCTION per_lane<T> load_if(bool exists, address<T> const& p) const {
      per_lane<T> out;
      ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) {
        out.r[row] = p.at(k.r[row]).template read_if_below<Offset>(std::uint32_t(k.r[row]) + Offset,
                                                                   exists ? count : 0U);
      }
      return out;
    }
  };
  template <class T, class F>
  struct picks {
    F const& f;

    KOKKOS_FORCEINLINE_FUNCTION void pair(index const& k, per_lane<T>& a, per_lane<T>& b) const {
      a = f(places<0>{k});
      b = f(places<1>{k});
    }
    KOKKOS_FORCEINLINE_FUNCTION void pair_within(index const& k, std::int32_t count, per_lane<T>& a,
                                                 per_lane<T>& b) const {
      a = f(places_within<0>{k, std::uint32_t(count)});
      b = f(places_within<1>{k, std::uint32_t(count)});
    }
  };
  template <class T, class F>
  KOKKOS_FORCEINLINE_FUNCTION static picks<T, F> scattered(F const& f) {
    return {f};
  }

  // Products: as in lane_part, register i being number i of the thread's lane. What is asked for is
  // loaded at once.

  template <class T>
  using piece = typename per_lane<T>::piece;

  template <int N, class T>
  KOKKOS_FORCEINLINE_FUNCTION static per_lane<T> repeat(T const* numbers) {
    per_lane<T> out;
    ISO_EACH_REGISTER(int n = 0; n < N; ++n) { out.r[n] = numbers[n]; }
    return out;
  }
  template <class Column>
  KOKKOS_FORCEINLINE_FUNCTION static std::int32_t columns(std::int32_t from, Column column) {
    return from + std::int32_t(column);
  }
  template <class T, int K>
  KOKKOS_FORCEINLINE_FUNCTION static pack<T, K> fetch(pack<T, K> const* x, std::int32_t column) {
    return read_whole(x + column);
  }
  template <int R, class T, int K>
  KOKKOS_FORCEINLINE_FUNCTION static piece<T> spread(pack<T, K> const& x, int i) {
    return piece<T>(x[i % K]);
  }
  template <class T, int K, class Stored, int R>
  KOKKOS_FORCEINLINE_FUNCTION static piece<T> widened(pack<Stored, R> const& a, int i) {
    return piece<T>(widen<T>(a[i / K]));
  }
  template <class T, int K, class Stored, int R>
  KOKKOS_FORCEINLINE_FUNCTION static piece<T> widened(kept_once<pack<Stored, R>> const& a, int i) {
    return widened<T, K>(a.get(), i);
  }
  template <int>
  KOKKOS_FORCEINLINE_FUNCTION static bool reaches(int) {
    return true;
  }
  template <int, class V>
  KOKKOS_FORCEINLINE_FUNCTION static V const& chosen(int, V const& x, V const&) {
    return x;
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void below(int count, F const& f) const {
    if (lane_ < count) {
      f(*this);
    }
  }

 private:
  int lane_;
};
#endif

}  // namespace iso::backend::detail
