// SPDX-License-Identifier: BSD-3-Clause
// Row blocks: exact round trip, their own order, and reproducible sums with the bits of CSR.
#include <doctest/doctest.h>

#include "chunk_sums.hpp"
#include "sparse_support.hpp"

#include <cmath>

namespace {

using namespace sparse_support;

/// f(R) for all sizes of a block.
template <class F>
void for_each_size(F const& f) {
  f(std::integral_constant<int, 4>());
  f(std::integral_constant<int, 8>());
}

iso::sparse::matrix_format format_of(int rows) {
  return rows == 4 ? iso::sparse::matrix_format::row_block4
                   : iso::sparse::matrix_format::row_block8;
}

template <class Value, class Exec>
void check_round_trip(Exec const& exec, lists const& m) {
  auto const a = csr<Value, std::int32_t>(exec, m);
  auto const narrow = csr<Value, std::uint16_t>(exec, m);
  for_each_size([&](auto rows) {
    CAPTURE(int(rows));
    auto const g = iso::sparse::make_row_blocks<rows>(exec, a);
    auto const back = iso::sparse::to_csr(exec, g);
    CHECK(back.num_rows == a.num_rows);
    CHECK(back.num_cols == a.num_cols);
    CHECK(difference(to_vector(back.row_offsets), to_vector(a.row_offsets)) == "");
    CHECK(difference(to_vector(back.columns), to_vector(a.columns)) == "");
    CHECK(difference(to_vector(back.values), to_vector(a.values)) == "");
    auto const from_narrow = iso::sparse::make_row_blocks<rows>(exec, narrow);
    CHECK(difference(to_vector(from_narrow.values()), to_vector(g.values())) == "");
    CHECK(difference(to_vector(from_narrow.offsets()), to_vector(g.offsets())) == "");
    auto const report = iso::sparse::measure_format(exec, a, format_of(rows));
    CHECK(report.chunks == g.num_chunks());
  });
}

std::string refusal_of(lists const& m) {
  Kokkos::Serial const exec;
  try {
    iso::sparse::make_row_blocks<4>(exec, csr<iso::half, std::int32_t>(exec, m));
  } catch (iso::invalid_argument const& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE_TEMPLATE("row blocks: conversion there and back changes nothing", Value, iso::half,
                   bfloat16) {
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    typename decltype(tag)::execution_space const exec;
    check_round_trip<Value>(exec, lists{5, {}});
    check_round_trip<Value>(exec, lists{0, {{}, {}, {}}});
    check_round_trip<Value>(exec, lists{1, {{}, {{0, 1}}, {}}});
    for (unsigned seed = 0; seed < 8; ++seed) {
      CAPTURE(seed);
      check_round_trip<Value>(exec, synthetic(3 + 11 * int(seed), 2000, seed, 0.5, 0.1 * seed));
    }
    // Gaps at the limit of an offset; stored zeros, infinity and NaN.
    check_round_trip<Value>(exec,
                            lists{70000,
                                  {{{0, 1}, {255, 2}, {256, 3}, {511, 4}, {65279, 5}, {65535, 6}},
                                   {{1, 0.0}, {2, infinity}, {65536, nan_value}},
                                   {{3, -0.25}}}});
  });
}

TEST_CASE("row blocks: conversion refuses, with counts") {
  CHECK(refusal_of({9, {{{0, 1}, {3, 0.0}}}}) == "");
  char const* const why =
      " (rows must ascend, and negative zero marks what is no entry); sort, add up or drop them";
  CHECK(refusal_of({9, {{{3, 1}, {0, 1}, {2, 1}, {1, 1}}, {{1, 1}, {0, 1}}}}) ==
        std::string(
            "iso::sparse::make_row_blocks: 3 entries left of the one before them, 0 doubled, 0 "
            "negative zeros") +
            why);
  CHECK(refusal_of({9, {{{3, 1}, {3, 1}}, {{1, -0.0}, {2, -0.0}}}}) ==
        std::string(
            "iso::sparse::make_row_blocks: 0 entries left of the one before them, 1 doubled, 2 "
            "negative zeros") +
            why);
  CHECK(refusal_of({9, {{{3, 1}}, {{9, 1}}}}) ==
        "iso::sparse::make_row_blocks: entry 1 of row 1 lies in column 9 (there are 9; 1 are out "
        "of range); count columns from 0, or give the number of columns");
}

TEST_CASE_TEMPLATE("row blocks: ordered sums in the order of lanes", Value, iso::half, bfloat16) {
  Kokkos::Serial const exec;
  for (unsigned seed = 0; seed < 4; ++seed) {
    auto const m = synthetic(45, 3000, seed, 0.3);
    auto const a = csr<Value, std::int32_t>(exec, m);
    auto const x = some_vector(m.cols);
    for_each_size([&](auto rows) {
      auto const g = iso::sparse::make_row_blocks<rows>(exec, a);
      auto const y = product(exec, g, x, {.sum = summation::ordered});
      for (std::int64_t r = 0; r < m.num_rows(); ++r) {
        REQUIRE(y[std::size_t(r)] == chunk_sum(g, r, x));
      }
    });
  }
}

TEST_CASE_TEMPLATE("row blocks: reproducible sums have the bits of csr_view, bounds too", Value,
                   iso::half, bfloat16) {
  for_each_instance([&](auto const& exec) {
    for (unsigned seed = 0; seed < 3; ++seed) {
      auto const m = synthetic(61, 3000, seed, 0.3, 0.5);
      auto const a = csr<Value, std::int32_t>(exec, m);
      auto const bounds = iso::sparse::make_bounds(exec, a);
      for (std::int64_t const k : {1, 3, 4, 6}) {
        auto x = some_vector(m.cols, k);
        auto const y = some_vector(m.num_rows(), k, 3);
        how const h{.alpha = 1.5, .beta = -2, .vectors = k};
        auto const expected = product(exec, a, x, y, h);
        CHECK(difference(expected, product(exec, csr<Value, std::uint16_t>(exec, m), x, y, h)) ==
              "");
        for_each_size([&](auto rows) {
          auto const g = iso::sparse::make_row_blocks<rows>(exec, a);
          CHECK(difference(expected, product(exec, g, x, y, h)) == "");
          auto const same = iso::sparse::make_bounds(exec, g);
          CHECK(difference(to_vector(bounds.max_abs), to_vector(same.max_abs)) == "");
          CHECK(difference(to_vector(bounds.entries), to_vector(same.entries)) == "");
        });
      }
    }
  });
}

TEST_CASE("row blocks: padding times infinity or NaN is nothing") {
  // Row r has the columns whose number is not r mod 5: every block has padding everywhere.
  lists m{200, std::vector<std::vector<item>>(23)};
  for (std::int32_t r = 0; r < 23; ++r) {
    for (std::int32_t c = 0; c < 200; ++c) {
      if (c % 5 != r % 5) {
        m.rows[std::size_t(r)].push_back({c, 0.5 + c % 3});
      }
    }
  }
  for_each_instance([&](auto const& exec) {
    auto const a = csr<iso::half, std::int32_t>(exec, m);
    for (double const bad : {infinity, -infinity, nan_value}) {
      auto x = some_vector(200);
      x[10] = bad;
      for_each_size([&](auto rows) {
        auto const g = iso::sparse::make_row_blocks<rows>(exec, a);
        for (auto const sum : {summation::ordered, summation::reproducible}) {
          auto const y = product(exec, g, x, {.sum = sum});
          for (std::size_t r = 0; r < 23; ++r) {
            CHECK(std::isfinite(y[r]) == (r % 5 == 0));
          }
          CHECK(difference(product(exec, a, x), product(exec, g, x)) == "");
        }
        // Of four vectors the second has it.
        auto four = some_vector(200, 4);
        four[41] = bad;
        for (auto const sum : {summation::ordered, summation::reproducible}) {
          auto const y = product(exec, g, four, {.sum = sum, .vectors = 4});
          for (std::size_t n = 0; n < y.size(); ++n) {
            CHECK(std::isfinite(y[n]) == (n % 4 != 1 || n / 4 % 5 == 0));
          }
        }
      });
    }
  });
}
