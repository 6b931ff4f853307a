// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::backend::detail {

// GCC's vector types: a permute of two registers is __builtin_shuffle, whatever the machine calls
// it. Written out, because nvcc's front end fails on a vector_size that depends on a template
// parameter.
template <class T, int Bytes>
struct simd;
template <>
struct simd<float, 32> {
  using type [[gnu::vector_size(32)]] = float;
};
template <>
struct simd<float, 64> {
  using type [[gnu::vector_size(64)]] = float;
};
template <>
struct simd<double, 32> {
  using type [[gnu::vector_size(32)]] = double;
};
template <>
struct simd<double, 64> {
  using type [[gnu::vector_size(64)]] = double;
};
template <>
struct simd<std::int32_t, 16> {
  using type [[gnu::vector_size(16)]] = std::int32_t;
};
template <>
struct simd<std::int32_t, 32> {
  using type [[gnu::vector_size(32)]] = std::int32_t;
};
template <>
struct simd<std::int32_t, 64> {
  using type [[gnu::vector_size(64)]] = std::int32_t;
};
template <>
struct simd<std::int64_t, 32> {
  using type [[gnu::vector_size(32)]] = std::int64_t;
};
template <>
struct simd<std::int64_t, 64> {
  using type [[gnu::vector_size(64)]] = std::int64_t;
};

/// The sums that a group has made.
template <class T, int Count>
struct host_group_sums {
  T value[Count];

  /// f(n, sum n) for every n.
  template <class F>
  [[gnu::always_inline]] void each(F&& f) const {
    for (int n = 0; n < Count; ++n) {
      f(n, value[n]);
    }
  }
  /// Whether f(sum n) holds for some n.
  template <class F>
  [[gnu::always_inline]] bool any(F&& f) const {
    bool found = false;
    for (int n = 0; n < Count; ++n) {
      found |= f(value[n]);
    }
    return found;
  }
};

/// Thirty-two lanes in arrays that the compiler vectorises. `VectorBytes` is the register width
/// that permutes are written for; no bit depends on it.
template <int VectorBytes>
class host_lane_group {
 public:
  static constexpr int vector_bytes = VectorBytes;

  template <class T>
  class per_lane {
   public:
    per_lane() = default;
    per_lane(T x) {
      for (int lane = 0; lane < 32; ++lane) {
        value_[lane] = x;
      }
    }
    T& operator[](int lane) { return value_[lane]; }
    T const& operator[](int lane) const { return value_[lane]; }

   private:
    alignas(64) T value_[32];
  };

  template <class F>
  [[gnu::always_inline]] void each(F&& f) const {
#pragma GCC ivdep
    for (int lane = 0; lane < 32; ++lane) {
      f(lane);
    }
  }

