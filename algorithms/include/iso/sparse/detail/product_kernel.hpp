// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_SPARSE_DETAIL_PRODUCT_KERNEL_HPP
#define ISO_SPARSE_DETAIL_PRODUCT_KERNEL_HPP

#include <iso/backend/unroll.hpp>
#include <iso/backend/widen.hpp>
#include <iso/core/numerics.hpp>
#include <iso/sparse/detail/product_lanes.hpp>
#include <iso/sparse/detail/product_walk.hpp>
#include <iso/sparse/detail/row_block_rows.hpp>
#include <iso/sparse/plan.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace iso::sparse::detail {

/// Returns the least e with 2^e >= x; x is normal and above zero.
KOKKOS_INLINE_FUNCTION int ceil_log2(double x) {
  return int((Kokkos::bit_cast<std::uint64_t>(x) + 0x000fffffffffffffULL) >> 52) - 1023;
}

/// The use of the sum of a row: y = alpha sum + beta y.
template <class T, int R, int K>
struct product_epilogue {
  T alpha;
  T beta;
  T* y;
  std::int64_t y_stride;
  std::int64_t num_rows;
  int vectors;  ///< of K, those that exist
  double const* row_scales;

  /// Takes sum n of a block of R rows: row n / K, vector n % K.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t block, int n, T sum) const {
    std::int64_t const row = block * R + n / K;
    if (row >= num_rows || n % K >= vectors) {
      return;
    }
    T* const out = y + row * y_stride + n % K;
    // Padding may give a zero either sign: + 0 leaves it one.
    T const positive = sum + T(0);
    T const scaled = alpha * (row_scales != nullptr ? positive * T(row_scales[row]) : positive);
    *out = canonical(beta == T(0) ? scaled : Kokkos::fma(beta, *out, scaled));
  }
};

}  // namespace iso::sparse::detail

#define ISO_SET_HEADER <iso/sparse/detail/product_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::sparse::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Adds products as they come by fma: lane by lane and then by the tree of group.sum.
struct ordered_sum {
  ISO_KERNEL(ordered_sum);

  static constexpr bool is_reproducible = false;
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V const& prepared(V const& x) {
    return x;
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V const& operator()(V const& sum) const {
    return sum;
  }
};

/// Rounds every product to a multiple of one power of two by adding it to a sum that began at
/// 1.5 2^e and stays between 2^e and 2^(e+1), so that all sums are exact.
struct reproducible_sum {
  ISO_KERNEL(reproducible_sum);

  static constexpr bool is_reproducible = true;

  /// Sets the last bit: no product lies half way between two multiples, where the direction of
  /// rounding would hang on the sum.
  KOKKOS_FORCEINLINE_FUNCTION static double prepared(double x) {
    return Kokkos::bit_cast<double>(Kokkos::bit_cast<std::uint64_t>(x) | 1U);
  }
  template <class Shape>
  KOKKOS_FORCEINLINE_FUNCTION static auto prepared(backend::lane_value<double, Shape> const& x) {
    using bits = backend::lane_value<std::uint64_t, Shape>;
    return backend::bit_cast<double>(backend::bit_cast<std::uint64_t>(x) | bits(1));
  }
  /// Returns what was added to the sums since they began.
  template <class Shape>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(backend::lane_value<double, Shape> const& sum) const {
    using bits = backend::lane_value<std::uint64_t, Shape>;
    bits const power = backend::bit_cast<std::uint64_t>(sum) & bits(0x7ff0000000000000ULL);
    return sum - backend::bit_cast<double>(power | bits(0x0008000000000000ULL));
  }

  /// Returns where the sum of a row begins; NaN beyond the range of double.
  KOKKOS_FORCEINLINE_FUNCTION static double origin(int row_exponent, double max_abs_x) {
    // Below 2^-1000 it is the row's exponent that keeps products from lying half way.
    double const x = max_abs_x > 0x1p-1000 ? max_abs_x : 0x1p-1000;
    int const e = row_exponent + ceil_log2(x);
    int const biased = (e < -900 ? -900 : (e > 1023 ? 1024 : e)) + 1023;
    return Kokkos::bit_cast<double>((std::uint64_t(biased) << 52) | 0x0008000000000000ULL);
  }
};

/// Multiplies a matrix by K vectors, one segment a lane group: the parts of long rows go to
/// `part_sums`, the sums of other rows are finished. Nothing else, so that a GPU's registers are
/// the loop's: product_fix_up does the rest.
template <class T, class AnyRows, class AnySum, int K, class Tuning>
struct product {
  ISO_KERNEL(product<T, AnyRows, AnySum, K, Tuning>);
  using Rows = ISO_OF_SET(AnyRows);
  using Sum = ISO_OF_SET(AnySum);

