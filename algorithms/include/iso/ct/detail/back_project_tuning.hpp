// SPDX-License-Identifier: BSD-3-Clause
//! Holds launch parameters of backprojection, by kind of processor.
#pragma once

#include <iso/backend/registry.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Holds launch parameters of backprojection by gather. No bit depends on them.
struct back_project_tuning {
  int heights;                  ///< GPU: voxels a lane keeps of each column
  unsigned min_blocks;          ///< of a GPU's multiprocessor
  int tile_edge;                ///< processor: columns of a tile each way
  int tile_rows;                ///< processor: of 32 heights of a tile
  std::int32_t min_candidates;  ///< rays a voxel that the kernel has code for
  std::int64_t max_ray_bytes;   ///< what the rays of a batch of views may take, if those are more
                                ///< than one block
};

/// Holds the parameters of a kind of machine. GPU: of 5 to 8 blocks of two heights, seven were
/// fastest in float on an H200; a table of all rays is written and read once a batch. Processor:
/// 256 heights of 8 x 8 columns take 64 KiB of a level-2 cache.
template <class Exec, class T>
inline constexpr back_project_tuning back_project_tuning_of =
    backend::is_device<Exec>
        ? back_project_tuning{sizeof(T) == 4 ? 2 : 1, sizeof(T) == 4 ? 7U : 5U, 0, 0, 3,
                              std::int64_t(1) << 28}
        : back_project_tuning{0, 0, 8, sizeof(T) == 4 ? 8 : 4, 2, std::int64_t(1) << 25};

}  // namespace iso::ct::detail
