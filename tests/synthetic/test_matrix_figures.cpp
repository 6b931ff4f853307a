// SPDX-License-Identifier: BSD-3-Clause
// Synthetic dose matrices against the figures of the published table.
#include "generate_support.hpp"
#include "instances.hpp"

#include <iso/core/error.hpp>
#include <iso/synthetic/detail/counter_random.hpp>
#include <iso/synthetic/generate.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace {

using namespace iso::synthetic;
using iso::test::fault;
using iso::test::on_host;

struct published {
  plan_case which;
  double rows;
  double columns;
  double nonzeros;
  double short_share;
};
// Liu et al. 2021, Table I and figure 2.
constexpr published table[] = {
    {plan_case::liver_1, 2.97e6, 6.80e4, 1.48e9, 0.056},
    {plan_case::liver_2, 2.97e6, 6.77e4, 1.28e9, 0.056},
    {plan_case::liver_3, 2.97e6, 6.99e4, 1.39e9, 0.056},
    {plan_case::liver_4, 2.97e6, 6.32e4, 1.84e9, 0.056},
    {plan_case::prostate_1, 1.03e6, 5.09e3, 9.50e7, 0.142},
    {plan_case::prostate_2, 1.03e6, 4.96e3, 9.51e7, 0.142},
};

/// The mean share of a row's columns that the next row has too.
double shared(iso::test::host_csr const& a) {
  double common = 0;
  double all = 0;
  for (std::int64_t r = 1; r < a.rows; ++r) {
    auto const before = a.columns_of(r - 1, r);
    auto const here = a.columns_of(r, r + 1);
    if (!before.empty() && !here.empty()) {
      all += double(here.size());
      common += double(
          std::count_if(here.begin(), here.end(), [&](auto c) { return before.count(c) != 0; }));
    }
  }
  return common / all;
}

}  // namespace

TEST_CASE("all six matrices of the table have its figures, and so have scaled ones") {
  for (auto const& row : table) {
    CAPTURE(row.nonzeros);
    auto const whole = table_of(row.which);
    CHECK(double(whole.rows) == row.rows);
    CHECK(double(whole.columns) == row.columns);
    CHECK(double(whole.nonzeros) == row.nonzeros);
    for (double const factor : {0.01, 0.003}) {
      // Of the larger, one of each kind.
      if (factor == 0.01 && row.which != plan_case::liver_4 && row.which != plan_case::prostate_1) {
        continue;
      }
      auto const a = on_host(
          generate<iso::half>(Kokkos::DefaultHostExecutionSpace(), table_of(row.which, factor)));
      CAPTURE(factor);
      CHECK(fault(a).empty());
      CHECK(std::abs(double(a.rows) - factor * row.rows) <= 0.5);
      CHECK(double(a.columns) == row.columns);
      double const nonzeros = double(a.places.size());
      double const margin = a.rows >= 5000 ? 0.01 : 0.03;
      CHECK(nonzeros == doctest::Approx(factor * row.nonzeros).epsilon(margin));
      std::int64_t empty = 0;
      std::int64_t few = 0;
      std::int64_t longest = 0;
      for (std::int64_t r = 0; r < a.rows; ++r) {
        empty += a.length(r) == 0 ? 1 : 0;
        few += a.length(r) > 0 && a.length(r) < 32 ? 1 : 0;
        longest = std::max(longest, a.length(r));
      }
      CHECK(double(empty) / double(a.rows) == doctest::Approx(0.7).epsilon(0.01));
      CHECK(std::abs(double(few) / double(a.rows - empty) - row.short_share) < 0.012);
      std::int64_t const most = row.columns > 1e4 ? 16000 : 1800;
      CHECK(longest <= most);
      CHECK(double(longest) > 0.9 * double(most));
    }
  }
}

