// SPDX-License-Identifier: BSD-3-Clause
// The paired format: exact round trip, its own order, and order-free sums with the bits of CSR.
#include <doctest/doctest.h>

#include "slot_sums.hpp"
#include "sparse_support.hpp"

#include <iso/sparse/validate_grouped.hpp>

namespace {

using namespace sparse_support;
using iso::sparse::make_paired;

/// Groups of eight rows whose halves share some columns and not others.
lists halves_apart(std::int64_t rows, std::int32_t cols, unsigned seed) {
  auto m = dose_like(rows, cols, seed, 0.1, 0.9);
  std::mt19937_64 random(seed + 100);
  for (std::size_t r = 0; r < m.rows.size(); ++r) {
    std::erase_if(m.rows[r], [&](item const& e) {
      auto const share = e.column / 50 % 4;  // in stretches: both halves, one, the other, neither
      return share == 3 || (share == 1 && r % 8 >= 4) || (share == 2 && r % 8 < 4) ||
             random() % 16 == 0;
    });
  }
  return m;
}

template <class Value, class Exec>
void check_paired_round_trip(Exec const& exec, lists const& m) {
  auto const a = csr<Value, std::int32_t>(exec, m);
  auto const p = make_paired(exec, a);
  auto const back = iso::sparse::to_csr(exec, p);
  CHECK(back.num_rows == a.num_rows);
  CHECK(back.num_cols == a.num_cols);
  CHECK(difference(to_vector(back.row_offsets), to_vector(a.row_offsets)) == "");
  CHECK(difference(to_vector(back.columns), to_vector(a.columns)) == "");
  CHECK(difference(to_vector(back.values), to_vector(a.values)) == "");
  if (m.cols <= 65536) {
    auto const narrow = make_paired(exec, csr<Value, std::uint16_t>(exec, m));
    CHECK(difference(to_vector(narrow.values), to_vector(p.values)) == "");
    CHECK(difference(to_vector(narrow.shared.values), to_vector(p.shared.values)) == "");
  }
  auto const report = iso::sparse::measure_paired(exec, a);
  CHECK(report.paired);
  CHECK(report.slots == p.num_pair_slots() + p.shared.num_slots());
  CHECK(iso::sparse::validate(exec, p).found == iso::sparse::fault::none);
}

std::string paired_refusal(lists const& m) {
  Kokkos::Serial const exec;
  try {
    make_paired(exec, csr<iso::half, std::int32_t>(exec, m));
  } catch (iso::invalid_argument const& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("paired: columns that a half does not use share their places") {
  Kokkos::Serial const exec;
  // Upper half: 1, 2, 5 (and 70000, too far from 5 for one slot); lower half: 2, 9. Shared: 2.
  lists const m{70001,
                {{{1, 1}, {2, 2}}, {{5, 3}, {70000, 4}}, {}, {}, {{2, 5}}, {}, {{9, 6}}, {{9, 7}}}};
  auto const p = make_paired(exec, csr<iso::half, std::int32_t>(exec, m));
  REQUIRE(p.shared.num_slots() == 1);
  CHECK(p.shared.entries == 2);
  CHECK(p.shared.bases(0).first == 2);
  CHECK(double(p.shared.values(0)) == 2);
  CHECK(double(p.shared.values(4)) == 5);
  REQUIRE(p.num_pair_slots() == 2);
  CHECK(p.bases(0).upper == 1);
  CHECK(p.bases(0).lower == 9);
  CHECK(p.offsets(1).upper == 4);
  CHECK(p.bases(1).upper == 70000);
  // Place 0: column 1 of row 0, column 9 of rows 6 and 7.
  CHECK(double(p.values(0)) == 1);
  CHECK(double(p.values(6)) == 6);
  CHECK(double(p.values(7)) == 7);
  CHECK(double(p.values(8 + 1)) == 3);
  CHECK(double(p.values(8 * 32 + 1)) == 4);
}

TEST_CASE_TEMPLATE("paired: conversion there and back changes nothing", Value, iso::half,
                   bfloat16) {
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    typename decltype(tag)::execution_space const exec;
    check_paired_round_trip<Value>(exec, lists{5, {}});
    check_paired_round_trip<Value>(exec, lists{0, {{}, {}, {}}});
    check_paired_round_trip<Value>(exec, lists{1, {{}, {{0, 1}}, {}}});
    for (unsigned seed = 0; seed < 9; ++seed) {
      CAPTURE(seed);
      check_paired_round_trip<Value>(exec,
                                     dose_like(3 + 11 * int(seed), 2000, seed, 0.5, 0.1 * seed));
      check_paired_round_trip<Value>(exec, halves_apart(16 + int(seed), 5000, seed));
    }
    // Gaps at the limits of offsets; stored zeros, infinity and NaN; a lower half alone.
    lists far{140000, std::vector<std::vector<item>>(13)};
    far.rows[0] = {{0, 1}, {65535, 2}, {65536, 3}, {131071, 4}};
    far.rows[3] = {{1, 0.0}, {2, infinity}, {65537, nan_value}};
    far.rows[12] = {{3, -0.25}, {139999, 1}};
    check_paired_round_trip<Value>(exec, far);
  });
}

TEST_CASE_TEMPLATE("paired: ordered sums in the order of places", Value, iso::half, bfloat16) {
  Kokkos::Serial const exec;
  for (unsigned seed = 0; seed < 3; ++seed) {
    // The last is of many parts: 40 000 columns, half of them in pairs.
    auto const m = halves_apart(seed == 2 ? 13 : 45, seed == 2 ? 40000 : 3000, seed);
    auto const p = make_paired(exec, csr<Value, std::int32_t>(exec, m));
    REQUIRE(p.num_pair_slots() > 0);
    REQUIRE(p.shared.num_slots() > 0);
    if (seed == 2) {
      REQUIRE(iso::sparse::make_plan(exec, p).num_parts > 2);
    }
    auto const x = some_vector(m.cols);
    auto const y = product(exec, p, x, {.sum = sum_order::ordered});
    for (std::int64_t r = 0; r < m.num_rows(); ++r) {
      REQUIRE(y[std::size_t(r)] == tree_sum(slots_of(p, r), x));
    }
    require_orders_of_several_vectors(exec, p);
  }
}

TEST_CASE_TEMPLATE("paired: order-free sums have the bits of csr_view, bounds too", Value,
                   iso::half, bfloat16) {
  for_each_instance([&](auto const& exec) {
    for (unsigned seed = 0; seed < 4; ++seed) {
      auto const m = seed < 2 ? dose_like(61, 3000, seed, 0.3, 0.5)
                              : halves_apart(30, seed == 2 ? 4000 : 30000, seed);
      auto const a = csr<Value, std::int32_t>(exec, m);
      auto const p = make_paired(exec, a);
      auto const bounds = iso::sparse::make_bounds(exec, a);
      auto const same = iso::sparse::make_bounds(exec, p);
      CHECK(difference(to_vector(bounds.largest), to_vector(same.largest)) == "");
      CHECK(difference(to_vector(bounds.entries), to_vector(same.entries)) == "");
      for (std::int64_t const k : {1, 2, 3, 4, 5, 8}) {
        auto const x = some_vector(m.cols, k);
        auto const y = some_vector(m.num_rows(), k, 3);
        how const h{.alpha = 1.5, .beta = -2, .vectors = k};
        CHECK(difference(product(exec, a, x, y, h), product(exec, p, x, y, h)) == "");
      }
    }
  });
}

TEST_CASE("paired: fill times infinity or NaN is nothing") {
  auto const m = halves_apart(23, 400, 5);
  for_each_instance([&](auto const& exec) {
    auto const a = csr<iso::half, std::int32_t>(exec, m);
    auto const p = make_paired(exec, a);
    Kokkos::Serial const serial;
    auto const on_host = make_paired(serial, csr<iso::half, std::int32_t>(serial, m));
    for (double const bad : {infinity, -infinity, nan_value}) {
      // Column 0 is what places without a column name.
      for (std::size_t const at : {0, 60, 110}) {
        auto x = some_vector(400);
        x[at] = bad;
        for (auto const sum : {sum_order::ordered, sum_order::order_free}) {
          auto const y = product(exec, p, x, {.sum = sum});
          for (std::size_t r = 0; r < y.size(); ++r) {
            bool const has = std::any_of(m.rows[r].begin(), m.rows[r].end(), [&](item const& e) {
              return std::size_t(e.column) == at;
            });
            CHECK(std::isfinite(y[r]) == !has);
          }
        }
        CHECK(difference(product(exec, a, x), product(exec, p, x)) == "");
        // Of four vectors the third has it.
        auto four = some_vector(400, 4);
        four[4 * at + 2] = bad;
        auto const y = product(exec, p, four, {.sum = sum_order::ordered, .vectors = 4});
        for (std::int64_t r = 0; r < m.num_rows(); ++r) {
          for (std::int64_t k = 0; k < 4; ++k) {
            double const expected = chained_sum(slots_of(on_host, r), four, k, 4);
            double const found = y[std::size_t(4 * r + k)];
            CHECK((found == expected || (std::isnan(found) && std::isnan(expected))));
          }
        }
        how const free{.sum = sum_order::order_free, .vectors = 4};
        CHECK(difference(product(exec, a, four, free), product(exec, p, four, free)) == "");
      }
    }
  });
}

TEST_CASE("paired: four vectors of numbers of every size are added as written down, everywhere") {
  std::mt19937_64 random(11);
  auto const m = halves_apart(40, 9000, 2);
  std::vector<double> x(std::size_t(m.cols) * 4);
  for (std::size_t i = 0; i < x.size(); ++i) {
    // From below the normal numbers to near the largest, and zeros of both signs.
    double const size = std::ldexp(1 + double(random() % 4096) / 4096, int(random() % 2060) - 1070);
    x[i] = (random() % 7 == 0 ? 0 : size) * (random() % 2 == 0 ? 1 : -1);
  }
  // The second vector has subnormal numbers alone, the third those of one size, which cancel.
  for (std::size_t i = 0; i < x.size(); i += 4) {
    x[i + 1] = std::ldexp(double(random() % 4096) - 2048, -1074);
    x[i + 2] = double(random() % 4096) - 2048;
  }
  Kokkos::Serial const serial;
  auto const p = make_paired(serial, csr<iso::half, std::int32_t>(serial, m));
  std::vector<double> expected;
  for (std::int64_t r = 0; r < m.num_rows(); ++r) {
    for (std::int64_t k = 0; k < 4; ++k) {
      expected.push_back(chained_sum(slots_of(p, r), x, k, 4));
    }
  }
  for_each_instance([&](auto const& exec) {
    auto const here = make_paired(exec, csr<iso::half, std::int32_t>(exec, m));
    CHECK(difference(expected, product(exec, here, x, {.sum = sum_order::ordered, .vectors = 4})) ==
          "");
  });
}

TEST_CASE("paired: a sum that is zero is +0, whatever stands beside it") {
  // Products that underflow to -0, in slots of few columns: row 0 has more of them than the others,
  // rows 4 to 7 some of their own. Fill times x and what pads a slot may have either sign.
  lists m{200, std::vector<std::vector<item>>(8)};
  for (std::size_t r = 0; r < 8; ++r) {
    for (std::int32_t c = 0; c < 12; ++c) {
      m.rows[r].push_back({c, -0.125});
    }
    for (std::int32_t c = 0; c < 5 && r == 0; ++c) {
      m.rows[r].push_back({20 + c, -0.125});
    }
    for (std::int32_t c = 0; c < 3 && r >= 4; ++c) {
      m.rows[r].push_back({100 + c, -0.125});
    }
  }
  for_each_instance([&](auto const& exec) {
    auto const a = csr<iso::half, std::int32_t>(exec, m);
    auto const p = make_paired(exec, a);
    auto const grouped = iso::sparse::make_grouped<8, std::uint16_t>(exec, a);
    for (std::int64_t const k : {1, 2, 3, 4}) {
      CAPTURE(k);
      std::vector<double> x(std::size_t(200 * k), 0x1p-1074);
      // What is not finite, of the last vector, has a group's sums repeated.
      for (double const last : {0x1p-1074, -0x1p-1074, infinity}) {
        x[std::size_t(20 * k + k - 1)] = last;
        how const h{.sum = sum_order::ordered, .vectors = k};
        for (auto const& y :
             {product(exec, a, x, h), product(exec, p, x, h), product(exec, grouped, x, h)}) {
          for (std::size_t n = 0; n < y.size(); ++n) {
            bool const has = std::isinf(last) && n == std::size_t(k - 1);  // row 0, the last vector
            CHECK(std::isinf(y[n]) == has);
            CHECK((has || (y[n] == 0 && !std::signbit(y[n]))));
          }
        }
      }
    }
  });
}

TEST_CASE("paired: conversion and products refuse, with numbers") {
  CHECK(paired_refusal({9, {{{3, 1}, {0, 1}, {2, 1}}, {{1, -0.0}}}}) ==
        "iso::sparse::make_paired: 1 entries left of the one before them, 0 doubled, 1 negative "
        "zeros (rows must ascend, and negative zero marks what is no entry) sort, add up or drop "
        "them");
  CHECK(paired_refusal({9, {{{3, 1}}, {{9, 1}}}}) ==
        "iso::sparse::make_paired: entry 1 of row 1 lies in column 9 (there are 9); 1 are out of "
        "range");
  Kokkos::Serial const exec;
  auto const a = csr<iso::half, std::int32_t>(exec, halves_apart(40, 3000, 1));
  auto const p = make_paired(exec, a);
  auto const grouped = iso::sparse::make_grouped<8, std::uint16_t>(exec, a);
  auto const plan = iso::sparse::make_plan(exec, grouped);
  auto const right = iso::sparse::make_plan(exec, p);
  iso::workspace<host> const scratch(iso::sparse::spmv_bytes_needed<double>(p, right, 1));
  auto const x = on(exec, some_vector(a.num_cols));
  auto const y = on(exec, some_vector(a.num_rows));
  CHECK_THROWS_AS(iso::sparse::spmv(exec, 1.0, p, x, 0.0, y, plan, scratch), iso::invalid_argument);
  CHECK_THROWS_AS(iso::sparse::spmv(exec, 1.0, grouped, x, 0.0, y, right, scratch),
                  iso::invalid_argument);
  // As many entries and slots, but of the other kind.
  auto const both =
      make_paired(exec, csr<iso::half, std::int32_t>(exec, {2, {{{0, 1}}, {}, {}, {}, {{0, 1}}}}));
  auto const upper =
      make_paired(exec, csr<iso::half, std::int32_t>(exec, {2, {{{0, 1}}, {{0, 1}}, {}, {}, {}}}));
  CHECK_THROWS_AS(
      iso::sparse::spmv(exec, 1.0, upper, on(exec, some_vector(2)), 0.0, on(exec, some_vector(5)),
                        iso::sparse::make_plan(exec, both), scratch),
      iso::invalid_argument);
  auto wrong = p;
  wrong.shared.num_cols = 7;
  CHECK_THROWS_WITH_AS(
      iso::sparse::make_plan(exec, wrong),
      "iso::sparse::make_bounds: shared columns of a matrix of 40 x 7 (the whole is 40 x 3000)",
      iso::invalid_argument);
  wrong = p;
  wrong.shared.entries = p.entries + 1;
  CHECK_THROWS_AS(iso::sparse::make_plan(exec, wrong), iso::invalid_argument);
  wrong = p;
  wrong.entries -= 1;
  CHECK_THROWS_AS(iso::sparse::to_csr(exec, wrong), iso::invalid_argument);
}

TEST_CASE("paired: what it costs, and when a device takes it") {
  Kokkos::Serial const exec;
  using iso::sparse::processor;
  // Halves that share three columns of four: a quarter of the places would be half fill.
  lists m{4000, std::vector<std::vector<item>>(64)};
  for (std::size_t r = 0; r < 64; ++r) {
    for (std::int32_t c = 0; c < 4000; ++c) {
      if (c / 100 % 4 != 3 || c / 400 % 2 == (r % 8 < 4 ? 0 : 1)) {
        m.rows[r].push_back({c, 1});
      }
    }
  }
  auto const a = csr<iso::half, std::int32_t>(exec, m);
  auto const p = make_paired(exec, a);
  auto const report = iso::sparse::measure_paired(exec, a);
  double const bytes =
      double(8 * p.slot_offsets.size() + 8 * p.bases.size() + 4 * p.offsets.size() +
             2 * p.values.size() + 8 * p.shared.slot_offsets.size() + 4 * p.shared.bases.size() +
             2 * p.shared.offsets.size() + 2 * p.shared.values.size());
  auto const entries = double(a.num_entries());
  CHECK(report.bytes_per_entry == doctest::Approx(bytes / entries));
  CHECK(report.reads_per_entry ==
        doctest::Approx(double(p.shared.offsets.size() + 2 * p.offsets.size()) / entries));
  CHECK(report.fill == doctest::Approx(entries / double(p.values.size() + p.shared.values.size())));
  CHECK(iso::sparse::choose_format(exec, a, processor::device).paired);
  CHECK_FALSE(iso::sparse::choose_format(exec, a, processor::host).paired);
  CHECK_FALSE(iso::sparse::choose_format(exec, a, processor::wide_host).paired);
}
