// SPDX-License-Identifier: BSD-3-Clause
// What a plan says: every entry in one segment, and the blocks that have none.
#include <doctest/doctest.h>

#include "sparse_support.hpp"

namespace {

using namespace sparse_support;

/// Rows that have entries where `chosen(row)`, columns from 0 on; one of them in several parts.
template <class Chosen>
lists some_rows(std::int64_t count, Chosen const& chosen) {
  lists m{5000, {}};
  for (std::int64_t r = 0; r < count; ++r) {
    m.rows.emplace_back();
    std::int32_t const length = chosen(r) ? (r == 40 ? 5000 : std::int32_t(1 + 37 * r % 200)) : 0;
    for (std::int32_t c = 0; c < length; ++c) {
      m.rows.back().push_back({c, 1});
    }
  }
  return m;
}

/// Entries (csr_view) or chunks of every block, from the plan's segments; -1 where bits say none.
template <class Exec, class Matrix>
std::vector<std::int64_t> planned(Exec const& exec, Matrix const& a) {
  auto const plan = iso::sparse::make_plan(exec, a);
  auto const segments = to_vector(plan.segments);
  auto const empty = to_vector(plan.empty);
  REQUIRE(std::int64_t(segments.size()) == plan.num_segments);
  std::vector<std::int64_t> found(std::size_t(plan.matrix.num_blocks()), 0);
  for (auto const& segment : segments) {
    REQUIRE(segment.count >= 0);
    found[std::size_t(segment.block)] += segment.count;
  }
  bool any = false;
  for (std::size_t g = 0; g < found.size(); ++g) {
    if (!empty.empty() && (empty[g / 32] >> (g % 32) & 1U) != 0) {
      REQUIRE(found[g] == 0);
      found[g] = -1;
      any = true;
    }
  }
  REQUIRE(any == !empty.empty());
  for (std::size_t g = found.size(); g < 32 * empty.size(); ++g) {
    REQUIRE((empty[g / 32] >> (g % 32) & 1U) == 0);
  }
  return found;
}

template <class Exec>
void check(Exec const& exec, lists const& m) {
  auto const a = csr<iso::half, std::int32_t>(exec, m);
  auto const by_row = planned(exec, a);
  for (std::size_t r = 0; r < m.rows.size(); ++r) {
    REQUIRE(by_row[r] == (m.rows[r].empty() ? -1 : std::int64_t(m.rows[r].size())));
  }
  auto const check_blocks = [&](std::vector<std::int64_t> const& chunks, std::size_t rows) {
    REQUIRE(chunks.size() == (m.rows.size() + rows - 1) / rows);
    for (std::size_t g = 0; g < chunks.size(); ++g) {
      std::size_t longest = 0;
      for (std::size_t r = g * rows; r < std::min((g + 1) * rows, m.rows.size()); ++r) {
        longest = std::max(longest, m.rows[r].size());
      }
      // The rows begin at column 0 and have no gaps: the longest has them all.
      REQUIRE(chunks[g] == (longest == 0 ? -1 : std::int64_t(longest + 31) / 32));
    }
  };
  check_blocks(planned(exec, iso::sparse::make_row_blocks<4>(exec, a)), 4);
  check_blocks(planned(exec, iso::sparse::make_row_blocks<8>(exec, a)), 8);
}

}  // namespace

TEST_CASE("plan: every entry lies in one segment, and a bit a block says which have none") {
  for_each_instance([&](auto const& exec) {
    for (std::int64_t const rows : {0, 1, 31, 32, 33, 64, 300, 1025}) {
      CAPTURE(rows);
      check(exec, some_rows(rows, [](std::int64_t) { return true; }));
      check(exec, some_rows(rows, [](std::int64_t) { return false; }));
      check(exec, some_rows(rows, [](std::int64_t r) { return r % 3 == 1 || r > 200; }));
      check(exec, some_rows(rows, [rows](std::int64_t r) { return r < rows - 9; }));
    }
  });
}

TEST_CASE("plan: a product finishes the rows of blocks without entries, and no others") {
  for_each_instance([&](auto const& exec) {
    for (std::int64_t const rows : {33, 300, 1025}) {
      auto const m = some_rows(rows, [](std::int64_t r) { return r % 64 >= 40; });
      auto const a = csr<iso::half, std::int32_t>(exec, m);
      std::vector<double> const x(std::size_t(m.cols), 1);
      std::vector<double> const y(std::size_t(2 * rows), 3);
      std::vector<double> const both(std::size_t(2 * m.cols), 1);
      auto const check_result = [&](std::vector<double> const& result, double beta) {
        for (std::size_t n = 0; n < result.size(); ++n) {
          REQUIRE(result[n] == 2 * double(m.rows[n / 2].size()) + 3 * beta);
        }
      };
      auto const check_format = [&](auto const& matrix) {
        check_result(product(exec, matrix, both, y, {.alpha = 2, .beta = 0.5, .vectors = 2}), 0.5);
        std::vector<double> const nan(std::size_t(2 * rows), nan_value);
        check_result(product(exec, matrix, both, nan, {.alpha = 2, .beta = 0, .vectors = 2}), 0);
      };
      check_format(a);
      check_format(iso::sparse::make_row_blocks<4>(exec, a));
      check_format(iso::sparse::make_row_blocks<8>(exec, a));
    }
  });
}
