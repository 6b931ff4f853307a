// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/unroll.hpp>
#include <iso/backend/widen.hpp>
#include <iso/core/numerics.hpp>
#include <iso/sparse/detail/grouped_rows.hpp>
#include <iso/sparse/plan.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace iso::sparse::detail {

/// Products are added as they come: lane by lane by fma, then by the tree of group.sums.
struct ordered_sum {
  static constexpr bool has_constants = false;
  template <class T, int Count>
  struct constants {
    template <class Reach, class Largest>
    KOKKOS_FUNCTION constants(Reach const&, Largest const&) {}
    template <int N>
    KOKKOS_FORCEINLINE_FUNCTION T add(T a, T x, T sum) const {
      return Kokkos::fma(a, x, sum);
    }
  };
};

/// The constant C = 1.5 2^e that rounds products to multiples of one power of two: 2^e is the
/// smallest power that is not below reach largest, and not below 2^-900.
KOKKOS_INLINE_FUNCTION double rounding_constant(double reach, double largest) {
  double const product = reach * largest;
  double const p = product > 0x1p-900 ? product : 0x1p-900;
  auto const bits = Kokkos::bit_cast<std::uint64_t>(p);
  bool const above = (bits & 0x000fffffffffffffULL) != 0 || Kokkos::fma(reach, largest, -p) > 0;
  std::uint64_t const exponent = (bits >> 52) + (above ? 1 : 0);
  // Beyond the range of double it becomes infinite, and every sum NaN.
  return Kokkos::bit_cast<double>((exponent < 2047 ? exponent : 2047) << 52) * 1.5;
}

/// Every product is rounded to a multiple of one power of two, so that all partial sums are exact
/// (the one-fold case of ReproBLAS).
struct order_free_sum {
  static constexpr bool has_constants = true;
  template <class T, int Count>
  struct constants {
    T rounder[Count];

    /// Reach of the row and largest |x| of the vector of sum n.
    template <class Reach, class Largest>
    KOKKOS_FUNCTION constants(Reach const& reach, Largest const& largest) {
      backend::unrolled<Count>(
          [&](auto n) { rounder[n] = rounding_constant(reach(n), largest(n)); });
    }
    template <int N>
    KOKKOS_FORCEINLINE_FUNCTION T add(T a, T x, T sum) const {
      return sum + (Kokkos::fma(a, x, rounder[N]) - rounder[N]);
    }
  };
};

/// The values of K vectors at one column.
template <class T, int K>
struct alignas(K * sizeof(T) > 16 ? 16 : K * sizeof(T)) x_entry {
  T vector[K];
};

enum class walk { all_places, entries_only };

/// y = alpha A x + beta y for K vectors at once: a lane group for every part of long groups of
/// rows, then for every other that has entries, then a lane for every one that has none.
template <class T, class Rows, class Sum, int K>
struct product_kernel {
  static constexpr int rows = Rows::rows;
  static constexpr int count = rows * K;

