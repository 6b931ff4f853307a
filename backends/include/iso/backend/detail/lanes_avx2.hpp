// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_BACKEND_DETAIL_LANES_AVX2_HPP
#define ISO_BACKEND_DETAIL_LANES_AVX2_HPP

#include <iso/backend/detail/lane_register.hpp>
#include <iso/backend/unroll.hpp>

// GCC's own header of AVX-512 (its bug 105593); before GCC 13.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#else
#include <immintrin.h>
#endif

#include <cstdint>
#include <type_traits>
#include <utility>

#define ISO_SET_HEADER <iso/backend/detail/lanes_avx2.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

#if ISO_SET_BYTES >= 32
namespace iso::backend::ISO_SET {

/// Registers of 32 bytes, with the AVX2, FMA and F16C of x86-64-v3. Integers beside doubles take 16
/// bytes. A mask is a register of integers as wide as what was compared, all ones or none.
struct avx2_lanes {
  static constexpr int num_registers = 16;
  template <class T>
  static constexpr int width = 32 / int(sizeof(T));
  template <class T, int W>
  using reg = lane_register<T, W>;
  template <class T>
  using truth = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  template <class T, int W>
  using mask = lane_register<truth<T>, W>;

  // Not by memcpy, which GCC makes a copy of one wide integer.
  template <class R>
  static native<R> get(R const& a) {
    typedef native<R> any __attribute__((may_alias));
    return *reinterpret_cast<any const*>(&a);
  }
  template <class R, class V>
  static R put(V const& v) {
    static_assert(sizeof(R) == sizeof v);
    typedef native<R> any __attribute__((may_alias));
    R a;
    *reinterpret_cast<any*>(&a) = native<R>(v);
    return a;
  }

  template <class R>
  static R all(typename R::element x) {
    if constexpr (is_register<R, float, 32>) {
      return put<R>(_mm256_set1_ps(x));
    } else if constexpr (is_register<R, double, 32>) {
      return put<R>(_mm256_set1_pd(x));
    } else if constexpr (is_register<R, float, 16>) {
      return put<R>(_mm_set1_ps(x));
    } else if constexpr (sizeof(R) == 16) {
      return put<R>(_mm_set1_epi32(std::int32_t(x)));
    } else if constexpr (sizeof(typename R::element) == 4) {
      return put<R>(_mm256_set1_epi32(std::int32_t(x)));
    } else {
      return put<R>(_mm256_set1_epi64x(std::int64_t(x)));
    }
  }
  /// Returns 0, 1, 2, ...
  template <class R>
  static R ramp() {
    alignas(64) static constexpr std::int32_t numbers[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                             8, 9, 10, 11, 12, 13, 14, 15};
    return load<R>(numbers);
  }
  template <class R>
  static R load(typename R::element const* p) {
    native<R> v;
    __builtin_memcpy(&v, p, sizeof v);
    return put<R>(v);
  }
  template <class R>
  static void store(typename R::element* p, R const& a) {
    native<R> const v = get(a);
    __builtin_memcpy(p, &v, sizeof v);
  }
  template <class R>
  static R add(R const& a, R const& b) {
    return put<R>(get(a) + get(b));
  }
  template <class R>
  static R sub(R const& a, R const& b) {
    return put<R>(get(a) - get(b));
  }
  template <class R>
  static R mul(R const& a, R const& b) {
    return put<R>(get(a) * get(b));
  }
  template <class R>
  static R div(R const& a, R const& b) {
    return put<R>(get(a) / get(b));
  }
  template <class R>
  static R bit_or(R const& a, R const& b) {
    return put<R>(get(a) | get(b));
  }
  template <class R>
  static R bit_and(R const& a, R const& b) {
    return put<R>(get(a) & get(b));
  }
  template <class R>
  static R min(R const& a, R const& b) {
    if constexpr (is_register<R, float, 32>) {
      return put<R>(_mm256_min_ps(get(a), get(b)));
    } else if constexpr (is_register<R, double, 32>) {
      return put<R>(_mm256_min_pd(get(a), get(b)));
    } else {
      return put<R>(get(a) < get(b) ? get(a) : get(b));
    }
  }
  template <class R>
  static R max(R const& a, R const& b) {
    if constexpr (is_register<R, float, 32>) {
      return put<R>(_mm256_max_ps(get(a), get(b)));
    } else if constexpr (is_register<R, double, 32>) {
      return put<R>(_mm256_max_pd(get(a), get(b)));
    } else {
      return put<R>(get(a) > get(b) ? get(a) : get(b));
    }
  }
  template <class R>
  static R fma(R const& a, R const& b, R const& c) {
    if constexpr (is_register<R, float, 32>) {
      return put<R>(_mm256_fmadd_ps(get(a), get(b), get(c)));
    } else if constexpr (is_register<R, float, 16>) {
      return put<R>(_mm_fmadd_ps(get(a), get(b), get(c)));
    } else {
      return put<R>(_mm256_fmadd_pd(get(a), get(b), get(c)));
    }
  }
  template <class R>
  static R floor(R const& a) {
    if constexpr (is_register<R, float, 32>) {
      return put<R>(_mm256_floor_ps(get(a)));
    } else {
      return put<R>(_mm256_floor_pd(get(a)));
    }
  }
  template <class To, class R>
  static To truncate(R const& a) {
    if constexpr (is_register<R, float, 32>) {
      return put<To>(_mm256_cvttps_epi32(get(a)));
    } else {
      return put<To>(_mm256_cvttpd_epi32(get(a)));
    }
  }
  template <class To, class R>
  static To nearest(R const& a) {
    if constexpr (is_register<R, float, 32>) {
      return put<To>(_mm256_cvtps_epi32(get(a)));
    } else {
      return put<To>(_mm256_cvtpd_epi32(get(a)));
    }
  }
  template <class To, class R>
  static To convert(R const& k) {
    if constexpr (is_register<To, float, 32>) {
      return put<To>(_mm256_cvtepi32_ps(__m256i(get(k))));
    } else {
      return put<To>(_mm256_cvtepi32_pd(__m128i(get(k))));
    }
  }
  template <class To, class R>
  static To bits(R const& a) {
    return put<To>(get(a));
  }

