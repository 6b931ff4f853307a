// SPDX-License-Identifier: BSD-3-Clause
//! Which processes and nodes of a sweep are slower than most.
#pragma once

#include <iso/files/sweep_merge.hpp>

namespace iso::files {

/// Fills `slow_points`, `slow_ranks` and `slow_nodes`, and notes what could not be compared.
void find_slow(sweep_report& report);

}  // namespace iso::files