  static constexpr int rows = Rows::rows;
  static constexpr int count = rows * K;
  /// True where a sum that is not finite is made once more: padding times an x that is not finite
  /// is NaN, and so is infinity with its last bit set.
  static constexpr bool may_fix_up = Rows::has_padding || Sum::is_reproducible;

  Rows matrix;
  row_segment const* segments;
  backend::pack<T, K> const* x;
  std::int16_t const* exponents;
  double const* max_abs_x;
  std::int64_t num_parts;
  T* part_sums;  ///< [num_parts][count]
  bool* to_fix;  ///< [segments], where may_fix_up
  product_epilogue<T, rows, K> finish;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    row_segment const segment = segments[index];
    group.wait_for_previous_launch();
    // Not sooner: what begins now may write where launches before this one read.
    group.trigger_dependent_launch();
    auto const totals = sums(group, segment);
    if constexpr (may_fix_up) {
      bool const again = totals.any([](T total) { return !is_finite(total); });
      group.once([&] { to_fix[index] = again; });
      if (again) {
        return;
      }
    }
    totals.each([&](int n, T total) {
      if (index < num_parts) {
        part_sums[index * count + n] = total;
      } else {
        finish(segment.block, n, total);
      }
    });
  }

  /// Returns sum n of a segment as IEEE arithmetic has it for numbers not finite: by entries alone.
  template <class Group>
  KOKKOS_FUNCTION T recomputed(Group const& group, std::int64_t index, int n) const {
    row_segment const segment = segments[index];
    T const from = origins(segment)(n / K, n % K);
    typename Group::template lane_array<T> sum;
    group.each([&](int lane) { sum[lane] = from; });
    matrix.each(
        group, segment,
        [&](std::int32_t column) {
          T const at = x[column][n % K];
          return is_finite(at) && at != T(0) ? Sum::prepared(at) : at;
        },
        [&](int lane, auto const& a, T at) {
          backend::unrolled<rows>([&](auto r) {
            if (r == n / K && !(Rows::has_padding && is_padding(a[r]))) {
              sum[lane] = Kokkos::fma(backend::widen<T>(a[r]), at, sum[lane]);
            }
          });
        });
    group.each([&](int lane) { sum[lane] = sum[lane] - from; });
    return group.sum(sum);
  }

 private:
  /// Returns the sums of a segment.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION auto sums(Group const& group, row_segment const& segment) const {
    auto const origin = origins(segment);
    T from[count];
    backend::unrolled<count>([&](auto n) {
      constexpr int number = decltype(n)::value;
      from[number] = origin(number / K, number % K);
    });
    using steps_type = typename Rows::template steps_of<Group>;
    using walk = product_walk<Group, T, steps_type, Sum, rows, K, Tuning::steps_in_flight>;
    steps_type const steps(group, matrix, segment);
    typename walk::lanes sum;
    using of_lanes = product_lanes<Group>;
    std::int32_t begin = 0;
    do {
      std::int32_t const end =
          of_lanes::template sums_in_one_part<T, count> || steps.full - begin <= Tuning::stretch
              ? steps.full
              : begin + Tuning::stretch;
      of_lanes::template parts_of_sums<T, count>(group, walk{steps, x, from, sum, begin, end});
      begin = end;
    } while (begin < steps.full);
    return of_lanes::template sums<T, count>(group, sum, Sum());
  }

  /// Returns where the sum of (row of the segment, vector) begins.
  KOKKOS_FORCEINLINE_FUNCTION auto origins(row_segment const& segment) const {
    if constexpr (Sum::is_reproducible) {
      auto const of_rows = backend::streaming_load(
          reinterpret_cast<backend::pack<std::int16_t, rows> const*>(exponents) + segment.block);
      return [of_rows, this](int r, int k) {
        return Sum::origin(of_rows[r], k < finish.vectors ? max_abs_x[k] : 0.0);
      };
    } else {
      return [](int, int) { return T(0); };
    }
  }
};

/// The fix-up pass behind `product`: one after another, groups of lanes that finish rows without
/// entries, 32 or 128 row blocks each; that add up the parts of long rows from the first to the
/// last, a sum a lane; and that repeat what is to be repeated, of 32 segments.
template <class T, class AnyRows, class AnySum, int K, class Tuning>
struct product_fix_up {
  ISO_KERNEL(product_fix_up<T, AnyRows, AnySum, K, Tuning>);
  using Rows = ISO_OF_SET(AnyRows);
  using Sum = ISO_OF_SET(AnySum);

  using product_type = product<T, AnyRows, AnySum, K, Tuning>;
  static constexpr int count = product_type::count;
  /// The number of words of `empty` that lanes ask for at once: with little to write they wait
  /// once.
  static constexpr int words = count < 8 ? 4 : 1;

