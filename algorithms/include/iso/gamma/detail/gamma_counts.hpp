// SPDX-License-Identifier: BSD-3-Clause
//! Defines what is counted of the points of a comparison.
#pragma once

#include <iso/core/reproducible.hpp>

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
  std::uint64_t coarse;  ///< of the sum of gamma, as mean_scale splits it
  std::uint64_t fine;

  KOKKOS_FUNCTION void join(gamma_counts const& other) {
    below_cut_off += other.below_cut_off;
    passed += other.passed;
    outside += other.outside;
    outside_passed += other.outside_passed;
    no_gamma += other.no_gamma;
    largest = other.largest > largest ? other.largest : largest;
    coarse += other.coarse;
    fine += other.fine;
  }
};

/// The units of a sum of gamma, which is rounded to a coarse grid, and what that leaves to a fine
/// one. They follow from the largest gamma that may be, so that they are known before any gamma.
struct mean_scale {
  double most;  ///< the largest gamma, with what rounding to T may add
  reproducible_scale<double> coarse;
  reproducible_scale<double> fine;

  mean_scale() = default;
  mean_scale(double max_gamma, double points)
      : most(max_gamma * (1 + 0x1p-23)), coarse(most, points), fine(coarse.unit(), points) {}

  KOKKOS_FUNCTION void add(double gamma, gamma_counts& to) const {
    using scale = reproducible_scale<double>;
    std::uint64_t const bits = coarse.round(gamma);
    double const rounded = (Kokkos::bit_cast<double>(bits) - scale::rounder) * coarse.unit();
    to.coarse += coarse.without_rounder(bits, 1);
    to.fine += fine.without_rounder(fine.round(gamma - rounded), 1);
  }
  [[nodiscard]] double value(gamma_counts const& of) const {
    return coarse.value(of.coarse) + fine.value(of.fine);
  }
};

}  // namespace iso::gamma::detail
