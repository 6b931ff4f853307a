// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

/// The registers of `VectorBytes` that a group of the host interpolates with: T, the integers of
/// its size that a permute takes, and as many heights in 32 bits.
template <int VectorBytes>
struct host_vectors {
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

}  // namespace iso::backend::detail
