// SPDX-License-Identifier: BSD-3-Clause
// What products do with a part's lanes, in the registers of every instruction set, against the
// definition written out lane by lane.
#include <iso/backend/lane_group.hpp>
#include <iso/core/half.hpp>
#include "lane_products_kernels.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using namespace lane_product_kernels;

namespace backend = iso::backend;
using backend::pack;

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
    for (std::size_t half = 16; half > 0; half /= 2) {
      for (std::size_t lane = 0; lane < half; ++lane) {
        sum[lane] += sum[lane + half];
      }
    }
    found.push_back(sum[0]);
  }
  return found;
}

template <class T>
using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
bool same(std::vector<T> const& a, std::vector<T> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](T x, T y) {
    return std::bit_cast<bits<T>>(x) == std::bit_cast<bits<T>>(y);
  });
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
    REQUIRE(same(found, expected));
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

}  // namespace

TEST_CASE_TEMPLATE("lane products: the bits of the definition for doubles", Stored, iso::half,
                   iso::bfloat16, float, double) {
  check_vectors<double, Stored, 1>();
}

TEST_CASE_TEMPLATE("lane products: the bits of the definition for floats", Stored, iso::half,
                   iso::bfloat16, float) {
  check_vectors<float, Stored, 1>();
}

TEST_CASE_TEMPLATE("lane products: several rows side by side", Stored, iso::half, iso::bfloat16) {
  check_vectors<double, Stored, 4>();
  check_vectors<double, Stored, 8>();
  check_vectors<float, Stored, 8>();
}
