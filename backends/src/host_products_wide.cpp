// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX-512 where the compiler has it (backends/CMakeLists.txt), and without Kokkos: no
// function that other sources share may be compiled for it.
#include <iso/backend/detail/host_products.hpp>

#ifdef __AVX512F__
#include <immintrin.h>

#include <type_traits>

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

__m256i indices(std::int32_t const* columns, __mmask8 used) {
  return _mm256_maskz_loadu_epi32(used, columns);
}
__m256i indices(std::uint16_t const* columns, __mmask8 used) {
  return _mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(used, columns));
}

/// Lanes 0 to 7 and so on, added as group.sum adds them.
double tree_sum(__m512d const (&sum)[4]) {
  __m512d const eight = _mm512_add_pd(_mm512_add_pd(sum[0], sum[2]), _mm512_add_pd(sum[1], sum[3]));
  __m256d const four =
      _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
  __m128d const two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

/// x at the places of slots with offsets of 16 bits.
class wide_slot {
 public:
  wide_slot(double const* x, std::int32_t const* bases, std::uint16_t const* offsets,
            std::int32_t slot)
      : x_(x + bases[slot]), offsets_(offsets + 32 * std::int64_t(slot)) {}
  double const* at(int place) const { return x_ + offsets_[place]; }

 private:
  double const* x_;
  std::uint16_t const* offsets_;
};

/// The same with offsets of 8 bits.
class narrow_slot {
 public:
  narrow_slot(double const* x, std::int32_t const* bases, std::uint8_t const* offsets,
              std::int32_t slot)
      : x_(x + bases[2 * slot]) {
    auto const jump = std::uint32_t(bases[2 * slot + 1]);
    __m512i const further = _mm512_set1_epi32(std::int32_t(jump / 32));
    std::uint32_t const moved = all_lanes << (jump % 32);
    for (int i = 0; i < 2; ++i) {
      __m512i const offset = _mm512_cvtepu8_epi32(_mm_loadu_si128(
          reinterpret_cast<__m128i const*>(offsets + 32 * std::int64_t(slot) + 16 * i)));
      _mm512_store_si512(
          offset_ + 16 * i,
          _mm512_mask_add_epi32(offset, __mmask16(moved >> (16 * i)), offset, further));
    }
    // Each is to be read from memory: taking a register apart takes longer.
    asm("" : "+m"(offset_));
  }
  double const* at(int place) const { return x_ + offset_[place]; }

 private:
  double const* x_;
  alignas(64) std::uint32_t offset_[32];
};

template <class Offset>
using slot_of = std::conditional_t<sizeof(Offset) == 1, narrow_slot, wide_slot>;

/// x of the 8 / R lanes of a register, each for R rows.
template <int R, class Slot>
__m512d spread(Slot const& slot, int first) {
  __m512d found = _mm512_set1_pd(*slot.at(first));
  for (int lane = 1; lane < 8 / R; ++lane) {
    auto const rows = __mmask8(((1 << R) - 1) << (R * lane));
    found = _mm512_mask_broadcastsd_pd(found, rows, _mm_load_sd(slot.at(first + lane)));
  }
  return found;
}

/// Adds the second half of `Count` registers to the first, and so on.
template <int Count>
void fold(__m512d* sum) {
  if constexpr (Count > 1) {
#pragma GCC unroll 16
    for (int i = 0; i < Count / 2; ++i) {
      sum[i] = _mm512_add_pd(sum[i], sum[i + Count / 2]);
    }
    fold<Count / 2>(sum);
  }
}

/// Adds the lanes of R rows, side by side, as group.sum does.
template <int R>
void tree_sums(__m512d (&sum)[4 * R], double* sums) {
  fold<4 * R>(sum);
  if constexpr (R == 8) {
    _mm512_storeu_pd(sums, sum[0]);
  } else {
    __m256d const four =
        _mm256_add_pd(_mm512_castpd512_pd256(sum[0]), _mm512_extractf64x4_pd(sum[0], 1));
    if constexpr (R == 4) {
      _mm256_storeu_pd(sums, four);
    } else {
      _mm_storeu_pd(sums, _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1)));
    }
  }
}

/// R numbers, again and again.
template <int R>
__m512d repeated(double const* p) {
  if constexpr (R == 8) {
    return _mm512_loadu_pd(p);
  } else if constexpr (R == 4) {
    return _mm512_broadcast_f64x4(_mm256_loadu_pd(p));
  } else {
    return _mm512_broadcast_f64x2(_mm_loadu_pd(p));
  }
}

}  // namespace

