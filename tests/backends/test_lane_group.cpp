// SPDX-License-Identifier: BSD-3-Clause
// The lane group's operations against serial loops that spell out what each lane does and in which
// order sums are taken, with the same bits demanded of every backend, number of threads, launch
// shape and host vector width.
#include "lane_group_kernels.hpp"
#include "lane_group_support.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/core/numerics.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace lane_group_kernels;

using iso::backend::lanes;
using iso::test::same_bits;
using lane_group_support::back;
using lane_group_support::everywhere;
using lane_group_support::on;

// 64 lengths about every multiple of 32 that matters, then a thousand that a sparse matrix has.
std::vector<std::int64_t> row_begins() {
  std::vector<std::int64_t> begins = {0};
  std::mt19937_64 random(1);
  for (std::int64_t row = 0; row < 1064; ++row) {
    auto const drawn = std::int64_t(64 + random() % 437);
    begins.push_back(begins.back() + (row < 64 ? row + (row > 32 ? 32 : 0) : drawn));
  }
  return begins;
}

// Magnitudes over 12 decades and both signs: another order of the sum gives other bits.
template <class T>
std::vector<T> entries(std::int64_t count) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponent(-6, 6);
  std::vector<T> all;
  for (std::int64_t i = 0; i < count; ++i) {
    auto const size = std::pow(10.0, exponent(random));
    all.push_back(T((random() & 1U) != 0 ? size : -size));
  }
  return all;
}

template <class T>
struct serial {
  static T tree(std::array<T, lanes> x) {
    for (std::size_t const offset : {16, 8, 4, 2, 1}) {
      for (std::size_t lane = 0; lane < offset; ++lane) {
        x[lane] = x[lane] + x[lane + offset];
      }
    }
    return x[0];
  }

  static T row(std::vector<T> const& a, std::vector<T> const& b, std::int64_t begin,
               std::int64_t end) {
    std::array<T, lanes> sums{};
    for (std::int64_t i = begin; i < end; ++i) {
      auto& mine = sums[std::size_t((i - begin) % lanes)];
      mine = std::fma(a[std::size_t(i)], b[std::size_t(i)], mine);
    }
    return tree(sums);
  }
};

/// All kernels over one fixed number of groups; the results of `kernel(exec)`, made for its memory.
template <class T, class Make>
void check_everywhere(std::vector<T> const& expected, std::int64_t count, Make const& make) {
  everywhere([&](auto const& exec, iso::backend::launch_shape shape) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    Kokkos::View<T*, space> out("out", expected.size());
    Kokkos::deep_copy(out, T(-77));
    make(exec, out, [&](auto const& kernel) {
      iso::backend::for_each_lane_group("test", exec, count, kernel, shape);
    });
    exec.fence();
    CHECK(same_bits(back(out), expected));
  });
  int const widest = iso::backend::host_vector_bytes();
  for (int const vector_bytes : {0, 32, 64}) {
    if (vector_bytes > widest) {
      continue;
    }
    CAPTURE(vector_bytes);
    iso::backend::set_host_vector_bytes(vector_bytes);
    Kokkos::Serial const exec;
    Kokkos::View<T*, Kokkos::HostSpace> out("out", expected.size());
    make(exec, out, [&](auto const& kernel) {
      iso::backend::for_each_lane_group("test", exec, count, kernel);
    });
    CHECK(same_bits(back(out), expected));
  }
  iso::backend::set_host_vector_bytes(widest);
}

template <class T>
void row_sums() {
  auto const begins = row_begins();
  auto const rows = std::int64_t(begins.size()) - 1;
  auto const a = entries<T>(begins.back());
  auto const b = entries<T>(begins.back());
  std::vector<T> expected;
  std::int64_t other_order = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    auto const begin = begins[std::size_t(row)];
    auto const end = begins[std::size_t(row) + 1];
    expected.push_back(serial<T>::row(a, b, begin, end));
    T running = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      running = std::fma(a[std::size_t(i)], b[std::size_t(i)], running);
    }
    other_order += running != expected.back() ? 1 : 0;
  }
  CHECK(other_order > rows / 2);  // else the data could not tell one order from another
  check_everywhere(expected, rows, [&](auto const& exec, auto const& out, auto const& run) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto const begin = on<space>(begins);
    auto const left = on<space>(a);
    auto const right = on<space>(b);
    run(row_sum<T>{begin.data(), left.data(), right.data(), out.data()});
    exec.fence();
  });
}

TEST_CASE("lane group: a row reduction has one order everywhere") {
  SUBCASE("float") { row_sums<float>(); }
  SUBCASE("double") { row_sums<double>(); }
}