  template <class R>
  using mask_of = mask<typename R::element, R::width>;
  template <class R>
  static mask_of<R> less(R const& a, R const& b) {
    return put<mask_of<R>>(get(a) < get(b));
  }
  template <class R>
  static mask_of<R> less_equal(R const& a, R const& b) {
    return put<mask_of<R>>(get(a) <= get(b));
  }
  template <class R>
  static mask_of<R> equal(R const& a, R const& b) {
    return put<mask_of<R>>(get(a) == get(b));
  }
  template <class M>
  static M both(M const& a, M const& b) {
    return put<M>(get(a) & get(b));
  }
  template <class M>
  static M negated(M const& a) {
    return put<M>(~get(a));
  }
  template <int W, class M>
  static bool every(M const& a) {
    if constexpr (sizeof(M) == 16) {
      return _mm_movemask_epi8(__m128i(get(a))) == 0xffff;
    } else {
      return _mm256_movemask_epi8(__m256i(get(a))) == -1;
    }
  }
  template <class M, class R>
  static R select(M const& m, R const& a, R const& b) {
    if constexpr (sizeof(M) < sizeof(R)) {  // of the integers beside doubles
      return select(put<mask_of<R>>(_mm256_cvtepi32_epi64(__m128i(get(m)))), a, b);
    } else if constexpr (sizeof(R) == 16) {
      return put<R>(_mm_blendv_epi8(__m128i(get(b)), __m128i(get(a)), __m128i(get(m))));
    } else if constexpr (sizeof(typename R::element) == 4) {
      return put<R>(_mm256_blendv_ps(__m256(get(b)), __m256(get(a)), __m256(get(m))));
    } else {
      return put<R>(_mm256_blendv_pd(__m256d(get(b)), __m256d(get(a)), __m256d(get(m))));
    }
  }
  template <class R, class K>
  static R gather(typename R::element const* p, K const& k) {
    return gather<R>(p, k, std::make_integer_sequence<int, R::width>());
  }
  // Plain loads: no slower than the instruction.
  template <class R, class K, int... I>
  static R gather(typename R::element const* p, K const& k, std::integer_sequence<int, I...>) {
    return put<R>(native<R>{p[k.x[I]]...});
  }
  /// Reads p[k] and p[k + 1] of every lane, k >= 0, both by one load.
  template <class R, class K>
  static void gather_pairs(typename R::element const* p, K const& k, R& a, R& b) {
    alignas(32) std::uint32_t at[R::width];
    store_each(at, k);
    if constexpr (is_register<R, float, 32>) {
      auto const two = [&](int n) { return two_pairs(p + at[n], p + at[n + 1]); };
      __m256 const low = _mm256_insertf128_ps(_mm256_castps128_ps256(two(0)), two(4), 1);
      __m256 const high = _mm256_insertf128_ps(_mm256_castps128_ps256(two(2)), two(6), 1);
      a = put<R>(_mm256_shuffle_ps(low, high, 0x88));
      b = put<R>(_mm256_shuffle_ps(low, high, 0xdd));
    } else {
      auto const one = [&](int n) { return _mm_loadu_pd(p + at[n]); };
      __m256d const low = _mm256_insertf128_pd(_mm256_castpd128_pd256(one(0)), one(2), 1);
      __m256d const high = _mm256_insertf128_pd(_mm256_castpd128_pd256(one(1)), one(3), 1);
      a = put<R>(_mm256_unpacklo_pd(low, high));
      b = put<R>(_mm256_unpackhi_pd(low, high));
    }
  }
  /// Returns two numbers from a on, and two from b on.
  static __m128 two_pairs(float const* a, float const* b) {
    // These two know that what they read is no double, and not aligned.
    __m128 const low = _mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<__m64 const*>(a));
    return _mm_loadh_pi(low, reinterpret_cast<__m64 const*>(b));
  }
  // What lanes add to memory one after the other goes through arrays that the compiler cannot see
  // through: out of a register it would take two instructions for each.

