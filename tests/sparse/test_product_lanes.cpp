// SPDX-License-Identifier: BSD-3-Clause
// What products do with a part's lanes, in the registers of every instruction set, against the
// definition written out lane by lane, and their sums on every backend.
#include "lane_group_support.hpp"
#include "product_lanes_kernels.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/core/half.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace product_lanes_kernels;

namespace backend = iso::backend;
using backend::lanes;
using backend::pack;
using iso::test::same_bits;
using lane_group_support::back;
using lane_group_support::entries;
using lane_group_support::everywhere;
using lane_group_support::on;
using lane_group_support::tree;

/// The same, lane by lane.
template <class T, class Stored, int R, int K>
std::vector<T> defined(add_products<T, Stored, R, K> const& p) {
  std::vector<T> found;
  for (int n = 0; n < R * K; ++n) {
    std::array<T, 32> sum;
    sum.fill(p.origins[n]);
    for (int j = 0; j < 32 * p.steps + p.left; ++j) {
      T const at = p.x[p.from + p.columns[j]][n % K];
      sum[std::size_t(j % 32)] = std::fma(T(p.values[j][n / K]), at, sum[std::size_t(j % 32)]);
    }
    for (T& s : sum) {
      s -= T(1);
    }
    found.push_back(tree(sum));
  }
  return found;
}

constexpr int columns_in_all = 65536;

/// Columns in runs with gaps, at both ends of the range and in no order.
std::vector<std::uint16_t> drawn_columns(std::mt19937& random, int count, int longest_run) {
  std::vector<std::uint16_t> columns;
  while (int(columns.size()) < count) {
    int const run = 1 + int(random() % unsigned(longest_run));
    int const first = random() % 3 == 0   ? 0
                      : random() % 2 == 0 ? columns_in_all - run
                                          : int(random() % 60000);
    for (int i = 0; i < run && int(columns.size()) < count; ++i) {
      columns.push_back(std::uint16_t(first + i));
    }
  }
  return columns;
}

template <class T, class Stored, int R, int K>
void check(int steps, int left, int longest_run) {
  CAPTURE(steps);
  CAPTURE(left);
  CAPTURE(longest_run);
  CAPTURE(R);
  CAPTURE(K);
  std::mt19937 random(unsigned(steps + 100 * left + longest_run));
  auto const drawn = drawn_columns(random, 32 * steps + left, longest_run);
  // Nothing beyond the last entry may be read: there stand columns and values that would be seen.
  auto columns = drawn;
  columns.resize(drawn.size() + 32, 12345);
  std::vector<pack<Stored, R>> values(columns.size());
  for (std::size_t j = 0; j < values.size(); ++j) {
    for (int r = 0; r < R; ++r) {
      values[j][r] = Stored(j < drawn.size() ? float(int(random() % 2000) - 1000) / 256.0F
                                             : std::numeric_limits<float>::quiet_NaN());
    }
  }
  static std::vector<pack<T, K>> x(columns_in_all + 3);
  for (auto& at : x) {
    for (int k = 0; k < K; ++k) {
      at[k] = T(double(random()) * 0x1p-31 - 1);
    }
  }
  std::array<T, R * K> origins;
  for (std::size_t n = 0; n < origins.size(); ++n) {
    origins[n] = T(n % 5) * T(0.75);
  }
  std::vector<T> found(R * K);
  add_products<T, Stored, R, K> const products{
      3, columns.data(), values.data(), x.data(), origins.data(), steps, left, found.data()};
  auto const expected = defined(products);
  auto const require_all = [&] {
    REQUIRE(same_bits(found, expected));
    std::fill(found.begin(), found.end(), T(-7));
  };
  int const most = backend::host_vector_bytes();
  for (int const bytes : {64, 32}) {
    CAPTURE(bytes);
    backend::detail::host_kernel<add_products<T, Stored, R, K>>(products, std::min(bytes, most))(0);
    require_all();
  }
  backend::detail::portable_body<add_products<T, Stored, R, K>>{products}(0);
  require_all();
}

template <class T, class Stored, int R, int K>
void check_lengths() {
  for (int const longest_run : {1, 5, 100}) {
    for (int left = 0; left < 32; ++left) {
      check<T, Stored, R, K>(0, left, longest_run);
      check<T, Stored, R, K>(2, left, longest_run);
    }
    check<T, Stored, R, K>(5, 0, longest_run);
  }
}

template <class T, class Stored, int R>
void check_vectors() {
  check_lengths<T, Stored, R, 1>();
  check_lengths<T, Stored, R, 2>();
  check_lengths<T, Stored, R, 4>();
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
      expected.push_back(tree(x));
      above = above || expected.back() > T(1e5);
    }
    expected_above.push_back(above);
  }
  everywhere([&](auto const& exec, iso::launch_shape shape) {
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

}  // namespace

// Outside: nvcc mistakes one unnamed namespace for another where a template test lies within.
TEST_CASE_TEMPLATE("product lanes: several sums at once have the order of one", T, float, double) {
  check_sums<1, T>();
  check_sums<2, T>();
  check_sums<4, T>();
  check_sums<8, T>();
  check_sums<16, T>();
  check_sums<32, T>();
}

TEST_CASE_TEMPLATE("product lanes: the bits of the definition for doubles", Stored, iso::half,
                   iso::bfloat16, float, double) {
  check_vectors<double, Stored, 1>();
}

TEST_CASE_TEMPLATE("product lanes: the bits of the definition for floats", Stored, iso::half,
                   iso::bfloat16, float) {
  check_vectors<float, Stored, 1>();
}

TEST_CASE_TEMPLATE("product lanes: several rows side by side", Stored, iso::half, iso::bfloat16) {
  check_vectors<double, Stored, 4>();
  check_vectors<double, Stored, 8>();
  check_vectors<float, Stored, 8>();
}
