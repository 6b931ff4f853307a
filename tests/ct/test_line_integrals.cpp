// SPDX-License-Identifier: BSD-3-Clause
// Readings to line integrals, and dead pixels, against plain loops, with the same bits everywhere.
#include "instances.hpp"

#include <iso/core/numerics.hpp>
#include <iso/ct/dead_pixels.hpp>
#include <iso/ct/line_integrals.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using host = Kokkos::HostSpace;
using iso::test::refusal;

template <class T, class Exec>
iso::projection_view<T, typename Exec::memory_space> put(Exec const& exec,
                                                         std::vector<T> const& values,
                                                         std::int64_t n, std::int64_t u,
                                                         std::int64_t v) {
  auto const p = iso::make_projections<T, typename Exec::memory_space>(exec, "p", n, u, v);
  auto const mirror = Kokkos::create_mirror_view(p.data);
  std::copy(values.begin(), values.end(), mirror.data());
  Kokkos::deep_copy(exec, p.data, mirror);
  exec.fence("test");
  return p;
}

template <class Exec>
iso::ct::pixel_mask<typename Exec::memory_space> put_mask(Exec const& exec,
                                                          std::vector<std::uint8_t> const& values,
                                                          std::int64_t u, std::int64_t v) {
  iso::ct::pixel_mask<typename Exec::memory_space> const mask("mask", u, v);
  auto const mirror = Kokkos::create_mirror_view(mask);
  std::copy(values.begin(), values.end(), mirror.data());
  Kokkos::deep_copy(exec, mask, mirror);
  exec.fence("test");
  return mask;
}

template <class Exec, class View>
auto get(Exec const& exec, View const& view) {
  exec.fence("test");
  auto const mirror = Kokkos::create_mirror_view_and_copy(host{}, view);
  return std::vector<typename View::non_const_value_type>(mirror.data(),
                                                          mirror.data() + mirror.size());
}

template <class T>
std::vector<T> random(std::size_t n, double low, double high, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<T> values(n);
  for (T& x : values) {
    x = T(low + (high - low) * (double(engine() >> 11) * 0x1p-53));
  }
  return values;
}

template <class T>
bool is_canonical(T x) {
  return Kokkos::bit_cast<iso::bits_of<T>>(x) == iso::bits_of<T>(iso::float_bits<T>::canonical_nan);
}

}  // namespace

TEST_CASE_TEMPLATE("readings become line integrals", T, float, double) {
  std::int64_t const views = 5;
  std::int64_t const nu = 37;
  std::int64_t const nv = 41;
  auto const size = std::size_t(nu * nv);
  auto dark = random<T>(size, 90, 110, 1);
  auto flat = random<T>(size, 30000, 50000, 2);
  auto readings = random<T>(std::size_t(views) * size, 100, 52000, 3);
  flat[7] = dark[7];               // no response
  flat[8] = dark[8] - T(1);        // less than none
  readings[size + 9] = dark[9];    // no photon
  readings[2 * size + 9] = T(-5);  // less than none
  readings[3 * size + 10] = std::numeric_limits<T>::quiet_NaN();
  readings[4 * size + 11] = flat[11];
  std::vector<T> first;
  iso::test::for_each_instance([&](auto const& exec) {
    using exec_type = std::decay_t<decltype(exec)>;
    auto const p = put<T>(exec, readings, views, nu, nv);
    iso::ct::line_integrals<exec_type, T>(exec, p, put<T>(exec, dark, 1, nu, nv),
                                          put<T>(exec, flat, 1, nu, nv));
    auto const result = get(exec, p.data);
    if (first.empty()) {
      first = result;
    }
    CHECK(iso::test::same_bits(result, first));
  });
  double const eps = std::numeric_limits<T>::epsilon();
  double const most = -std::log(0x1p-14);
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::size_t const pixel = i % size;
    if (pixel == 7 || pixel == 8 || i == 3 * size + 10) {
      CHECK(is_canonical(first[i]));
      continue;
    }
    double const t =
        (double(readings[i]) - double(dark[pixel])) / (double(flat[pixel]) - double(dark[pixel]));
    double const exact = -std::log(std::max(t, 0x1p-14));
    // Two roundings of the quotient's parts against the smallest difference of readings, and log's.
    double const part = double(readings[i]) / std::max(readings[i] - double(dark[pixel]), 1.0);
    CHECK(std::abs(double(first[i]) - exact) <= eps * (4 + part + exact));
  }
  CHECK(double(first[size + 9]) == doctest::Approx(most));
  CHECK(double(first[2 * size + 9]) == doctest::Approx(most));
  CHECK(first[4 * size + 11] == T(0));
  CHECK(!std::signbit(first[4 * size + 11]));
}

