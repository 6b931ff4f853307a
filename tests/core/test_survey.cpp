// SPDX-License-Identifier: BSD-3-Clause
//! The survey of an array: what a loop over its numbers finds, on every backend.
#include <iso/backend/registry.hpp>
#include <iso/core/half.hpp>
#include <iso/detail/survey.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using iso::detail::survey;
using iso::detail::survey_bounds;

/// What a survey of the numbers is, one after the other.
survey by_hand(std::vector<double> const& x, survey_bounds const& bounds,
               std::vector<double> const& weight) {
  double const infinity = std::numeric_limits<double>::infinity();
  std::int64_t const none = std::numeric_limits<std::int64_t>::max();
  survey s{{0, none}, {0, none}, {0, none}, infinity, -infinity, 0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!weight.empty() && weight[i] == 0) {
      continue;
    }
    auto const found = [&](iso::detail::found_numbers& f) {
      f.first = f.count == 0 ? std::int64_t(i) : f.first;
      ++f.count;
    };
    if (!std::isfinite(x[i])) {
      found(s.not_finite);
      continue;
    }
    s.largest = std::max(s.largest, x[i]);
    s.largest_size = std::max(s.largest_size, std::fabs(x[i]));
    if (x[i] < bounds.lower) {
      found(s.below);
    } else {
      s.least = std::min(s.least, x[i]);
    }
    if (x[i] > bounds.upper) {
      found(s.above);
    }
  }
  return s;
}

template <class T>
void check_survey(std::vector<T> const& x, survey_bounds const& bounds,
                  std::vector<T> const& weight = {}) {
  std::vector<double> wide;
  std::vector<double> wide_weight;
  for (T const& v : x) {
    wide.push_back(double(v));
  }
  for (T const& v : weight) {
    wide_weight.push_back(double(v));
  }
  survey const expected = by_hand(wide, bounds, wide_weight);
  iso::backend::for_each([&](auto tag) {
    INFO("backend " << std::string(tag.name));
    typename decltype(tag)::execution_space const exec;
    using space = typename decltype(tag)::execution_space::memory_space;
    using host_array = Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    auto const on = [&](std::vector<T> const& values) {
      return Kokkos::create_mirror_view_and_copy(space(), host_array(values.data(), values.size()));
    };
    auto const data = on(x);
    auto const weights = on(weight);
    survey const s = iso::detail::survey_of(
        "test", exec, static_cast<T const*>(data.data()), std::int64_t(x.size()), bounds,
        weight.empty() ? nullptr : static_cast<T const*>(weights.data()));
    auto const same = [](iso::detail::found_numbers const& a, iso::detail::found_numbers const& b) {
      CHECK(a.count == b.count);
      CHECK(a.first == b.first);
    };
    same(s.not_finite, expected.not_finite);
    same(s.below, expected.below);
    same(s.above, expected.above);
    CHECK(s.least == expected.least);
    CHECK(s.largest == expected.largest);
    CHECK(s.largest_size == expected.largest_size);
  });
}

template <class T>
std::vector<T> numbers(std::size_t count) {
  std::vector<T> x(count);
  std::uint32_t state = 7;
  for (auto& v : x) {
    state = state * 1664525U + 1013904223U;
    v = T(float(std::int32_t(state >> 16) - 32768) / 256.0F);
  }
  return x;
}

}  // namespace

TEST_CASE_TEMPLATE("a survey finds what a loop does", T, float, double, iso::half) {
  double const infinity = std::numeric_limits<double>::infinity();
  for (std::size_t const count : {std::size_t(1), std::size_t(1000), std::size_t(70'001)}) {
    auto x = numbers<T>(count);
    check_survey<T>(x, {});
    check_survey<T>(x, {-3, 100});
    check_survey<T>(x, {infinity, infinity});
    std::vector<T> weight(count, T(1.0F));
    for (std::size_t i = 0; i < count; i += 3) {
      weight[i] = T(0.0F);
    }
    check_survey<T>(x, {0, 5}, weight);
    if (count > 10) {
      x[count / 2] = T(std::numeric_limits<float>::quiet_NaN());
      x[count - 1] = T(float(infinity));
      x[7] = T(-float(infinity));
      check_survey<T>(x, {0, 25});
      check_survey<T>(x, {0, 25}, weight);
    }
  }
}

TEST_CASE("a survey of no numbers finds none") { check_survey<double>({}, {0, 1}); }
