// SPDX-License-Identifier: BSD-3-Clause
//! Says which pixels the planes of each rank need.
#pragma once

#include <iso/ct/rank_plan.hpp>
#include <iso/ct/slab_rays.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace iso::ct::detail {

/// The pixels that each rank's planes need: windows [rank][view].
using rank_windows = std::vector<std::vector<pixel_window>>;

/// Returns the rows that hold windows of views: one at least.
row_range rows_of(std::span<pixel_window const> windows, row_range const& detector);

/// Returns the pixels whose rays may meet a rank's planes and so many beyond either end.
rank_windows windows_of(rank_plan const& plan, std::int64_t halo);

/// Returns the rows, with all their pixels, from which filtered backprojection takes a rank's
/// voxels.
rank_windows fdk_windows_of(rank_plan const& plan);

}  // namespace iso::ct::detail
