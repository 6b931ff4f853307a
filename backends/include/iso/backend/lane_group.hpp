// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/lane_group.hpp
//! Provides thirty-two lanes that run in step: a warp on CUDA, vector registers on processors,
//! arrays elsewhere.
//!
//! A kernel against it is a trivially copyable functor
//!
//!     template <class Group>
//!     KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const;
//!
//! written once for all backends:
//! - what all lanes share is an ordinary variable;
//! - what a lane keeps is a `typename Group::template lane_array<T>`, indexed by the lane: one
//!   register on CUDA, T[32] elsewhere;
//! - `group.parts<T, N>([&](auto const& part) { ... })` computes in lane values (lane_value.hpp): a
//!   part is some of the lanes, whose values of T take N registers, and on CUDA the thread's lane;
//! - `group.each([&](int lane) { ... })` is for what is written a lane at a time (once, with the
//!   thread's own lane, on CUDA; a loop over 32 elsewhere);
//! - what crosses lanes is `group.sum(x)`, `group.highest(x)`, `group.any(x)`.
//!
//! `group.strided(begin, end, f)` gives the range to the lanes in turn: lane l sees begin + l,
//! begin + l + 32, ... `group.sum(x)` adds x[l] + x[l + 16], then + 8, 4, 2, 1: one binary tree.
//! A row reduction from the two has one order, and so the same bits, everywhere.
//! docs/algorithms/lane_group.md lists all members.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/backend/detail/cuda_lane_group.hpp>
#include <iso/backend/detail/cuda_launch.hpp>
#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/detail/host_launch.hpp>
#include <iso/backend/host_vectors.hpp>
#include <iso/backend/launch_shape.hpp>
#include <iso/core/check.hpp>
#include <iso/core/concepts.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace iso::backend {

inline constexpr int lanes = 32;

/// Specifies how a processor's threads share groups out; a GPU deals them by itself.
enum class sharing {
  even,       ///< as many to each thread
  on_demand,  ///< to whoever is free, where some groups have far more to do than others
};

/// Specifies when a launch begins.
enum class launch_dependency {
  full,  ///< when the one before it on the same instance has ended
  /// or, where that is one of lane groups, when groups of all its blocks have called
  /// trigger_dependent_launch(): a GPU's multiprocessors that have nothing left of the one take up
  /// the other. Every group must call wait_for_previous_launch() before its end, and before it
  /// reads what launches that may not have ended write, or writes what they read or write. Those
  /// are the one before and, where that triggered before its own wait, the ones before it.
  programmatic,
};

/// Runs kernel(group, index) for every index in [0, count), enqueued on `exec`.
///
/// `Threads` is the size of a CUDA block and `MinBlocks` how many of them must fit a multiprocessor
/// (0: no matter). Many short groups run best in blocks of 128; long ones that share lines of the
/// level-1 cache with their neighbours want larger blocks. On the host the widest of the compiled
/// vector widths that this processor has is taken at run time. No bit depends on any of it.
/// Determinism: backend_to_backend, of what the lanes of a group do; groups are in no order.
template <unsigned Threads = 128, unsigned MinBlocks = 0, sharing Sharing = sharing::even,
          launch_dependency Dependency = launch_dependency::full, execution_space Exec,
          class Kernel>
void for_each_lane_group(std::string const& label, Exec const& exec, std::int64_t count,
                         Kernel const& kernel, launch_shape shape = {}) {
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