template <narrow Kind, lane_sums Sums, class Column>
double row_product(double const* x, Column const* columns, std::uint16_t const* values,
                   std::int32_t count, double origin) {
  __m512d sum[4];
  for (auto& s : sum) {
    s = _mm512_set1_pd(origin);
  }
  auto const eight_values = [&](std::int32_t j, __mmask8 used) {
    return widened<Kind>(_mm_maskz_loadu_epi16(used, values + j));
  };
  std::int32_t j = 0;
  for (; j + 32 <= count; j += 32) {
    runs const r = runs_of(columns + j);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      sum[i] = _mm512_fmadd_pd(eight_values(j + 8 * i, 0xff),
                               prepared<Sums>(gathered(x, columns + j, r, 8 * i)), sum[i]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    std::int32_t const left = count - j - 8 * i;
    if (left <= 0) {
      break;
    }
    auto const used = left < 8 ? __mmask8((1U << left) - 1) : __mmask8(0xff);
    __m512d const at = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), used,
                                                indices(columns + j + 8 * i, used), x, 8);
    sum[i] = _mm512_mask3_fmadd_pd(eight_values(j + 8 * i, used), prepared<Sums>(at), sum[i], used);
  }
  for (auto& s : sum) {
    s = finished<Sums>(s);
  }
  return tree_sum(sum);
}

template <narrow Kind, lane_sums Sums, int R, class Offset>
void slot_products(double const* x, std::int32_t const* bases, Offset const* offsets,
                   std::uint16_t const* values, std::int32_t slots, double const* origins,
                   double* sums) {
  // Register i holds lanes 8 i / R on, R rows each.
  constexpr int registers = 4 * R;
  __m512d sum[registers];
#pragma GCC unroll 32
  for (int i = 0; i < registers; ++i) {
    sum[i] = repeated<R>(origins);
  }
  for (std::int32_t slot = 0; slot < slots; ++slot) {
    slot_of<Offset> const places(x, bases, offsets, slot);
    std::uint16_t const* const from = values + std::int64_t(32 * R) * slot;
#pragma GCC unroll 32
    for (int i = 0; i < registers; ++i) {
      __m128i const eight = _mm_loadu_si128(reinterpret_cast<__m128i const*>(from + 8 * i));
      sum[i] = _mm512_fmadd_pd(widened<Kind>(eight), prepared<Sums>(spread<R>(places, 8 / R * i)),
                               sum[i]);
    }
  }
#pragma GCC unroll 32
  for (int i = 0; i < registers; ++i) {
    sum[i] = finished<Sums>(sum[i]);
  }
  tree_sums<R>(sum, sums);
}

#define ISO_ROW(Kind, Sums, Column)                           \
  template double row_product<narrow::Kind, lane_sums::Sums>( \
      double const*, Column const*, std::uint16_t const*, std::int32_t, double);
#define ISO_SLOTS(Kind, Sums, R, Offset)                                                     \
  template void slot_products<narrow::Kind, lane_sums::Sums, R>(                             \
      double const*, std::int32_t const*, Offset const*, std::uint16_t const*, std::int32_t, \
      double const*, double*);
#define ISO_PRODUCTS(Kind, Sums)          \
  ISO_ROW(Kind, Sums, std::int32_t)       \
  ISO_ROW(Kind, Sums, std::uint16_t)      \
  ISO_SLOTS(Kind, Sums, 2, std::uint8_t)  \
  ISO_SLOTS(Kind, Sums, 2, std::uint16_t) \
  ISO_SLOTS(Kind, Sums, 4, std::uint8_t)  \
  ISO_SLOTS(Kind, Sums, 4, std::uint16_t) \
  ISO_SLOTS(Kind, Sums, 8, std::uint8_t)  \
  ISO_SLOTS(Kind, Sums, 8, std::uint16_t)
ISO_PRODUCTS(half, plain)
ISO_PRODUCTS(half, exact)
ISO_PRODUCTS(bfloat16, plain)
ISO_PRODUCTS(bfloat16, exact)
#undef ISO_PRODUCTS
#undef ISO_SLOTS
#undef ISO_ROW

}  // namespace iso::backend::detail
#endif
