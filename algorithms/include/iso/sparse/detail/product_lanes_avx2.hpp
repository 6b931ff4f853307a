// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_SPARSE_DETAIL_PRODUCT_LANES_AVX2_HPP
#define ISO_SPARSE_DETAIL_PRODUCT_LANES_AVX2_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/core/half.hpp>
#include <iso/sparse/detail/product_lanes_scalar.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

#define ISO_SET_HEADER <iso/sparse/detail/product_lanes_avx2.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

#if ISO_SET_BYTES >= 32
namespace iso::sparse::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

template <>
struct product_operations<backend::avx2_lanes> : private backend::avx2_lanes {
  template <class R, class Stored>
  static R widened(Stored const* p) {
    if constexpr (std::is_same_v<Stored, typename R::element>) {
      return load<R>(p);
    } else if constexpr (backend::is_register<R, float, 32>) {
      return put<R>(floats(p));
    } else if constexpr (std::is_same_v<Stored, float>) {
      return put<R>(_mm256_cvtps_pd(_mm_loadu_ps(p)));
    } else if constexpr (std::is_same_v<Stored, half>) {
      return put<R>(_mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(whole(p)))));
    } else {
      __m128i const bits = _mm_cvtepu16_epi32(_mm_loadl_epi64(whole(p)));
      return put<R>(_mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(bits, 16))));
    }
  }
  template <class R, class Stored>
  static R widened_register(Stored const* p, int n) {
    if constexpr (sizeof(Stored) == 2 && backend::is_register<R, double, 32>) {
      // As floats, eight numbers take one instruction, their load included; four take two. The
      // compiler does it once for both registers.
      __m256 const two = floats(p + n / 2 * (2 * R::width));
      return put<R>(_mm256_cvtps_pd(n % 2 == 0 ? _mm256_castps256_ps128(two)
                                               : _mm256_extractf128_ps(two, 1)));
    } else {
      return widened<R>(p + n * R::width);
    }
  }
  template <class R, class Stored>
  static R widened(Stored const* p, int count) {
    Stored some[R::width];
    for (int j = 0; j < R::width; ++j) {
      some[j] = j < count ? p[j] : Stored();
    }
    return widened<R>(some);
  }
  template <int Times, class R>
  static R repeated(R const& a, int from) {
    static_assert(Times == 1 || Times == 2 || Times == 4);
    if constexpr (Times == 1) {
      return a;
    } else if constexpr (backend::is_register<R, float, 32>) {
      __m256i const step = _mm256_srli_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), Times / 2);
      return put<R>(
          _mm256_permutevar8x32_ps(get(a), _mm256_add_epi32(step, _mm256_set1_epi32(from))));
    } else {
      // Doubles go as pairs of floats: 2 k and 2 k + 1.
      __m256i const step = Times == 2 ? _mm256_setr_epi32(0, 1, 0, 1, 2, 3, 2, 3)
                                      : _mm256_setr_epi32(0, 1, 0, 1, 0, 1, 0, 1);
      __m256i const at = _mm256_add_epi32(step, _mm256_set1_epi32(2 * from));
      return put<R>(_mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(get(a)), at)));
    }
  }
  template <class R, int Count, int Lanes, class At>
  static R spread(At const& at) {
    if constexpr (Lanes == 1 && Count == R::width) {
      return load<R>(at(0));
    } else if constexpr (Lanes == 1 && Count == 1) {
      return all<R>(*at(0));
    } else if constexpr (Lanes <= 2 && Count * sizeof(typename R::element) == 16) {
      return put<R>(
          _mm256_set_m128i(_mm_loadu_si128(whole(at(Lanes - 1))), _mm_loadu_si128(whole(at(0)))));
    } else {
      return one_by_one<R, Count, Lanes>(at, std::make_integer_sequence<int, R::width>());
    }
  }
  // Plain loads: no slower than a search for runs.
  template <class R, class Column>
  static R gather_runs(typename R::element const* p, Column const* columns) {
    return gather_runs<R>(p, columns, std::make_integer_sequence<int, R::width>());
  }
  template <class R, class Column, int... I>
  static R gather_runs(typename R::element const* p, Column const* columns,
                       std::integer_sequence<int, I...>) {
    return put<R>(backend::native<R>{p[columns[I]]...});
  }
  template <int Count, class R>
  static void store_folded(typename R::element* p, R const& a) {
    if constexpr (Count == R::width) {
      store(p, a);
    } else if constexpr (backend::is_register<R, double, 32>) {
      fold_halves<Count>(p, _mm256_castpd256_pd128(get(a)), _mm256_extractf128_pd(get(a), 1));
    } else {
      fold_halves<Count>(p, _mm256_castps256_ps128(get(a)), _mm256_extractf128_ps(get(a), 1));
    }
  }

 private:
  template <class T>
  static __m128i const* whole(T const* p) {
    return reinterpret_cast<__m128i const*>(p);
  }
  static __m256 floats(half const* p) { return _mm256_cvtph_ps(_mm_loadu_si128(whole(p))); }
  static __m256 floats(bfloat16 const* p) {
    __m256i const bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(whole(p)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16));
  }
  template <class R, int Count, int Lanes, class At, int... I>
  static R one_by_one(At const& at, std::integer_sequence<int, I...>) {
    return put<R>(backend::native<R>{at(I / (R::width / Lanes))[I % Count]...});
  }
  template <int Count>
  static void fold_halves(double* p, __m128d low, __m128d high) {
    __m128d const two = _mm_add_pd(low, high);
    if constexpr (Count == 2) {
      _mm_storeu_pd(p, two);
    } else {
      *p = _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
    }
  }
  template <int Count>
  static void fold_halves(float* p, __m128 low, __m128 high) {
    __m128 const four = _mm_add_ps(low, high);
    __m128 const two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    if constexpr (Count == 4) {
      _mm_storeu_ps(p, four);
    } else if constexpr (Count == 2) {
      _mm_storel_pi(reinterpret_cast<__m64*>(p), two);
    } else {
      *p = _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
    }
  }
};

}  // namespace iso::sparse::detail::ISO_SET
#endif

#endif
