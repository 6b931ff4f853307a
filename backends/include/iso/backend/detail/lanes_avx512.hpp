// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/detail/lane_register.hpp>

#include <immintrin.h>

#include <cstdint>
#include <type_traits>
#include <utility>

// Functions of a source that is compiled for a lesser processor. They are inlined where a kernel is
// started with the same target (host_lane_group.hpp) and nowhere else: not always_inline, which GCC
// refuses in the kernel's own functions on the way.
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#define ISO_AVX512
#else
#define ISO_AVX512 \
  __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,prefer-vector-width=512")))
#endif

namespace iso::backend::detail {

/// Registers of 64 bytes; integers beside doubles take 32. A mask is a bit a lane.
struct avx512_lanes {
  template <class T>
  static constexpr int width = 64 / int(sizeof(T));
  template <class T, int W>
  using reg = lane_register<T, W>;
  template <class T, int W>
  using mask = std::conditional_t<W == 16, std::uint16_t, std::uint8_t>;

  template <class R>
  ISO_AVX512 static native<R> get(R const& a) {
    native<R> v;
    __builtin_memcpy(&v, &a, sizeof v);
    return v;
  }
  template <class R, class V>
  ISO_AVX512 static R put(V const& v) {
    static_assert(sizeof(R) == sizeof v);
    R a;
    __builtin_memcpy(&a, &v, sizeof v);
    return a;
  }

  template <class R>
  ISO_AVX512 static R all(typename R::element x) {
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
  /// 0, 1, 2, ...
  template <class R>
  ISO_AVX512 static R ramp() {
    alignas(64) static constexpr std::int32_t numbers[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                             8, 9, 10, 11, 12, 13, 14, 15};
    return load<R>(numbers);
  }
  template <class R>
  ISO_AVX512 static R load(typename R::element const* p) {
    native<R> v;
    __builtin_memcpy(&v, p, sizeof v);
    return put<R>(v);
  }
  template <class R>
  ISO_AVX512 static void store(typename R::element* p, R const& a) {
    native<R> const v = get(a);
    __builtin_memcpy(p, &v, sizeof v);
  }
  template <class R>
  ISO_AVX512 static R add(R const& a, R const& b) {
    return put<R>(get(a) + get(b));
  }
  template <class R>
  ISO_AVX512 static R sub(R const& a, R const& b) {
    return put<R>(get(a) - get(b));
  }
  template <class R>
  ISO_AVX512 static R mul(R const& a, R const& b) {
    return put<R>(get(a) * get(b));
  }
  template <class R>
  ISO_AVX512 static R bit_or(R const& a, R const& b) {
    return put<R>(get(a) | get(b));
  }
  template <class R>
  ISO_AVX512 static R min(R const& a, R const& b) {
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
  ISO_AVX512 static R max(R const& a, R const& b) {
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
  ISO_AVX512 static R fma(R const& a, R const& b, R const& c) {
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
  ISO_AVX512 static R floor(R const& a) {
    constexpr int down = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    if constexpr (is_register<R, float, 64>) {
      return put<R>(_mm512_roundscale_ps(get(a), down));
    } else {
      return put<R>(_mm512_roundscale_pd(get(a), down));
    }
  }
  template <class To, class R>
  ISO_AVX512 static To truncate(R const& a) {
    if constexpr (is_register<R, float, 64>) {
      return put<To>(_mm512_cvttps_epi32(get(a)));
    } else {
      return put<To>(_mm512_cvttpd_epi32(get(a)));
    }
  }
  template <class To, class R>
  ISO_AVX512 static To convert(R const& k) {
    if constexpr (is_register<To, float, 64>) {
      return put<To>(_mm512_cvtepi32_ps(__m512i(get(k))));
    } else {
      return put<To>(_mm512_cvtepi32_pd(__m256i(get(k))));
    }
  }
  template <class To, class R>
  ISO_AVX512 static To bits(R const& a) {
    return put<To>(get(a));
  }

  /// Relation: _CMP_LT_OQ, _CMP_LE_OQ or _CMP_EQ_OQ of floating point, and of integers the same.
  template <int Relation, class R>
  ISO_AVX512 static mask<typename R::element, R::width> compare(R const& a, R const& b) {
    constexpr auto of_integers = Relation == _CMP_LT_OQ   ? _MM_CMPINT_LT
                                 : Relation == _CMP_LE_OQ ? _MM_CMPINT_LE
                                                          : _MM_CMPINT_EQ;
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
  ISO_AVX512 static auto less(R const& a, R const& b) {
    return compare<_CMP_LT_OQ>(a, b);
  }
  template <class R>
  ISO_AVX512 static auto less_equal(R const& a, R const& b) {
    return compare<_CMP_LE_OQ>(a, b);
  }
  template <class R>
  ISO_AVX512 static auto equal(R const& a, R const& b) {
    return compare<_CMP_EQ_OQ>(a, b);
  }
  template <class M>
  ISO_AVX512 static M both(M a, M b) {
    return M(a & b);
  }
  template <class M>
  ISO_AVX512 static M negated(M a) {
    return M(~a);
  }
  template <class M>
  ISO_AVX512 static bool every(M a) {
    return a == M(~M(0));
  }
  template <class M, class R>
  ISO_AVX512 static R select(M m, R const& a, R const& b) {
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
  ISO_AVX512 static R gather(typename R::element const* p, K const& k) {
    return gather<R>(p, k, std::make_integer_sequence<int, R::width>());
  }
  // Plain loads: no slower than the instruction.
  template <class R, class K, int... I>
  ISO_AVX512 static R gather(typename R::element const* p, K const& k,
                             std::integer_sequence<int, I...>) {
    return put<R>(native<R>{p[k.x[I]]...});
  }
  /// Elements k of the two registers a and b in a row, 0 <= k < 2 width.
  template <class R, class K>
  ISO_AVX512 static R pick(R const& a, R const& b, K const& k) {
    if constexpr (is_register<R, float, 64>) {
      return put<R>(_mm512_permutex2var_ps(get(a), __m512i(get(k)), get(b)));
    } else {
      return put<R>(_mm512_permutex2var_pd(get(a), _mm512_cvtepi32_epi64(__m256i(get(k))), get(b)));
    }
  }
};

}  // namespace iso::backend::detail
