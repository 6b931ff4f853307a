// SPDX-License-Identifier: BSD-3-Clause
//! Counts the views that see a volume.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/ct/geometry.hpp>

#include <cstdint>

namespace iso::jobs {

/// Counts views that see no voxel's centre: its ray meets the detector's plane a pixel or more
/// beside the outer pixels' centres. A view with a voxel at or behind its source does not count.
std::int64_t blind_views(ct::geometry const& g, grid const& volume);

/// Counts the views of which no ray meets the box of `volume` and of `margin` voxels about it. A
/// cone ray ends at its pixel. Takes time for the pixels before the box in those views alone.
std::int64_t missed_views(ct::geometry const& g, grid const& volume, double margin);

}  // namespace iso::jobs