  Rows matrix;
  std::int32_t const* groups;  ///< first the long ones, then others with entries; null: in order
  std::int64_t num_long;
  std::int64_t num_working;
  std::int64_t const* first_part;
  std::int32_t const* part_owner;
  std::int64_t num_parts;
  std::int64_t num_groups;
  T alpha;
  T beta;
  x_entry<T, K> const* x;
  T* y;
  std::int64_t y_stride;
  int vectors;  ///< of K, those that exist
  double const* row_scales;
  double const* reach;
  double const* largest_x;
  T* part_sums;  ///< [num_parts][count]

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t const whole = index - num_parts + num_long;
    if (whole < num_working) {
      // One body for parts and whole rows: two would cost registers.
      bool const is_part = index < num_parts;
      std::int32_t const owner = is_part ? part_owner[index] : std::int32_t(whole);
      std::int64_t const g = groups[owner];
      std::int32_t const all = matrix.turns(g);
      std::int32_t const first = is_part ? std::int32_t(index - first_part[owner]) * part_turns : 0;
      std::int32_t const last = is_part && first + part_turns < all ? first + part_turns : all;
      multiply(group, g, {first, last}, [&](int n, T sum) {
        if (is_part) {
          part_sums[index * count + n] = sum;
        } else {
          finish(g * rows + n / K, n % K, sum);
        }
      });
    } else {
      std::int64_t const first = num_working + 32 * (whole - num_working);
      group.each([&](int lane) {
        if (first + lane < num_groups) {
          without_entries(groups != nullptr ? groups[first + lane] : first + lane);
        }
      });
    }
  }

  [[nodiscard]] std::int64_t num_launched() const {
    return num_parts + num_working - num_long + (num_groups - num_working + 31) / 32;
  }

  /// Adds up the parts of one sum of a long group of rows.
  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const owner = index / count;
    auto const n = int(index % count);
    T sum = part_sums[first_part[owner] * count + n];
    for (std::int64_t part = first_part[owner] + 1; part < first_part[owner + 1]; ++part) {
      sum = sum + part_sums[part * count + n];
    }
    finish(std::int64_t(groups[owner]) * rows + n / K, n % K, sum);
  }

 private:
  /// The sums of some turns of a group of rows, to write(n, sum n).
  template <class Group, class Write>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Group const& group, std::int64_t index,
                                            turn_range turns, Write const& write) const {
    std::int64_t const first = index * rows;
    typename Sum::template constants<T, count> const c(
        [&](int n) {
          std::int64_t const row = first + n / K;
          return reach[row < matrix.num_rows ? row : first];
        },
        [&](int n) { return n % K < vectors ? largest_x[n % K] : 0.0; });
    auto const sums = add<walk::all_places>(group, index, turns, c);
    if constexpr (Rows::has_fill) {
      // Fill times an x that is not finite is NaN: then once more, by entries alone.
      if (sums.any([](T sum) { return !is_finite(sum); })) {
        add<walk::entries_only>(group, index, turns, c).each(write);
        return;
      }
    }
    sums.each(write);
  }

  template <walk Walk, class Group, class Constants>
  KOKKOS_FORCEINLINE_FUNCTION auto add(Group const& group, std::int64_t index, turn_range turns,
                                       Constants const& c) const {
    using value = typename Rows::value_type;
    typename Group::template per_lane<T> sum[count];
    backend::unrolled<count>([&](auto n) { group.each([&](int lane) { sum[n][lane] = T(0); }); });
    x_entry<T, K> const* KOKKOS_RESTRICT const in = x;
    matrix.each(group, index, turns,
                [&](int lane, std::int32_t column, entry<value, rows> const& a) {
                  x_entry<T, K> const at = in[column];
                  backend::unrolled<rows>([&](auto r) {
                    T const factor = backend::widen<T>(a.row[r]);
                    if (Walk == walk::all_places || !is_fill(a.row[r])) {
                      backend::unrolled<K>([&](auto k) {
                        constexpr int n = int(r) * K + int(k);
                        sum[n][lane] = c.template add<n>(factor, at.vector[k], sum[n][lane]);
                      });
                    }
                  });
                });
    return group.template sums<count>(sum);
  }

  KOKKOS_FUNCTION void without_entries(std::int64_t index) const {
    for (int n = 0; n < count; ++n) {
      finish(index * rows + n / K, n % K, T(0));
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void finish(std::int64_t row, int k, T sum) const {
    if (row >= matrix.num_rows || k >= vectors) {
      return;
    }
    T* const out = y + row * y_stride + k;
    T const scaled = alpha * (row_scales != nullptr ? sum * T(row_scales[row]) : sum);
    *out = canonical(beta == T(0) ? scaled : Kokkos::fma(beta, *out, scaled));
  }
};

}  // namespace iso::sparse::detail
