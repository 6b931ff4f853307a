// SPDX-License-Identifier: BSD-3-Clause
// What a step absorbs, exp(-x) - 1 by a polynomial and doublings, against the C library's expm1 in
// long double.
#include <iso/backend/lane_group.hpp>
#include <iso/dose/cones.hpp>
#include <iso/dose/detail/cone_step.hpp>
#include <iso/dose/kernel.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <variant>
#include <vector>

namespace {

using namespace iso::dose;

/// Bounds of the relative error: of the polynomial, and what each doubling adds.
template <class T>
struct bound;
template <>
struct bound<float> {
  static constexpr double polynomial = 2e-7;
  static constexpr double doubling = 6e-8;
};
template <>
struct bound<double> {
  static constexpr double polynomial = 3e-16;
  static constexpr double doubling = 1.2e-16;
};

template <class T>
T decay_of(T scaled, int doublings) {
  using value = iso::backend::one_lane_part::per_lane<T>;
  return detail::decay(value(scaled), doublings).r[0];
}

/// The relative error over the bound that holds for it.
template <class T>
double error_of(T scaled, int doublings) {
  long double const exact = std::expm1(-std::ldexp((long double)(scaled), doublings));
  auto const error = double(std::fabs((long double)(decay_of(scaled, doublings)) / exact - 1));
  return error / (bound<T>::polynomial + doublings * bound<T>::doubling);
}

/// Calls f(x) for `count` numbers in equal ratios from `first` to `last`.
template <class F>
void for_each_ratio(double first, double last, int count, F const& f) {
  for (int i = 0; i < count; ++i) {
    f(first * std::pow(last / first, double(i) / (count - 1)));
  }
}

/// Rates of every kernel of the library: its rows', and those of the cones that are made of them,
/// 1/cm, ascending.
std::vector<double> all_rates() {
  std::vector<double> rates;
  for (std::string_view const name : {"4mv", "6mv", "6mv_quad", "10mv", "15mv", "24mv"}) {
    auto const kernel = named_kernel(name);
    auto const add = [&](auto const& terms, auto const& rate_of) {
      for (int c = 0; c < kernel.num_terms; ++c) {
        rates.push_back(rate_of(terms[std::size_t(c)]));
      }
    };
    for (kernel_cone const& row : kernel.cones) {
      add(row.terms, [](kernel_term const& t) { return t.rate; });
    }
    for (int const count : {4, 8, 12, 48}) {
      auto const cones = make_cones(kernel, {count, 4});
      for (auto const& cone : std::get<exponential_cones>(cones.absorbed).terms) {
        add(cone.rate, [](double rate) { return rate; });
      }
    }
  }
  std::sort(rates.begin(), rates.end());
  return rates;
}

}  // namespace

TEST_CASE_TEMPLATE("dose: what a step absorbs has the stated relative error", T, float, double) {
  // Zero absorbs nothing; the smallest arguments absorb themselves.
  CHECK(decay_of(T(0), 0) == T(0));
  CHECK(decay_of(T(0), 9) == T(0));
  CHECK(decay_of(std::numeric_limits<T>::min(), 0) == -std::numeric_limits<T>::min());
  std::array<double, 21> worst{};
  for (int doublings = 0; doublings < int(worst.size()); ++doublings) {
    // Small arguments in equal ratios, those next to 1/2 in equal steps.
    double& most = worst[std::size_t(doublings)];
    for_each_ratio(1e-30, 0.5, 20000,
                   [&](double x) { most = std::max(most, error_of(T(x), doublings)); });
    for (int i = 1; i <= 200000; ++i) {
      most = std::max(most, error_of(T(0.5 * i / 200000), doublings));
    }
    CAPTURE(doublings);
    CHECK(most < 1);
  }
  MESSAGE("largest error over its bound: ", worst[0], " by the polynomial, ", worst[1], ", ",
          worst[2], ", ", worst[4], " and ", worst[20], " behind 1, 2, 4 and 20 doublings");
}

TEST_CASE_TEMPLATE("dose: every kernel, step and density stays within that error", T, float,
                   double) {
  auto const rates = all_rates();
  REQUIRE(rates.size() > 1000);
  MESSAGE("rates from ", rates.front(), " to ", rates.back(), " /cm");
  double worst = 0;
  double largest_scaled = 0;
  int max_doublings = 0;
  // Half steps from a small voxel's to the diagonal of a large one, cm; densities from air in
  // the lungs to gold. A region's largest density sets the doublings for all of its voxels.
  for (double const rate : rates) {
    for (double const half_step : {0.0025, 0.03, 0.1, 0.5, 2.0}) {
      for (double const largest : {0.05, 1.0, 1.85, 19.3}) {
        detail::cone_terms<T, 1> terms{};
        terms.set(0, T(rate * half_step), T(1), largest);
        max_doublings = std::max(max_doublings, int(terms.doublings[0]));
        for_each_ratio(1e-6, largest, 12, [&](double density) {
          T const scaled = T(density) * terms.scaled_half_step[0];
          largest_scaled = std::max(largest_scaled, double(scaled));
          worst = std::max(worst, error_of(scaled, terms.doublings[0]));
        });
      }
    }
  }
  // Up to the rounding of the product.
  CHECK(largest_scaled <= 0.5 * (1 + std::numeric_limits<T>::epsilon()));
  CHECK(worst < 1);
  MESSAGE("largest error over its bound: ", worst, ", at most ", max_doublings, " doublings");
}
