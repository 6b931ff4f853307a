// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/backend/raise.hpp>
#include <iso/backend/registry.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/sparse/spmv.hpp>

namespace iso::sparse::detail {
namespace {

struct clear_kernel {
  double* values;
  std::int64_t count;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.let_next_begin();
    group.await_previous();
    group.each([&](int lane) {
      if (std::int64_t const i = 32 * index + lane; i < count) {
        values[i] = 0;
      }
    });
  }
};

/// Raises largest[0] to the largest finite |x| of a stretch of x. A maximum has no order.
template <class T>
struct largest_kernel {
  /// Values that a lane asks for at once: a short x is read in one wait.
  static constexpr int turns = 32;
  static constexpr std::int64_t block = 32 * turns;
  /// No more, since they raise one number, in turn: 2 ns each on an H200.
  static constexpr std::int64_t most_groups = 1024;

  T const* x;
  std::int64_t length;
  std::int64_t stride;
  double* largest;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t num_groups() const {
    std::int64_t const blocks = (length + block - 1) / block;
    return blocks < most_groups ? blocks : most_groups;
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.let_next_begin();
    group.await_previous();
    typename Group::template per_lane<double> most(0.0);
    for (std::int64_t first = block * index; first < length; first += block * num_groups()) {
      typename Group::template per_lane<T> values[turns];
      backend::unrolled<turns>([&](auto turn) {
        group.each([&](int lane) {
          std::int64_t const i = first + 32 * int(turn) + lane;
          values[turn][lane] = i < length ? x[i * stride] : T(0);
        });
      });
      backend::unrolled<turns>([&](auto turn) {
        group.each([&](int lane) {
          double const size = Kokkos::fabs(double(values[turn][lane]));
          most[lane] = is_finite(size) && size > most[lane] ? size : most[lane];
        });
      });
    }
    double const top = group.highest(most);
    group.once([&] {
      if (top > 0) {
        backend::raise(largest, top);
      }
    });
  }
};

struct exponent_kernel {
  std::int64_t num_rows;
  double const* largest;
  std::int32_t const* entries;
  std::int16_t* exponents;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    exponents[row] = std::int16_t(row < num_rows ? exponent(largest[row], entries[row]) : -1200);
  }

  /// The least e with 2^e >= most max(2 min(n, 64), n / 2) (1 + 2^-20): a lane adds at most 64
  /// terms before its sum must have stayed within a power of two, and all n must add exactly.
  KOKKOS_FUNCTION static int exponent(double most, std::int32_t n) {
    if (!(most > 0) || n == 0) {
      return -1200;
    }
    double const terms = n <= 64 ? 2.0 * n : (n <= 256 ? 128 : 0.5 * n);
    // Neither the product nor its exponent may leave the range of normal numbers on the way.
    int const shift = most < 1 ? 100 : -100;
    double const bound = most * (shift > 0 ? 0x1p100 : 0x1p-100) * terms * (1 + 0x1p-20);
    return ceil_log2(bound) - shift;
  }
  static_assert(part_turns == 64);
};

}  // namespace

template <execution_space Exec, real T>
void launch_largest(Exec const& exec, T const* x, std::int64_t length, std::int64_t stride,
                    std::int64_t vectors, double* largest) {
  backend::for_each_lane_group<128, 0, backend::sharing::even, backend::beginning::early>(
      "iso::sparse::write_largest: zero", exec, (vectors + 31) / 32,
      clear_kernel{largest, vectors});
  for (std::int64_t k = 0; k < vectors; ++k) {
    largest_kernel<T> const kernel{x + k, length, stride, largest + k};
    backend::for_each_lane_group<128, 0, backend::sharing::even, backend::beginning::early>(
        "iso::sparse::write_largest", exec, kernel.num_groups(), kernel);
  }
}

template <execution_space Exec>
void launch_exponents(Exec const& exec, std::int64_t num_rows, double const* largest,
                      std::int32_t const* entries, std::int64_t length, std::int16_t* exponents) {
  Kokkos::parallel_for("iso::sparse::make_plan: exponents", range<Exec>(exec, 0, length),
                       exponent_kernel{num_rows, largest, entries, exponents});
}

#define ISO_INSTANTIATE(Exec)                                                                      \
  template void launch_largest<Exec, float>(Exec const&, float const*, std::int64_t, std::int64_t, \
                                            std::int64_t, double*);                                \
  template void launch_largest<Exec, double>(Exec const&, double const*, std::int64_t,             \
                                             std::int64_t, std::int64_t, double*);                 \
  template void launch_exponents<Exec>(Exec const&, std::int64_t, double const*,                   \
                                       std::int32_t const*, std::int64_t, std::int16_t*);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE

void validate_bounds(std::int64_t rows, std::int64_t largest, std::int64_t entries) {
  ISO_VALIDATE(
      largest == rows && entries == rows,
      "iso::sparse::make_plan: bounds of {} and {} rows for a matrix of {} (make them agree)",
      largest, entries, rows);
}

void validate_largest(vector_facts const& x, std::int64_t largest) {
  ISO_VALIDATE(x.plain && x.stride >= x.vectors,
               "iso::sparse::write_largest: x has gaps between its numbers (those of a vector, or "
               "of several at one place, must follow each other) use a plain view");
  ISO_VALIDATE(largest == x.vectors,
               "iso::sparse::write_largest: {} places for {} vectors (make them agree)", largest,
               x.vectors);
}

