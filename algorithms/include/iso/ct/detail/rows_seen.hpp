// SPDX-License-Identifier: BSD-3-Clause
//! Says from which rows of a detector backprojections take the voxels of a slab.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/slab_rays.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Returns the rows from which filtered backprojection takes the voxels of some planes of a grid,
/// from any of `count` views from `first` on, one at least, and some more: one at least.
row_range rows_seen(geometry const& scan, iso::grid const& whole, slab const& planes,
                    std::int64_t first, std::int64_t count);

/// Returns the rows that have the rays of any of `count` views from `first` on which meet some
/// planes of a grid (slab_rays): one at least.
row_range rows_met(geometry const& scan, iso::grid const& whole, slab const& planes,
                   std::int64_t first, std::int64_t count);

}  // namespace iso::ct::detail
