// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/ranks.hpp
//! Knows the processes that share a run of the tool: its ranks, as mpirun starts them.
#pragma once

#include <iso/core/grid.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
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

/// Remembers how fast the ranks are beside each other, in any unit, the same on all; empty: they
/// are alike.
void learn_speeds(std::vector<std::uint64_t> const& speeds);
/// Returns whether learn_speeds was called, and what it was given.
bool knows_speeds();
std::vector<double> const& speeds_of_ranks();
/// Divides the planes of a grid among the ranks in shares of their speeds, equal ones where these
/// are not known, and remembers how many ranks have none.
std::vector<slab> share_planes(grid const& g);
/// Returns how many ranks had no plane when planes were divided last.
int idle_ranks();

/// Throws iso::invalid_argument with this sentence, on every rank, unless all give the same number:
/// a hash of what they must have alike. All ranks call it.
void check_alike(std::uint64_t hash, std::string const& sentence);

/// What a rank wants to allocate.
struct rank_need {
  std::uint64_t memory = 0;  ///< which memory it is of: ranks with the same number share one
  std::int64_t bytes = 0;
  std::int64_t free = 0;   ///< of that memory, as the rank sees it; 0: not known
  std::int64_t alone = 0;  ///< that a limit of this process leaves it; 0: it has no limit
};
/// A memory that has less than the ranks that share it need, or a limit that leaves less than one
/// needs.
struct lacking_memory {
  int rank = -1;           ///< the first of them; -1: nothing is lacking
  std::int64_t bytes = 0;  ///< that they need together, or it
  std::int64_t free = 0;   ///< the least that one of them finds, or the limit leaves
  bool alone = false;      ///< it is a limit of this rank's process
};
/// Returns what the first rank lacks.
lacking_memory find_lacking(std::vector<rank_need> const& needs);

/// Throws iso::out_of_memory on every rank, with one sentence, unless the memory of each has what
/// its ranks need. All ranks call it.
/// \param bound        what leaves no more of the memory that it shares, for the sentence
/// \param bound_alone  what leaves no more to this process
/// \param streams      ranks take --memory, which the sentence then names
void check_memory_of_ranks(rank_need const& mine, std::string const& bound,
                           std::string const& bound_alone, char const* what, bool streams);

/// Returns the first two ranks that have the same number, which is not 0; {-1, -1}: none.
std::pair<int, int> find_same(std::vector<std::uint64_t> const& numbers);

/// Returns a number of each rank, on every rank. All ranks call it.
std::vector<std::uint64_t> numbers_of_ranks(std::uint64_t mine);

/// Returns a number for a text, almost surely another for each.
std::uint64_t number_of_text(std::string_view text);
/// Returns a number for this machine, which all its processes have.
std::uint64_t number_of_machine();
/// Returns a number for a GPU, the same for all processes that see it, whatever its number there.
std::uint64_t number_of_device(int device);

/// Ends a run of all ranks: waits for the others, and returns the exit code of the run. Where ranks
/// failed, the first one's is that of the first that did so by itself, and it calls `tell` with
/// what that one says. Where others do not come within two seconds of a failure, since this rank
/// failed alone, it calls `tell` and ends them all.
/// \param code      0: this rank has not failed
/// \param sentence  what it says otherwise
int end_together(int code, std::string const& sentence,
                 std::function<void(std::string const&)> const& tell);

}  // namespace iso::jobs
