// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/lane_group.hpp
//! Runs kernels on lane groups: 32 lanes that run in step. A lane group is a warp on CUDA, vector
//! registers on a processor, and arrays on any other execution space.
//!
//! A kernel is written once for all of them. It is a trivially copyable functor
//!
//!     template <class Group>
//!     KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const;
//!
//! that for_each_lane_group calls once for every index. Within it
//!
//! - a value that all lanes share is an ordinary variable;
//! - a value of each lane is a `typename Group::template lane_array<T>`, indexed by the lane: one
//!   register on CUDA, T[32] elsewhere;
//! - `group.parts<T, N>([&](auto const& part) { ... })` computes in lane values (lane_value.hpp). A
//!   part is a number of lanes whose values of T fit N registers. On CUDA it is the lane of the
//!   thread;
//! - `group.each([&](int lane) { ... })` runs code for one lane at a time: on CUDA once, with the
//!   lane of the thread; elsewhere in a loop over 32 lanes;
//! - `group.sum(x)`, `group.highest(x)` and `group.any(x)` combine the values of all lanes.
//!
//! `group.strided(begin, end, f)` distributes a range over the lanes: lane l gets begin + l, begin
//! + l + 32, and so on. `group.sum(x)` adds x[l] + x[l + 16], then + 8, 4, 2, 1: one binary tree. A
//! reduction by these two adds in one order, and so has the same bits everywhere.
//!
//! docs/algorithms/lane_group.md lists all members.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/backend/detail/cuda_lane_group.hpp>
#include <iso/backend/detail/cuda_launch.hpp>
#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/detail/host_launch.hpp>
#include <iso/backend/host_vectors.hpp>
#include <iso/core/check.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/launch_shape.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace iso::backend {

inline constexpr int lanes = 32;

/// The distribution of groups over the threads of a processor. A GPU distributes its groups itself.
enum class sharing {
  even,       ///< as many to each thread
  on_demand,  ///< to whoever is free, where some groups have far more to do than others
};

/// The condition under which a launch begins.
enum class launch_dependency {
  full,  ///< when the one before it on the same instance has ended
  /// or earlier. Where the launch before is one of lane groups too, this one begins when groups of
  /// all its blocks have called trigger_dependent_launch(). Multiprocessors of a GPU that have no
  /// work left of the launch before then begin this one. Every group must call
  /// wait_for_previous_launch() before it ends. It must also call it before it reads memory that
  /// unfinished launches write, and before it writes memory that they read or write. Unfinished
  /// launches are the one before, and, where that one triggered before its own wait, the ones
  /// before it.
  programmatic,
};

/// Runs kernel(group, index) for every index in [0, count). The work is enqueued on `exec`.
///
/// `Threads` is the size of a CUDA block. `MinBlocks` is the number of blocks that must fit on a
/// multiprocessor at once; 0 asks for nothing. Many short groups are fastest in blocks of 128. Long
/// groups that share lines of the level-1 cache with their neighbours are faster in larger blocks.
/// On a processor, the kernel runs with the widest vectors that were compiled and that the
/// processor has. None of this changes a bit.
///
/// It is compiled once for each kernel and kept out of line, as for_each_index is.
///
/// Determinism: backend_to_backend, of what the lanes of a group compute; the order of groups is
/// not defined.
template <unsigned Threads = 128, unsigned MinBlocks = 0, sharing Sharing = sharing::even,
          launch_dependency Dependency = launch_dependency::full, execution_space Exec,
          class Kernel>
[[gnu::noinline]] void for_each_lane_group(std::string const& label, Exec const& exec,
                                           std::int64_t count, Kernel const& kernel,
                                           launch_shape shape = {}) {
  static_assert(
      Threads % 32 == 0 && Threads <= 1024,
      "iso::backend::for_each_lane_group: Threads must be a multiple of 32, at most 1024");
  std::int64_t const most = std::numeric_limits<std::int32_t>::max();
  std::int64_t const step =
      shape.groups_per_launch > 0 ? std::min(shape.groups_per_launch, most) : most;
  for (std::int64_t first = 0; first < count; first += step) {
    std::int64_t const end = std::min(first + step, count);
    if constexpr (detail::is_cuda<Exec>) {
      detail::launch_cuda_groups<Threads, MinBlocks>(label, exec, first, end, kernel,
                                                     Dependency == launch_dependency::programmatic);
    } else {
      // 0 gives each thread an even share; else a thread that is free takes so many groups.
      std::int64_t const chunk = Sharing == sharing::even        ? 0
                                 : detail::runs_by_teams<Kernel> ? 1
                                                                 : 32;
      if constexpr (detail::is_processor<Exec>) {
        detail::launch_host_groups(label, exec, first, end,
                                   detail::host_kernel<Kernel>(kernel).body(), chunk);
      } else {
        detail::launch_range<Sharing == sharing::on_demand>(
            label, exec, first, end, detail::portable_body<Kernel>{kernel}, chunk);
      }
    }
  }
}

}  // namespace iso::backend
