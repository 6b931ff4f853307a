// SPDX-License-Identifier: BSD-3-Clause
// Sums of terms that come in pieces have the bits of the sum of all.
#include "instances.hpp"

#include <iso/core/sum_of.hpp>

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using iso::partial_sum;
using iso::term_bounds;
using iso::test::refusal;

/// The terms from `first` on.
struct terms_from {
  double const* x;
  std::int64_t first;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const { return x[first + i]; }
};

/// The sum of pieces in any order, half of them added by way of another sum.
template <class Exec>
double in_pieces(Exec const& exec, std::mt19937_64& random, double const* x, std::int64_t count) {
  std::vector<std::int64_t> ends = {0};
  while (ends.back() < count) {
    ends.push_back(std::min(count, ends.back() + 1 + std::int64_t(random() % 900)));
  }
  std::vector<std::size_t> order(ends.size() - 1);
  term_bounds all;
  for (std::size_t n = 0; n < order.size(); ++n) {
    order[n] = n;
    all = all.joined(iso::bounds_of_terms(exec, ends[n + 1] - ends[n], terms_from{x, ends[n]}));
  }
  std::shuffle(order.begin(), order.end(), random);
  partial_sum sum(all);
  partial_sum other(all);
  for (std::size_t const n : order) {
    (n % 2 == 0 ? sum : other).add(exec, ends[n + 1] - ends[n], terms_from{x, ends[n]});
  }
  sum.add(other);
  return sum.value();
}

}  // namespace

TEST_CASE("sum_of: pieces in any order and number have the bits of the whole") {
  std::mt19937_64 random(7);
  for (double const spread : {0.0, 30.0, 300.0}) {
    std::vector<double> numbers(3000);
    for (double& x : numbers) {
      double const size = std::exp2(spread * (double(random() % 1000) / 1000 - 1));
      x = (random() % 2 == 0 ? 1 : -1) * size * double(random() % 4096) / 4095;
    }
    double const whole = iso::sum_of(Kokkos::Serial(), 3000, terms_from{numbers.data(), 0});
    iso::test::for_each_instance([&](auto const& exec) {
      using space = typename std::decay_t<decltype(exec)>::memory_space;
      Kokkos::View<double*, space> const x("x", numbers.size());
      Kokkos::deep_copy(exec, x,
                        Kokkos::View<double const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                            numbers.data(), numbers.size()));
      exec.fence();
      CHECK(iso::sum_of(exec, 3000, terms_from{x.data(), 0}) == whole);
      CHECK(in_pieces(exec, random, x.data(), 3000) == whole);
    });
  }
}

TEST_CASE("sum_of: pieces that are not finite, zero or empty") {
  Kokkos::Serial const exec;
  std::mt19937_64 random(1);
  std::vector<double> numbers(2000, 0.0);
  CHECK(in_pieces(exec, random, numbers.data(), 2000) == 0);
  CHECK(in_pieces(exec, random, numbers.data(), 0) == 0);
  numbers[1999] = 3;
  CHECK(in_pieces(exec, random, numbers.data(), 2000) == 3);
  for (double const bad :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    numbers[5] = bad;
    CHECK(std::isnan(in_pieces(exec, random, numbers.data(), 2000)));
  }
}

TEST_CASE("sum_of: pieces that are missing, added twice or of other bounds are refused") {
  Kokkos::Serial const exec;
  std::vector<double> const numbers(8, 1.0);
  terms_from const term{numbers.data(), 0};
  partial_sum sum({1, 8});
  sum.add(exec, 5, term);
  CHECK(refusal([&] { static_cast<void>(sum.value()); }) ==
        "iso::partial_sum::value: 5 of 8 terms were added (a sum needs all); add every piece");
  CHECK(refusal([&] { sum.add(exec, 4, term); }) ==
        "iso::partial_sum::add: 4 terms after 5 (the bounds are of 8); add each piece once");
  CHECK(refusal([&] { sum.add(partial_sum(sum)); }).find("5 terms after 5") != std::string::npos);
  CHECK(refusal([&] { sum.add(partial_sum({2, 8})); }) ==
        "iso::partial_sum::add: a sum of 8 terms up to 2 to one of 8 up to 1 (their words count in "
        "other units); make both with the bounds of all terms");
}
