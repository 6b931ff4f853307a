// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX-512 where the compiler has it (backends/CMakeLists.txt), and without Kokkos: no
// function that other sources share may be compiled for it.
#include <iso/backend/detail/host_products.hpp>

#ifdef __AVX512F__
#include <immintrin.h>

namespace iso::backend::detail {
namespace {

constexpr std::uint32_t all_lanes = 0xffffffffU;

template <narrow Kind>
__m512d widened(__m128i eight) {
  if constexpr (Kind == narrow::half) {
    return _mm512_cvtps_pd(_mm256_cvtph_ps(eight));
  } else {
    return _mm512_cvtps_pd(
        _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(eight), 16)));
  }
}

template <lane_sums Sums>
__m512d prepared(__m512d x) {
  if constexpr (Sums == lane_sums::exact) {
    return _mm512_castsi512_pd(_mm512_or_si512(_mm512_castpd_si512(x), _mm512_set1_epi64(1)));
  } else {
    return x;
  }
}

template <lane_sums Sums>
__m512d finished(__m512d sum) {
  if constexpr (Sums == lane_sums::exact) {
    __m512i const power =
        _mm512_and_si512(_mm512_castpd_si512(sum), _mm512_set1_epi64(0x7ff0000000000000LL));
    return _mm512_sub_pd(
        sum, _mm512_castsi512_pd(_mm512_or_si512(power, _mm512_set1_epi64(0x0008000000000000LL))));
  } else {
    return sum;
  }
}

/// Dose comes in runs of neighbouring columns. Of eight columns, `follow` marks those that follow
/// on from the first; where `two_runs`, all others lead up to the last.
struct runs {
  std::uint32_t follow;
  bool two_runs;
};

runs runs_of(std::int32_t const* columns) {
  __m512i const step = _mm512_broadcast_i64x4(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  __m512i const firsts = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8);
  __m512i const lasts = _mm512_add_epi32(firsts, _mm512_set1_epi32(7));
  std::uint32_t follow = 0;
  std::uint32_t lead = 0;
  for (int i = 0; i < 2; ++i) {
    __m512i const start = _mm512_sub_epi32(_mm512_loadu_si512(columns + 16 * i), step);
    __m512i const first = _mm512_permutexvar_epi32(firsts, start);
    __m512i const last = _mm512_permutexvar_epi32(lasts, start);
    follow |= std::uint32_t(_mm512_cmpeq_epi32_mask(start, first)) << (16 * i);
    lead |= std::uint32_t(_mm512_cmpeq_epi32_mask(start, last)) << (16 * i);
  }
  return {follow, (follow | lead) == all_lanes};
}

runs runs_of(std::uint16_t const* columns) {
  __m512i const step = _mm512_broadcast_i32x4(_mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7));
  __m512i const start = _mm512_sub_epi16(_mm512_loadu_si512(columns), step);
  __m512i const first = _mm512_shuffle_epi8(start, _mm512_set1_epi16(0x0100));
  __m512i const last = _mm512_shuffle_epi8(start, _mm512_set1_epi16(0x0f0e));
  // Sixteen bits wrap: eight columns from the first on, or up to the last, must not.
  __mmask32 const fits =
      _mm512_cmple_epu16_mask(_mm512_max_epu16(first, last), _mm512_set1_epi16(short(0xfff8)));
  std::uint32_t const follow = _mm512_mask_cmpeq_epi16_mask(fits, start, first);
  std::uint32_t const lead = _mm512_mask_cmpeq_epi16_mask(fits, start, last);
  return {follow, (follow | lead) == all_lanes};
}

/// x at eight columns.
template <class Column>
__m512d gathered(double const* x, Column const* c, runs const& r, int first) {
  if (r.two_runs) {
    auto const follow = __mmask8(r.follow >> first);
    __m512d const found = _mm512_maskz_loadu_pd(follow, x + c[first]);
    return _mm512_mask_loadu_pd(found, __mmask8(~follow), x + (std::int64_t(c[first + 7]) - 7));
  }
  c += first;
  return _mm512_setr_pd(x[c[0]], x[c[1]], x[c[2]], x[c[3]], x[c[4]], x[c[5]], x[c[6]], x[c[7]]);
}

/// x, K vectors of it, at the lanes of a column chunk.
template <int K>
class chunk {
 public:
  chunk(double const* x, std::int32_t const* bases, std::uint16_t const* offsets,
        std::int64_t number)
      : x_(x + std::int64_t(K) * bases[number]), offsets_(offsets + 32 * number) {}
  double const* operator()(int lane) const { return x_ + std::int64_t(K) * offsets_[lane]; }

 private:
  double const* x_;
  std::uint16_t const* offsets_;
};