namespace {

void validate_vectors(std::int64_t num_rows, std::int64_t num_cols, vector_facts const& x,
                      vector_facts const& y) {
  ISO_VALIDATE(
      x.length == num_cols && y.length == num_rows,
      "iso::sparse::spmv: x of {} and y of {} for a matrix of {} x {} (x needs its columns, "
      "y its rows)",
      x.length, y.length, num_rows, num_cols);
  ISO_VALIDATE(x.vectors == y.vectors,
               "iso::sparse::spmv: {} vectors in and {} out (make them agree)", x.vectors,
               y.vectors);
  ISO_VALIDATE(x.plain && y.plain && x.stride >= x.vectors && y.stride >= y.vectors,
               "iso::sparse::spmv: x or y has gaps between its numbers (those of a vector, or of "
               "several at one place, must follow each other) use a plain view");
  ISO_VALIDATE(x.first == x.last || y.first == y.last || x.last <= y.first || y.last <= x.first,
               "iso::sparse::spmv: x and y overlap (y is written while x is read) use two views");
}

}  // namespace

void validate_product(plan_facts const& matrix, std::int64_t num_cols, vector_facts const& x,
                      vector_facts const& y, plan_facts const& plan, spmv_options const& options,
                      bool float_vectors, std::int64_t scratch, std::int64_t needed) {
  validate_vectors(matrix.rows, num_cols, x, y);
  bool const same_rows = plan.entries == matrix.entries && plan.rows == matrix.rows &&
                         plan.rows_a_group == matrix.rows_a_group;
  ISO_VALIDATE(!same_rows || (plan.places == matrix.places && plan.pairs == matrix.pairs),
               "iso::sparse::spmv: a plan of {} slots, {} of them pairs, for a matrix of {}, {} of "
               "them pairs (it belongs to another, or another format) use make_plan",
               plan.places, plan.pairs, matrix.places, matrix.pairs);
  std::int64_t const without_entries =
      matrix.groups - plan.num_long - (plan.num_pieces - plan.num_parts);
  ISO_VALIDATE(same_rows && plan.groups == matrix.groups && plan.num_parts >= 2 * plan.num_long &&
                   plan.num_pieces >= plan.num_parts && plan.pieces == plan.num_pieces &&
                   without_entries >= 0 &&
                   plan.empty_words == (without_entries > 0 ? empty_words(matrix.groups) : 0),
               "iso::sparse::spmv: a plan of {} entries in {} rows, {} a group, for a matrix of {} "
               "in {}, {} "
               "a group (it belongs to another, or another format) use make_plan",
               plan.entries, plan.rows, plan.rows_a_group, matrix.entries, matrix.rows,
               matrix.rows_a_group);
  ISO_VALIDATE(options.sum >= sum_order::automatic && options.sum <= sum_order::order_free,
               "iso::sparse::spmv: sum {} (is none of the enumeration) choose one of "
               "iso::sparse::sum_order",
               int(options.sum));
  ISO_VALIDATE(options.sum != sum_order::order_free || !float_vectors,
               "iso::sparse::spmv: order-free sums of floats (their 24 bits leave too few) use "
               "vectors of double");
  ISO_VALIDATE(options.shape.groups_per_launch >= 0,
               "iso::sparse::spmv: groups_per_launch {} (must not be negative)",
               options.shape.groups_per_launch);
  ISO_VALIDATE(scratch >= needed,
               "iso::sparse::spmv: scratch of {} bytes ({} are needed) reserve spmv_bytes_needed",
               scratch, needed);
}

void validate_csr_lengths(char const* function, std::int64_t rows, std::int64_t offsets,
                          std::int64_t columns, std::int64_t values, std::int64_t bases,
                          bool relative, std::int64_t scales) {
  ISO_VALIDATE(offsets == rows + 1,
               "{}: {} row offsets for {} rows (there must be one more than rows)", function,
               offsets, rows);
  ISO_VALIDATE(columns == values, "{}: {} columns and {} values (make them agree)", function,
               columns, values);
  ISO_VALIDATE(bases == (relative ? rows : 0),
               "{}: {} row bases for {} rows (one a row where columns have 16 bits, else none)",
               function, bases, rows);
  ISO_VALIDATE(scales == 0 || scales == rows, "{}: {} row scales for {} rows (one a row, or none)",
               function, scales, rows);
}

void validate_grouped_lengths(char const* function, std::int64_t groups, std::int64_t slot_offsets,
                              std::int64_t slots, std::int64_t offsets, std::int64_t values,
                              int rows, std::int64_t num_rows, std::int64_t scales, bool aligned) {
  ISO_VALIDATE(slot_offsets == groups + 1,
               "{}: {} slot offsets for {} groups of rows (there must be one more than groups)",
               function, slot_offsets, groups);
  ISO_VALIDATE(offsets == 32 * slots && values == offsets * rows,
               "{}: {} offsets and {} values for {} slots (32 and 32 times {} each)", function,
               offsets, values, slots, rows);
  ISO_VALIDATE(scales == 0 || scales == num_rows,
               "{}: {} row scales for {} rows (one a row, or none)", function, scales, num_rows);
  ISO_VALIDATE(aligned,
               "{}: values that are not aligned (the {} of a column are read at once) use "
               "a view of its own",
               function, rows);
}

}  // namespace iso::sparse::detail