TEST_CASE("the same bits on every backend with any number of threads, and from every precision") {
  for (double const similarity : {1.0, 0.4, 0.0}) {
    auto figures = table_of(plan_case::prostate_1, 0.004);
    figures.similarity = similarity;
    auto const expected = on_host(generate<iso::half>(Kokkos::Serial(), figures));
    iso::test::for_each_instance([&](auto const& exec) {
      CHECK(on_host(generate<iso::half>(exec, figures)) == expected);
      CHECK(on_host(generate<float>(exec, figures)) == expected);
      CHECK(on_host(generate<double>(exec, figures)) == expected);
      auto const coarse = on_host(generate<iso::bfloat16>(exec, figures));
      CHECK(coarse.places == expected.places);
      CHECK(coarse.values[7] == doctest::Approx(expected.values[7]).epsilon(0.004));
    });
  }
}

TEST_CASE("values are doses: positive, over four decades, normal numbers of half precision") {
  auto const a =
      on_host(generate<iso::half>(Kokkos::Serial(), table_of(plan_case::prostate_2, 0.01)));
  auto const [least, greatest] = std::minmax_element(a.values.begin(), a.values.end());
  CHECK(*least >= 0x1p-14);
  CHECK(*least < 1e-3);
  CHECK(*greatest > 4);
  CHECK(*greatest <= 8);
}

TEST_CASE("similarity is what neighbours have in common") {
  auto figures = table_of(plan_case::prostate_1, 0.005);
  double last = 1;
  for (double const similarity : {1.0, 0.5, 0.0}) {
    figures.similarity = similarity;
    double const found = shared(on_host(generate<float>(Kokkos::Serial(), figures)));
    CAPTURE(similarity);
    CHECK(found < last - 0.2 * (similarity < 1 ? 1 : 0));
    last = found;
  }
  CHECK(last < 0.15);
  figures.similarity = 1;
  CHECK(shared(on_host(generate<float>(Kokkos::Serial(), figures))) > 0.9);
}

TEST_CASE("groups of four related rows fill their common columns as real plans do") {
  auto const a = on_host(generate<float>(Kokkos::Serial(), table_of(plan_case::liver_1, 0.002)));
  double places = 0;
  for (std::int64_t r = 0; r + 4 <= a.rows; r += 4) {
    places += 4 * double(a.columns_of(r, r + 4).size());
  }
  double const fill = double(a.places.size()) / places;
  CHECK(fill > 0.82);
  CHECK(fill < 0.90);
}

TEST_CASE("another seed is another matrix with the same figures") {
  auto figures = table_of(plan_case::prostate_1, 0.01);
  auto const a = on_host(generate<float>(Kokkos::Serial(), figures));
  figures.seed = 77;
  auto const b = on_host(generate<float>(Kokkos::Serial(), figures));
  CHECK(a.places != b.places);
  CHECK(double(a.places.size()) == doctest::Approx(double(b.places.size())).epsilon(0.02));
}

TEST_CASE("small and odd shapes are matrices") {
  for (std::int64_t const rows : {1, 31, 33, 1000}) {
    for (std::int64_t const columns : {256, 319, 1000}) {
      for (double const similarity : {0.0, 0.7, 1.0}) {
        matrix_figures figures;
        figures.rows = rows;
        figures.columns = columns;
        figures.empty_share = 0.3;
        figures.longest = columns < 400 ? 84 : 300;
        figures.short_share = 0.5;
        std::int64_t const filled = std::max<std::int64_t>(1, std::llround(0.7 * double(rows)));
        figures.nonzeros = filled * (columns < 400 ? 30 : 60);
        figures.similarity = similarity;
        CAPTURE(rows);
        CAPTURE(columns);
        CHECK(fault(on_host(generate<float>(Kokkos::Serial(), figures))).empty());
      }
    }
  }
}

