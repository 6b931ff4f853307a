// SPDX-License-Identifier: BSD-3-Clause
// The lane group's operations against serial loops that spell out what each lane does and in which
// order sums are taken, with the same bits demanded of every backend, number of threads, launch
// shape and host vector width.
#include "lane_group_kernels.hpp"
#include "lane_group_support.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/core/numerics.hpp>

#include <doctest/doctest.h>

#include <array>
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
using lane_group_support::entries;
using lane_group_support::everywhere;
using lane_group_support::on;
using lane_group_support::tree;

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

template <class T>
T serial_row(std::vector<T> const& a, std::vector<T> const& b, std::int64_t begin,
             std::int64_t end) {
  std::array<T, lanes> sums{};
  for (std::int64_t i = begin; i < end; ++i) {
    auto& mine = sums[std::size_t((i - begin) % lanes)];
    mine = std::fma(a[std::size_t(i)], b[std::size_t(i)], mine);
  }
  return tree(sums);
}

/// All kernels over one fixed number of groups; the results of `kernel(exec)`, made for its memory.
template <class T, class Make>
void check_everywhere(std::vector<T> const& expected, std::int64_t count, Make const& make) {
  everywhere([&](auto const& exec, iso::launch_shape shape) {
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
    expected.push_back(serial_row(a, b, begin, end));
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

}  // namespace
