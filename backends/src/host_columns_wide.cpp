// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX-512 where the compiler has it (backends/CMakeLists.txt), and without Kokkos: no
// function that other sources share may be compiled for it.
#include <iso/backend/detail/host_columns.hpp>

#ifdef __AVX512F__
#include <immintrin.h>

#include <type_traits>

namespace iso::backend::detail {
namespace {

/// A register of T and one of as many integers.
template <class T>
struct wide;

template <>
struct wide<float> {
  using integer = std::int32_t;
  using mask = __mmask16;
  static constexpr int width = 16;
  __m512 v;

  static wide load(float const* p) { return {_mm512_loadu_ps(p)}; }
  static wide all(float x) { return {_mm512_set1_ps(x)}; }
  static wide fma(wide a, wide b, wide c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
  static wide of(__m512i k) { return {_mm512_cvtepi32_ps(k)}; }
  static wide ramp(std::int32_t first) {
    __m512i const step = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return of(_mm512_add_epi32(_mm512_set1_epi32(first), step));
  }
  [[nodiscard]] __m512i truncated() const { return _mm512_cvttps_epi32(v); }
  [[nodiscard]] wide floor() const {
    return {_mm512_roundscale_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
  }
  /// x where this is below (above) `bound`.
  [[nodiscard]] wide or_below(wide bound, wide x) const {
    return {_mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, bound.v, _CMP_LT_OQ), x.v)};
  }
  [[nodiscard]] wide or_above(wide bound, wide x) const {
    return {_mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, bound.v, _CMP_GT_OQ), x.v)};
  }
  /// The places `at` of two registers of voxels; zero outside `used`.
  static wide pick(wide first, __m512i at, wide second) {
    return {_mm512_permutex2var_ps(first.v, at, second.v)};
  }
  static wide pick(mask used, wide first, __m512i at, wide second) {
    return {_mm512_maskz_permutex2var_ps(used, first.v, at, second.v)};
  }
  friend wide operator-(wide a, wide b) { return {_mm512_sub_ps(a.v, b.v)}; }
  friend wide operator+(wide a, wide b) { return {_mm512_add_ps(a.v, b.v)}; }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  [[nodiscard]] __m512i bits() const { return _mm512_castps_si512(v); }

  static __m512i every(std::int32_t k) { return _mm512_set1_epi32(k); }
  static __m512i plus(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }
  static __m512i minus(__m512i a, __m512i b) { return _mm512_sub_epi32(a, b); }
  static __m512i least(__m512i a, __m512i b) { return _mm512_min_epi32(a, b); }
  static __m512i most(__m512i a, __m512i b) { return _mm512_max_epi32(a, b); }
  static mask equal(__m512i a, __m512i b) { return _mm512_cmpeq_epi32_mask(a, b); }
  static mask less(__m512i a, __m512i b) { return _mm512_cmplt_epi32_mask(a, b); }
};

template <>
struct wide<double> {
  using integer = std::int64_t;
  using mask = __mmask8;
  static constexpr int width = 8;
  __m512d v;

