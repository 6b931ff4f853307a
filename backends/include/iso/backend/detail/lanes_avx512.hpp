// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_BACKEND_DETAIL_LANES_AVX512_HPP
#define ISO_BACKEND_DETAIL_LANES_AVX512_HPP

#include <iso/backend/detail/lanes_avx2.hpp>
#include <iso/backend/lane_value.hpp>

#include <immintrin.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#define ISO_SET_HEADER <iso/backend/detail/lanes_avx512.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

#if ISO_SET_BYTES == 64
namespace iso::backend::ISO_SET {

/// Registers of 64 bytes; integers beside doubles take 32. A mask is a bit a lane.
struct avx512_lanes {
  static constexpr int num_registers = 32;
  template <class T>
  static constexpr int width = 64 / int(sizeof(T));
  template <class T, int W>
  using reg = lane_register<T, W>;
  template <class T, int W>
  using mask = std::conditional_t<W == 16, std::uint16_t, std::uint8_t>;

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
    if constexpr (is_register<R, float, 64>) {
      return put<R>(_mm512_set1_ps(x));
    } else if constexpr (is_register<R, double, 64>) {
      return put<R>(_mm512_set1_pd(x));
    } else if constexpr (is_register<R, float, 32>) {
      return put<R>(_mm256_set1_ps(x));
    } else if constexpr (is_register<R, double, 32>) {
      return put<R>(_mm256_set1_pd(x));
    } else if constexpr (sizeof(R) == 32) {
      return put<R>(_mm256_set1_epi32(std::int32_t(x)));
    } else if constexpr (sizeof(typename R::element) == 4) {
      return put<R>(_mm512_set1_epi32(std::int32_t(x)));
    } else {
      return put<R>(_mm512_set1_epi64(std::int64_t(x)));
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
    typedef native<R> any __attribute__((may_alias, aligned(alignof(typename R::element))));
    // A variable: clang gives a temporary the alignment of `any`.
    native<R> const v = *reinterpret_cast<any const*>(p);
    return put<R>(v);
  }
  template <class R>
  static void store(typename R::element* p, R const& a) {
    typedef native<R> any __attribute__((may_alias, aligned(alignof(typename R::element))));
    *reinterpret_cast<any*>(p) = get(a);
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
    if constexpr (is_register<R, float, 64>) {
      return put<R>(_mm512_min_ps(get(a), get(b)));
    } else if constexpr (is_register<R, double, 64>) {
      return put<R>(_mm512_min_pd(get(a), get(b)));
    } else if constexpr (is_register<R, float, 32>) {
      return put<R>(_mm256_min_ps(get(a), get(b)));
    } else if constexpr (is_register<R, std::int32_t, 64>) {
      return put<R>(_mm512_min_epi32(__m512i(get(a)), __m512i(get(b))));
    } else {
      return put<R>(get(a) < get(b) ? get(a) : get(b));
    }
  }
  template <class R>
  static R max(R const& a, R const& b) {
    if constexpr (is_register<R, float, 64>) {
      return put<R>(_mm512_max_ps(get(a), get(b)));
    } else if constexpr (is_register<R, double, 64>) {
      return put<R>(_mm512_max_pd(get(a), get(b)));
    } else if constexpr (is_register<R, std::int32_t, 64>) {
      return put<R>(_mm512_max_epi32(__m512i(get(a)), __m512i(get(b))));
    } else {
      return put<R>(get(a) > get(b) ? get(a) : get(b));
    }
  }
  template <class R>
  static R fma(R const& a, R const& b, R const& c) {
    if constexpr (is_register<R, float, 64>) {
      return put<R>(_mm512_fmadd_ps(get(a), get(b), get(c)));
    } else if constexpr (is_register<R, float, 32>) {
      return put<R>(_mm256_fmadd_ps(get(a), get(b), get(c)));
    } else if constexpr (is_register<R, double, 32>) {
      return put<R>(_mm256_fmadd_pd(get(a), get(b), get(c)));
    } else {
      return put<R>(_mm512_fmadd_pd(get(a), get(b), get(c)));
    }
  }
  template <class R>
  static R floor(R const& a) {
    constexpr int down = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    if constexpr (is_register<R, float, 64>) {
      return put<R>(_mm512_roundscale_ps(get(a), down));
    } else {
      return put<R>(_mm512_roundscale_pd(get(a), down));
    }
  }
  template <class To, class R>
  static To truncate(R const& a) {
    if constexpr (is_register<R, float, 64>) {
      return put<To>(_mm512_cvttps_epi32(get(a)));
    } else {
      return put<To>(_mm512_cvttpd_epi32(get(a)));
    }
  }
  template <class To, class R>
  static To nearest(R const& a) {
    if constexpr (is_register<R, float, 64>) {
      return put<To>(_mm512_cvtps_epi32(get(a)));
    } else {
      return put<To>(_mm512_cvtpd_epi32(get(a)));
    }
  }
  template <class To, class R>
  static To convert(R const& k) {
    if constexpr (is_register<To, float, 64>) {
      return put<To>(_mm512_cvtepi32_ps(__m512i(get(k))));
    } else {
      return put<To>(_mm512_cvtepi32_pd(__m256i(get(k))));
    }
  }
  template <class To, class R>
  static To bits(R const& a) {
    return put<To>(get(a));
  }

