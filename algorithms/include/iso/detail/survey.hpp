// SPDX-License-Identifier: BSD-3-Clause
//! Finds in one pass whether the numbers of an array are finite and within bounds, and their range.
#pragma once

#include <iso/backend/widen.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/numerics.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace iso::detail {

/// The number of numbers of one kind, and the index of the first of them where there are any.
struct found_numbers {
  std::int64_t count;
  std::int64_t first;
};

/// The findings of a pass over an array. None but `not_finite` counts NaN and infinities.
struct survey {
  found_numbers not_finite;
  found_numbers below;  ///< the lower bound
  found_numbers above;  ///< the upper bound
  double least;         ///< of those not below the lower bound; infinite where there are none
  double largest;       ///< minus infinity where there are none
  double largest_size;  ///< the largest absolute value, at least 0
};

struct survey_bounds {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

/// The reduction of a survey. It has the same result in any order.
template <class T>
struct survey_kernel {
  using value_type = survey;
  T const* x;
  survey_bounds bounds;
  T const* weight;  ///< numbers of weight 0 are passed over; null: all count

  KOKKOS_FUNCTION void init(survey& s) const {
    double const infinity = Kokkos::Experimental::infinity_v<double>;
    found_numbers const none{0, Kokkos::Experimental::finite_max_v<std::int64_t>};
    s = {none, none, none, infinity, -infinity, 0};
  }
  KOKKOS_FUNCTION static void join(found_numbers& f, found_numbers const& other) {
    f.count += other.count;
    f.first = other.first < f.first ? other.first : f.first;
  }
  KOKKOS_FUNCTION void join(survey& s, survey const& other) const {
    join(s.not_finite, other.not_finite);
    join(s.below, other.below);
    join(s.above, other.above);
    s.least = other.least < s.least ? other.least : s.least;
    s.largest = other.largest > s.largest ? other.largest : s.largest;
    s.largest_size = other.largest_size > s.largest_size ? other.largest_size : s.largest_size;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, survey& s) const {
    if (weight != nullptr && backend::widen<double>(weight[i]) == 0) {
      return;
    }
    auto const value = backend::widen<double>(x[i]);
    if (!is_finite(value)) {
      join(s.not_finite, {1, i});
      return;
    }
    double const size = Kokkos::fabs(value);
    s.largest = value > s.largest ? value : s.largest;
    s.largest_size = size > s.largest_size ? size : s.largest_size;
    if (value < bounds.lower) {
      join(s.below, {1, i});
      return;
    }
    s.least = value < s.least ? value : s.least;
    if (value > bounds.upper) {
      join(s.above, {1, i});
    }
  }
};

/// Returns the survey of `count` numbers. Waits for `exec`.
///
/// Determinism: backend_to_backend.
template <execution_space Exec, class T>
survey survey_of(std::string const& label, Exec const& exec, T const* x, std::int64_t count,
                 survey_bounds const& bounds = {}, T const* weight = nullptr) {
  using range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  survey s{};
  Kokkos::parallel_reduce(label, range(exec, 0, count), survey_kernel<T>{x, bounds, weight}, s);
  exec.fence(label + ": the survey is here");
  return s;
}

}  // namespace iso::detail