  static wide load(double const* p) { return {_mm512_loadu_pd(p)}; }
  static wide all(double x) { return {_mm512_set1_pd(x)}; }
  static wide fma(wide a, wide b, wide c) { return {_mm512_fmadd_pd(a.v, b.v, c.v)}; }
  static wide of(__m512i k) { return {_mm512_cvtepi64_pd(k)}; }
  static wide ramp(std::int32_t first) {
    __m512i const step = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    return of(_mm512_add_epi64(_mm512_set1_epi64(first), step));
  }
  [[nodiscard]] __m512i truncated() const { return _mm512_cvttpd_epi64(v); }
  [[nodiscard]] wide floor() const {
    return {_mm512_roundscale_pd(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
  }
  [[nodiscard]] wide or_below(wide bound, wide x) const {
    return {_mm512_mask_mov_pd(v, _mm512_cmp_pd_mask(v, bound.v, _CMP_LT_OQ), x.v)};
  }
  [[nodiscard]] wide or_above(wide bound, wide x) const {
    return {_mm512_mask_mov_pd(v, _mm512_cmp_pd_mask(v, bound.v, _CMP_GT_OQ), x.v)};
  }
  static wide pick(wide first, __m512i at, wide second) {
    return {_mm512_permutex2var_pd(first.v, at, second.v)};
  }
  static wide pick(mask used, wide first, __m512i at, wide second) {
    return {_mm512_maskz_permutex2var_pd(used, first.v, at, second.v)};
  }
  friend wide operator-(wide a, wide b) { return {_mm512_sub_pd(a.v, b.v)}; }
  friend wide operator+(wide a, wide b) { return {_mm512_add_pd(a.v, b.v)}; }
  void store(double* p) const { _mm512_storeu_pd(p, v); }
  [[nodiscard]] __m512i bits() const { return _mm512_castpd_si512(v); }

  static __m512i every(std::int64_t k) { return _mm512_set1_epi64(k); }
  static __m512i plus(__m512i a, __m512i b) { return _mm512_add_epi64(a, b); }
  static __m512i minus(__m512i a, __m512i b) { return _mm512_sub_epi64(a, b); }
  static __m512i least(__m512i a, __m512i b) { return _mm512_min_epi64(a, b); }
  static __m512i most(__m512i a, __m512i b) { return _mm512_max_epi64(a, b); }
  static mask equal(__m512i a, __m512i b) { return _mm512_cmpeq_epi64_mask(a, b); }
  static mask less(__m512i a, __m512i b) { return _mm512_cmplt_epi64_mask(a, b); }
};

/// a + w (b - a), as iso::blend.
template <class T>
wide<T> blend(wide<T> w, wide<T> a, wide<T> b) {
  return wide<T>::fma(w, b - a, a);
}

/// Registers that take a sample a plane.
template <class T, class Sums>
class running;

template <class T>
class running<T, ordered_lanes<T>> {
 public:
  running(ordered_lanes<T> const& sums, int lane)
      : at_(sums.sum + lane), sum_(wide<T>::load(at_)) {}
  void add(wide<T> sample) { sum_ = sum_ + sample; }
  void store() const { sum_.store(at_); }

 private:
  T* at_;
  wide<T> sum_;
};

template <class T, class Word>
class running<T, order_free_lanes<T, Word>> {
 public:
  running(order_free_lanes<T, Word> const& sums, int lane)
      : sum_at_(sums.sum + lane),
        flags_at_(sums.flags + lane),
        sum_(_mm512_loadu_si512(sum_at_)),
        flags_(_mm512_loadu_si512(flags_at_)),
        scale_(wide<T>::all(sums.scale)),
        rounder_(wide<T>::all(sums.rounder)) {}
  void add(wide<T> sample) {
    __m512i const term = wide<T>::fma(sample, scale_, rounder_).bits();
    sum_ = wide<T>::plus(sum_, term);
    flags_ = _mm512_or_si512(flags_, term);
  }
  void store() const {
    _mm512_storeu_si512(sum_at_, sum_);
    _mm512_storeu_si512(flags_at_, flags_);
  }

 private:
  Word* sum_at_;
  Word* flags_at_;
  __m512i sum_;
  __m512i flags_;
  wide<T> scale_;
  wide<T> rounder_;
};

/// Coordinates outside the field go where no voxel is, as field_range::keep sends them.
template <class T>
wide<T> kept(wide<T> z, column_planes<T> const& planes) {
  return z.or_below(wide<T>::all(planes.lowest), wide<T>::all(T(-2)))
      .or_above(wide<T>::all(planes.highest), wide<T>::all(T(planes.height)));
}

template <class T>
__m512i clamped(__m512i k, std::int32_t height) {
  return wide<T>::least(wide<T>::most(k, wide<T>::every(0)), wide<T>::every(height - 1));
}

/// Where the two registers of voxels begin that hold, in each plane, what a register of rays asks
/// for.
template <class T>
struct windows {
  alignas(64) typename wide<T>::integer low[column_planes<T>::most];

  /// Whether there are such places, for the register that begins with `lane`. Rays between the
  /// outer two may fall short of them by rounding: one voxel of room.
  bool find(column_planes<T> const& planes, planes_of_row const& range, ray_lanes<T> const& rays,
            int lane) {
    using w = wide<T>;
    constexpr int width = w::width;
    int const end = lane + width - 1;
    bool fits = true;
    for (std::int32_t p = range.first / width * width; p < range.last; p += width) {
      w const i = w::ramp(planes.first + p);
      auto const outer = [&](int l) {
        w const z = w::fma(i, w::all(rays.slope[l]), w::all(rays.base[l]));
        return clamped<T>(kept(z, planes).floor().truncated(), planes.height);
      };
      __m512i const one = outer(lane);
      __m512i const other = outer(end);
      __m512i const most = w::most(one, other);
      __m512i const from = w::most(w::least(w::minus(w::least(one, other), w::every(1)),
                                            w::every(planes.height - 2 * width)),
                                   w::every(0));
      // Above the column's end nothing is asked for.
      __m512i const last = w::least(w::plus(most, w::every(2)), w::every(planes.height - 1));
      auto const within = w::less(last, w::plus(from, w::every(2 * width)));
      _mm512_store_si512(low + p, from);
      auto const asked = typename w::mask(below(range.last - p) & ~below(range.first - p));
      fits = fits && (within & asked) == asked;
    }
    return fits;
  }

 private:
  /// The lowest `count` bits.
  static std::uint32_t below(std::int32_t count) {
    return count <= 0 ? 0U : (1U << (count < 31 ? count : 31)) - 1U;
  }
};

/// A sample of each ray of a register. `Inner`: all have voxels on both sides.
template <bool Inner, class T>
wide<T> sample(column_planes<T> const& planes, std::int32_t p, typename wide<T>::integer low,
               wide<T> plane, wide<T> slope, wide<T> base) {
  using w = wide<T>;
  T const* const lower = planes.lower[p] + low;
  T const* const upper = lower + planes.next;
  w const weight = w::all(planes.weight[p]);
  w const first = blend(weight, w::load(lower), w::load(upper));
  w const second = blend(weight, w::load(lower + w::width), w::load(upper + w::width));
  w const z = w::fma(plane, slope, base);
  if constexpr (Inner) {
    __m512i const k = z.truncated();
    __m512i const at = w::minus(k, w::every(low));
    return blend(z - w::of(k), w::pick(first, at, second),
                 w::pick(first, w::plus(at, w::every(1)), second));
  } else {
    w const in_field = kept(z, planes);
    w const down = in_field.floor();
    __m512i const k = down.truncated();
    __m512i const k_above = w::plus(k, w::every(1));
    __m512i const below = clamped<T>(k, planes.height);
    __m512i const above = clamped<T>(k_above, planes.height);
    return blend(in_field - down,
                 w::pick(w::equal(below, k), first, w::minus(below, w::every(low)), second),
                 w::pick(w::equal(above, k_above), first, w::minus(above, w::every(low)), second));
  }
}

/// Two registers of rays through planes [first, last).
template <bool Inner, class T, class Sums>
void walk(column_planes<T> const& planes, windows<T> const (&at)[2], std::int32_t first,
          std::int32_t last, wide<T> const (&slope)[2], wide<T> const (&base)[2],
          running<T, Sums> (&sum)[2]) {
  for (std::int32_t p = first; p < last; ++p) {
    auto const plane = wide<T>::all(T(planes.first + p));
    sum[0].add(sample<Inner>(planes, p, at[0].low[p], plane, slope[0], base[0]));
    sum[1].add(sample<Inner>(planes, p, at[1].low[p], plane, slope[1], base[1]));
  }
}

}  // namespace

template <class T, class Sums>
bool walk_columns(column_planes<T> const& planes, planes_of_row const& range,
                  ray_lanes<T> const& rays, Sums const& sums) {
  constexpr int width = wide<T>::width;
  constexpr int registers = 32 / width;
  if (planes.height < 2 * width) {
    return false;
  }
  windows<T> at[registers / 2][2];
  for (int r = 0; r < registers; ++r) {
    if (!at[r / 2][r % 2].find(planes, range, rays, r * width)) {
      return false;
    }
  }
  for (int pair = 0; pair < registers / 2; ++pair) {
    int const lane = pair * 2 * width;
    wide<T> const slope[] = {wide<T>::load(rays.slope + lane),
                             wide<T>::load(rays.slope + lane + width)};
    wide<T> const base[] = {wide<T>::load(rays.base + lane),
                            wide<T>::load(rays.base + lane + width)};
    running<T, Sums> sum[] = {{sums, lane}, {sums, lane + width}};
    walk<false>(planes, at[pair], range.first, range.inner_first, slope, base, sum);
    walk<true>(planes, at[pair], range.inner_first, range.inner_last, slope, base, sum);
    walk<false>(planes, at[pair], range.inner_last, range.last, slope, base, sum);
    sum[0].store();
    sum[1].store();
  }
  return true;
}

template bool walk_columns(column_planes<float> const&, planes_of_row const&,
                           ray_lanes<float> const&, ordered_lanes<float> const&);
template bool walk_columns(column_planes<double> const&, planes_of_row const&,
                           ray_lanes<double> const&, ordered_lanes<double> const&);
template bool walk_columns(column_planes<float> const&, planes_of_row const&,
                           ray_lanes<float> const&, order_free_lanes<float, std::uint32_t> const&);
template bool walk_columns(column_planes<double> const&, planes_of_row const&,
                           ray_lanes<double> const&,
                           order_free_lanes<double, std::uint64_t> const&);

}  // namespace iso::backend::detail

#endif
