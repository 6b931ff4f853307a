// SPDX-License-Identifier: BSD-3-Clause
//! Which views see the volume that is made from them.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/ct/geometry.hpp>

#include <cstdint>

namespace iso::jobs {

/// Views that see the centre of no voxel: its ray meets the detector's plane a pixel or more beside
/// the outermost pixels' centres. A view with a voxel at or behind its source does not count.
std::int64_t blind_views(ct::geometry const& g, grid const& volume);

}  // namespace iso::jobs
