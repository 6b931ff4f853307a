// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/ray/traverse.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ray::detail {

/// Launch parameters of walks through voxels and of the sort of rays. No bit depends on them.
struct traversal_tuning {
  unsigned threads;         ///< of a GPU's block
  unsigned min_blocks;      ///< of a GPU's multiprocessor
  std::int64_t merge_part;  ///< keys that a work item merges, at most
};

/// The parameters for GPUs: the set-up in double precision would take 90 registers, the steps need
/// half of them or, in float, 32. More work items in flight hide the wait for scattered voxels, and
/// are worth a spill before the loop. Short parts make more work items for a merge.
template <class T>
inline constexpr traversal_tuning traversal_on_gpu = {
    .threads = 256, .min_blocks = sizeof(T) == 4 ? 8 : 5, .merge_part = 16};

/// The parameters for processors: long parts cost fewer bisections.
inline constexpr traversal_tuning traversal_on_host = {
    .threads = 128, .min_blocks = 0, .merge_part = 4096};

template <class Exec, class T>
inline constexpr traversal_tuning traversal_tuning_of =
    backend::is_device<Exec> ? traversal_on_gpu<T> : traversal_on_host;

/// The walk that is the fastest on a kind of processor. All have the same bits.
template <class Exec>
using fastest_walk = std::conditional_t<backend::is_device<Exec>, siddon, branchless>;

}  // namespace iso::ray::detail
