// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/ranks.hpp
//! Knows the processes that share a run of the tool: its ranks, as mpirun starts them.
#pragma once

#include <iso/core/grid.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace iso::backend {
class communicator;
}  // namespace iso::backend

namespace iso::jobs {

/// Has these ranks, which must outlive every job, share the jobs that can be: projections,
/// reconstructions and products. Called once, before the first; else a process is alone.
void share_jobs(backend::communicator& ranks);

/// Returns them.
backend::communicator& sharing_ranks();
int num_ranks();
/// Returns what carries between them.
std::string carried_by();
/// Returns whether this is rank 0, which alone has the results of a shared job, writes and speaks.
bool is_first_rank();

/// Divides the planes of a grid among the ranks in equal shares, and remembers how many ranks have
/// none.
std::vector<slab> share_planes(grid const& g);
/// Returns how many ranks had no plane when planes were divided last.
int idle_ranks();

/// Throws iso::invalid_argument with this sentence, on every rank, unless all give the same number:
/// a hash of what they must have alike. All ranks call it.
void check_alike(std::uint64_t hash, std::string const& sentence);

/// Ends a run of all ranks: waits for the others, and returns the exit code of the run. Where ranks
/// failed, the first one's is that of the first that did so by itself, and it calls `tell` with
/// what that one says. Where others do not come within two seconds of a failure, since this rank
/// failed alone, it calls `tell` and ends them all.
/// \param code      0: this rank has not failed
/// \param sentence  what it says otherwise
int end_together(int code, std::string const& sentence,
                 std::function<void(std::string const&)> const& tell);

}  // namespace iso::jobs
