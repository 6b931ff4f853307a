// SPDX-License-Identifier: BSD-3-Clause
// Transposes, columns and values, against loops over lists.
#include <iso/sparse/convert.hpp>

#include <doctest/doctest.h>

#include "sparse_support.hpp"

#include <limits>

namespace {

using namespace sparse_support;
using iso::test::refusal;

lists transposed(lists const& m) {
  lists t{m.num_rows(), std::vector<std::vector<item>>(std::size_t(m.cols))};
  for (std::size_t r = 0; r < m.rows.size(); ++r) {
    for (auto const& e : m.rows[r]) {
      t.rows[std::size_t(e.column)].push_back({std::int32_t(r), e.value});
    }
  }
  return t;
}

template <class A, class B>
void check_same(A const& a, B const& b) {
  CHECK(a.num_rows == b.num_rows);
  CHECK(a.num_cols == b.num_cols);
  CHECK(difference(to_vector(a.row_offsets), to_vector(b.row_offsets)) == "");
  CHECK(difference(to_vector(a.columns), to_vector(b.columns)) == "");
  CHECK(difference(to_vector(a.values), to_vector(b.values)) == "");
  CHECK(difference(to_vector(a.row_bases), to_vector(b.row_bases)) == "");
}

}  // namespace

TEST_CASE_TEMPLATE(
    "transpose: rows ascending in every column, stable, the same from every instance", Value,
    iso::half, float, double) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    auto m = synthetic(80, 300, seed, 0.4);
    // Unsorted and doubled columns keep their order.
    m.rows[7] = {{5, 1}, {2, 2}, {5, 3}, {299, 4}, {0, 5}, {5, 6}};
    auto const expected = csr<Value, std::int32_t>(Kokkos::Serial(), transposed(m));
    for_each_instance([&](auto const& exec) {
      check_same(expected, iso::sparse::transpose(exec, csr<Value, std::int32_t>(exec, m)));
      check_same(expected, iso::sparse::transpose(exec, csr<Value, std::uint16_t>(exec, m)));
    });
  }
}

TEST_CASE("arrays that are empty count as none, though they be allocated") {
  Kokkos::Serial const exec;
  auto const a = csr<iso::half, std::int32_t>(exec, synthetic(50, 300, 3));
  auto b = a;
  b.row_bases = decltype(b.row_bases)("no bases", 0);
  b.row_scales = Kokkos::View<double*, Kokkos::LayoutRight, host>("no scales", 0);
  REQUIRE(b.row_bases.data() != nullptr);
  auto const x = some_vector(300);
  auto const expected = product(exec, a, x);
  CHECK(iso::sparse::validate(exec, b).sound());
  CHECK(difference(expected, product(exec, b, x)) == "");
  auto const g = iso::sparse::make_row_blocks<4>(exec, b);
  CHECK(difference(expected, product(exec, g, x)) == "");
  check_same(iso::sparse::transpose(exec, a), iso::sparse::transpose(exec, b));
}

TEST_CASE("transpose: nothing, and twice") {
  Kokkos::Serial const exec;
  for (lists const& m : {lists{0, {}}, lists{4, {}}, lists{0, {{}, {}}}, lists{3, {{}, {}}}}) {
    auto const t = iso::sparse::transpose(exec, csr<iso::half, std::int32_t>(exec, m));
    CHECK(t.num_rows == m.cols);
    CHECK(t.num_cols == m.num_rows());
    CHECK(t.num_entries() == 0);
  }
  auto const a = csr<iso::half, std::int32_t>(exec, synthetic(50, 77, 3));
  check_same(a, iso::sparse::transpose(exec, iso::sparse::transpose(exec, a)));
}

TEST_CASE("transpose: reproducible A^T y is the sum over columns, in any order") {
  auto const m = synthetic(90, 400, 8, 0.2);
  auto const y = some_vector(90);
  Kokkos::Serial const exec;
  auto const t = iso::sparse::transpose(exec, csr<iso::half, std::int32_t>(exec, m));
  auto reversed = transposed(m);
  for (auto& row : reversed.rows) {
    std::reverse(row.begin(), row.end());
  }
  auto const expected = product(exec, csr<iso::half, std::int32_t>(exec, reversed), y);
  CHECK(difference(expected, product(exec, t, y)) == "");
  CHECK(difference(expected, product(exec, iso::sparse::make_row_blocks<4>(exec, t), y)) == "");
  // y A x both ways, within rounding.
  auto const x = some_vector(400);
  auto const ax = product(exec, csr<iso::half, std::int32_t>(exec, m), x);
  double forward = 0;
  double backward = 0;
  double size = 0;
  for (std::size_t i = 0; i < ax.size(); ++i) {
    forward += ax[i] * y[i];
    size += std::abs(ax[i] * y[i]);
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    backward += expected[i] * x[i];
  }
  CHECK(std::abs(forward - backward) <= 1e-12 * size);
}