/// `Count` numbers, again and again.
template <int Count>
__m512d repeated(double const* p) {
  if constexpr (Count == 4) {
    return _mm512_broadcast_f64x4(_mm256_loadu_pd(p));
  } else if constexpr (Count == 2) {
    return _mm512_broadcast_f64x2(_mm_loadu_pd(p));
  } else {
    return _mm512_set1_pd(*p);
  }
}

/// The same where `chosen`, else `other`.
template <int Count>
__m512d repeated(__m512d other, __mmask8 chosen, double const* p) {
  if constexpr (Count == 4) {
    return _mm512_mask_broadcast_f64x4(other, chosen, _mm256_loadu_pd(p));
  } else if constexpr (Count == 2) {
    return _mm512_mask_broadcast_f64x2(other, chosen, _mm_loadu_pd(p));
  } else {
    return _mm512_mask_broadcastsd_pd(other, chosen, _mm_load_sd(p));
  }
}

// The sums of 32 lanes, R rows and K vectors lie side by side, the vector's number fastest, the
// lane's slowest: eight a register.

/// x for register i; at(lane) points to that of K vectors.
template <int R, int K, class At>
__m512d spread(At const& at, int i) {
  int const first = 8 * i / (R * K);
  __m512d found = repeated<K>(at(first));
  for (int lane = 1; lane < 8 / (R * K); ++lane) {
    found = repeated<K>(found, __mmask8(0xffU << (R * K * lane)), at(first + lane));
  }
  return found;
}

/// The matrix for register i, from the values of 32 lanes and R rows.
template <narrow Kind, int K>
__m512d spread_values(std::uint16_t const* values, int i) {
  __m512d const eight =
      widened<Kind>(_mm_loadu_si128(reinterpret_cast<__m128i const*>(values + i / K * 8)));
  if constexpr (K == 1) {
    return eight;
  } else {
    __m512i const repeats = K == 2 ? _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3)
                                   : _mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1);
    return _mm512_permutexvar_pd(_mm512_add_epi64(repeats, _mm512_set1_epi64(i % K * (8 / K))),
                                 eight);
  }
}

/// Adds to `Count` registers what as many lanes as they hold bring of R rows.
template <narrow Kind, lane_sums Sums, int R, int K, int Count, class At>
void add_step(__m512d (&sum)[Count], At const& at, std::uint16_t const* values) {
#pragma GCC unroll 32
  for (int i = 0; i < Count; ++i) {
    sum[i] = _mm512_fmadd_pd(spread_values<Kind, K>(values, i), prepared<Sums>(spread<R, K>(at, i)),
                             sum[i]);
  }
}

/// Adds the second half of `Count` registers to the first, and so on until `Last` are left.
template <int Count, int Last>
void fold(__m512d* sum) {
  if constexpr (Count > Last) {
#pragma GCC unroll 64
    for (int i = 0; i < Count / 2; ++i) {
      sum[i] = _mm512_add_pd(sum[i], sum[i + Count / 2]);
    }
    fold<Count / 2, Last>(sum);
  }
}

/// Adds the lanes of `Width` sums that lie side by side, as group.sum does.
template <lane_sums Sums, int Width>
void tree_sums(__m512d* sum, double* sums) {
  constexpr int last = Width > 8 ? Width / 8 : 1;
#pragma GCC unroll 128
  for (int i = 0; i < 4 * Width; ++i) {
    sum[i] = finished<Sums>(sum[i]);
  }
  fold<4 * Width, last>(sum);
  if constexpr (Width >= 8) {
    for (int i = 0; i < last; ++i) {
      _mm512_storeu_pd(sums + 8 * i, sum[i]);
    }
    return;
  }
  __m256d const four =
      _mm256_add_pd(_mm512_castpd512_pd256(sum[0]), _mm512_extractf64x4_pd(sum[0], 1));
  __m128d const two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  if constexpr (Width == 4) {
    _mm256_storeu_pd(sums, four);
  } else if constexpr (Width == 2) {
    _mm_storeu_pd(sums, two);
  } else if constexpr (Width == 1) {
    *sums = _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
}

/// Fills `Count` registers with `Width` numbers, again and again.
template <int Width, int Count>
void fill(__m512d (&sum)[Count], double const* numbers) {
#pragma GCC unroll 128
  for (int i = 0; i < Count; ++i) {
    sum[i] = Width < 8 ? repeated<Width>(numbers) : _mm512_loadu_pd(numbers + 8 * i % Width);
  }
}

}  // namespace

