// SPDX-License-Identifier: BSD-3-Clause
// Random bits against the published known answers, counts against the distribution they claim, and
// the same counts on every backend.
#include "instances.hpp"

#include <iso/core/error.hpp>
#include <iso/synthetic/detector_readings.hpp>
#include <iso/synthetic/poisson_counts.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using namespace iso::synthetic;
using host = Kokkos::HostSpace;
namespace random_bits = iso::synthetic::detail;

template <class T, class Exec>
std::vector<T> drawn(Exec const& exec, std::vector<T> const& means, random_options const& options) {
  using space = typename Exec::memory_space;
  Kokkos::View<T*, space> const values("means", means.size());
  auto const mirror = Kokkos::create_mirror_view(values);
  std::copy(means.begin(), means.end(), mirror.data());
  Kokkos::deep_copy(exec, values, mirror);
  poisson_counts<Exec, T>(exec, values, values, options);
  exec.fence("test");
  Kokkos::deep_copy(mirror, values);
  return {mirror.data(), mirror.data() + mirror.size()};
}

/// Probabilities of counts 0, 1, ... by a recurrence from the likeliest, in long double.
std::vector<long double> distribution(long double mean, std::size_t count) {
  std::vector<long double> p(count, 0);
  auto const top = std::min(std::size_t(mean), count - 1);
  p[top] = std::exp(-mean + static_cast<long double>(top) * std::log(mean) -
                    std::lgamma(static_cast<long double>(top) + 1));
  for (std::size_t k = top; k > 0; --k) {
    p[k - 1] = p[k] * static_cast<long double>(k) / mean;
  }
  for (std::size_t k = top + 1; k < count; ++k) {
    p[k] = p[k - 1] * mean / static_cast<long double>(k);
  }
  return p;
}

}  // namespace

