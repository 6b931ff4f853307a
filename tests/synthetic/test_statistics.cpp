// SPDX-License-Identifier: BSD-3-Clause
// Counts against a matrix written out by hand, and against counting one by one.
#include "generate_support.hpp"
#include "instances.hpp"

#include <iso/backend/registry.hpp>
#include <iso/sparse/convert.hpp>
#include <iso/synthetic/generate.hpp>
#include <iso/synthetic/statistics.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace {

using namespace iso::synthetic;
using namespace iso::sparse;

template <class Column, class Exec>
csr_view<float, Column, typename Exec::memory_space> matrix_of(
    Exec const& exec, std::int64_t columns, std::vector<std::vector<int>> const& rows, int base) {
  std::int64_t entries = 0;
  for (auto const& row : rows) {
    entries += std::int64_t(row.size());
  }
  auto const a = make_csr<float, Column>(exec, "a", std::int64_t(rows.size()), columns, entries);
  auto const offsets = Kokkos::create_mirror_view(a.row_offsets);
  auto const places = Kokkos::create_mirror_view(a.columns);
  auto const bases = Kokkos::create_mirror_view(a.row_bases);
  std::int64_t at = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    offsets(r) = at;
    for (int const c : rows[r]) {
      places(at++) = Column(c - (a.relative ? base : 0));
    }
    if (a.relative) {
      bases(r) = base;
    }
  }
  offsets(rows.size()) = at;
  Kokkos::deep_copy(a.row_offsets, offsets);
  Kokkos::deep_copy(a.columns, places);
  Kokkos::deep_copy(a.row_bases, bases);
  return a;
}

}  // namespace

TEST_CASE_TEMPLATE("a matrix written out by hand", Column, std::int32_t, std::uint16_t) {
  iso::backend::for_each([](auto tag) {
    using exec = typename decltype(tag)::execution_space;
    INFO(tag.name);
    // Runs: 3; 2 and 1; none; 1 and 1 (256 apart); 1.
    auto const a = matrix_of<Column>(
        exec(), 1000, {{10, 11, 12}, {11, 12, 20}, {}, {20, 276}, {276}, {}, {}, {}, {300}}, 10);
    auto const s = statistics(exec(), a);
    CHECK(s.rows == 9);
    CHECK(s.columns == 1000);
    CHECK(s.nonzeros == 10);
    CHECK(s.empty_rows == 4);
    CHECK(s.short_rows == 5);
    CHECK(s.longest == 3);
    CHECK(s.row_lengths[0] == 2);
    CHECK(s.row_lengths[1] == 3);
    CHECK(s.runs == 7);
    CHECK(s.run_lengths[0] == 5);
    CHECK(s.run_lengths[1] == 2);
    CHECK(s.gaps == 2);
    CHECK(s.wide_gaps == 1);
    CHECK(s.neighbour_rows == 2);     // rows 0 and 1, rows 3 and 4
    CHECK(s.neighbour_entries == 9);  // 3 + 3 and 2 + 1
    CHECK(s.shared == 3);             // 11, 12; 276
    CHECK(s.jaccard() == 0.5);
    CHECK(s.jaccard_histogram == iso::array<std::int64_t, 11>{0, 0, 0, 0, 0, 2});  // 2 of 4, 1 of 2
    // By twos {10,11,12,20} {20,276} {276} {} {300}; by fours {10,11,12,20,276} {276} {300}; by
    // eights {10,11,12,20,276} {300}.
    CHECK(s.unions[0] == 8);
    CHECK(s.unions[1] == 7);
    CHECK(s.unions[2] == 6);
    CHECK(s.fill(0) == 10.0 / 16);
    CHECK(s.fill(2) == 10.0 / 48);
    CHECK(s.empty_share() == 4.0 / 9);
    CHECK(s.mean_length() == 2);
    CHECK(s.wide_share() == 1.0 / 5);
  });
}

