// SPDX-License-Identifier: BSD-3-Clause
// The same bits on every backend, number of threads, launch shape and run; reproducible sums
// however the matrix is permuted or split.
#include <doctest/doctest.h>

#include "sparse_support.hpp"

namespace {

using namespace sparse_support;

template <class Make>
void check_everywhere(lists const& m, Make const& make) {
  Kokkos::Serial const serial;
  auto const here = make(serial);
  for_each_instance([&](auto const& exec) {
    auto const a = make(exec);
    for (auto const sum : {summation::ordered, summation::reproducible}) {
      for (std::int64_t const k : {1, 3, 4, 5}) {
        auto const x = some_vector(m.cols, k);
        auto const y = some_vector(m.num_rows(), k, 5);
        how h{.sum = sum, .alpha = 0.7, .beta = 1.25, .vectors = k};
        auto const expected = product(serial, here, x, y, h);
        for (std::int64_t const groups : {0, 7, 50}) {
          CAPTURE(groups);
          h.shape.groups_per_launch = groups;
          CHECK(difference(expected, product(exec, a, x, y, h)) == "");
        }
      }
    }
  });
}

}  // namespace

TEST_CASE_TEMPLATE("spmv: the same bits on every backend, number of threads and launch shape",
                   Value, iso::half, bfloat16, float, double) {
  auto const m = synthetic(150, 2000, 4);
  check_everywhere(m, [&](auto const& exec) { return csr<Value, std::int32_t>(exec, m); });
  check_everywhere(m, [&](auto const& exec) { return csr<Value, std::uint16_t>(exec, m); });
  if constexpr (sizeof(Value) == 2) {
    check_everywhere(m, [&](auto const& exec) {
      return iso::sparse::make_row_blocks<4>(exec, csr<Value, std::int32_t>(exec, m));
    });
    check_everywhere(m, [&](auto const& exec) {
      return iso::sparse::make_row_blocks<8>(exec, csr<Value, std::int32_t>(exec, m));
    });
  }
}

TEST_CASE_TEMPLATE("spmv: rows of many parts, the same everywhere too", Value, iso::half, double) {
  // 2048 entries a part, or 64 column chunks; the long ones lie among short and empty ones.
  lists m{20000, std::vector<std::vector<item>>(21)};
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> unit(0, 1);
  auto const fill = [&](std::size_t row, std::int32_t length) {
    for (std::int32_t c = 0; c < length; ++c) {
      m.rows[row].push_back({c, std::ldexp(unit(random), -int(random() % 12))});
    }
  };
  fill(0, 20000);
  fill(3, 2048);
  fill(4, 2049);
  fill(5, 1);
  fill(9, 6 * 2048 + 31);
  fill(17, 4096);
  fill(20, 13);
  check_everywhere(m, [&](auto const& exec) { return csr<Value, std::int32_t>(exec, m); });
  check_everywhere(m, [&](auto const& exec) { return csr<Value, std::uint16_t>(exec, m); });
  CHECK(iso::sparse::make_plan(Kokkos::Serial(), csr<Value, std::int32_t>(Kokkos::Serial(), m))
            .num_parts == 10 + 2 + 7 + 2);
  if constexpr (sizeof(Value) == 2) {
    check_everywhere(m, [&](auto const& exec) {
      return iso::sparse::make_row_blocks<4>(exec, csr<Value, std::int32_t>(exec, m));
    });
    check_everywhere(m, [&](auto const& exec) {
      return iso::sparse::make_row_blocks<8>(exec, csr<Value, std::int32_t>(exec, m));
    });
  }
}