TEST_CASE("columns: 16 bits and back, and rows that are too wide") {
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    typename decltype(tag)::execution_space const exec;
    auto const m = synthetic(70, 50000, 2, 0.4, 0.5);
    auto const wide = csr<float, std::int32_t>(exec, m);
    auto const narrow = iso::sparse::to_relative_columns(exec, wide);
    check_same(csr<float, std::uint16_t>(exec, m), narrow);
    check_same(wide, iso::sparse::to_absolute_columns(exec, narrow));
    // 65535 apart is the most.
    lists const edge{200000, {{{100000, 1}, {165535, 1}}, {}, {{199999, 1}, {134464, 1}}}};
    CHECK(refusal([&] {
            iso::sparse::to_relative_columns(exec, csr<iso::half, std::int32_t>(exec, edge));
          }) == "");
    lists const beyond{200000, {{{100000, 1}, {165536, 1}}, {}, {{199999, 1}, {0, 1}}}};
    CHECK(refusal([&] {
            iso::sparse::to_relative_columns(exec, csr<iso::half, std::int32_t>(exec, beyond));
          }) ==
          "iso::sparse::to_relative_columns: 2 rows with columns further apart than 65535, the "
          "widest by 199999 (16 bits do not reach); keep 32-bit columns");
  });
}

TEST_CASE("values: half overflows, underflows and loses, with counts") {
  lists const m{8,
                {{{0, 65504}, {1, 65519}, {2, 65520}, {3, -1e6}, {4, infinity}, {5, nan_value}},
                 {},
                 {{0, 0x1p-14}, {1, 0x1p-15}, {2, -0x1p-24}, {3, 0x1p-25}, {4, -1e-30}, {5, 0.0}}}};
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    typename decltype(tag)::execution_space const exec;
    auto const made =
        iso::sparse::convert_values<iso::half>(exec, csr<double, std::int32_t>(exec, m));
    CHECK(made.report.overflowed == 2);
    CHECK(made.report.underflowed == 2);
    CHECK(made.report.lost == 2);
    auto const values = to_vector(made.matrix.values);
    double const expected[] = {65504,   65504,   infinity, -infinity, infinity, 0,
                               0x1p-14, 0x1p-15, -0x1p-24, 0,         0,        0};
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK((double(values[i]) == expected[i] || (i == 5 && std::isnan(double(values[i])))));
    }
    CHECK(values[10].bits == 0);  // a lost negative number is no negative zero
    CHECK(made.matrix.row_scales.extent(0) == 0);
    auto const back = iso::sparse::convert_values<double>(exec, made.matrix);
    CHECK(back.report.overflowed + back.report.underflowed + back.report.lost == 0);
  });
}

TEST_CASE("values: scaled rows lose nothing that half can hold relative to their largest") {
  auto m = synthetic(40, 300, 4, 0.2);
  int n = 0;
  for (auto& row : m.rows) {
    for (auto& e : row) {
      e.value = double(iso::half(e.value + 0.01)) * std::ldexp(1.0, 40 * (n % 5) - 80);
    }
    ++n;
  }
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    typename decltype(tag)::execution_space const exec;
    auto const a = csr<double, std::int32_t>(exec, m);
    auto const plain = iso::sparse::convert_values<iso::half>(exec, a);
    CHECK(plain.report.overflowed > 0);
    CHECK(plain.report.lost > 0);
    auto const scaled =
        iso::sparse::convert_values<iso::half>(exec, a, iso::sparse::row_scaling::by_largest);
    CHECK(scaled.report.overflowed + scaled.report.underflowed + scaled.report.lost == 0);
    CHECK(iso::sparse::validate(exec, scaled.matrix).sound());
    auto const x = some_vector(300);
    for (auto const sum : {summation::ordered, summation::reproducible}) {
      how const h{.sum = sum, .alpha = 1.1};
      auto const expected = product(exec, a, x, h);
      CHECK(difference(expected, product(exec, scaled.matrix, x, h)) == "");
      auto const g = iso::sparse::make_row_blocks<4>(exec, scaled.matrix);
      if (sum == summation::reproducible) {
        CHECK(difference(expected, product(exec, g, x, h)) == "");
      }
      auto const csr_again = iso::sparse::to_csr(exec, g);
      CHECK(difference(expected, product(exec, csr_again, x, h)) == "");
    }
    CHECK(refusal([&] { iso::sparse::transpose(exec, scaled.matrix); }) ==
          "iso::sparse::transpose: a matrix with row scales (they would scale columns); transpose "
          "the matrix before its values are scaled");
  });
}