  /// Compares by _CMP_LT_OQ, _CMP_LE_OQ or _CMP_EQ_OQ, floating point and integers alike.
  template <int Relation, class R>
  static mask<typename R::element, R::width> compare(R const& a, R const& b) {
    constexpr auto of_integers = Relation == _CMP_LT_OQ   ? _MM_CMPINT_LT
                                 : Relation == _CMP_LE_OQ ? _MM_CMPINT_LE
                                                          : _MM_CMPINT_EQ;
    static_assert(std::is_signed_v<typename R::element>, "iso::backend: numbers with a sign");
    if constexpr (is_register<R, float, 64>) {
      return _mm512_cmp_ps_mask(get(a), get(b), Relation);
    } else if constexpr (is_register<R, double, 64>) {
      return _mm512_cmp_pd_mask(get(a), get(b), Relation);
    } else if constexpr (is_register<R, float, 32>) {
      return _mm256_cmp_ps_mask(get(a), get(b), Relation);
    } else if constexpr (is_register<R, double, 32>) {
      return _mm256_cmp_pd_mask(get(a), get(b), Relation);
    } else if constexpr (is_register<R, std::int32_t, 64>) {
      return _mm512_cmp_epi32_mask(__m512i(get(a)), __m512i(get(b)), of_integers);
    } else if constexpr (is_register<R, std::int32_t, 32>) {
      return _mm256_cmp_epi32_mask(__m256i(get(a)), __m256i(get(b)), of_integers);
    } else {
      return _mm512_cmp_epi64_mask(__m512i(get(a)), __m512i(get(b)), of_integers);
    }
  }
  template <class R>
  static auto less(R const& a, R const& b) {
    return compare<_CMP_LT_OQ>(a, b);
  }
  template <class R>
  static auto less_equal(R const& a, R const& b) {
    return compare<_CMP_LE_OQ>(a, b);
  }
  template <class R>
  static auto equal(R const& a, R const& b) {
    return compare<_CMP_EQ_OQ>(a, b);
  }
  template <class M>
  static M both(M a, M b) {
    return M(a & b);
  }
  template <class M>
  static M negated(M a) {
    return M(~a);
  }
  template <int W, class M>
  static bool every(M a) {
    constexpr auto all = M((1U << W) - 1);
    return (a & all) == all;
  }
  template <class M, class R>
  static R select(M m, R const& a, R const& b) {
    if constexpr (sizeof(R) == 32 && sizeof(typename R::element) == 8) {
      return put<R>(_mm256_mask_mov_epi64(__m256i(get(b)), m, __m256i(get(a))));
    } else if constexpr (sizeof(R) == 32) {
      return put<R>(_mm256_mask_mov_epi32(__m256i(get(b)), m, __m256i(get(a))));
    } else if constexpr (sizeof(typename R::element) == 4) {
      return put<R>(_mm512_mask_mov_ps(__m512(get(b)), m, __m512(get(a))));
    } else {
      return put<R>(_mm512_mask_mov_pd(__m512d(get(b)), m, __m512d(get(a))));
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
    alignas(64) std::uint32_t at[R::width];
    store_each(at, k);
    if constexpr (is_register<R, float, 64>) {
      auto const four = [&](int n) {
        auto const two = [&](int m) {
          return avx2_lanes::two_pairs(p + at[n + m], p + at[n + m + 1]);
        };
        return _mm256_insertf128_ps(_mm256_castps128_ps256(two(0)), two(4), 1);
      };
      __m512 const low = _mm512_insertf32x8(_mm512_castps256_ps512(four(0)), four(8), 1);
      __m512 const high = _mm512_insertf32x8(_mm512_castps256_ps512(four(2)), four(10), 1);
      a = put<R>(_mm512_shuffle_ps(low, high, 0x88));
      b = put<R>(_mm512_shuffle_ps(low, high, 0xdd));
    } else {
      auto const two = [&](int n) {
        return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p + at[n])),
                                    _mm_loadu_pd(p + at[n + 2]), 1);
      };
      __m512d const low = _mm512_insertf64x4(_mm512_castpd256_pd512(two(0)), two(4), 1);
      __m512d const high = _mm512_insertf64x4(_mm512_castpd256_pd512(two(1)), two(5), 1);
      a = put<R>(_mm512_unpacklo_pd(low, high));
      b = put<R>(_mm512_unpackhi_pd(low, high));
    }
  }
  /// Returns the lane whose pair store_pairs stores as the n-th: of each four lanes the first two,
  /// then the others.
  static constexpr int pair_lane(int n) { return n % 8 / 2 * 4 + n % 2 + n / 8 * 2; }
  /// Stores low + 2^32 high of every lane, modulo 2^64.
  template <class K>
  static void store_pairs(std::uint64_t (&to)[16], K const& low, K const& high) {
    __m512i const x = __m512i(get(low));
    __m512i const y = _mm512_add_epi32(__m512i(get(high)), _mm512_srai_epi32(x, 31));
    __m512i const first = _mm512_unpacklo_epi32(x, y);
    __m512i const second = _mm512_unpackhi_epi32(x, y);
    __builtin_memcpy(to, &first, sizeof first);
    __builtin_memcpy(to + 8, &second, sizeof second);
    asm("" : "+m"(to));
  }
  /// Stores every lane, for loads of one at a time.
  template <int N, class K>
  static void store_each(std::uint32_t (&to)[N], K const& k) {
    store(reinterpret_cast<std::int32_t*>(to), k);
    asm("" : "+m"(to));
  }
  template <class Record>
  static void store_words(std::uint32_t* to, Record const* const* records) {
    avx2_lanes::store_words(to, records);
  }
  /// Returns elements k of the two registers a and b in a row, k modulo 2 width.
  template <class R, class K>
  static R pick(R const& a, R const& b, K const& k) {
    if constexpr (is_register<R, float, 64>) {
      return put<R>(_mm512_permutex2var_ps(get(a), __m512i(get(k)), get(b)));
    } else {
      return put<R>(_mm512_permutex2var_pd(get(a), _mm512_cvtepi32_epi64(__m256i(get(k))), get(b)));
    }
  }
};

using native_lanes = avx512_lanes;

}  // namespace iso::backend::ISO_SET
#endif

#endif
