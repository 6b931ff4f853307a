// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/atomic_maximum.hpp>
#include <iso/backend/lane_group.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/core/numerics.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

#include <cstdint>

namespace iso::detail {

/// Atomic maximum of *max_abs and the largest finite |x| of a stretch of x. A maximum has no order.
template <class T>
struct max_abs_kernel {
  /// Values that a lane asks for at once: a short x is read in one wait.
  static constexpr int steps = 32;
  static constexpr std::int64_t block = 32 * steps;
  /// No more, since they update one number, in step: 2 ns each on an H200.
  static constexpr std::int64_t most_groups = 1024;

  T const* x;
  std::int64_t length;
  std::int64_t stride;
  double* max_abs;
  std::int32_t* not_finite;  ///< null, or becomes 1 where an x is not finite

  /// Of a group, in whole blocks.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t stretch() const {
    return block * ((length - 1) / (block * most_groups) + 1);
  }
  [[nodiscard]] std::int64_t num_groups() const {
    return length > 0 ? (length - 1) / stretch() + 1 : 0;
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.trigger_dependent_launch();
    group.wait_for_previous_launch();
    typename Group::template lane_array<double> most(0.0);
    typename Group::template lane_array<double> rest(0.0);  // NaN behind what is not finite
    std::int64_t const begin = stretch() * index;
    std::int64_t const end = begin + stretch() < length ? begin + stretch() : length;
    for (std::int64_t first = begin; first < end; first += block) {
      typename Group::template lane_array<T> values[steps];
      backend::unrolled<steps>([&](auto step) {
        group.each([&](int lane) {
          std::int64_t const i = first + 32 * int(step) + lane;
          values[step][lane] = i < end ? x[i * stride] : T(0);
        });
      });
      backend::unrolled<steps>([&](auto step) {
        group.each([&](int lane) {
          double const size = Kokkos::fabs(double(values[step][lane]));
          most[lane] = is_finite(size) && size > most[lane] ? size : most[lane];
          rest[lane] += size - size;
        });
      });
    }
    double const top = group.highest(most);
    typename Group::template lane_array<bool> bad;
    group.each([&](int lane) { bad[lane] = rest[lane] != 0; });
    bool const beyond = not_finite != nullptr && group.any(bad);
    group.once([&] {
      if (top > 0) {
        backend::atomic_maximum(max_abs, top);
      }
      if (beyond) {
        backend::atomic_maximum(not_finite, 1);
      }
    });
  }
};

}  // namespace iso::detail
