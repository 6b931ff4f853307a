// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/unroll.hpp>
#include <iso/backend/widen.hpp>
#include <iso/core/numerics.hpp>
#include <iso/sparse/detail/grouped_rows.hpp>
#include <iso/sparse/detail/number_bits.hpp>
#include <iso/sparse/detail/row_chains.hpp>
#include <iso/sparse/plan.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace iso::sparse::detail {

/// Products are added as they come by fma: lane by lane and then by the tree of group.sums, or in
/// chains (adds_in_chains).
struct ordered_sum {
  static constexpr bool is_order_free = false;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T prepared(T x) {
    return x;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T finished(T sum) {
    return sum;
  }
};

/// Every product is rounded to a multiple of one power of two by being added to a sum that began at
/// 1.5 2^e and stays between 2^e and 2^(e+1), so that all sums are exact.
struct order_free_sum {
  static constexpr bool is_order_free = true;

  /// With its last bit set no product lies half way between two multiples, where the direction of
  /// rounding would hang on the sum.
  KOKKOS_FORCEINLINE_FUNCTION static double prepared(double x) {
    return Kokkos::bit_cast<double>(Kokkos::bit_cast<std::uint64_t>(x) | 1U);
  }
  /// What was added to the sum since it began.
  KOKKOS_FORCEINLINE_FUNCTION static double finished(double sum) {
    auto const bits = Kokkos::bit_cast<std::uint64_t>(sum);
    return sum - Kokkos::bit_cast<double>((bits & 0x7ff0000000000000ULL) | 0x0008000000000000ULL);
  }

  /// Where the sum of a row begins; NaN beyond the range of double.
  KOKKOS_FORCEINLINE_FUNCTION static double origin(int row_exponent, double largest_x) {
    // Below 2^-1000 it is the row's exponent that keeps products from lying half way.
    double const x = largest_x > 0x1p-1000 ? largest_x : 0x1p-1000;
    int const e = row_exponent + ceil_log2(x);
    int const biased = (e < -900 ? -900 : (e > 1023 ? 1024 : e)) + 1023;
    return Kokkos::bit_cast<double>((std::uint64_t(biased) << 52) | 0x0008000000000000ULL);
  }
};

/// The values of K vectors at one column.
template <class T, int K>
struct alignas(K * sizeof(T) > 16 ? 16 : K * sizeof(T)) x_entry {
  T vector[K];
};

/// What becomes of the sum of a row: y = alpha sum + beta y.
template <class T, int R, int K>
struct product_finish {
  T alpha;
  T beta;
  T* y;
  std::int64_t y_stride;
  std::int64_t num_rows;
  int vectors;  ///< of K, those that exist
  double const* row_scales;

  /// Sum n of a group of R rows: row n / K, vector n % K.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t group, int n, T sum) const {
    std::int64_t const row = group * R + n / K;
    if (row >= num_rows || n % K >= vectors) {
      return;
    }
    T* const out = y + row * y_stride + n % K;
    // Fill and padding may give a zero either sign: + 0 leaves it one.
    T const positive = sum + T(0);
    T const scaled = alpha * (row_scales != nullptr ? positive * T(row_scales[row]) : positive);
    *out = canonical(beta == T(0) ? scaled : Kokkos::fma(beta, *out, scaled));
  }
};

/// A matrix times K vectors, one piece a lane group: the parts of long rows go to `part_sums`, the
/// sums of other rows are finished. Nothing else, so that a GPU's registers are the loop's:
/// product_rest does the rest.
template <class T, class Rows, class Sum, int K>
struct product {
  static constexpr int rows = Rows::rows;
  static constexpr int count = rows * K;
  using piece_type = typename Rows::piece_type;
  /// Whether a sum that is not finite is to be made once more: fill times an x that is not finite
  /// is NaN, and so is infinity with its last bit set.
  static constexpr bool may_repeat = Rows::has_fill || Sum::is_order_free;
  /// Whether the sums are chains, as matrix instructions make them.
  static constexpr bool in_chains = adds_in_chains<Rows, K>;
  static constexpr auto lane_sums =
      Sum::is_order_free ? backend::detail::lane_sums::exact : backend::detail::lane_sums::plain;

