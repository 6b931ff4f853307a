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

/// The sums of pieces of a matrix times K vectors, one piece a lane group. Nothing else, so that a
/// GPU's registers are the loop's: product_finish does the rest.
template <class T, class Rows, class Sum, int K>
struct product_sums {
  static constexpr int rows = Rows::rows;
  static constexpr int count = rows * K;

  Rows matrix;
  row_piece const* pieces;
  x_entry<T, K> const* x;
  int vectors;  ///< of K, those that exist
  double const* reach;
  double const* largest_x;
  T* sums;  ///< [pieces with entries][count]

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    using value = typename Rows::value_type;
    row_piece const piece = pieces[index];
    auto const c = constants<count>(piece, 0);
    typename Group::template per_lane<T> sum[count];
    backend::unrolled<count>([&](auto n) { group.each([&](int lane) { sum[n][lane] = T(0); }); });
    x_entry<T, K> const* KOKKOS_RESTRICT const in = x;
    matrix.template each<Group::turns_ahead>(
        group, piece, [&](std::int32_t column) { return backend::read_whole(in + column); },
        [&](int lane, entry<value, rows> const& a, x_entry<T, K> const& at) {
          backend::unrolled<rows>([&](auto r) {
            T const factor = backend::widen<T>(a.row[r]);
            backend::unrolled<K>([&](auto k) {
              constexpr int n = int(r) * K + int(k);
              sum[n][lane] = c.template add<n>(factor, at.vector[k], sum[n][lane]);
            });
          });
        });
    group.template sums<count>(sum).each([&](int n, T total) { sums[index * count + n] = total; });
  }

  /// Sum n of a piece, by its entries alone.
  template <class Group>
  KOKKOS_FUNCTION T without_fill(Group const& group, std::int64_t index, int n) const {
    using value = typename Rows::value_type;
    row_piece const piece = pieces[index];
    auto const c = constants<1>(piece, n);
    typename Group::template per_lane<T> sum;
    group.each([&](int lane) { sum[lane] = T(0); });
    matrix.template each<0>(
        group, piece, [&](std::int32_t column) { return x[column].vector[n % K]; },
        [&](int lane, entry<value, rows> const& a, T at) {
          backend::unrolled<rows>([&](auto r) {
            if (r == n / K && !is_fill(a.row[r])) {
              sum[lane] = c.template add<0>(backend::widen<T>(a.row[r]), at, sum[lane]);
            }
          });
        });
    return group.sum(sum);
  }

 private:
  /// Of `Count` sums from `first` on.
  template <int Count>
  KOKKOS_FUNCTION typename Sum::template constants<T, Count> constants(row_piece const& piece,
                                                                       int first) const {
    std::int64_t const row = std::int64_t(piece.group) * rows;
    return {
        [=, this](int n) {
          std::int64_t const at = row + (first + n) / K;
          return reach[at < matrix.num_rows ? at : row];
        },
        [=, this](int n) { return (first + n) % K < vectors ? largest_x[(first + n) % K] : 0.0; }};
  }
};

/// y = alpha A x + beta y from the sums of the pieces: the parts of long rows added up from the
/// first to the last. A lane for every sum of a group of rows: the long ones, the others with
/// entries, those without.
template <class T, class Rows, class Sum, int K>
struct product_finish {
  using product = product_sums<T, Rows, Sum, K>;
  static constexpr int rows = product::rows;
  static constexpr int count = product::count;

  product multiply;       ///< its pieces null: all groups in order, taken to be empty
  std::int64_t num_with;  ///< groups of rows that have entries
  std::int64_t num_long;
  std::int64_t num_parts;
  std::int64_t num_groups;
  std::int64_t const* first_part;
  T alpha;
  T beta;
  T* y;
  std::int64_t y_stride;
  double const* row_scales;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template per_lane<T> sum;
    typename Group::template per_lane<bool> doubtful;
    group.each([&](int lane) {
      sum[lane] = total(32 * index + lane, [&](std::int64_t piece, int n) {
        return multiply.sums[piece * count + n];
      });
      doubtful[lane] = !is_finite(sum[lane]);
    });
    if constexpr (Rows::has_fill) {
      // Fill times an x that is not finite is NaN: then once more, by entries alone.
      std::uint32_t left = group.mask(doubtful);
      for (int next = 0; left != 0; ++next, left >>= 1) {
        if ((left & 1U) != 0) {
          T const repeated = total(32 * index + next, [&](std::int64_t piece, int n) {
            return multiply.without_fill(group, piece, n);
          });
          group.each([&](int lane) { sum[lane] = lane == next ? repeated : sum[lane]; });
        }
      }
    }
    group.each([&](int lane) { finish(32 * index + lane, sum[lane]); });
  }

  [[nodiscard]] std::int64_t num_launched() const { return (num_groups * count + 31) / 32; }

 private:
  /// The pieces of the group that stands at `place` in the plan.
  KOKKOS_FUNCTION std::int64_t first_piece(std::int64_t place) const {
    return place < num_long ? first_part[place] : place - num_long + num_parts;
  }

  /// Of the pieces' sums, from the first to the last.
  template <class SumOf>
  KOKKOS_FORCEINLINE_FUNCTION T total(std::int64_t index, SumOf const& sum_of) const {
    std::int64_t const place = index / count;
    auto const n = int(index % count);
    if (place >= num_with) {
      return T(0);
    }
    std::int64_t piece = first_piece(place);
    T sum = sum_of(piece, n);
    std::int64_t const end = place < num_long ? first_piece(place + 1) : piece + 1;
    for (++piece; piece < end; ++piece) {
      sum = sum + sum_of(piece, n);
    }
    return sum;
  }

  KOKKOS_FUNCTION void finish(std::int64_t index, T sum) const {
    std::int64_t const place = index / count;
    auto const n = int(index % count);
    if (place >= num_groups) {
      return;
    }
    std::int64_t const group =
        multiply.pieces != nullptr ? multiply.pieces[first_piece(place)].group : place;
    std::int64_t const row = group * rows + n / K;
    if (row >= multiply.matrix.num_rows || n % K >= multiply.vectors) {
      return;
    }
    T* const out = y + row * y_stride + n % K;
    T const scaled = alpha * (row_scales != nullptr ? sum * T(row_scales[row]) : sum);
    *out = canonical(beta == T(0) ? scaled : Kokkos::fma(beta, *out, scaled));
  }
};

}  // namespace iso::sparse::detail
