// SPDX-License-Identifier: BSD-3-Clause
//! Holds launch parameters of backprojection, by kind of processor.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/backend/team.hpp>
#include <iso/ct/detail/back_project_brick_kernel.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Launch parameters of backprojection by gather. No bit depends on them.
struct back_project_tuning {
  int heights;                  ///< GPU: voxels a lane keeps of each column
  unsigned min_blocks;          ///< of a GPU's multiprocessor
  int tile_edge;                ///< processor: columns of a tile each way
  int tile_rows;                ///< processor: of 32 heights of a tile
  std::int32_t min_candidates;  ///< rays a voxel that the kernel has code for
  std::int64_t max_ray_bytes;   ///< what the rays of a batch of views may take, if those are more
                                ///< than one block
};

/// The parameters of a kind of machine. GPU: of 5 to 8 blocks of two heights, seven were fastest in
/// float on an H200; a table of all rays is written and read once a batch. Processor: 256 heights
/// of 8 x 8 columns take 64 KiB of a level-2 cache.
template <class Exec, class T>
inline constexpr back_project_tuning back_project_tuning_of =
    backend::is_device<Exec>
        ? back_project_tuning{sizeof(T) == 4 ? 2 : 1, sizeof(T) == 4 ? 7U : 5U, 0, 0, 3,
                              std::int64_t(1) << 28}
        : back_project_tuning{0, 0, 8, sizeof(T) == 4 ? 8 : 4, 2, std::int64_t(1) << 25};

/// Calls f(shape) with the brick of `words` words a voxel, as a type. A GPU: what its shared memory
/// holds, 28 heights because longer runs along z are read and written faster. On an H200 two teams
/// of 768 threads with 24 x 24 x 28 voxels and one word took 0.221 ms a view at 512^3, one of 1024
/// with 31 x 31 x 28 0.228, three of 640 with 20 x 20 x 28 0.228; by exact lengths 0.348, 0.362,
/// 0.345. A processor: what a level-2 cache and any stack hold.
template <class Exec, class F>
auto with_shape(std::int32_t words, F const& f) {
  if constexpr (!backend::is_device<Exec>) {
    return words == 1   ? f(brick_shape<24, 24, 24, 1>())
           : words == 2 ? f(brick_shape<16, 16, 24, 2>())
                        : f(brick_shape<12, 12, 24, 3>());
  } else if constexpr (backend::team_bytes >= 160 * 1024) {
    return words == 1   ? f(brick_shape<24, 24, 28, 1, 768, 2>())
           : words == 2 ? f(brick_shape<21, 21, 28, 2>())
                        : f(brick_shape<16, 16, 28, 3>());
  } else if constexpr (backend::team_bytes < 96 * 1024) {
    return words == 1   ? f(brick_shape<17, 17, 28, 1>())
           : words == 2 ? f(brick_shape<11, 11, 28, 2>())
                        : f(brick_shape<8, 8, 28, 3>());
  } else {
    return words == 1   ? f(brick_shape<23, 23, 28, 1>())
           : words == 2 ? f(brick_shape<15, 15, 28, 2>())
                        : f(brick_shape<11, 11, 28, 3>());
  }
}

}  // namespace iso::ct::detail