  Rows matrix;
  piece_type const* pieces;
  x_entry<T, K> const* x;
  std::int16_t const* exponents;
  double const* largest_x;
  std::int64_t num_parts;
  T* part_sums;     ///< [num_parts][count]
  bool* to_repeat;  ///< [pieces], where may_repeat
  product_finish<T, rows, K> finish;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    if constexpr (in_chains && Group::multiplies_matrices) {
      KOKKOS_IF_ON_DEVICE((multiply_matrices(group, index);))
    } else {
      piece_type const piece = pieces[index];
      begin(group);
      conclude(group, [&] { return index; }, [&] { return piece.group; }, sums(group, piece));
    }
  }

  /// Sum n of a piece as IEEE arithmetic has it where numbers are not finite: by entries alone.
  template <class Group>
  KOKKOS_FUNCTION T repeated(Group const& group, std::int64_t index, int n) const {
    piece_type const piece = pieces[index];
    if constexpr (in_chains && !Sum::is_order_free) {
      return group.broadcast(chained_sums<true>(group, matrix, piece, x), n);
    }
    T const from = origins(piece)(n / K, n % K);
    typename Group::template per_lane<T> sum;
    group.each([&](int lane) { sum[lane] = from; });
    matrix.template each<0>(
        group, piece,
        [&](std::int32_t column) {
          T const at = x[column].vector[n % K];
          return is_finite(at) && at != T(0) ? Sum::prepared(at) : at;
        },
        [&](int lane, auto const& a, T at, auto first_row) {
          backend::unrolled<std::decay_t<decltype(a)>::rows>([&](auto r) {
            if (first_row + r == n / K && !(Rows::has_fill && is_fill(a.row[r]))) {
              sum[lane] = Kokkos::fma(backend::widen<T>(a.row[r]), at, sum[lane]);
            }
          });
        });
    group.each([&](int lane) { sum[lane] = sum[lane] - from; });
    return group.sum(sum);
  }

 private:
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void begin(Group const& group) const {
    group.await_previous();
    // Not sooner: what begins now may write where launches before this one read.
    group.let_next_begin();
  }

  /// What becomes of the sums of a piece.
  template <class Group, class Index, class Number, class Totals>
  KOKKOS_FORCEINLINE_FUNCTION void conclude(Group const& group, Index const& index_of_piece,
                                            Number const& group_number,
                                            Totals const& totals) const {
    std::int64_t const index = index_of_piece();
    if constexpr (may_repeat) {
      bool const again = totals.any([](T total) { return !is_finite(total); });
      group.once([&] { to_repeat[index] = again; });
      if (again) {
        return;
      }
    }
    totals.each([&](int n, T total) {
      if (index < num_parts) {
        part_sums[index * count + n] = total;
      } else {
        finish(group_number(), n, total);
      }
    });
  }

  /// By matrix instructions.
  template <class Group>
  KOKKOS_FUNCTION void multiply_matrices(Group const& group, std::int64_t index) const {
    begin(group);
    // What can be told from the piece's address, index and group, is not kept meanwhile.
    piece_type const* const piece = Group::kept_address(pieces + index);
    int lane = 0;
    group.each([&](int own) { lane = own; });
    double origin[2] = {0, 0};
    if constexpr (Sum::is_order_free) {
      int const exponent = exponents[rows * std::int64_t(piece->group) + lane / 4];
      for (int k = 0; k < 2; ++k) {
        int const vector = 2 * (lane % 2) + k;
        origin[k] = Sum::origin(exponent, vector < finish.vectors ? largest_x[vector] : 0.0);
      }
    }
    conclude(
        group, [&] { return piece - pieces; }, [&] { return Group::read_again(&piece->group); },
        matrix.template matrix_products<lane_sums>(lane, piece, reinterpret_cast<T const*>(x),
                                                   origin));
  }

  /// The sums of a piece.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION auto sums(Group const& group, piece_type const& piece) const {
    auto const origin = origins(piece);
    if constexpr (Group::has_products && Rows::template has_products<K> &&
                  std::is_same_v<T, double>) {
      T from[count];
      for (int n = 0; n < count; ++n) {
        from[n] = origin(n / K, n % K);
      }
      return matrix.template products<lane_sums, K>(piece, reinterpret_cast<T const*>(x), from);
    } else if constexpr (in_chains && !Sum::is_order_free) {
      KOKKOS_IF_ON_HOST(
          (return lane_sums_of<Group>{group, host_chained_sums(group, matrix, piece, x)};))
      KOKKOS_IF_ON_DEVICE(
          (return lane_sums_of<Group>{group, chained_sums<false>(group, matrix, piece, x)};))
    } else {
      typename Group::template per_lane<T> sum[count];
      backend::unrolled<count>([&](auto n) {
        constexpr int number = decltype(n)::value;
        T const from = origin(number / K, number % K);
        group.each([&](int lane) { sum[number][lane] = from; });
      });
      x_entry<T, K> const* KOKKOS_RESTRICT const in = x;
      matrix.template each<Group::turns_ahead>(
          group, piece, [&](std::int32_t column) { return backend::read_whole(in + column); },
          [&](int lane, auto const& a, x_entry<T, K> const& at, auto first_row) {
            T prepared[K];
            backend::unrolled<K>([&](auto k) { prepared[k] = Sum::prepared(at.vector[k]); });
            backend::unrolled<std::decay_t<decltype(a)>::rows>([&](auto r) {
              T const factor = backend::widen<T>(a.row[r]);
              backend::unrolled<K>([&](auto k) {
                constexpr int n = (int(first_row) + int(r)) * K + int(k);
                sum[n][lane] = Kokkos::fma(factor, prepared[k], sum[n][lane]);
              });
            });
          });
      backend::unrolled<count>([&](auto n) {
        group.each([&](int lane) { sum[n][lane] = Sum::finished(sum[n][lane]); });
      });
      return group.template sums<count>(sum);
    }
  }

  /// Where the sum of (row of the piece, vector) begins.
  KOKKOS_FORCEINLINE_FUNCTION auto origins(piece_type const& piece) const {
    if constexpr (Sum::is_order_free) {
      auto const of_rows = backend::read_once(
          reinterpret_cast<entry<std::int16_t, rows> const*>(exponents) + piece.group);
      return [of_rows, this](int r, int k) {
        return Sum::origin(of_rows.row[r], k < finish.vectors ? largest_x[k] : 0.0);
      };
    } else {
      return [](int, int) { return T(0); };
    }
  }
};

