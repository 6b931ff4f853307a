// SPDX-License-Identifier: BSD-3-Clause
//! Decides how OpenMP's threads wait for one another. The run time of OpenMP reads that once, when
//! the program is loaded.
#pragma once

namespace iso::cli {

/// Returns whether `threads` threads and `others`, which run besides, take more than `cores` cores
/// by more than an eighth.
bool is_overloaded(int others, int threads, int cores);

/// Starts this program anew with OMP_WAIT_POLICY=passive where other programs keep the cores busy:
/// a thread that spins would keep them from the one that it waits for. Returns where they do not,
/// where the environment says already how threads wait, or where the program cannot be started.
void wait_passively_where_busy(char* const* argv);

}  // namespace iso::cli