template <narrow Kind, lane_sums Sums, int K, class Column>
void row_products(double const* x, Column const* columns, std::uint16_t const* values,
                  std::int32_t count, double const* origins, double* sums) {
  __m512d sum[4 * K];
  fill<K>(sum, origins);
  std::int32_t j = 0;
  for (; j + 32 <= count; j += 32) {
    if constexpr (K == 1) {
      runs const r = runs_of(columns + j);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        sum[i] = _mm512_fmadd_pd(spread_values<Kind, 1>(values + j, i),
                                 prepared<Sums>(gathered(x, columns + j, r, 8 * i)), sum[i]);
      }
    } else {
      auto const at = [x, here = columns + j](int lane) {
        return x + std::int64_t(K) * here[lane];
      };
      add_step<Kind, Sums, 1, K>(sum, at, values + j);
    }
  }
  std::int32_t const left = count - j;
  if (left > 0) {
    // Lanes beyond the row repeat its last column and add nothing.
    auto const at = [x, left, here = columns + j](int lane) {
      return x + std::int64_t(K) * here[lane < left ? lane : left - 1];
    };
    alignas(64) std::uint16_t last[32];
    _mm512_store_si512(last, _mm512_maskz_loadu_epi16((1U << left) - 1, values + j));
#pragma GCC unroll 32
    for (int i = 0; i < 4 * K; ++i) {
      int const numbers = left * K - 8 * i;
      if (numbers <= 0) {
        break;
      }
      auto const used = numbers < 8 ? __mmask8((1U << numbers) - 1) : __mmask8(0xff);
      sum[i] = _mm512_mask3_fmadd_pd(spread_values<Kind, K>(last, i),
                                     prepared<Sums>(spread<1, K>(at, i)), sum[i], used);
    }
  }
  tree_sums<Sums, K>(sum, sums);
}

template <narrow Kind, lane_sums Sums, int R, int K>
void chunk_products(double const* x, std::int32_t const* bases, std::uint16_t const* offsets,
                    std::uint16_t const* values, std::int32_t chunks, double const* origins,
                    double* sums) {
  constexpr int registers = 4 * R * K;
  __m512d sum[registers];
  fill<R * K>(sum, origins);
  auto const values_of = [&](std::int32_t c) { return values + std::int64_t(32 * R) * c; };
  if constexpr (registers <= 32) {
    for (std::int32_t c = 0; c < chunks; ++c) {
      chunk<K> const at(x, bases, offsets, c);
      add_step<Kind, Sums, R, K>(sum, at, values_of(c));
    }
  } else {
    // More sums than registers: a stretch of chunks for some of the lanes at a time.
    constexpr int held = 16;
    constexpr int stretch = 8;
    for (std::int32_t begin = 0; begin < chunks; begin += stretch) {
      std::int32_t const end = begin + stretch < chunks ? begin + stretch : chunks;
      for (int first = 0; first < registers; first += held) {
        __m512d some[held];
#pragma GCC unroll 16
        for (int i = 0; i < held; ++i) {
          some[i] = sum[first + i];
        }
        for (std::int32_t c = begin; c < end; ++c) {
          chunk<K> const at(x, bases, offsets, c);
          int const lane = 8 * first / (R * K);
          add_step<Kind, Sums, R, K>(
              some, [&](int further) { return at(lane + further); }, values_of(c) + lane * R);
        }
#pragma GCC unroll 16
        for (int i = 0; i < held; ++i) {
          sum[first + i] = some[i];
        }
      }
    }
  }
  tree_sums<Sums, R * K>(sum, sums);
}

#define ISO_ROW(Kind, Sums, K, Column)                          \
  template void row_products<narrow::Kind, lane_sums::Sums, K>( \
      double const*, Column const*, std::uint16_t const*, std::int32_t, double const*, double*);
#define ISO_CHUNKS(Kind, Sums, K, R)                                                  \
  template void chunk_products<narrow::Kind, lane_sums::Sums, R, K>(                  \
      double const*, std::int32_t const*, std::uint16_t const*, std::uint16_t const*, \
      std::int32_t, double const*, double*);
#define ISO_VECTORS(Kind, Sums, K)      \
  ISO_ROW(Kind, Sums, K, std::int32_t)  \
  ISO_ROW(Kind, Sums, K, std::uint16_t) \
  ISO_CHUNKS(Kind, Sums, K, 4)          \
  ISO_CHUNKS(Kind, Sums, K, 8)
#define ISO_PRODUCTS(Kind, Sums) \
  ISO_VECTORS(Kind, Sums, 1)     \
  ISO_VECTORS(Kind, Sums, 2)     \
  ISO_VECTORS(Kind, Sums, 4)
ISO_PRODUCTS(half, plain)
ISO_PRODUCTS(half, exact)
ISO_PRODUCTS(bfloat16, plain)
ISO_PRODUCTS(bfloat16, exact)
#undef ISO_PRODUCTS
#undef ISO_VECTORS
#undef ISO_CHUNKS
#undef ISO_ROW

}  // namespace iso::backend::detail
#endif
