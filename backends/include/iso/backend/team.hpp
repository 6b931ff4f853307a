// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/team.hpp
//! Provides teams: lane groups that share an array of 32-bit words. A block of a GPU with its
//! shared memory; on processors one lane group with an array on the stack.
//!
//! A kernel against it is a trivially copyable functor with `static constexpr int team_words`, the
//! words that a team shares, and
//!
//!     template <class Team>
//!     KOKKOS_FUNCTION void operator()(Team const& team, std::int64_t index) const;
//!
//! - `team.each(count, f)` calls f(0) to f(count - 1), shared out over all lanes;
//! - `team.groups(f)` calls f(group, number, count) once with each of the team's `count` lane
//!   groups (lane_group.hpp), which run side by side;
//! - `team.sync()` lets every lane see what the others did before it; not within `groups`;
//! - `team.words()` is the shared array: `set(place, x)`, `get(place)`, and `add<Offset>(place,
//! x)`,
//!   modulo 2^32, which lanes and groups may call at once. Places count bytes from `first()` on,
//!   and an `Offset` known to the compiler costs no arithmetic.
#pragma once

#include <iso/backend/detail/cuda_team.hpp>
#include <iso/backend/detail/host_team.hpp>
#include <iso/backend/lane_group.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace iso::backend {

/// The largest number of bytes of words that a team of a GPU may have.
inline constexpr int team_bytes = detail::cuda_team_bytes;

/// Runs kernel(team, index) for every index in [0, count), enqueued on `exec`. A team has `Threads`
/// threads of a GPU, of which one multiprocessor then holds `Kernel::team_words` words, or one
/// thread of a processor. `MinTeams` is how many of them must fit a multiprocessor. `shape` counts
/// teams.
/// Determinism: backend_to_backend, of what the lanes of a team do; teams are in no order.
template <unsigned Threads, unsigned MinTeams = 1, execution_space Exec, class Kernel>
void for_each_team(std::string const& label, Exec const& exec, std::int64_t count,
                   Kernel const& kernel, launch_shape shape = {}) {
  static_assert(Threads % 32 == 0 && Threads <= 1024,
                "iso::backend::for_each_team: Threads must be a multiple of 32, at most 1024");
  if constexpr (detail::is_cuda<Exec>) {
    std::int64_t const most = std::numeric_limits<std::int32_t>::max();
    std::int64_t const step =
        shape.groups_per_launch > 0 ? std::min(shape.groups_per_launch, most) : most;
    for (std::int64_t first = 0; first < count; first += step) {
      detail::launch_cuda_teams<Threads, MinTeams>(label, exec, first,
                                                   std::min(first + step, count), kernel);
    }
  } else {
    // run_kernel gives a kernel with team_words its team.
    for_each_lane_group<Threads, 0, sharing::on_demand>(label, exec, count, kernel, shape);
  }
}

}  // namespace iso::backend
