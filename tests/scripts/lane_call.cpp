// SPDX-License-Identifier: BSD-3-Clause
// One call that no_lane_calls.py must find.
namespace iso::backend::detail {

struct avx512_lanes {
  [[gnu::noinline]] static int add(int a, int b);
};
int avx512_lanes::add(int a, int b) { return a + b; }

}  // namespace iso::backend::detail

int twice(int a) { return iso::backend::detail::avx512_lanes::add(a, a) + 1; }
