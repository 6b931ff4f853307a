// SPDX-License-Identifier: BSD-3-Clause
// The grouped format: exact round trip, its own order, and order-free sums with the bits of CSR.
#include <doctest/doctest.h>

#include "slot_sums.hpp"
#include "sparse_support.hpp"

#include <cmath>

namespace {

using namespace sparse_support;

/// f(R, offset) for all grouped formats.
template <class F>
void for_each_format(F const& f) {
  auto const both = [&](auto rows) {
    f(rows, std::uint8_t());
    f(rows, std::uint16_t());
  };
  both(std::integral_constant<int, 2>());
  both(std::integral_constant<int, 4>());
  both(std::integral_constant<int, 8>());
}

template <class Value, class Exec>
void check_round_trip(Exec const& exec, lists const& m) {
  auto const a = csr<Value, std::int32_t>(exec, m);
  auto const narrow = csr<Value, std::uint16_t>(exec, m);
  for_each_format([&](auto rows, auto offset) {
    using offset_type = decltype(offset);
    CAPTURE(int(rows));
    CAPTURE(sizeof(offset));
    auto const g = iso::sparse::make_grouped<rows, offset_type>(exec, a);
    auto const back = iso::sparse::to_csr(exec, g);
    CHECK(back.num_rows == a.num_rows);
    CHECK(back.num_cols == a.num_cols);
    CHECK(difference(to_vector(back.row_offsets), to_vector(a.row_offsets)) == "");
    CHECK(difference(to_vector(back.columns), to_vector(a.columns)) == "");
    CHECK(difference(to_vector(back.values), to_vector(a.values)) == "");
    auto const from_narrow = iso::sparse::make_grouped<rows, offset_type>(exec, narrow);
    CHECK(difference(to_vector(from_narrow.values), to_vector(g.values)) == "");
    CHECK(difference(to_vector(from_narrow.offsets), to_vector(g.offsets)) == "");
    auto const report = iso::sparse::measure_format(exec, a, int(rows), 8 * int(sizeof(offset)));
    CHECK(report.slots == g.num_slots());
  });
}

std::string grouped_refusal(lists const& m) {
  Kokkos::Serial const exec;
  try {
    iso::sparse::make_grouped<4, std::uint8_t>(exec, csr<iso::half, std::int32_t>(exec, m));
  } catch (iso::invalid_argument const& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE_TEMPLATE("grouped: conversion there and back changes nothing", Value, iso::half,
                   bfloat16) {
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    typename decltype(tag)::execution_space const exec;
    check_round_trip<Value>(exec, lists{5, {}});
    check_round_trip<Value>(exec, lists{0, {{}, {}, {}}});
    check_round_trip<Value>(exec, lists{1, {{}, {{0, 1}}, {}}});
    for (unsigned seed = 0; seed < 8; ++seed) {
      CAPTURE(seed);
      check_round_trip<Value>(exec, dose_like(3 + 11 * int(seed), 2000, seed, 0.5, 0.1 * seed));
    }
    // Gaps at the limits of both offsets; stored zeros, infinity and NaN.
    check_round_trip<Value>(exec,
                            lists{70000,
                                  {{{0, 1}, {255, 2}, {256, 3}, {511, 4}, {65279, 5}, {65535, 6}},
                                   {{1, 0.0}, {2, infinity}, {65536, nan_value}},
                                   {{3, -0.25}}}});
  });
}

TEST_CASE("grouped: what a matrix costs, and the format that is chosen") {
  Kokkos::Serial const exec;
  lists dense{128, std::vector<std::vector<item>>(64)};
  lists alone{60000, std::vector<std::vector<item>>(64)};
  for (std::size_t r = 0; r < 64; ++r) {
    for (std::int32_t c = 0; c < 128; ++c) {
      dense.rows[r].push_back({c, 1});
      alone.rows[r].push_back({c * 450 + std::int32_t(r), 1});
    }
  }
  auto const a = csr<iso::half, std::int32_t>(exec, dense);
  auto const full = iso::sparse::measure_format(exec, a, 4, 8);
  CHECK(full.slots == 64 / 4 * 4);
  auto const narrow = iso::sparse::measure_format(exec, a, 1, 16);
  CHECK(narrow.bytes_per_entry == doctest::Approx(4 + (65 * 8 + 64 * 4) / (64 * 128.0)));
  CHECK(narrow.reads_per_entry == 1);
  CHECK(full.fill == 1);
  CHECK(full.reads_per_entry == 0.25);
  CHECK(full.bytes_per_entry ==
        doctest::Approx((32 * (4 * 2 + 1) + 8) / 128.0 + 8.0 * 17 / (64 * 128)));
  using iso::sparse::processor;
  auto const best = iso::sparse::choose_format(exec, a, processor::device);
  CHECK(best.rows == 8);
  CHECK(best.offset_bits == 16);
  CHECK_FALSE(best.paired);
  // What a host's time follows is what it widens and adds, not bytes.
  auto const on_host = iso::sparse::choose_format(exec, a, processor::host);
  CHECK(on_host.rows == 8);
  CHECK(on_host.offset_bits == 16);
  CHECK(iso::sparse::choose_format(exec, a, processor::wide_host).rows == 8);
  CHECK(iso::sparse::choose_format(exec, a).offset_bits == 16);
  // Columns far apart, though all rows have them: on a host reads of x are what counts.
  lists apart{128 * 300, std::vector<std::vector<item>>(64)};
  for (auto& row : apart.rows) {
    for (std::int32_t c = 0; c < 128; ++c) {
      row.push_back({300 * c, 1});
    }
  }
  auto const wide = csr<iso::half, std::int32_t>(exec, apart);
  CHECK(iso::sparse::measure_format(exec, wide, 4, 16).fill == 1);
  CHECK(iso::sparse::choose_format(exec, wide, processor::host).rows == 1);
  CHECK(iso::sparse::choose_format(exec, wide, processor::wide_host).rows == 8);
  CHECK(iso::sparse::choose_format(exec, wide, processor::device).rows == 8);
  // Neighbours that share nothing stay rows; a GPU then takes columns of 16 bits where they reach.
  for (auto const kind : {processor::host, processor::wide_host, processor::device}) {
    auto const check_rows = [&](auto const& matrix, int bits) {
      auto const chosen = iso::sparse::choose_format(exec, matrix, kind);
      CHECK(chosen.rows == 1);
      CHECK(chosen.offset_bits == bits);
    };
    int const narrow = kind == processor::device ? 16 : 32;
    check_rows(csr<iso::half, std::int32_t>(exec, alone), narrow);
    check_rows(csr<iso::half, std::uint16_t>(exec, alone), narrow);
    alone.cols = 1 << 20;  // more columns than 16 bits reach, rows that they do
    check_rows(csr<iso::half, std::int32_t>(exec, alone), narrow);
    alone.rows[40].push_back({65535 + 40, 1});
    check_rows(csr<iso::half, std::int32_t>(exec, alone), narrow);
    alone.rows[40].back().column += 1;
    check_rows(csr<iso::half, std::int32_t>(exec, alone), 32);
    alone.rows[40].pop_back();
    check_rows(csr<float, std::int32_t>(exec, dense), 32);
    check_rows(csr<iso::half, std::int32_t>(exec, lists{4, {{}, {}}}), 32);
  }
  CHECK_THROWS_WITH_AS(iso::sparse::measure_format(exec, a, 3, 8),
                       "iso::sparse::measure_format: 3 rows a group, offsets of 8 bits (2, 4 or 8 "
                       "rows go with 8 or 16 bits, 1 with 16 or 32)",
                       iso::invalid_argument);
}

TEST_CASE("grouped: what a product in a format costs on a host and on a device") {
  using iso::sparse::processor;
  using iso::sparse::product_cost;
  auto const both = [](double bytes, double reads) {
    return std::pow(std::pow(bytes, 4) + std::pow(6.3 * reads, 4), 0.25);
  };
  iso::sparse::format_report const plain{.bytes_per_entry = 6};
  CHECK(product_cost(plain, processor::device) == doctest::Approx(both(6, 1)));
  CHECK(product_cost(plain, processor::host) == doctest::Approx(2.95));
  iso::sparse::format_report const narrow{.offset_bits = 16, .bytes_per_entry = 4};
  CHECK(product_cost(narrow, processor::device) == doctest::Approx(both(4, 1)));
  CHECK(product_cost(narrow, processor::host) == doctest::Approx(1.3 * 2.95));
  CHECK(product_cost(narrow, processor::wide_host) == product_cost(plain, processor::wide_host));
  // Two thirds of the places in four rows are entries.
  iso::sparse::format_report grouped{.rows = 4,
                                     .offset_bits = 16,
                                     .bytes_per_entry = 4,
                                     .fill = 2 / 3.0,
                                     .reads_per_entry = 3 / 8.0};
  CHECK(product_cost(grouped, processor::device) == doctest::Approx(both(4, 0.375)));
  CHECK(product_cost(grouped, processor::host) == doctest::Approx((1.95 + 0.25) * 1.5));
  CHECK(product_cost(grouped, processor::wide_host) == doctest::Approx((0.6 + 0.25) * 1.5));
  grouped.offset_bits = 8;
  CHECK(product_cost(grouped, processor::device) == doctest::Approx(1.06 * both(4, 0.375)));
  CHECK(product_cost(grouped, processor::host) == doctest::Approx(1.4 * (1.95 + 0.25) * 1.5));
  CHECK(product_cost(grouped, processor::wide_host) == doctest::Approx(1.3 * (0.6 + 0.25) * 1.5));
  iso::sparse::format_report const paired{
      .rows = 8, .offset_bits = 16, .paired = true, .bytes_per_entry = 3, .reads_per_entry = 0.2};
  CHECK(product_cost(paired, processor::device) == doctest::Approx(1.04 * both(3, 0.2)));
}

TEST_CASE("grouped: conversion refuses, with counts") {
  CHECK(grouped_refusal({9, {{{0, 1}, {3, 0.0}}}}) == "");
  char const* const why =
      " (rows must ascend, and negative zero marks what is no entry) sort, add up or drop them";
  CHECK(
      grouped_refusal({9, {{{3, 1}, {0, 1}, {2, 1}, {1, 1}}, {{1, 1}, {0, 1}}}}) ==
      std::string("iso::sparse::make_grouped: 3 entries left of the one before them, 0 doubled, 0 "
                  "negative zeros") +
          why);
  CHECK(
      grouped_refusal({9, {{{3, 1}, {3, 1}}, {{1, -0.0}, {2, -0.0}}}}) ==
      std::string("iso::sparse::make_grouped: 0 entries left of the one before them, 1 doubled, 2 "
                  "negative zeros") +
          why);
  CHECK(grouped_refusal({9, {{{3, 1}}, {{9, 1}}}}) ==
        "iso::sparse::make_grouped: entry 1 of row 1 lies in column 9 (there are 9); 1 are out of "
        "range");
}

TEST_CASE_TEMPLATE("grouped: ordered sums in the order of places", Value, iso::half, bfloat16) {
  Kokkos::Serial const exec;
  for (unsigned seed = 0; seed < 4; ++seed) {
    auto const m = dose_like(45, 3000, seed, 0.3);
    auto const a = csr<Value, std::int32_t>(exec, m);
    auto const x = some_vector(m.cols);
    for_each_format([&](auto rows, auto offset) {
      auto const g = iso::sparse::make_grouped<rows, decltype(offset)>(exec, a);
      auto const y = product(exec, g, x, {.sum = sum_order::ordered});
      for (std::int64_t r = 0; r < m.num_rows(); ++r) {
        REQUIRE(y[std::size_t(r)] == tree_sum(slots_of(g, r), x));
      }
      if (rows < 8) {
        CHECK(of_copies(exec, g, x, y) == "");
      }
      require_orders_of_several_vectors(exec, g);
    });
  }
}

TEST_CASE_TEMPLATE("grouped: order-free sums have the bits of csr_view, bounds too", Value,
                   iso::half, bfloat16) {
  for_each_instance([&](auto const& exec) {
    for (unsigned seed = 0; seed < 3; ++seed) {
      auto const m = dose_like(61, 3000, seed, 0.3, 0.5);
      auto const a = csr<Value, std::int32_t>(exec, m);
      auto const bounds = iso::sparse::make_bounds(exec, a);
      for (std::int64_t const k : {1, 3, 4, 6}) {
        auto x = some_vector(m.cols, k);
        auto const y = some_vector(m.num_rows(), k, 3);
        how const h{.alpha = 1.5, .beta = -2, .vectors = k};
        auto const expected = product(exec, a, x, y, h);
        CHECK(difference(expected, product(exec, csr<Value, std::uint16_t>(exec, m), x, y, h)) ==
              "");
        for_each_format([&](auto rows, auto offset) {
          auto const g = iso::sparse::make_grouped<rows, decltype(offset)>(exec, a);
          CHECK(difference(expected, product(exec, g, x, y, h)) == "");
          auto const same = iso::sparse::make_bounds(exec, g);
          CHECK(difference(to_vector(bounds.largest), to_vector(same.largest)) == "");
          CHECK(difference(to_vector(bounds.entries), to_vector(same.entries)) == "");
        });
      }
    }
  });
}

TEST_CASE("grouped: fill times infinity or NaN is nothing") {
  // Row r has the columns whose number is not r mod 5: every group has fill everywhere.
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
      for_each_format([&](auto rows, auto offset) {
        auto const g = iso::sparse::make_grouped<rows, decltype(offset)>(exec, a);
        for (auto const sum : {sum_order::ordered, sum_order::order_free}) {
          auto const y = product(exec, g, x, {.sum = sum});
          for (std::size_t r = 0; r < 23; ++r) {
            CHECK(std::isfinite(y[r]) == (r % 5 == 0));
          }
          CHECK(difference(product(exec, a, x), product(exec, g, x)) == "");
        }
        // Of four vectors the second has it.
        auto four = some_vector(200, 4);
        four[41] = bad;
        for (auto const sum : {sum_order::ordered, sum_order::order_free}) {
          auto const y = product(exec, g, four, {.sum = sum, .vectors = 4});
          for (std::size_t n = 0; n < y.size(); ++n) {
            CHECK(std::isfinite(y[n]) == (n % 4 != 1 || n / 4 % 5 == 0));
          }
        }
      });
    }
  });
}