TEST_CASE("the random order is a permutation") {
  for (std::int64_t const count : {1, 2, 3, 17, 64, 1000, 4097}) {
    detail::random_order const order(99, count);
    std::vector<bool> seen(std::size_t(count), false);
    for (std::int64_t i = 0; i < count; ++i) {
      auto const at = order(i);
      REQUIRE(at >= 0);
      REQUIRE(at < count);
      CHECK_FALSE(seen[std::size_t(at)]);
      seen[std::size_t(at)] = true;
    }
  }
}

TEST_CASE("figures that no matrix has are refused by name and value") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  auto const with = [](auto change) {
    matrix_figures figures;
    change(figures);
    return generate<float>(Kokkos::Serial(), figures);
  };
  std::string const name = "iso::synthetic::generate: ";
  auto const refused = [&](auto change, std::string const& sentence) {
    CHECK_THROWS_WITH_AS(with(change), (name + sentence).c_str(), iso::invalid_argument);
  };
  CHECK_NOTHROW(with([](auto&) {}));

  std::string const shape =
      " columns (rows must be from 1, columns from 256, both to 2147483647); choose extents "
      "between";
  refused([](auto& f) { f.rows = 0; }, "0 rows x 5000" + shape);
  refused([](auto& f) { f.columns = 255; }, "100000 rows x 255" + shape);
  refused([](auto& f) { f.rows = std::int64_t(1) << 31; }, "2147483648 rows x 5000" + shape);
  refused([](auto& f) { f.columns = std::int64_t(1) << 31; }, "100000 rows x 2147483648" + shape);
  std::string const shares = " (each must be from 0 to below 1); give shares of the rows";
  refused([&](auto& f) { f.empty_share = nan; }, "empty share nan, short share 0.1" + shares);
  refused([](auto& f) { f.empty_share = 1; }, "empty share 1, short share 0.1" + shares);
  refused([](auto& f) { f.short_share = -0.1; }, "empty share 0.7, short share -0.1" + shares);
  refused([&](auto& f) { f.similarity = nan; },
          "similarity nan (must be from 0 to 1); give the share of rows that are like their "
          "neighbours");
  refused([](auto& f) { f.similarity = 1.1; },
          "similarity 1.1 (must be from 0 to 1); give the share of rows that are like their "
          "neighbours");
  refused([](auto& f) { f.longest = 32; },
          "longest row 32 (must be from 33 to 2156 with 5000 columns); choose a length between");
  refused([](auto& f) { f.longest = 2157; },
          "longest row 2157 (must be from 33 to 2156 with 5000 columns); choose a length between");
  refused(
      [](auto& f) { f.rows = 1; },
      "no row is left (of 1 rows a share of 0.7 is empty); ask for more rows, or fewer empty ones");
  // The bounds that end the sentence come from the host's exp and log.
  auto const begins = [&](auto change, std::string const& sentence) {
    CHECK_THROWS_WITH_AS(with(change), doctest::Contains((name + sentence).c_str()),
                         iso::invalid_argument);
  };
  std::string const lengths = " a row that is not empty (must be from ";
  begins([](auto& f) { f.nonzeros = 0; }, "0 non-zeros, 0" + lengths);
  begins([](auto& f) { f.nonzeros = 3000000000; }, "3000000000 non-zeros, 100000" + lengths);
}

TEST_CASE("a table is scaled by a factor that is positive and not too large") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  auto const refused = [](double factor, char const* sentence) {
    CHECK_THROWS_WITH_AS(table_of(plan_case::liver_1, factor), sentence, iso::invalid_argument);
  };
  refused(0,
          "iso::synthetic::table_of: factor 0 (must be positive, at most 100); use 1 for the "
          "matrix of the table");
  refused(-1,
          "iso::synthetic::table_of: factor -1 (must be positive, at most 100); use 1 for the "
          "matrix of the table");
  refused(nan,
          "iso::synthetic::table_of: factor nan (must be positive, at most 100); use 1 for the "
          "matrix of the table");
  refused(100.5,
          "iso::synthetic::table_of: factor 100.5 (must be positive, at most 100); use 1 for the "
          "matrix of the table");
}
