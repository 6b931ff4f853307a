// SPDX-License-Identifier: BSD-3-Clause
#include "product_launch.hpp"

#include <iso/backend/atomic_maximum.hpp>
#include <iso/core/numerics.hpp>
#include <iso/detail/max_abs.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

#include <cstdint>

namespace iso::sparse::detail {
namespace {

struct clear_kernel {
  double* values;
  std::int64_t count;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.trigger_dependent_launch();
    group.wait_for_previous_launch();
    group.each([&](int lane) {
      if (std::int64_t const i = 32 * index + lane; i < count) {
        values[i] = 0;
      }
    });
  }
};

/// Atomic maxima of max_abs[k] and the largest finite |x| of vector k, of vectors side by side
/// whose number divides 32: x is read once, and lane l meets vector l mod `vectors` alone.
template <class T>
struct max_abs_together {
  static constexpr std::int64_t block = 32 * 64;
  T const* x;
  std::int64_t count;  ///< of all numbers
  int vectors;
  double* max_abs;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t num_groups() const {
    std::int64_t const blocks = (count + block - 1) / block;
    return blocks < 1024 ? blocks : 1024;
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.trigger_dependent_launch();
    group.wait_for_previous_launch();
    typename Group::template lane_array<T> most(T(0));
    for (std::int64_t first = block * index; first < count; first += block * num_groups()) {
      std::int64_t const end = first + block < count ? first + block : count;
      for (std::int64_t i = first; i < end; i += 32) {
        group.each([&](int lane) {
          T const size = i + lane < end ? Kokkos::fabs(x[i + lane]) : T(0);
          most[lane] = is_finite(size) && size > most[lane] ? size : most[lane];
        });
      }
    }
    for (int k = 0; k < vectors; ++k) {
      typename Group::template lane_array<double> size;
      group.each([&](int lane) { size[lane] = lane % vectors == k ? double(most[lane]) : 0.0; });
      double const top = group.highest(size);
      group.once([&] {
        if (top > 0) {
          backend::atomic_maximum(max_abs + k, top);
        }
      });
    }
  }
};

}  // namespace

template <execution_space Exec, real T>
void launch_max_abs(Exec const& exec, T const* x, vector_facts const& facts, double* max_abs) {
  using backend::launch_dependency;
  using backend::sharing;
  backend::for_each_lane_group<block_threads, 0, sharing::even, launch_dependency::programmatic>(
      "iso::sparse::max_abs: zero", exec, (facts.vectors + 31) / 32,
      clear_kernel{max_abs, facts.vectors});
  // Vector by vector each would read what lies between its numbers.
  if (facts.vectors > 1 && facts.stride == facts.vectors && 32 % facts.vectors == 0) {
    max_abs_together<T> const kernel{x, facts.length * facts.vectors, int(facts.vectors), max_abs};
    backend::for_each_lane_group<block_threads, 0, sharing::even, launch_dependency::programmatic>(
        "iso::sparse::max_abs", exec, kernel.num_groups(), kernel);
    return;
  }
  for (std::int64_t k = 0; k < facts.vectors; ++k) {
    iso::detail::max_abs_kernel<T, false> const kernel{x + k, facts.length, facts.stride,
                                                       max_abs + k, nullptr};
    backend::for_each_lane_group<block_threads, 0, sharing::even, launch_dependency::programmatic>(
        "iso::sparse::max_abs", exec, kernel.num_groups, kernel);
  }
}

#define ISO_SPARSE_MAX_ABS(linkage, Exec, T) \
  linkage template void launch_max_abs(Exec const&, T const*, vector_facts const&, double*);
ISO_FOR_EACH_INSTANCE(ISO_SPARSE_MAX_ABS, )

void validate_vectors(matrix_shape const& a, vector_facts const& x, vector_facts const& y) {
  ISO_VALIDATE(
      x.length == a.num_cols && y.length == a.num_rows,
      "iso::sparse::spmv: x of {} and y of {} for a matrix of {} x {} (x has an element for each "
      "column, y for each row); give vectors of these lengths, or transpose the matrix",
      x.length, y.length, a.num_rows, a.num_cols);
  ISO_VALIDATE(x.vectors == y.vectors,
               "iso::sparse::spmv: {} vectors in and {} out (each vector has one product); give y "
               "as many vectors as x",
               x.vectors, y.vectors);
}

void validate_memory_apart(std::array<memory_range, 5> const& matrix, memory_range const& x,
                           memory_range const& y, memory_range const& scratch) {
  char const* const function = "iso::sparse::spmv";
  validate_apart(y, {x, scratch}, function);
  validate_apart(scratch, {x}, function);
  for (auto const& array : matrix) {
    validate_apart(y, {array}, function);
    validate_apart(scratch, {array}, function);
  }
}

void validate_options(spmv_options const& options) {
  bool const known =
      !options.sum || options.sum == summation::ordered || options.sum == summation::reproducible;
  ISO_VALIDATE(
      known, "iso::sparse::spmv: sum {} (is none of the enumeration); choose one of iso::summation",
      int(*options.sum));
  ISO_VALIDATE(options.shape.groups_per_launch >= 0,
               "iso::sparse::spmv: groups_per_launch {} (must not be negative); leave it at 0 for "
               "one launch",
               options.shape.groups_per_launch);
}

}  // namespace iso::sparse::detail