TEST_CASE("lane group: strided gives lane l the indices begin + l, begin + l + 32, ...") {
  for (std::int64_t const length : {1, 31, 32, 33, 64, 100}) {
    CAPTURE(length);
    std::int64_t const groups = 130;
    std::vector<double> expected;
    for (std::int64_t i = 0; i < groups * length; ++i) {
      expected.push_back(double(i % length));  // lane + 32 visits, counted from begin
    }
    check_everywhere(expected, groups, [&](auto const&, auto const& out, auto const& run) {
      run(strided_kernel{length, out.data()});
    });
  }
}

TEST_CASE("lane group: any is true for all lanes where one lane's value is") {
  std::vector<double> expected;
  for (int index = 0; index < 34; ++index) {
    expected.insert(expected.end(), std::size_t(lanes), index == 32 ? 0 : 1);
  }
  check_everywhere(expected, 34, [](auto const&, auto const& out, auto const& run) {
    run(any_kernel{out.data()});
  });
}

TEST_CASE("lane group: lanes read what others wrote to the array they share") {
  std::vector<float> expected;
  for (int index = 0; index < 300; ++index) {
    for (int lane = 0; lane < lanes; ++lane) {
      int const seen = 3 * (index + 31 - lane) + 300;
      expected.push_back(float(seen + (seen & 1) - index));
    }
  }
  check_everywhere(expected, 300, [](auto const&, auto const& out, auto const& run) {
    run(shared_kernel{out.data()});
  });
}

template <int Count, class T>
void check_sums() {
  constexpr std::int64_t groups = 40;
  auto const values = entries<T>(groups * Count * lanes);
  std::vector<T> expected;
  std::vector<bool> expected_above;
  for (std::int64_t g = 0; g < groups; ++g) {
    bool above = false;
    for (std::int64_t n = 0; n < Count; ++n) {
      std::array<T, lanes> x;
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        T const number = values[std::size_t((g * lanes + lane) * Count + n)];
        x[std::size_t(lane)] = number + number;
      }
      expected.push_back(serial<T>::tree(x));
      above = above || expected.back() > T(1e5);
    }
    expected_above.push_back(above);
  }
  everywhere([&](auto const& exec, iso::backend::launch_shape shape) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto const in = on<space>(values);
    Kokkos::View<T*, space> const out("out", std::size_t(groups * Count));
    Kokkos::View<bool*, space> const above("above", std::size_t(groups));
    iso::backend::for_each_lane_group(
        "test", exec, groups,
        sums_kernel<Count, T>{reinterpret_cast<iso::backend::pack<T, Count> const*>(in.data()),
                              out.data(), above.data()},
        shape);
    exec.fence();
    CHECK(same_bits(back(out), expected));
    auto const seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), above);
    for (std::size_t g = 0; g < groups; ++g) {
      CHECK(seen(g) == expected_above[g]);
    }
  });
}

TEST_CASE("a table holds the entries that lanes keep, in order") {
  constexpr std::int64_t groups = 77;
  everywhere([&](auto const& exec, iso::backend::launch_shape shape) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    for (std::int32_t const count : {0, 1, 2, 16, 31, 32}) {
      CAPTURE(count);
      auto const squares = on<space>(std::vector<std::int32_t>(groups * 64));
      auto const kept = on<space>(std::vector<std::int32_t>(groups * 2));
      auto const left = on<space>(std::vector<std::uint32_t>(groups * 2));
      iso::backend::for_each_lane_group(
          "test: table", exec, groups,
          tabled_squares{count, squares.data(), kept.data(), left.data()}, shape);
      exec.fence("test");
      std::vector<std::int32_t> expected_squares;
      std::vector<std::int32_t> expected_kept;
      std::vector<std::uint32_t> expected_left;
      for (std::int32_t row = 0; row < 2 * groups; ++row) {
        std::vector<std::int32_t> numbers;
        std::uint32_t bits = 0;
        for (std::int32_t n = 0; n < count; ++n) {
          if ((n + row % 2) % 3 == 0) {
            numbers.push_back(n);
          } else {
            bits |= 1U << unsigned(n);
          }
        }
        expected_kept.push_back(std::int32_t(numbers.size()));
        expected_left.push_back(bits);
        for (std::size_t lane = 0; lane < 32; ++lane) {
          expected_squares.push_back(lane < numbers.size() ? numbers[lane] * numbers[lane] +
                                                                 row / 2 + 1000 * numbers.back()
                                                           : -1);
        }
      }
      CHECK(back(kept) == expected_kept);
      CHECK(back(left) == expected_left);
      CHECK(back(squares) == expected_squares);
    }
  });
}

}  // namespace

// Outside: nvcc mistakes one unnamed namespace for another where a template test lies within.
TEST_CASE_TEMPLATE("lane group: several sums at once have the order of one", T, float, double) {
  check_sums<1, T>();
  check_sums<2, T>();
  check_sums<4, T>();
  check_sums<8, T>();
  check_sums<16, T>();
  check_sums<32, T>();
}