TEST_CASE_TEMPLATE("the mean of several images, with weights and without", T, float, double) {
  std::int64_t const nu = 6;
  std::int64_t const nv = 35;
  auto const size = std::size_t(nu * nv);
  auto values = random<T>(4 * size, 0, 65535, 5);
  values[2 * size + 3] = std::numeric_limits<T>::infinity();
  iso::backend::for_each([&](auto tag) {
    using exec_type = typename decltype(tag)::execution_space;
    using space = typename exec_type::memory_space;
    exec_type const exec;
    auto const images = put<T>(exec, values, 4, nu, nv);
    auto const mean = iso::make_projections<T, space>(exec, "mean", 1, nu, nv);
    Kokkos::View<double*, space> const weights("weights", 4);
    auto const on_host = Kokkos::create_mirror_view(weights);
    double const w[4] = {1, 2, 0, 0.5};
    std::copy_n(w, 4, on_host.data());
    Kokkos::deep_copy(weights, on_host);
    iso::ct::mean_of_views<exec_type, T>(exec, images, weights, mean);
    auto const weighted = get(exec, mean.data);
    iso::ct::mean_of_views<exec_type, T>(exec, images, {}, mean);
    auto const plain = get(exec, mean.data);
    for (std::size_t i = 0; i < size; ++i) {
      double sum = 0;
      double all = 0;
      for (std::size_t n = 0; n < 4; ++n) {
        sum = w[n] == 0 ? sum : std::fma(w[n], double(values[n * size + i]), sum);
        all += double(values[n * size + i]);
      }
      CHECK(weighted[i] == T(sum / 3.5));
      CHECK(plain[i] == T(all / 4));
    }
    // An image of weight 0 is left out, though it is infinite.
    CHECK(std::isfinite(weighted[3]));
    CHECK(std::isinf(plain[3]));
  });
}

TEST_CASE_TEMPLATE("dead pixels are found and take the mean of the nearest others", T, float,
                   double) {
  std::int64_t const nu = 30;
  std::int64_t const nv = 34;
  auto const size = std::size_t(nu * nv);
  auto const at = [&](std::int64_t u, std::int64_t v) { return std::size_t(u * nv + v); };
  // A response that falls off smoothly, of 10 % spread.
  std::vector<T> const dark(size, T(100));
  auto flat = random<T>(size, 0.95, 1.05, 9);
  for (std::int64_t u = 0; u < nu; ++u) {
    for (std::int64_t v = 0; v < nv; ++v) {
      flat[at(u, v)] = T(100) + T(20000) * flat[at(u, v)] * T(1 - 0.02 * double(u));
    }
  }
  std::vector<std::uint8_t> expected(size, 0);
  auto const kill = [&](std::int64_t u, std::int64_t v, T reading) {
    flat[at(u, v)] = reading;
    expected[at(u, v)] = 1;
  };
  kill(0, 0, T(100));      // reads what it reads without beam, in a corner
  kill(10, 10, T(65535));  // hot
  kill(10, 11, T(65535));
  kill(15, 33, T(50));                                          // below its dark reading
  kill(20, 5, std::numeric_limits<T>::quiet_NaN());             // no number
  kill(25, 20, T(100) + T(0.4) * (flat[at(25, 20)] - T(100)));  // 40 % of the others' response
  iso::test::for_each_instance([&](auto const& exec) {
    using exec_type = std::decay_t<decltype(exec)>;
    iso::ct::pixel_mask<typename exec_type::memory_space> const mask("mask", nu, nv);
    iso::ct::find_dead_pixels<exec_type, T>(exec, put<T>(exec, dark, 1, nu, nv),
                                            put<T>(exec, flat, 1, nu, nv), mask);
    CHECK(get(exec, mask) == expected);

    auto values = random<T>(2 * size, 0, 4, 11);
    auto const clean = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (expected[i % size] != 0) {
        values[i] = std::numeric_limits<T>::quiet_NaN();
      }
    }
    auto const p = put<T>(exec, values, 2, nu, nv);
    iso::ct::replace_dead_pixels<exec_type, T>(exec, p, mask);
    auto const result = get(exec, p.data);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (expected[i % size] == 0) {
        CHECK(result[i] == clean[i]);
      }
    }
    // Corner: three neighbours. Two side by side: seven each. Elsewhere eight.
    auto const mean = [&](std::size_t view, std::vector<std::pair<int, int>> const& around) {
      T sum = 0;
      for (auto const& [u, v] : around) {
        sum += clean[view * size + at(u, v)];
      }
      return sum / T(around.size());
    };
    for (std::size_t const view : {0, 1}) {
      CHECK(result[view * size] == mean(view, {{0, 1}, {1, 0}, {1, 1}}));
      CHECK(result[view * size + at(10, 10)] ==
            mean(view, {{9, 9}, {9, 10}, {9, 11}, {10, 9}, {11, 9}, {11, 10}, {11, 11}}));
      CHECK(result[view * size + at(20, 5)] ==
            mean(view, {{19, 4}, {19, 5}, {19, 6}, {20, 4}, {20, 6}, {21, 4}, {21, 5}, {21, 6}}));
    }
  });
}