  product_type first;
  std::int64_t const* first_part;
  std::int64_t num_long;
  std::int64_t num_segments;
  std::uint32_t const* empty;  ///< a bit a block; null: every block is
  std::int64_t num_blocks;
  std::int64_t num_empty_words;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t launched_for_long() const {
    return (num_long * count + 31) / 32;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t launched_for_empty() const {
    return (num_empty_words + words - 1) / words;
  }
  [[nodiscard]] std::int64_t num_launched() const {
    return launched_for_long() + launched_for_empty() +
           (product_type::may_fix_up ? (num_segments - first.num_parts + 31) / 32 : 0);
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.trigger_dependent_launch();
    // Rows without entries first: they need not wait for the products of others, unless y is read.
    bool const is_empty = index < launched_for_empty();
    if (is_empty && first.finish.beta == T(0)) {
      finish_empty(group, index);
      return group.wait_for_previous_launch();
    }
    group.wait_for_previous_launch();
    if (is_empty) {
      return finish_empty(group, index);
    }
    index -= launched_for_empty();
    if (index < launched_for_long()) {
      return join_parts(group, index);
    }
    if constexpr (product_type::may_fix_up) {
      fix_whole(group, index - launched_for_long());
    }
  }

 private:
  template <class Group>
  KOKKOS_FUNCTION void join_parts(Group const& group, std::int64_t index) const {
    typename Group::template lane_array<bool> again;
    group.each([&](int lane) {
      std::int64_t const at = 32 * index + lane;
      again[lane] = false;
      if (at / count < num_long) {
        T sum = T(0);
        for (std::int64_t p = first_part[at / count]; p < first_part[at / count + 1]; ++p) {
          again[lane] = again[lane] || (product_type::may_fix_up && first.to_fix[p]);
          sum = sum + first.part_sums[p * count + at % count];
        }
        if (!again[lane]) {
          finish_long(at, sum);
        }
      }
    });
    if constexpr (product_type::may_fix_up) {
      for_each_set(group, again, [&](int lane) {
        std::int64_t const at = 32 * index + lane;
        T sum = T(0);
        for (std::int64_t p = first_part[at / count]; p < first_part[at / count + 1]; ++p) {
          sum = sum + first.recomputed(group, p, int(at % count));
        }
        group.once([&] { finish_long(at, sum); });
      });
    }
  }

  KOKKOS_FUNCTION void finish_long(std::int64_t at, T sum) const {
    first.finish(first.segments[first_part[at / count]].block, int(at % count), sum);
  }

  template <class Group>
  KOKKOS_FUNCTION void finish_empty(Group const& group, std::int64_t index) const {
    std::uint32_t chosen[words];
    backend::unrolled<words>([&](auto w) { chosen[w] = empty_of(words * index + w); });
    backend::unrolled<words>([&](auto w) {
      for (int step = 0; step < count && chosen[w] != 0; ++step) {
        group.each([&](int lane) {
          int const n = 32 * step + lane;
          if ((chosen[w] >> (n / count) & 1U) != 0) {
            first.finish(32 * (words * index + w) + n / count, n % count, T(0));
          }
        });
      }
    });
  }

  /// Returns which blocks of a word have no entries.
  KOKKOS_FUNCTION std::uint32_t empty_of(std::int64_t word) const {
    if (word >= num_empty_words) {
      return 0;
    }
    std::int64_t const left = num_blocks - 32 * word;
    std::uint32_t const all = left < 32 ? (1U << left) - 1 : 0xffffffffU;
    return empty != nullptr ? empty[word] : all;
  }

  template <class Group>
  KOKKOS_FUNCTION void fix_whole(Group const& group, std::int64_t index) const {
    typename Group::template lane_array<bool> again;
    std::int64_t const from = first.num_parts + 32 * index;
    group.each(
        [&](int lane) { again[lane] = from + lane < num_segments && first.to_fix[from + lane]; });
    for_each_set(group, again, [&](int lane) {
      for (int n = 0; n < count; ++n) {
        T const sum = first.recomputed(group, from + lane, n);
        group.once([&] { first.finish(first.segments[from + lane].block, n, sum); });
      }
    });
  }

  /// Calls f(lane), by the whole group, for the lanes where `chosen` is set.
  template <class Group, class F>
  KOKKOS_FUNCTION static void for_each_set(Group const& group,
                                           typename Group::template lane_array<bool> const& chosen,
                                           F const& f) {
    std::uint32_t left = group.mask(chosen);
    for (int lane = 0; left != 0; ++lane, left >>= 1) {
      if ((left & 1U) != 0) {
        f(lane);
      }
    }
  }
};

}  // namespace iso::sparse::detail::ISO_SET

#endif
