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

/// Atomic maximum of max_abs[0] and the largest finite |x| of a stretch of x. A maximum has no
/// order.
template <class T>
struct max_abs_kernel {
  /// Values that a lane asks for at once: a short x is read in one wait.
  static constexpr int steps = 32;
  static constexpr std::int64_t block = 32 * steps;
  /// No more, since they raise one number, in step: 2 ns each on an H200.
  static constexpr std::int64_t most_groups = 1024;

  T const* x;
  std::int64_t length;
  std::int64_t stride;
  double* max_abs;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t num_groups() const {
    std::int64_t const blocks = (length + block - 1) / block;
    return blocks < most_groups ? blocks : most_groups;
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.let_next_begin();
    group.await_previous();
    typename Group::template lane_array<double> most(0.0);
    for (std::int64_t first = block * index; first < length; first += block * num_groups()) {
      typename Group::template lane_array<T> values[steps];
      backend::unrolled<steps>([&](auto step) {
        group.each([&](int lane) {
          std::int64_t const i = first + 32 * int(step) + lane;
          values[step][lane] = i < length ? x[i * stride] : T(0);
        });
      });
      backend::unrolled<steps>([&](auto step) {
        group.each([&](int lane) {
          double const size = Kokkos::fabs(double(values[step][lane]));
          most[lane] = is_finite(size) && size > most[lane] ? size : most[lane];
        });
      });
    }
    double const top = group.highest(most);
    group.once([&] {
      if (top > 0) {
        backend::raise(max_abs, top);
      }
    });
  }
};

struct exponent_kernel {
  std::int64_t num_rows;
  double const* max_abs;
  std::int32_t const* entries;
  std::int16_t* exponents;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    exponents[row] = std::int16_t(row < num_rows ? exponent(max_abs[row], entries[row]) : -1200);
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
  static_assert(part_steps == 64);
};

}  // namespace

template <execution_space Exec, real T>
void launch_max_abs(Exec const& exec, T const* x, std::int64_t length, std::int64_t stride,
                    std::int64_t vectors, double* max_abs) {
  backend::for_each_lane_group<128, 0, backend::sharing::even, backend::beginning::early>(
      "iso::sparse::max_abs: zero", exec, (vectors + 31) / 32, clear_kernel{max_abs, vectors});
  for (std::int64_t k = 0; k < vectors; ++k) {
    max_abs_kernel<T> const kernel{x + k, length, stride, max_abs + k};
    backend::for_each_lane_group<128, 0, backend::sharing::even, backend::beginning::early>(
        "iso::sparse::max_abs", exec, kernel.num_groups(), kernel);
  }
}

template <execution_space Exec>
void launch_exponents(Exec const& exec, std::int64_t num_rows, double const* max_abs,
                      std::int32_t const* entries, std::int64_t length, std::int16_t* exponents) {
  Kokkos::parallel_for("iso::sparse::make_plan: exponents", range<Exec>(exec, 0, length),
                       exponent_kernel{num_rows, max_abs, entries, exponents});
}

#define ISO_INSTANTIATE(Exec)                                                                      \
  template void launch_max_abs<Exec, float>(Exec const&, float const*, std::int64_t, std::int64_t, \
                                            std::int64_t, double*);                                \
  template void launch_max_abs<Exec, double>(Exec const&, double const*, std::int64_t,             \
                                             std::int64_t, std::int64_t, double*);                 \
  template void launch_exponents<Exec>(Exec const&, std::int64_t, double const*,                   \
                                       std::int32_t const*, std::int64_t, std::int16_t*);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE

void validate_bounds(std::int64_t rows, std::int64_t max_abs, std::int64_t entries) {
  ISO_VALIDATE(
      max_abs == rows && entries == rows,
      "iso::sparse::make_plan: bounds of {} and {} rows for a matrix of {} (make them agree)",
      max_abs, entries, rows);
}

namespace {

bool has_memory(vector_facts const& v) {
  return v.first != nullptr || v.length == 0 || v.vectors == 0;
}

}  // namespace

void validate_max_abs(vector_facts const& x, std::int64_t length) {
  ISO_VALIDATE(has_memory(x),
               "iso::sparse::max_abs: x has elements but no memory (its pointer is null) allocate "
               "it first");
  ISO_VALIDATE(x.plain && x.stride >= x.vectors,
               "iso::sparse::max_abs: x has gaps between its numbers (those of a vector, or "
               "of several at one place, must follow each other) use a plain view");
  ISO_VALIDATE(length == x.vectors,
               "iso::sparse::max_abs: {} numbers for {} vectors (make them agree)", length,
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
  ISO_VALIDATE(
      has_memory(x) && has_memory(y),
      "iso::sparse::spmv: x or y has elements but no memory (its pointer is null) allocate "
      "it first");
  ISO_VALIDATE(x.first == x.last || y.first == y.last || x.last <= y.first || y.last <= x.first,
               "iso::sparse::spmv: x and y overlap (y is written while x is read) use two views");
}

}  // namespace

void validate_product(plan_facts const& matrix, std::int64_t num_cols, vector_facts const& x,
                      vector_facts const& y, plan_facts const& plan, spmv_options const& options,
                      bool float_vectors, std::int64_t scratch, std::int64_t needed) {
  validate_vectors(matrix.rows, num_cols, x, y);
  bool const same_rows = plan.entries == matrix.entries && plan.rows == matrix.rows &&
                         plan.rows_per_block == matrix.rows_per_block;
  ISO_VALIDATE(
      !same_rows || plan.chunks == matrix.chunks,
      "iso::sparse::spmv: a plan of {} column chunks for a matrix of {} (it belongs to another, "
      "or another format) use make_plan",
      plan.chunks, matrix.chunks);
  std::int64_t const without_entries =
      matrix.blocks - plan.num_long - (plan.num_segments - plan.num_parts);
  ISO_VALIDATE(same_rows && plan.blocks == matrix.blocks && plan.num_parts >= 2 * plan.num_long &&
                   plan.num_segments >= plan.num_parts && plan.segments == plan.num_segments &&
                   without_entries >= 0 &&
                   plan.empty_words == (without_entries > 0 ? empty_words(matrix.blocks) : 0),
               "iso::sparse::spmv: a plan of {} entries in {} rows, {} a block, for a matrix of {} "
               "in {}, {} a block (it belongs to another, or another format) use make_plan",
               plan.entries, plan.rows, plan.rows_per_block, matrix.entries, matrix.rows,
               matrix.rows_per_block);
  bool const known =
      !options.sum || options.sum == summation::ordered || options.sum == summation::reproducible;
  ISO_VALIDATE(known,
               "iso::sparse::spmv: sum {} (is none of the enumeration) choose one of "
               "iso::summation",
               int(*options.sum));
  ISO_VALIDATE(options.sum != summation::reproducible || !float_vectors,
               "iso::sparse::spmv: reproducible sums of floats (their 24 bits leave too few) use "
               "vectors of double");
  ISO_VALIDATE(options.shape.groups_per_launch >= 0,
               "iso::sparse::spmv: groups_per_launch {} (must not be negative)",
               options.shape.groups_per_launch);
  ISO_VALIDATE(scratch >= needed,
               "iso::sparse::spmv: scratch of {} bytes ({} are needed) reserve spmv_bytes_needed",
               scratch, needed);
}

}  // namespace iso::sparse::detail
