// SPDX-License-Identifier: BSD-3-Clause
// The kernel of docs/algorithms/lane_group.md.
#include "add_positive.hpp"
#include "lane_group_support.hpp"
#include "returned_register_kernels.hpp"

#include <iso/backend/lane_group.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace {

using page::add_positive;

using lane_group_support::back;
using lane_group_support::everywhere;
using lane_group_support::on;

}  // namespace

TEST_CASE("lane group: the page's kernel") {
  constexpr std::int64_t groups = 50;
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> expected;
  for (int n = 0; n < 32 * groups; ++n) {
    x.push_back(std::sin(float(n)));
    y.push_back(std::cos(float(7 * n)));
    expected.push_back(x.back() > 0 ? std::fma(0.3F, x.back(), y.back()) : y.back());
  }
  everywhere([&](auto const& exec, iso::launch_shape shape) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto const in = on<space>(x);
    auto const out = on<space>(y);
    iso::backend::for_each_lane_group("test", exec, groups,
                                      add_positive{0.3F, in.data(), out.data()}, shape);
    exec.fence();
    CHECK(iso::test::same_bits(back(out), expected));
  });
}

TEST_CASE_TEMPLATE("lane values: a register that a call returns is whole", T, float, double) {
  constexpr std::int64_t groups = 3;
  std::vector<T> x;
  std::vector<T> expected;
  for (int n = 0; n < 32 * groups; ++n) {
    x.push_back(T(0.3) * T(n) - 7);
    expected.push_back(std::floor(x.back()));
  }
  everywhere([&](auto const& exec, iso::launch_shape shape) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto const in = on<space>(x);
    auto const out = on<space>(std::vector<T>(x.size(), T(0)));
    iso::backend::for_each_lane_group("test", exec, groups,
                                      returned::floors<T>{in.data(), out.data()}, shape);
    CHECK(back(out) == expected);
  });
}