  template <class Index, class F>
  [[gnu::always_inline]] void strided(Index begin, Index end, F&& f) const {
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
  [[gnu::always_inline]] T sum(per_lane<T> const& x) const {
    per_lane<T> partial = x;
    for (int offset = 16; offset > 0; offset /= 2) {
      for (int lane = 0; lane < offset; ++lane) {
        partial[lane] = partial[lane] + partial[lane + offset];
      }
    }
    return partial[0];
  }

  /// `Count` sums at once, each by the tree of `sum`.
  template <int Count, class T>
  [[gnu::always_inline]] host_group_sums<T, Count> sums(per_lane<T> (&x)[Count]) const {
    host_group_sums<T, Count> result;
    for (int n = 0; n < Count; ++n) {
      result.value[n] = sum(x[n]);
    }
    return result;
  }

  template <class T>
  [[gnu::always_inline]] per_lane<T> shuffle(per_lane<T> const& x,
                                             per_lane<int> const& from) const {
    per_lane<T> result;
    for (int lane = 0; lane < 32; ++lane) {
      result[lane] = x[from[lane] & 31];
    }
    return result;
  }

  template <class T>
  [[gnu::always_inline]] T broadcast(per_lane<T> const& x, int from) const {
    return x[from];
  }

  [[gnu::always_inline]] bool any(per_lane<bool> const& x) const {
    bool found = false;
    for (int lane = 0; lane < 32; ++lane) {
      found |= x[lane];
    }
    return found;
  }

  /// Smallest and largest of all lanes.
  [[gnu::always_inline]] std::int32_t lowest(per_lane<std::int32_t> const& x) const {
    std::int32_t least = x[0];
    for (int lane = 1; lane < 32; ++lane) {
      least = x[lane] < least ? x[lane] : least;
    }
    return least;
  }
  [[gnu::always_inline]] std::int32_t highest(per_lane<std::int32_t> const& x) const {
    std::int32_t most = x[0];
    for (int lane = 1; lane < 32; ++lane) {
      most = x[lane] > most ? x[lane] : most;
    }
    return most;
  }

  /// Bit l of the result is x of lane l.
  [[gnu::always_inline]] std::uint32_t mask(per_lane<bool> const& x) const {
    std::uint32_t bits = 0;
    for (int lane = 0; lane < 32; ++lane) {
      bits |= std::uint32_t(x[lane]) << lane;
    }
    return bits;
  }

  /// Calls f once for the group, for what it writes once.
  template <class F>
  [[gnu::always_inline]] void once(F&& f) const {
    f();
  }

  /// A processor looks ahead by itself.
  static constexpr int turns_ahead = 0;

  /// Asks the caches for `Count` values from `p` on.
  template <int Count, class T>
  [[gnu::always_inline]] static void prefetch(T const* p) {
    for (int line = 0; line <= Count * int(sizeof(T)) / 64; ++line) {
      __builtin_prefetch(reinterpret_cast<char const*>(p) + 64 * line);
    }
  }

  template <class T>
  static constexpr std::uint32_t index_bias = 0;

  /// z >= 0 to its integer part and the rest.
  template <class T>
  [[gnu::always_inline]] static void split(T z, std::uint32_t& whole, T& rest) {
    auto const truncated = std::int32_t(z);
    whole = std::uint32_t(truncated);
    rest = z - T(truncated);
  }
  /// Any z of less than 2^31 to its floor and the rest.
  template <class T>
  [[gnu::always_inline]] static void split_signed(T z, std::int32_t& whole, T& rest) {
    T const down = Kokkos::floor(z);
    whole = std::int32_t(down);
    rest = z - down;
  }

  /// Where a column begins.
  template <class T>
  class address {
   public:
    explicit address(T const* p) : value_(reinterpret_cast<char const*>(p)) {}
    /// `count` times `bytes` further on.
    [[nodiscard]] address plus(std::uint32_t count, std::uint32_t bytes) const {
      address to = *this;
      to.value_ += std::uint64_t(count) * bytes;
      return to;
    }
    [[nodiscard]] address plus(std::uint64_t bytes) const {
      address to = *this;
      to.value_ += bytes;
      return to;
    }
    [[nodiscard]] T const* pointer() const { return reinterpret_cast<T const*>(value_); }

   private:
    char const* value_;
  };

  /// Where to find four voxels about a point of each lane: of two neighbouring columns of `height`
  /// voxels, at the heights z and z + 1.
  template <class T>
  struct columns {
    T const* lower;
    T const* upper;
    std::int32_t height;
    per_lane<std::uint32_t> z;
  };

  template <class T>
  [[gnu::always_inline]] columns<T> read_columns(address<T> lower, std::uint32_t next,
                                                 std::int32_t height,
                                                 per_lane<std::uint32_t> const& z) const {
    return {lower.pointer(), lower.plus(std::uint64_t(next)).pointer(), height, z};
  }

  /// Interpolates: the columns with weight w, then the heights with the lane's fraction.
  ///
  /// Where a register's lanes lie within two registers of voxels, which neighbouring pixels do
  /// unless the magnification is large, the columns are blended once for all of them and each lane
  /// picks its two heights by a permute; otherwise each lane gathers. Same operations on the same
  /// numbers.
  template <class T, class Blend>
  [[gnu::always_inline]] void blend_columns(columns<T> const& c, T w, per_lane<T> const& fraction,
                                            per_lane<T>& out, Blend const& blend) const {
    T const* const lower = c.lower;
    T const* const upper = c.upper;
    std::int32_t const height = c.height;
    per_lane<std::uint32_t> const& z = c.z;
    for (int first = 0; first < 32; first += width<T>) {
      height_vec<T> heights;
      load(&z[first], heights);
      std::int32_t low;
      if (window(heights, height, low)) {
        auto const at = __builtin_convertvector(heights - low, index_vec<T>);
        blended_window<T> const columns(lower + low, upper + low, w);
        vec<T> fractions;
        vec<T> a;
        vec<T> b;
        load(&fraction[first], fractions);
        columns.pick(at, a);
        columns.pick(at + integer<T>(1), b);
        blend_vector(fractions, a, b, a);
        __builtin_memcpy(&out[first], &a, sizeof a);
      } else {
        for (int lane = first; lane < first + width<T>; ++lane) {
          std::uint32_t const k = z[lane];
          out[lane] = blend(fraction[lane], blend(w, lower[k], upper[k]),
                            blend(w, lower[k + 1], upper[k + 1]));
        }
      }
    }
  }

  /// The same where neighbours may be missing: heights outside [0, lower_height) of the lower
  /// column and [0, upper_height) of the upper count as zero; each is the volume's height or, where
  /// there is no such column, 0. z lies in [-2, height].
  template <class T, class Blend>
  [[gnu::always_inline]] void blend_columns_at_edge(
      address<T> lower_column, address<T> upper_column, std::int32_t lower_height,
      std::int32_t upper_height, T w, per_lane<std::int32_t> const& z, per_lane<T> const& fraction,
      per_lane<T>& out, Blend const& blend) const {
    std::int32_t const height = lower_height > upper_height ? lower_height : upper_height;
    T const* const lower = lower_column.pointer();
    T const* const upper = upper_column.pointer();
    for (int first = 0; first < 32; first += width<T>) {
      height_vec<T> heights;
      load(&z[first], heights);
      height_vec<T> below;
      height_vec<T> above;
      clamp(heights, height - 1, below);
      clamp(heights + 1, height - 1, above);
      std::int32_t low;
      if (window(below, height, low)) {
        blended_window<T> const columns(lower_height > 0 ? lower + low : nullptr,
                                        upper_height > 0 ? upper + low : nullptr, w);
        vec<T> const zero{};
        vec<T> fractions;
        vec<T> a;
        vec<T> b;
        load(&fraction[first], fractions);
        columns.pick(__builtin_convertvector(below - low, index_vec<T>), a);
        columns.pick(__builtin_convertvector(above - low, index_vec<T>), b);
        a = __builtin_convertvector(below == heights, index_vec<T>) ? a : zero;
        b = __builtin_convertvector(above == heights + 1, index_vec<T>) ? b : zero;
        blend_vector(fractions, a, b, a);
        __builtin_memcpy(&out[first], &a, sizeof a);
      } else {
        auto const at = [&](std::int32_t k) {
          T const a = k >= 0 && k < lower_height ? lower[k] : T(0);
          T const b = k >= 0 && k < upper_height ? upper[k] : T(0);
          return blend(w, a, b);
        };
        for (int lane = first; lane < first + width<T>; ++lane) {
          out[lane] = blend(fraction[lane], at(z[lane]), at(z[lane] + 1));
        }
      }
    }
  }

 private:
  template <class T>
  using integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  template <class T>
  static constexpr int width = VectorBytes / int(sizeof(T));
  template <class T>
  using vec = typename simd<T, VectorBytes>::type;
  template <class T>
  using index_vec = typename simd<integer<T>, VectorBytes>::type;
  template <class T>
  using height_vec = typename simd<std::int32_t, 4 * VectorBytes / int(sizeof(T))>::type;

  // Registers go in and out by reference: how a function would take or return one by value depends
  // on the compiler's flags, and GCC warns of it (-Wpsabi) though all of these are inlined.
  template <class Vec>
  [[gnu::always_inline]] static void load(void const* p, Vec& v) {
    __builtin_memcpy(&v, p, sizeof v);
  }

  template <class Vec>
  [[gnu::always_inline]] static void clamp(Vec const& z, std::int32_t most, Vec& clamped) {
    Vec const zero{};
    Vec const top = zero + most;
    Vec const up = z > zero ? z : zero;
    clamped = up < top ? up : top;
  }

  /// Whether two registers of voxels from `low` on hold z and z + 1 of every lane. Lanes between
  /// the outer two may fall short of them by rounding: one voxel of room.
  template <class Vec>
  [[gnu::always_inline]] static bool window(Vec const& z, std::int32_t height, std::int32_t& low) {
    constexpr int count = int(sizeof(Vec) / 4);
    std::int32_t const one_end = z[0];
    std::int32_t const other_end = z[count - 1];
    std::int32_t const least = one_end < other_end ? one_end : other_end;
    std::int32_t const most = one_end < other_end ? other_end : one_end;
    low = least - 1 < height - 2 * count ? least - 1 : height - 2 * count;
    low = low > 0 ? low : 0;
    return height >= 2 * count && most + 2 < low + 2 * count + (most + 1 >= height ? 2 : 0);
  }

  /// Two registers of two columns' blend; a missing column counts as zero.
  template <class T>
  struct blended_window {
    vec<T> first;
    vec<T> second;

    [[gnu::always_inline]] blended_window(T const* lower, T const* upper, T w) {
      vec<T> l0{};
      vec<T> l1{};
      vec<T> u0{};
      vec<T> u1{};
      if (lower != nullptr) {
        load(lower, l0);
        load(lower + width<T>, l1);
      }
      if (upper != nullptr) {
        load(upper, u0);
        load(upper + width<T>, u1);
      }
      blend_vector(w, l0, u0, first);
      blend_vector(w, l1, u1, second);
    }
    [[gnu::always_inline]] void pick(index_vec<T> const& at, vec<T>& picked) const {
      picked = __builtin_shuffle(first, second, at);
    }
  };

  /// a + w (b - a) with one fma, as iso::blend, a lane at a time: the compiler makes it one
  /// instruction.
  template <class Weight, class Vec>
  [[gnu::always_inline]] static void blend_vector(Weight const& w, Vec const& a, Vec const& b,
                                                  Vec& blended) {
    Vec const d = b - a;
    Vec result;
    for (int lane = 0; lane < int(sizeof(Vec) / sizeof(a[0])); ++lane) {
      if constexpr (std::is_arithmetic_v<Weight>) {
        result[lane] = fused(w, d[lane], a[lane]);
      } else {
        result[lane] = fused(w[lane], d[lane], a[lane]);
      }
    }
    blended = result;
  }
  static float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
};

#if defined(__x86_64__) && defined(__GNUC__)
#define ISO_HOST_WIDE \
  __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,prefer-vector-width=512"), flatten))
#endif

/// 64 where this processor has the AVX-512 that the wide body is compiled for, else 32.
inline int host_vector_bytes() {
#ifdef ISO_HOST_WIDE
  static bool const wide = __builtin_cpu_supports("avx512f") &&
                           __builtin_cpu_supports("avx512vl") &&
                           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  return wide ? 64 : 32;
#else
  return 32;
#endif
}

template <class Kernel>
struct host_body {
  Kernel kernel;
  int vector_bytes;

  void operator()(std::int64_t index) const {
#ifdef ISO_HOST_WIDE
    if (vector_bytes == 64) {
      wide(kernel, index);
      return;
    }
#endif
    kernel(host_lane_group<32>{}, index);
  }

#ifdef ISO_HOST_WIDE
  ISO_HOST_WIDE static void wide(Kernel const& kernel, std::int64_t index) {
    kernel(host_lane_group<64>{}, index);
  }
#endif
};

}  // namespace iso::backend::detail