TEST_CASE("values: powers of two reach the ends of double, by rows and for all") {
  using iso::sparse::row_scaling;
  double const most = std::numeric_limits<double>::max();
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    typename decltype(tag)::execution_space const exec;
    for (auto const scaling : {row_scaling::by_largest, row_scaling::uniform}) {
      // The one value of a matrix: its stored form, its scale and what is said of it.
      auto const check = [&]<class To>(To, double value, double stored, double scale,
                                       std::int64_t overflowed = 0, std::int64_t lost = 0) {
        CAPTURE(value);
        auto const made = iso::sparse::convert_values<To>(
            exec, csr<double, std::int32_t>(exec, lists{1, {{{0, value}}}}), scaling);
        CHECK(double(to_vector(made.matrix.values)[0]) == stored);
        CHECK(to_vector(made.matrix.row_scales)[0] == scale);
        CHECK(made.report.overflowed == overflowed);
        CHECK(made.report.underflowed == 0);
        CHECK(made.report.lost == lost);
      };
      double const large = 0x1.e4p1023;  // 1.7e308
      check(iso::half(), large, 0x1.e4p14, 0x1p1009);
      check(iso::half(), -0x1.8p1016, -0x1.8p14, 0x1p1002);
      // The inverse of the power must be a normal number too.
      check(bfloat16(), large, 0x1.e4p1, 0x1p1022);
      check(0.0F, large, 0x1.e4p1, 0x1p1022);
      check(iso::half(), 0x1.4p-1000, 0x1.4p14, 0x1p-1014);
      check(iso::half(), 0x1.4p-1020, 0x1.4p2, 0x1p-1022);
      check(bfloat16(), 0x1p-1074, 0x1p-52, 0x1p-1022);
      check(iso::half(), 0x1p-1074, 0, 0x1p-1022, 0, 1);
      // What is rounded beyond double is no number any more, though half holds it.
      check(iso::half(), most, 0x1p15, 0x1p1009, 1);
      check(0.0F, most, 0x1p2, 0x1p1022, 1);
    }
  });
}

TEST_CASE("values: one power of two for all rows, from the largest value of all") {
  lists const m{4, {{{0, 3e9}, {2, infinity}}, {}, {{1, 5.0}, {2, -7e9}, {3, 1e-320}}}};
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    typename decltype(tag)::execution_space const exec;
    auto const made = iso::sparse::convert_values<iso::half>(
        exec, csr<double, std::int32_t>(exec, m), iso::sparse::row_scaling::uniform);
    // 7e9 lies in [2^32, 2^33).
    CHECK(to_vector(made.matrix.row_scales) == std::vector<double>(3, 0x1p18));
    auto const values = to_vector(made.matrix.values);
    CHECK(double(values[0]) == double(iso::half(0x1p-18 * 3e9)));
    CHECK(double(values[1]) == infinity);
    CHECK(double(values[2]) == double(iso::half(0x1p-18 * 5)));
    CHECK(double(values[3]) == double(iso::half(0x1p-18 * -7e9)));
    CHECK(made.report.overflowed == 0);
    CHECK(made.report.underflowed == 1);
    CHECK(made.report.lost == 1);
    auto const empty = iso::sparse::convert_values<iso::half>(
        exec, csr<double, std::int32_t>(exec, lists{4, {{}, {}}}),
        iso::sparse::row_scaling::uniform);
    CHECK(to_vector(empty.matrix.row_scales) == std::vector<double>(2, 1));
  });
}
