// SPDX-License-Identifier: BSD-3-Clause
// The entries that lanes find out for their group, against a loop over them, on every backend.
#include "entry_table_kernels.hpp"
#include "lane_group_support.hpp"

#include <iso/backend/lane_group.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using entry_table_kernels::tabled_squares;
using lane_group_support::back;
using lane_group_support::everywhere;
using lane_group_support::on;

TEST_CASE("entry table: holds the entries that lanes keep, in order") {
  constexpr std::int64_t groups = 77;
  everywhere([&](auto const& exec, iso::launch_shape shape) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    for (std::int32_t const count : {0, 1, 2, 16, 31, 32}) {
      CAPTURE(count);
      auto const squares = on<space>(std::vector<std::int32_t>(groups * 64));
      auto const kept = on<space>(std::vector<std::int32_t>(groups * 2));
      auto const left = on<space>(std::vector<std::uint32_t>(groups * 2));
      iso::backend::for_each_lane_group(
          "test: table", exec, groups,
          tabled_squares{count, squares.data(), kept.data(), left.data()}, shape);
      exec.fence("test");
      std::vector<std::int32_t> expected_squares;
      std::vector<std::int32_t> expected_kept;
      std::vector<std::uint32_t> expected_left;
      for (std::int32_t row = 0; row < 2 * groups; ++row) {
        std::vector<std::int32_t> numbers;
        std::uint32_t bits = 0;
        for (std::int32_t n = 0; n < count; ++n) {
          if ((n + row % 2) % 3 == 0) {
            numbers.push_back(n);
          } else {
            bits |= 1U << unsigned(n);
          }
        }
        expected_kept.push_back(std::int32_t(numbers.size()));
        expected_left.push_back(bits);
        for (std::size_t lane = 0; lane < 32; ++lane) {
          expected_squares.push_back(lane < numbers.size() ? numbers[lane] * numbers[lane] +
                                                                 row / 2 + 1000 * numbers.back()
                                                           : -1);
        }
      }
      CHECK(back(kept) == expected_kept);
      CHECK(back(left) == expected_left);
      CHECK(back(squares) == expected_squares);
    }
  });
}

}  // namespace
