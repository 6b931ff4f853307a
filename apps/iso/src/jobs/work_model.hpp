// SPDX-License-Identifier: BSD-3-Clause
//! The least that a projection must move and compute, for its share of the measured ceilings.
#pragma once

#include <iso/backend/ceilings.hpp>
#include <iso/core/grid.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>

#include <cstdint>

namespace iso::jobs {

/// Samples and voxel segments of all rays of a scan through a grid.
struct ray_counts {
  double joseph_samples = 0;  ///< driving planes inside the box
  double segments = 0;        ///< voxels crossed
};

ray_counts count_rays(ct::geometry const& g, grid const& volume);

/// Seconds that the projection takes at the ceilings: volume and projections moved once, and for
/// each Joseph sample three blends of three operations and an addition, for each voxel crossed one
/// fma for the sum, one for the next crossing and a difference. The larger of the two.
double floor_seconds(ct::projector method, ray_counts const& counts, ct::geometry const& g,
                     grid const& volume, int bytes_per_value, backend::ceilings const& most);

}  // namespace iso::jobs
