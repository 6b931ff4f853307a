// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_SPARSE_DETAIL_PRODUCT_LANES_AVX512_HPP
#define ISO_SPARSE_DETAIL_PRODUCT_LANES_AVX512_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/core/half.hpp>
#include <iso/sparse/detail/product_lanes_avx2.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

#define ISO_SET_HEADER <iso/sparse/detail/product_lanes_avx512.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

#if ISO_SET_BYTES == 64
namespace iso::sparse::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

template <>
struct product_operations<backend::avx512_lanes> : private backend::avx512_lanes {
  template <class R, class Stored>
  static R widened(Stored const* p) {
    if constexpr (std::is_same_v<Stored, typename R::element>) {
      return load<R>(p);
    } else if constexpr (backend::is_register<R, float, 64>) {
      return put<R>(floats(p, _mm256_loadu_si256(reinterpret_cast<__m256i const*>(p))));
    } else if constexpr (std::is_same_v<Stored, float>) {
      return put<R>(_mm512_maskz_cvtps_pd(each_of_8, _mm256_loadu_ps(p)));
    } else {
      return put<R>(doubles(p, _mm_loadu_si128(reinterpret_cast<__m128i const*>(p))));
    }
  }
  template <class R, class Stored>
  static R widened_register(Stored const* p, int n) {
    return widened<R>(p + n * R::width);
  }
  template <class R, class Stored>
  static R widened(Stored const* p, int count) {
    unsigned const some = count >= R::width ? ~0U : count > 0 ? (1U << count) - 1 : 0U;
    if constexpr (backend::is_register<R, float, 64> && sizeof(Stored) == 2) {
      return put<R>(floats(p, _mm256_maskz_loadu_epi16(__mmask16(some), p)));
    } else if constexpr (backend::is_register<R, float, 64>) {
      return put<R>(_mm512_maskz_loadu_ps(__mmask16(some), p));
    } else if constexpr (sizeof(Stored) == 8) {
      return put<R>(_mm512_maskz_loadu_pd(__mmask8(some), p));
    } else if constexpr (sizeof(Stored) == 4) {
      return put<R>(_mm512_maskz_cvtps_pd(each_of_8, _mm256_maskz_loadu_ps(__mmask8(some), p)));
    } else {
      return put<R>(doubles(p, _mm_maskz_loadu_epi16(__mmask8(some), p)));
    }
  }
  template <int Times, class R>
  static R repeated(R const& a, int from) {
    static_assert(Times == 1 || Times == 2 || Times == 4);
    if constexpr (Times == 1) {
      return a;
    } else if constexpr (backend::is_register<R, float, 64>) {
      __m512i const numbers =
          _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
      __m512i const step = _mm512_maskz_srli_epi32(each_of_16, numbers, Times / 2);
      return put<R>(_mm512_maskz_permutexvar_ps(
          each_of_16, _mm512_add_epi32(step, _mm512_set1_epi32(from)), get(a)));
    } else {
      __m512i const step = Times == 2 ? _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3)
                                      : _mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1);
      return put<R>(_mm512_maskz_permutexvar_pd(
          each_of_8, _mm512_add_epi64(step, _mm512_set1_epi64(from)), get(a)));
    }
  }
  template <class R, int Count, int Lanes, class At>
  static R spread(At const& at) {
    constexpr int bytes = Count * int(sizeof(typename R::element));
    if constexpr (bytes == 64) {
      return load<R>(at(0));
    } else if constexpr (bytes == 4 || Lanes == R::width) {
      return one_by_one<R, Count, Lanes>(at, std::make_integer_sequence<int, R::width>());
    } else {
      __m512d found = again<bytes>(_mm512_setzero_pd(), __mmask8(0xff), at(0));
      ISO_EACH_REGISTER(int n = 1; n < Lanes; ++n) {
        found = again<bytes>(found, __mmask8(0xffU << (8 / Lanes * n)), at(n));
      }
      return put<R>(found);
    }
  }
  /// Loads twice: of eight columns some follow on from the first, the others lead up to the last.
  template <class R, class Column>
  static R gather_runs(typename R::element const* p, Column const* columns) {
    if constexpr (backend::is_register<R, double, 64>) {
      __m256i const start =
          _mm256_sub_epi32(eight(columns), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
      __m256i const first = _mm256_broadcastd_epi32(_mm256_castsi256_si128(start));
      __m256i const last = _mm256_permutevar8x32_epi32(start, _mm256_set1_epi32(7));
      __mmask8 const follow = _mm256_cmpeq_epi32_mask(start, first);
      __mmask8 const lead = _mm256_cmpeq_epi32_mask(start, last);
      if ((follow | lead) == 0xff) {
        __m512d const found = _mm512_maskz_loadu_pd(follow, p + columns[0]);
        return put<R>(
            _mm512_mask_loadu_pd(found, __mmask8(~follow), p + (std::int64_t(columns[7]) - 7)));
      }
    }
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
    } else if constexpr (backend::is_register<R, double, 64>) {
      using lower = reg<double, 4>;
      product_operations<backend::avx2_lanes>::store_folded<Count>(
          p, put<lower>(_mm256_add_pd(_mm512_maskz_extractf64x4_pd(0xf, get(a), 0),
                                      _mm512_maskz_extractf64x4_pd(0xf, get(a), 1))));
    } else {
      using lower = reg<float, 8>;
      product_operations<backend::avx2_lanes>::store_folded<Count>(
          p, put<lower>(_mm256_add_ps(_mm512_maskz_extractf32x8_ps(0xff, get(a), 0),
                                      _mm512_maskz_extractf32x8_ps(0xff, get(a), 1))));
    }
  }

 private:
  // GCC 12 warns of the forms without a mask: its own header leaves what they replace unset.
  static constexpr __mmask8 each_of_8 = 0xff;
  static constexpr __mmask16 each_of_16 = 0xffff;

  static __m512 floats(half const*, __m256i const& bits) {
    return _mm512_maskz_cvtph_ps(each_of_16, bits);
  }
  static __m512 floats(bfloat16 const*, __m256i const& bits) {
    return _mm512_castsi512_ps(
        _mm512_maskz_slli_epi32(each_of_16, _mm512_maskz_cvtepu16_epi32(each_of_16, bits), 16));
  }
  static __m512d doubles(half const*, __m128i const& bits) {
    return _mm512_maskz_cvtps_pd(each_of_8, _mm256_cvtph_ps(bits));
  }
  static __m512d doubles(bfloat16 const*, __m128i const& bits) {
    return _mm512_maskz_cvtps_pd(
        each_of_8, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16)));
  }
  static __m256i eight(std::int32_t const* columns) {
    return _mm256_loadu_si256(reinterpret_cast<__m256i const*>(columns));
  }
  static __m256i eight(std::uint16_t const* columns) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<__m128i const*>(columns)));
  }
  /// Repeats the `Bytes` from p on where `chosen`; else keeps `other`.
  template <int Bytes>
  static __m512d again(__m512d const& other, __mmask8 chosen, void const* p) {
    if constexpr (Bytes == 32) {
      return _mm512_mask_broadcast_f64x4(other, chosen,
                                         _mm256_loadu_pd(static_cast<double const*>(p)));
    } else if constexpr (Bytes == 16) {
      return _mm512_mask_broadcast_f64x2(other, chosen,
                                         _mm_loadu_pd(static_cast<double const*>(p)));
    } else {
      double x;
      __builtin_memcpy(&x, p, sizeof x);
      return _mm512_mask_broadcastsd_pd(other, chosen, _mm_set_sd(x));
    }
  }
  template <class R, int Count, int Lanes, class At, int... I>
  static R one_by_one(At const& at, std::integer_sequence<int, I...>) {
    return put<R>(backend::native<R>{at(I / (R::width / Lanes))[I % Count]...});
  }
};

}  // namespace iso::sparse::detail::ISO_SET
#endif

#endif
