// SPDX-License-Identifier: BSD-3-Clause
//! Defines what is counted of the points of a comparison.
#pragma once

#include <iso/core/sum_of.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::gamma::detail {

/// The counts of points, which add in any order.
struct gamma_counts {
  std::int64_t below_cut_off;
  std::int64_t passed;
  std::int64_t outside;
  std::int64_t outside_passed;
  std::int64_t no_gamma;  ///< NaN, below 0 or above the maximum
  double largest;
  iso::detail::split_sum sum;  ///< of gamma

  KOKKOS_FUNCTION void join(gamma_counts const& other) {
    below_cut_off += other.below_cut_off;
    passed += other.passed;
    outside += other.outside;
    outside_passed += other.outside_passed;
    no_gamma += other.no_gamma;
    largest = other.largest > largest ? other.largest : largest;
    sum += other.sum;
  }
};

/// The units of the sum of gamma. They follow from the largest gamma that may be, so that they are
/// known before any gamma.
struct mean_scale {
  double most;  ///< the largest gamma, with what rounding to T may add
  iso::detail::split_scale scale;

  mean_scale() = default;
  mean_scale(double max_gamma, double points)
      : most(max_gamma * (1 + 0x1p-23)), scale(most, points) {}
};

}  // namespace iso::gamma::detail
