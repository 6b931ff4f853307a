// SPDX-License-Identifier: BSD-3-Clause
// What the operating system says about the processor. 0 or empty: it does not say, except for the
// cache sizes, which fall back on small common ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace iso::backend::detail {

std::string host_processor();
double host_clock_hz();
int host_cores();
/// Returns the stack of the calling thread; 2^63 - 1 where nothing is known of it.
std::int64_t stack_bytes();
std::int64_t host_l1_bytes();
std::int64_t host_l2_bytes();
std::int64_t host_l3_bytes();

}  // namespace iso::backend::detail