  /// Returns the lane whose pair store_pairs stores as the n-th: of each four lanes the first two,
  /// then the others.
  static constexpr int pair_lane(int n) { return n % 4 / 2 * 4 + n % 2 + n / 4 * 2; }
  /// Stores low + 2^32 high of every lane, modulo 2^64.
  template <class K>
  static void store_pairs(std::uint64_t (&to)[8], K const& low, K const& high) {
    __m256i const x = __m256i(get(low));
    __m256i const y = _mm256_add_epi32(__m256i(get(high)), _mm256_srai_epi32(x, 31));
    __m256i const first = _mm256_unpacklo_epi32(x, y);
    __m256i const second = _mm256_unpackhi_epi32(x, y);
    __builtin_memcpy(to, &first, sizeof first);
    __builtin_memcpy(to + 4, &second, sizeof second);
    asm("" : "+m"(to));
  }
  /// Stores every lane, for loads of one at a time.
  template <int N, class K>
  static void store_each(std::uint32_t (&to)[N], K const& k) {
    store(reinterpret_cast<std::int32_t*>(to), k);
    asm("" : "+m"(to));
  }
  /// Stores word c of record n at to[32 c + n], of eight records of eight words.
  template <class Record>
  static void store_words(std::uint32_t* to, Record const* const* records) {
    static_assert(sizeof(Record) == 32);
    __m256i r[8];
    __m256i s[8];
    ISO_EACH_REGISTER(int n = 0; n < 8; ++n) {
      r[n] = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(records[n]));
    }
    ISO_EACH_REGISTER(int n = 0; n < 8; n += 2) {
      s[n] = _mm256_unpacklo_epi32(r[n], r[n + 1]);
      s[n + 1] = _mm256_unpackhi_epi32(r[n], r[n + 1]);
    }
    ISO_EACH_REGISTER(int n = 0; n < 8; n += 4) {
      r[n] = _mm256_unpacklo_epi64(s[n], s[n + 2]);
      r[n + 1] = _mm256_unpackhi_epi64(s[n], s[n + 2]);
      r[n + 2] = _mm256_unpacklo_epi64(s[n + 1], s[n + 3]);
      r[n + 3] = _mm256_unpackhi_epi64(s[n + 1], s[n + 3]);
    }
    ISO_EACH_REGISTER(int c = 0; c < 4; ++c) {
      __m256i const low = _mm256_permute2x128_si256(r[c], r[c + 4], 0x20);
      __m256i const high = _mm256_permute2x128_si256(r[c], r[c + 4], 0x31);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 32 * c), low);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 32 * (c + 4)), high);
    }
  }
  /// Returns elements k of the two registers a and b in a row, k modulo 2 width.
  template <class R, class K>
  static R pick(R const& a, R const& b, K const& k) {
    if constexpr (is_register<R, float, 32>) {
      __m256i const at = __m256i(get(k));
      return put<R>(_mm256_blendv_ps(_mm256_permutevar8x32_ps(get(a), at),
                                     _mm256_permutevar8x32_ps(get(b), at),
                                     _mm256_castsi256_ps(_mm256_slli_epi32(at, 28))));
    } else {
      // Doubles go as pairs of floats: 2 k and 2 k + 1.
      __m256i const wide = _mm256_cvtepi32_epi64(__m128i(get(k)));
      __m256i const low = _mm256_add_epi64(wide, wide);
      __m256i const pair =
          _mm256_or_si256(low, _mm256_slli_epi64(_mm256_add_epi64(low, _mm256_set1_epi64x(1)), 32));
      __m256 const from_a = _mm256_permutevar8x32_ps(_mm256_castpd_ps(get(a)), pair);
      __m256 const from_b = _mm256_permutevar8x32_ps(_mm256_castpd_ps(get(b)), pair);
      return put<R>(_mm256_blendv_pd(_mm256_castps_pd(from_a), _mm256_castps_pd(from_b),
                                     _mm256_castsi256_pd(_mm256_slli_epi64(wide, 61))));
    }
  }
};

#if ISO_SET_BYTES == 32
using native_lanes = avx2_lanes;
#endif

}  // namespace iso::backend::ISO_SET
#endif

#endif
