// SPDX-License-Identifier: BSD-3-Clause
// Products against the order that is promised, written down, and against extended precision.
#include <doctest/doctest.h>

#include "exact_sums.hpp"

namespace {

std::vector<double> doubled(std::vector<double> x) {
  for (double& v : x) {
    v *= 2;
  }
  return x;
}

using namespace sparse_support;

/// The order of a csr_view: 32 lanes and a tree, 2048 entries at a time.
template <class T, class Value>
T ordered_row(std::vector<item> const& row, std::vector<T> const& x, std::int64_t k,
              std::int64_t vectors) {
  T total = 0;
  for (std::size_t first = 0; first < row.size(); first += 2048) {
    T lane[32] = {};
    for (std::size_t j = first; j < std::min(row.size(), first + 2048); ++j) {
      lane[j % 32] = std::fma(T(Value(row[j].value)), x[std::size_t(row[j].column * vectors + k)],
                              lane[j % 32]);
    }
    for (int step = 16; step > 0; step /= 2) {
      for (int l = 0; l < step; ++l) {
        lane[l] += lane[l + step];
      }
    }
    total = first == 0 ? lane[0] : total + lane[0];
  }
  return total;
}

/// 2^(the least e with 2^e >= x), by search.
inline int min_exponent(long double x, int from) {
  int e = from;
  while (std::ldexp(1.0L, e) < x) {
    ++e;
  }
  return e;
}

/// Where the reproducible sum of a row begins.
template <class Value>
double reproducible_origin(std::vector<item> const& row, std::vector<double> const& x,
                           std::int64_t k, std::int64_t vectors) {
  long double max_a = 0;
  long double max_x = 0x1p-1000L;
  for (auto const& e : row) {
    max_a = std::max(max_a, std::abs(static_cast<long double>(double(Value(e.value)))));
  }
  for (std::size_t i = std::size_t(k); i < x.size(); i += std::size_t(vectors)) {
    max_x = std::max(max_x, std::abs(static_cast<long double>(x[i])));
  }
  auto const n = static_cast<long double>(row.size());
  long double const bound = max_a * std::max(2 * std::min(n, 64.0L), n / 2) * (1 + 0x1p-20L);
  return std::ldexp(1.5, std::max(-900, min_exponent(bound, -1200) + min_exponent(max_x, -1000)));
}

/// Reproducible: each product rounded alone, from the end to the start.
template <class Value>
double reproducible_row(std::vector<item> const& row, std::vector<double> const& x, std::int64_t k,
                        std::int64_t vectors) {
  double const c = reproducible_origin<Value>(row, x, k, vectors);
  double sum = 0;
  for (auto j = row.size(); j-- > 0;) {
    double at = x[std::size_t(row[j].column * vectors + k)];
    std::uint64_t bits;
    std::memcpy(&bits, &at, 8);
    bits |= 1;
    std::memcpy(&at, &bits, 8);
    sum += std::fma(double(Value(row[j].value)), at, c) - c;
  }
  return sum;
}

template <class T, class Value>
void check_orders(lists const& m, std::int64_t vectors) {
  auto const x = some_vector<T>(m.cols, vectors);
  auto const y = some_vector<T>(m.num_rows(), vectors, 8);
  Kokkos::Serial const exec;
  auto const a = csr<Value, std::int32_t>(exec, m);
  for (auto const sum : {summation::ordered, summation::reproducible}) {
    if (sum == summation::reproducible && !std::is_same_v<T, double>) {
      continue;
    }
    auto const plain = product(exec, a, x, {.sum = sum, .vectors = vectors});
    auto const scaled =
        product(exec, a, x, y, {.sum = sum, .alpha = 0.3, .beta = -0.7, .vectors = vectors});
    for (std::int64_t r = 0; r < m.num_rows(); ++r) {
      for (std::int64_t k = 0; k < vectors; ++k) {
        auto const& row = m.rows[std::size_t(r)];
        T expected = ordered_row<T, Value>(row, x, k, vectors);
        if constexpr (std::is_same_v<T, double>) {
          expected =
              sum == summation::ordered ? expected : reproducible_row<Value>(row, x, k, vectors);
        }
        auto const at = std::size_t(r * vectors + k);
        REQUIRE(plain[at] == expected);
        REQUIRE(scaled[at] == std::fma(T(-0.7), y[at], T(0.3) * expected));
      }
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("spmv: the order of both sums, to the bit", Value, iso::half, bfloat16, float,
                   double) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    CAPTURE(seed);
    auto const m = synthetic(40, 3 + 97 * std::int32_t(seed), seed, 0.3, 0.6);
    for (std::int64_t const vectors : {1, 4, 9}) {
      CAPTURE(vectors);
      check_orders<double, Value>(m, vectors);
    }
  }
}

TEST_CASE_TEMPLATE("spmv: the order of both sums, to the bit, of two vectors and more", Value,
                   iso::half, bfloat16, float, double) {
  auto const m = synthetic(40, 294, 3, 0.3, 0.6);
  for (std::int64_t const vectors : {2, 3, 5, 8}) {
    CAPTURE(vectors);
    check_orders<double, Value>(m, vectors);
  }
}

TEST_CASE("spmv: vectors of float with values of float") {
  auto const m = synthetic(60, 300, 3, 0.3);
  for (std::int64_t const vectors : {1, 4, 9}) {
    check_orders<float, float>(m, vectors);
  }
}

TEST_CASE_TEMPLATE("spmv: errors stay below the bounds that are stated", Value, iso::half, float) {
  auto const m = synthetic(200, 4000, 5, 0.3);
  auto const x = some_vector(m.cols);
  Kokkos::Serial const exec;
  auto const a = csr<Value, std::int32_t>(exec, m);
  auto const ordered = product(exec, a, x, {.sum = summation::ordered});
  auto const free = product(exec, a, x, {.sum = summation::reproducible});
  double max_x = 0;
  for (double const v : x) {
    max_x = std::max(max_x, std::abs(v));
  }
  double const eps = std::numeric_limits<double>::epsilon();
  auto const [sums, sizes] = exact_sums<Value>(m, x);
  for (std::size_t r = 0; r < m.rows.size(); ++r) {
    double max_a = 0;
    for (auto const& e : m.rows[r]) {
      max_a = std::max(max_a, std::abs(double(Value(e.value))));
    }
    auto const n = double(m.rows[r].size());
    REQUIRE(double(std::abs(ordered[r] - sums[r])) <=
            (std::ceil(n / 32) + 5) * eps / 2 * double(sizes[r]));
    REQUIRE(double(std::abs(free[r] - sums[r])) <=
            n * (std::max(4 * std::min(n, 64.0), n) + 1) * eps * (1 + 0x1p-20) * max_a * max_x);
  }
}

TEST_CASE("spmv: a constant needs no slack: every product at the largest, and powers of two") {
  Kokkos::Serial const exec;
  for (int const n :
       {1, 2, 3, 4, 5, 8, 9, 63, 64, 65, 128, 129, 255, 256, 257, 1024, 1025, 2048, 2049, 4096}) {
    CAPTURE(n);
    for (double const value : {1.0, -1.0, 0.75, 1.9990234375, 65504.0, 0x1p-24}) {
      for (double const weight :
           {1.0, std::nextafter(1.0, 2), std::nextafter(2.0, 1), -3e5, 1e-5}) {
        lists m{n, {{}}};
        for (std::int32_t j = 0; j < n; ++j) {
          m.rows[0].push_back({j, value});
        }
        std::vector<double> const x(std::size_t(n), weight);
        auto const y = product(exec, csr<iso::half, std::int32_t>(exec, m), x,
                               {.sum = summation::reproducible});
        CHECK(y[0] == reproducible_row<iso::half>(m.rows[0], x, 0, 1));
        CHECK(std::abs(y[0] - n * value * weight) <=
              double(n) * (std::max(4 * std::min(n, 64), n) + 1) * 0x1p-52 * (1 + 0x1p-20) *
                  std::abs(value * weight));
      }
    }
  }
}

TEST_CASE("spmv: a short row may lose more than n^2 2^-52 max|a| max|x|, as is stated") {
  Kokkos::Serial const exec;
  // Any e that lets one lane add both products rounds each to 1 (docs/algorithms/dose_matrices.md).
  double const weight = 1 + 3 * 0x1p-52;
  auto const a = csr<iso::half, std::int32_t>(exec, lists{2, {{{0, 1.0}, {1, 1.0}}}});
  auto const y = product(exec, a, {weight, weight}, {.sum = summation::reproducible});
  CHECK(y[0] == 2);
  CHECK(2 * (weight - 1) > 2 * 2 * 0x1p-52 * weight);
  CHECK(2 * (weight - 1) < 2 * (4 * 2 + 1) * 0x1p-52 * weight);
}

TEST_CASE("spmv: numbers near the ends of the range") {
  Kokkos::Serial const exec;
  auto const run = [&](std::vector<item> const& row, std::vector<double> const& x, summation sum) {
    lists const m{std::int64_t(x.size()), {row}};
    return product(exec, csr<double, std::int32_t>(exec, m), x, {.sum = sum})[0];
  };
  for (auto const sum : {summation::ordered, summation::reproducible}) {
    CHECK(run({{0, 0.0}, {1, 0.0}}, {1, 2}, sum) == 0);
    CHECK(!std::signbit(run({{0, -0.0}, {1, 0.0}}, {-1, 2}, sum)));
    CHECK(run({{0, 1.0}}, {0x1p-1074}, sum) == (sum == summation::ordered ? 0x1p-1074 : 0.0));
    CHECK(run({{0, 1e300}, {1, -1e300}}, {1, 1}, sum) == 0);
  }
  CHECK(run({{0, 1e-300}, {1, 1e-300}}, {0.5, 0.5}, summation::ordered) == 1e-300);
  // No intermediate result leaves the range where the sum does not.
  CHECK(run({{0, 1e307}, {1, 5e306}, {2, -1e307}}, {1, 1, 1}, summation::reproducible) ==
        doctest::Approx(5e306));
  CHECK(run({{0, 1e308}, {1, 1e308}}, {1e-10, 1e-10}, summation::reproducible) ==
        doctest::Approx(2e298));
  CHECK(run({{0, 5e-324}, {1, 5e-324}}, {1e300, 1e300}, summation::reproducible) ==
        doctest::Approx(1e-23).epsilon(0.02));
  // Where the grid's constant exceeds it there is no common grid.
  CHECK(std::isnan(run({{0, 1e300}}, {1e10}, summation::reproducible)));
  CHECK(run({{0, 1e300}}, {1e10}, summation::ordered) == infinity);
}

TEST_CASE(
    "spmv: products half way between two multiples of the unit are rounded alike in any order") {
  std::mt19937_64 random(4);
  Kokkos::Serial const exec;
  for (int const n : {2, 3, 4, 5, 33, 64, 700}) {
    CAPTURE(n);
    lists m{n + 2, {{{n, 1.0}}}};  // the largest entry and weight set the unit, and add nothing odd
    std::vector<double> x(std::size_t(n) + 2, 0.0);
    x[std::size_t(n) + 1] = 1;
    std::vector<item>& row = m.rows[0];
    row.resize(std::size_t(n));
    row[0] = {n, 1.0};
    double const half_unit = std::ldexp(reproducible_origin<iso::half>(row, x, 0, 1) / 1.5, -53);
    for (std::int32_t j = 1; j < n; ++j) {
      row[std::size_t(j)] = {j, 0x1p-10};
      x[std::size_t(j)] = (2.0 * double(random() % 1000) - 999) * half_unit * 0x1p10;
    }
    auto const forwards =
        product(exec, csr<iso::half, std::int32_t>(exec, m), x, {.sum = summation::reproducible});
    for (int turn = 0; turn < 10; ++turn) {
      std::shuffle(row.begin(), row.end(), random);
      CHECK(product(exec, csr<iso::half, std::int32_t>(exec, m), x,
                    {.sum = summation::reproducible}) == forwards);
    }
  }
}

TEST_CASE("spmv: beta = 0 does not read y, alpha = 0 reads neither the matrix nor x") {
  for_each_instance([&](auto const& exec) {
    auto const m = synthetic(70, 100, 9);
    auto a = csr<iso::half, std::int32_t>(exec, m);
    std::vector<double> const x(100, 1.0);
    std::vector<double> const nans(70, nan_value);
    for (auto const sum : {summation::ordered, summation::reproducible}) {
      for (double const v : product(exec, a, x, nans, {.sum = sum})) {
        CHECK(std::isfinite(v));
      }
      std::vector<double> const bad(100, nan_value);
      auto spoilt = csr<iso::half, std::int32_t>(exec, m);
      Kokkos::deep_copy(exec, spoilt.values, iso::half(float(nan_value)));
      for (double const v : product(exec, spoilt, bad, some_vector(70), {.sum = sum, .alpha = 0})) {
        CHECK(v == 0);
      }
      auto const y = some_vector(70);
      auto const kept = product(exec, spoilt, bad, y, {.sum = sum, .alpha = 0, .beta = 2});
      for (std::size_t i = 0; i < y.size(); ++i) {
        CHECK(kept[i] == 2 * y[i]);
      }
      auto const empty = product(exec, a, x, nans, {.sum = sum, .beta = 1});
      CHECK(std::all_of(empty.begin(), empty.end(), [](double v) { return std::isnan(v); }));
      std::uint64_t bits;
      std::memcpy(&bits, &empty[0], 8);
      CHECK(bits == 0x7ff8000000000000ULL);
    }
  });
}

// No fence lies between: what a product leaves for the end may begin early on a GPU.
TEST_CASE("spmv: products one after the other on one instance wait for each other") {
  lists m{3000, std::vector<std::vector<item>>(3000)};
  for (std::size_t r = 0; r < m.rows.size(); ++r) {
    for (std::int32_t c = 0; c < 150; ++c) {
      m.rows[r].push_back({std::int32_t(r / 2) + c * 10, 1.0 + double((r + std::size_t(c)) % 7)});
    }
  }
  auto half_empty = m;
  for (std::size_t r = 0; r < m.rows.size(); r += 2) {
    half_empty.rows[r].clear();
  }
  auto const x = some_vector(3000);
  for_each_instance([&](auto const& exec) {
    auto const full = csr<float, std::int32_t>(exec, m);
    auto const holes = csr<iso::half, std::int32_t>(exec, half_empty);
    auto const expected = product(exec, full, x, x);
    auto const back = product(exec, holes, expected, x, {.beta = 1});
    auto const plan = iso::sparse::make_plan(exec, full);
    auto const holes_plan = iso::sparse::make_plan(exec, holes);
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    iso::workspace<space> const scratch(
        std::max(iso::sparse::spmv_bytes_needed<double>(exec, full, plan, 1),
                 iso::sparse::spmv_bytes_needed<double>(exec, holes, holes_plan, 1)));
    auto const v = on(exec, x);
    auto const y = on(exec, x);
    for (int turn = 0; turn < 20; ++turn) {
      Kokkos::deep_copy(exec, v, on(exec, x));
      // y = A x; then twice that, by a product without entries; x + B y, whose rows without entries
      // are finished early; and y made zero while B may still read it.
      iso::sparse::spmv(exec, 1, full, v, 0, y, plan, scratch);
      iso::sparse::spmv(exec, 0, full, v, 2, y, plan, scratch);
      iso::sparse::spmv(exec, 0.5, holes, y, 1, v, holes_plan, scratch);
      iso::sparse::spmv(exec, 0, full, v, 0, y, plan, scratch);
      exec.fence();
      CHECK(difference(to_vector(v), product(exec, holes, doubled(expected), x,
                                             {.alpha = 0.5, .beta = 1})) == "");
      auto const left = to_vector(y);
      CHECK(std::all_of(left.begin(), left.end(), [](double z) { return z == 0; }));
    }
    CHECK(difference(back, x) != "");
  });
}

TEST_CASE("spmv: what is not finite reaches the rows that have it, as IEEE arithmetic has it") {
  lists const m{4,
                {{{0, 1}, {1, 2}},
                 {{1, 3}},
                 {{2, 0.0}},
                 {{0, infinity}},
                 {{3, nan_value}},
                 {},
                 {{0, -1}, {2, 1}}}};
  std::vector<double> const x{1, infinity, -infinity, 2};
  for_each_instance([&](auto const& exec) {
    auto const a = csr<iso::half, std::int32_t>(exec, m);
    for (auto const sum : {summation::ordered, summation::reproducible}) {
      auto const y = product(exec, a, x, {.sum = sum});
      CHECK(y[0] == infinity);
      CHECK(y[1] == infinity);
      CHECK(std::isnan(y[2]));
      CHECK(y[3] == infinity);
      CHECK(std::isnan(y[4]));
      CHECK(y[5] == 0);
      CHECK(y[6] == -infinity);
    }
  });
}

TEST_CASE("spmv: no rows, no columns, nothing stored, and one row of 2^20") {
  for_each_instance([&](auto const& exec) {
    CHECK(product(exec, csr<iso::half, std::int32_t>(exec, lists{5, {}}), some_vector(5)).empty());
    CHECK(product(exec, csr<iso::half, std::int32_t>(exec, lists{0, {}}), {}).empty());
    CHECK(product(exec, csr<iso::half, std::int32_t>(exec, lists{0, {{}, {}}}), {}) ==
          std::vector<double>{0, 0});
    CHECK(product(exec, csr<iso::half, std::uint16_t>(exec, lists{3, {{}, {}}}), some_vector(3)) ==
          std::vector<double>{0, 0});
  });
  lists m{1 << 20, {{}}};
  for (std::int32_t c = 0; c < 1 << 20; ++c) {
    m.rows[0].push_back({c, 1 + c % 7 * 0.125});
  }
  auto const x = some_vector(m.cols);
  Kokkos::Serial const exec;
  auto const a = csr<iso::half, std::int32_t>(exec, m);
  CHECK(product(exec, a, x, {.sum = summation::ordered})[0] ==
        ordered_row<double, iso::half>(m.rows[0], x, 0, 1));
  CHECK(product(exec, a, x, {.sum = summation::reproducible})[0] ==
        reproducible_row<iso::half>(m.rows[0], x, 0, 1));
}

TEST_CASE("spmv: duplicate and unsorted columns add up") {
  Kokkos::Serial const exec;
  lists const m{3, {{{2, 1}, {0, 2}, {2, 4}, {2, 8}}}};
  for (auto const sum : {summation::ordered, summation::reproducible}) {
    CHECK(product(exec, csr<iso::half, std::int32_t>(exec, m), {1, 0, 10}, {.sum = sum})[0] == 132);
    CHECK(product(exec, csr<float, std::uint16_t>(exec, m), {1, 0, 10}, {.sum = sum})[0] == 132);
  }
}

TEST_CASE("spmv: one of several vectors that lie side by side, where they lie") {
  auto const m = synthetic(40, 300, 3, 0.4, 0.2);
  for_each_instance([&](auto const& exec) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto const a = csr<iso::half, std::int32_t>(exec, m);
    auto const plan = iso::sparse::make_plan(exec, a);
    iso::workspace<space> const scratch(iso::sparse::spmv_bytes_needed<double>(exec, a, plan, 1));
    auto const x = some_vector(m.cols);
    Kokkos::View<double**, Kokkos::LayoutRight, space> const in("x", x.size(), 3);
    Kokkos::View<double**, Kokkos::LayoutRight, space> const out("y", m.rows.size(), 3);
    auto const one = std::pair<std::size_t, std::size_t>(1, 2);
    auto const here = Kokkos::create_mirror_view(in);
    for (std::size_t c = 0; c < x.size(); ++c) {
      here(c, 1) = x[c];
    }
    Kokkos::deep_copy(exec, in, here);
    iso::sparse::spmv(exec, 1, a, Kokkos::subview(in, Kokkos::ALL, one), 0,
                      Kokkos::subview(out, Kokkos::ALL, one), plan, scratch);
    auto const y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
    auto const expected = product(exec, a, x);
    for (std::size_t r = 0; r < expected.size(); ++r) {
      REQUIRE(y(r, 1) == expected[r]);
      REQUIRE(y(r, 0) == 0);
      REQUIRE(y(r, 2) == 0);
    }
  });
}