TEST_CASE("Philox 4x32-10 gives the known answers of its authors") {
  struct known {
    std::uint32_t counter[4];
    std::uint64_t key;
    std::uint32_t answer[4];
  };
  // File kat_vectors of Random123; the key's first word is the lower half.
  known const table[] = {{{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                         {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                          0xffffffffffffffff,
                          {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                         {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                          0x299f31d0a4093822,
                          {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (auto const& row : table) {
    auto const got = random_bits::philox(
        {{row.counter[0], row.counter[1], row.counter[2], row.counter[3]}}, row.key);
    for (int i = 0; i < 4; ++i) {
      CHECK(got.word[i] == row.answer[i]);
    }
  }
}

TEST_CASE("uniform numbers lie strictly between 0 and 1") {
  CHECK(random_bits::uniform_pair::number(0, 0) == 0x1p-53);
  CHECK(random_bits::uniform_pair::number(0xffffffff, 0xffffffff) == 1 - 0x1p-53);
}

TEST_CASE("the logarithm of a factorial") {
  for (double const k : {0., 1., 2., 9., 10., 11., 50., 1000., 123456., 1e9}) {
    CHECK(std::abs(random_bits::log_factorial(k) - std::lgamma(k + 1)) <=
          1e-12 + 4e-16 * std::lgamma(k + 1));
  }
}

TEST_CASE("counts follow Poisson's distribution: mean, variance and chi-square") {
  std::size_t const n = 400000;
  for (double const mean : {0.01, 0.7, 4.0, 9.99, 10.0, 10.5, 31.0, 250.0, 5000.0}) {
    CAPTURE(mean);
    auto const counts =
        drawn<double>(Kokkos::DefaultHostExecutionSpace(), std::vector<double>(n, mean), {17});
    double sum = 0;
    for (double const k : counts) {
      sum += k;
    }
    double const average = sum / double(n);
    double squares = 0;
    for (double const k : counts) {
      squares += (k - average) * (k - average);
    }
    double const variance = squares / double(n - 1);
    // Five standard deviations: of the mean, and of the variance (fourth moment m + 3 m^2).
    CHECK(std::abs(average - mean) <= 5 * std::sqrt(mean / double(n)));
    CHECK(std::abs(variance - mean) <= 5 * std::sqrt((mean + 2 * mean * mean) / double(n)));
    // Bins of at least 50 expected counts.
    auto const p = distribution(mean, std::size_t(mean + 12 * std::sqrt(mean) + 30));
    std::vector<double> seen(p.size(), 0);
    for (double const k : counts) {
      REQUIRE(k == std::floor(k));
      REQUIRE(k < double(p.size()));
      seen[std::size_t(k)] += 1;
    }
    double chi = 0;
    double bins = 0;
    double expected = 0;
    double got = 0;
    for (std::size_t k = 0; k < p.size(); ++k) {
      expected += double(p[k]) * double(n);
      got += seen[k];
      if (expected >= 50) {
        chi += (got - expected) * (got - expected) / expected;
        bins += 1;
        expected = got = 0;
      }
    }
    double const freedom = std::max(bins - 1, 1.0);
    // Five standard deviations of the chi-square distribution: 2 times the degrees of freedom.
    CHECK(chi <= freedom + 5 * std::sqrt(2 * freedom) + 10);
  }
}

TEST_CASE_TEMPLATE("the same counts on every backend, in parts, and in other streams others", T,
                   float, double) {
  std::vector<T> means;
  for (int i = 0; i < 5000; ++i) {
    means.push_back(T(std::exp2(double(i % 50) * 0.5 - 4)));
  }
  std::vector<T> first;
  iso::test::for_each_instance([&](auto const& exec) {
    auto const counts = drawn<T>(exec, means, {99, 1000, 3});
    if (first.empty()) {
      first = counts;
    }
    CHECK(iso::test::same_bits(counts, first));
    std::vector<T> const tail(means.begin() + 1234, means.end());
    CHECK(iso::test::same_bits(drawn<T>(exec, tail, {99, 2234, 3}),
                               std::vector<T>(first.begin() + 1234, first.end())));
  });
  for (random_options const other : {random_options{98, 1000, 3}, {99, 1001, 3}, {99, 1000, 2}}) {
    auto const counts = drawn<T>(Kokkos::Serial(), means, other);
    CHECK(counts != first);
  }
}

TEST_CASE("means that are none give the canonical NaN, and zero gives zero") {
  std::vector<double> const means = {-1, NAN, INFINITY, 0x1p31, 0, -0.0, 0x1p30};
  auto const counts = drawn<double>(Kokkos::Serial(), means, {});
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(Kokkos::bit_cast<std::uint64_t>(counts[i]) ==
          std::uint64_t(iso::float_bits<double>::canonical_nan));
  }
  CHECK(counts[4] == 0);
  CHECK(counts[5] == 0);
  CHECK(std::abs(counts[6] - 0x1p30) <= 6 * 0x1p15);
}

TEST_CASE("a detector reads what its figures say") {
  detector d;
  d.seed = 5;
  d.dead_share = 0.01;
  std::int64_t const nu = 100;
  std::int64_t const nv = 90;
  std::int64_t const views = 20;
  std::vector<float> first;
  for (double const integral : {0.0, 2.0}) {
    first.clear();
    iso::test::for_each_instance([&](auto const& exec) {
      using exec_type = std::decay_t<decltype(exec)>;
      auto const p =
          iso::make_projections<float, typename exec_type::memory_space>(exec, "p", views, nu, nv);
      Kokkos::deep_copy(exec, p.data, float(integral));
      detector_readings<exec_type, float>(exec, d, 7, p, p);
      exec.fence("test");
      auto const mirror = Kokkos::create_mirror_view_and_copy(host{}, p.data);
      std::vector<float> const got(mirror.data(), mirror.data() + mirror.size());
      if (first.empty()) {
        first = got;
      }
      CHECK(iso::test::same_bits(got, first));
    });
    std::int64_t dead = 0;
    double sum = 0;
    double noise = 0;
    double live = 0;
    for (std::int64_t pixel = 0; pixel < nu * nv; ++pixel) {
      double mean = 0;
      bool stuck = true;
      for (std::int64_t i = 0; i < views; ++i) {
        float const x = first[std::size_t(i * nu * nv + pixel)];
        REQUIRE(x == std::floor(x));
        mean += x / double(views);
        stuck = stuck && (x == 0 || x == 65535);
      }
      if (stuck) {
        ++dead;
        continue;
      }
      live += 1;
      sum += mean;
      for (std::int64_t i = 0; i < views; ++i) {
        noise += std::pow(first[std::size_t(i * nu * nv + pixel)] - mean, 2) / double(views - 1);
      }
    }
    CHECK(std::abs(double(dead) - 90) <= 5 * std::sqrt(90.0));
    double const counts = d.photons * std::exp(-integral) + d.dark_counts;
    CHECK(sum / live == doctest::Approx(d.dark_level + d.level * counts).epsilon(0.005));
    // Poisson's variance, times the level squared, and that of rounding.
    CHECK(noise / live == doctest::Approx(d.level * d.level * counts).epsilon(0.02));
  }
  d.gain_spread = 1;
  auto const p = iso::make_projections<float, host>("p", 1, 4, 4);
  CHECK_THROWS_WITH_AS((detector_readings<Kokkos::Serial, float>(Kokkos::Serial(), d, 0, p, p)),
                       doctest::Contains("gain spread is 1"), iso::invalid_argument);
}