TEST_CASE_TEMPLATE("jaccard_histogram of neighbours", Column, std::int32_t, std::uint16_t) {
  iso::backend::for_each([](auto tag) {
    using exec = typename decltype(tag)::execution_space;
    INFO(tag.name);
    std::vector<int> hundred;
    for (int c = 0; c < 100; ++c) {
      hundred.push_back(c + 10);
    }
    auto all_but_one = hundred;
    all_but_one.pop_back();
    // Equal; 99 of 100; none of 100; equal; 1 of 10; not a pair.
    auto const a = matrix_of<Column>(exec(), 1000,
                                     {hundred,
                                      hundred,
                                      all_but_one,
                                      {500},
                                      {500},
                                      {500, 501, 502, 503, 504, 505, 506, 507, 508, 509},
                                      {},
                                      {500}},
                                     10);
    auto const s = statistics(exec(), a);
    CHECK(s.jaccard_histogram == iso::array<std::int64_t, 11>{1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2});
  });
}

TEST_CASE("matrices without rows, columns or entries") {
  auto const nothing =
      statistics(Kokkos::Serial(), matrix_of<std::int32_t>(Kokkos::Serial(), 0, {}, 0));
  CHECK(nothing.rows == 0);
  CHECK(nothing.fill(1) == 0);
  CHECK(nothing.empty_share() == 0);
  auto const hollow =
      statistics(Kokkos::Serial(), matrix_of<std::int32_t>(Kokkos::Serial(), 5, {{}, {}}, 0));
  CHECK(hollow.empty_rows == 2);
  CHECK(hollow.mean_run() == 0);
}

TEST_CASE("a generated matrix counted one by one") {
  auto figures = table_of(plan_case::prostate_1, 0.003);
  figures.similarity = 0.6;
  auto const h = iso::test::on_host(generate<float>(Kokkos::Serial(), figures));
  std::int64_t unions[3] = {};
  for (int k = 0; k < 3; ++k) {
    std::int64_t const group = std::int64_t(2) << k;
    for (std::int64_t r = 0; r < h.rows; r += group) {
      unions[k] += std::int64_t(h.columns_of(r, std::min(r + group, h.rows)).size());
    }
  }
  std::int64_t shared = 0;
  for (std::int64_t r = 1; r < h.rows; ++r) {
    auto const both = h.columns_of(r - 1, r + 1);
    shared += h.length(r - 1) + h.length(r) - std::int64_t(both.size());
  }
  iso::test::for_each_instance([&](auto const& exec) {
    auto const s = statistics(exec, generate<float>(exec, figures));
    CHECK(s.nonzeros == std::int64_t(h.places.size()));
    CHECK(s.shared == shared);
    for (int k = 0; k < 3; ++k) {
      CHECK(s.unions[k] == unions[k]);
    }
  });
}

TEST_CASE("conversion of the values changes no count") {
  iso::backend::for_each([](auto tag) {
    using exec = typename decltype(tag)::execution_space;
    INFO(tag.name);
    auto const a = generate<double>(exec(), table_of(plan_case::prostate_1, 0.002));
    auto const before = statistics(exec(), a);
    auto const after = statistics(exec(), convert_values<iso::half>(exec(), a).matrix);
    CHECK(after.row_lengths == before.row_lengths);
    CHECK(after.run_lengths == before.run_lengths);
    CHECK(after.unions == before.unions);
  });
}

TEST_CASE("statistics refuse arrays whose lengths disagree") {
  auto a = matrix_of<std::int32_t>(Kokkos::Serial(), 9, {{1, 2}, {3}}, 0);
  a.row_offsets = {};
  CHECK_THROWS_WITH_AS(statistics(Kokkos::Serial(), a),
                       "iso::synthetic::statistics: 0 row offsets (3 are needed, one more than "
                       "rows); give one more than there are rows",
                       iso::invalid_argument);
}