TEST_CASE("reproducible: permuted entries of a row") {
  Kokkos::Serial const exec;
  std::mt19937_64 random(6);
  for (unsigned seed = 0; seed < 5; ++seed) {
    auto const m = synthetic(60, 1500, seed, 0.2);
    auto const x = some_vector(m.cols);
    auto const expected = product(exec, csr<iso::half, std::int32_t>(exec, m), x);
    auto const in_order =
        product(exec, csr<iso::half, std::int32_t>(exec, m), x, {.sum = summation::ordered});
    auto shuffled = m;
    for (auto& row : shuffled.rows) {
      std::shuffle(row.begin(), row.end(), random);
    }
    auto const a = csr<iso::half, std::int32_t>(exec, shuffled);
    CHECK(difference(expected, product(exec, a, x)) == "");
    // The ordered sum does depend on it: the test can fail.
    CHECK(difference(in_order, product(exec, a, x, {.sum = summation::ordered})) != "");
  }
}

TEST_CASE("reproducible: split by columns, with the whole's bounds and max|x|") {
  for_each_instance([&](auto const& exec) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto const m = synthetic(60, 1500, 2, 0.2);
    auto const x = some_vector(m.cols);
    auto const whole = csr<iso::half, std::int32_t>(exec, m);
    auto const expected = product(exec, whole, x);
    auto const bounds = iso::sparse::make_bounds(exec, whole);
    auto const x_all = on(exec, x);
    Kokkos::View<double*, space> const most("max_abs", 1);
    iso::sparse::max_abs(exec, x_all, most);
    // Where parts begin: even and uneven ones, empty ones at both ends and within.
    std::vector<std::vector<std::int32_t>> const splits{
        {1},
        {700},
        {1499},
        {500, 1000},
        {3, 1400},
        {0, 0, 750},
        {214, 428, 642, 856, 1070, 1284},
        {1, 2, 900, 900, 1498, 1500},
    };
    for (auto begins : splits) {
      CAPTURE(begins.size());
      begins.insert(begins.begin(), 0);
      begins.push_back(1500);
      auto const y = on(exec, std::vector<double>(60, nan_value));
      double beta = 0;
      // From the right to the left.
      for (std::size_t n = begins.size() - 1; n-- > 0;) {
        auto const first = begins[n];
        auto const last = begins[n + 1];
        auto const part = csr<iso::half, std::int32_t>(exec, columns_of(m, first, last));
        auto const plan = iso::sparse::make_plan(exec, part, bounds);
        auto const x_part = on(exec, std::vector<double>(x.begin() + first, x.begin() + last));
        iso::workspace<space> const scratch(
            iso::sparse::spmv_bytes_needed<double>(exec, part, plan, 1));
        iso::sparse::spmv(exec, 1.0, part, x_part, beta, y, plan, scratch,
                          {.max_abs_x = most.data()});
        exec.fence();
        beta = 1;
      }
      CHECK(difference(expected, to_vector(y)) == "");
    }
  });
}

TEST_CASE("both sums: split by rows, as ranks have it") {
  auto const m = synthetic(60, 1500, 3, 0.2);
  auto const x = some_vector(m.cols);
  std::vector<std::vector<std::ptrdiff_t>> const splits{
      {17}, {20, 40}, {1, 58}, {0, 60}, {8, 17, 25, 34, 43, 51}, {2, 3, 3, 3, 40, 59}};
  for_each_instance([&](auto const& exec) {
    auto const part = [&](std::ptrdiff_t first, std::ptrdiff_t last) {
      return csr<iso::half, std::int32_t>(
          exec, lists{m.cols, {m.rows.begin() + first, m.rows.begin() + last}});
    };
    for (auto const sum : {summation::ordered, summation::reproducible}) {
      auto const expected = product(exec, part(0, 60), x, {.sum = sum});
      for (auto begins : splits) {
        CAPTURE(begins.size());
        begins.insert(begins.begin(), 0);
        begins.push_back(60);
        std::vector<double> y;
        for (std::size_t n = 0; n + 1 < begins.size(); ++n) {
          auto const rows = product(exec, part(begins[n], begins[n + 1]), x, {.sum = sum});
          y.insert(y.end(), rows.begin(), rows.end());
        }
        CHECK(difference(expected, y) == "");
      }
    }
  });
}