TEST_CASE("a block of dead pixels is filled from its border, and nothing from nothing") {
  std::int64_t const n = 9;
  std::vector<std::uint8_t> dead(81, 0);
  for (int u = 3; u <= 5; ++u) {
    for (int v = 3; v <= 5; ++v) {
      dead[std::size_t(u * 9 + v)] = 1;
    }
  }
  std::vector<float> values(81);
  for (std::size_t i = 0; i < 81; ++i) {
    values[i] = float(i);
  }
  iso::backend::for_each([&](auto tag) {
    using exec_type = typename decltype(tag)::execution_space;
    exec_type const exec;
    auto const p = put<float>(exec, values, 1, n, n);
    iso::ct::replace_dead_pixels<exec_type, float>(exec, p, put_mask(exec, dead, n, n));
    // Values are linear: the mean of a ring about the middle is the middle.
    CHECK(get(exec, p.data)[40] == 40);
    iso::ct::replace_dead_pixels<exec_type, float>(
        exec, p, put_mask(exec, std::vector<std::uint8_t>(81, 1), n, n));
    auto const all_dead = get(exec, p.data);
    CHECK(std::all_of(all_dead.begin(), all_dead.end(), is_canonical<float>));
  });
}

TEST_CASE("shapes and options that make no sense are refused, with both shapes") {
  using exec_type = Kokkos::Serial;
  exec_type const exec;
  auto const p = iso::make_projections<float, host>("p", 3, 20, 21);
  auto const image = iso::make_projections<float, host>("image", 1, 20, 21);
  auto const other = iso::make_projections<float, host>("other", 1, 21, 20);
  CHECK(refusal([&] {
          iso::ct::line_integrals<exec_type, float>(exec, p, other, image);
        }).find("iso::ct::line_integrals: dark of [1, 21, 20]") == 0);
  CHECK(refusal([&] {
          iso::ct::line_integrals<exec_type, float>(exec, p, image, p);
        }).find("iso::ct::line_integrals: flat of [3, 20, 21]") == 0);
  CHECK(refusal([&] {
          iso::ct::line_integrals<exec_type, float>(exec, p, image, image, {0});
        }).find("least transmission 0") != std::string::npos);
  CHECK(refusal([&] { iso::ct::line_integrals<exec_type, float>(exec, image, image, other); }) !=
        "");
  CHECK(refusal([&] { iso::ct::mean_of_views<exec_type, float>(exec, p, {}, other); }) != "");
  iso::ct::pixel_mask<host> const mask("mask", 20, 21);
  iso::ct::pixel_mask<host> const wrong("mask", 21, 20);
  CHECK(refusal([&] {
          iso::ct::replace_dead_pixels<exec_type, float>(exec, p, wrong);
        }).find("dead of [21, 20]") != std::string::npos);
  CHECK(refusal([&] {
          iso::ct::find_dead_pixels<exec_type, float>(exec, image, image, mask, {0, 0.5});
        }).find("radius 0") != std::string::npos);
  CHECK(refusal([&] {
          iso::ct::find_dead_pixels<exec_type, float>(exec, image, image, mask, {2, 1});
        }).find("tolerance 1") != std::string::npos);
}