/// What `product` leaves: in turn, groups of lanes that finish rows without entries, 32 or 128
/// groups of rows; that add up the parts of long rows from the first to the last, a sum a lane; and
/// that repeat what is to be repeated, of 32 pieces.
template <class T, class Rows, class Sum, int K>
struct product_rest {
  using product_type = product<T, Rows, Sum, K>;
  static constexpr int count = product_type::count;
  /// Words of `empty` that lanes ask for at once: where they have little to write they wait once.
  static constexpr int words = count < 8 ? 4 : 1;

  product_type first;
  std::int64_t const* first_part;
  std::int64_t num_long;
  std::int64_t num_pieces;
  std::uint32_t const* empty;  ///< a bit a group; null: every group is
  std::int64_t num_groups;
  std::int64_t num_empty_words;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t launched_for_long() const {
    return (num_long * count + 31) / 32;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t launched_for_empty() const {
    return (num_empty_words + words - 1) / words;
  }
  [[nodiscard]] std::int64_t num_launched() const {
    return launched_for_long() + launched_for_empty() +
           (product_type::may_repeat ? (num_pieces - first.num_parts + 31) / 32 : 0);
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.let_next_begin();
    // Rows without entries first: they need not wait for the products of others, unless y is read.
    bool const is_empty = index < launched_for_empty();
    if (is_empty && first.finish.beta == T(0)) {
      finish_empty(group, index);
      return group.await_previous();
    }
    group.await_previous();
    if (is_empty) {
      return finish_empty(group, index);
    }
    index -= launched_for_empty();
    if (index < launched_for_long()) {
      return join_parts(group, index);
    }
    if constexpr (product_type::may_repeat) {
      repeat_whole(group, index - launched_for_long());
    }
  }

 private:
  template <class Group>
  KOKKOS_FUNCTION void join_parts(Group const& group, std::int64_t index) const {
    typename Group::template per_lane<bool> again;
    group.each([&](int lane) {
      std::int64_t const at = 32 * index + lane;
      again[lane] = false;
      if (at / count < num_long) {
        T sum = T(0);
        for (std::int64_t p = first_part[at / count]; p < first_part[at / count + 1]; ++p) {
          again[lane] = again[lane] || (product_type::may_repeat && first.to_repeat[p]);
          sum = sum + first.part_sums[p * count + at % count];
        }
        if (!again[lane]) {
          finish_long(at, sum);
        }
      }
    });
    if constexpr (product_type::may_repeat) {
      for_each_set(group, again, [&](int lane) {
        std::int64_t const at = 32 * index + lane;
        T sum = T(0);
        for (std::int64_t p = first_part[at / count]; p < first_part[at / count + 1]; ++p) {
          sum = sum + first.repeated(group, p, int(at % count));
        }
        group.once([&] { finish_long(at, sum); });
      });
    }
  }

  KOKKOS_FUNCTION void finish_long(std::int64_t at, T sum) const {
    first.finish(first.pieces[first_part[at / count]].group, int(at % count), sum);
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

  /// Which groups of a word have no entries.
  KOKKOS_FUNCTION std::uint32_t empty_of(std::int64_t word) const {
    if (word >= num_empty_words) {
      return 0;
    }
    std::int64_t const left = num_groups - 32 * word;
    std::uint32_t const all = left < 32 ? (1U << left) - 1 : 0xffffffffU;
    return empty != nullptr ? empty[word] : all;
  }

  template <class Group>
  KOKKOS_FUNCTION void repeat_whole(Group const& group, std::int64_t index) const {
    typename Group::template per_lane<bool> again;
    std::int64_t const from = first.num_parts + 32 * index;
    group.each(
        [&](int lane) { again[lane] = from + lane < num_pieces && first.to_repeat[from + lane]; });
    for_each_set(group, again, [&](int lane) {
      for (int n = 0; n < count; ++n) {
        T const sum = first.repeated(group, from + lane, n);
        group.once([&] { first.finish(first.pieces[from + lane].group, n, sum); });
      }
    });
  }

  /// f(lane), by the whole group, for the lanes where `chosen` is set.
  template <class Group, class F>
  KOKKOS_FUNCTION static void for_each_set(Group const& group,
                                           typename Group::template per_lane<bool> const& chosen,
                                           F const& f) {
    std::uint32_t left = group.mask(chosen);
    for (int lane = 0; left != 0; ++lane, left >>= 1) {
      if ((left & 1U) != 0) {
        f(lane);
      }
    }
  }
};

}  // namespace iso::sparse::detail
