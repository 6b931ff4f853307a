// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ray/traversal_grid.hpp
#pragma once

#include <iso/core/grid.hpp>
#include <iso/core/macros.hpp>

#include <cstdint>

namespace iso::ray {

/// The three indices of a voxel.
struct voxel {
  std::int64_t i;
  std::int64_t j;
  std::int64_t k;
};

/// The numbers of a grid that a traversal needs, ready for a kernel. Extents are kept as doubles,
/// exact to 2^53.
struct traversal_grid {
  vec3<double> extent;
  vec3<double> spacing;  ///< mm
  vec3<double> origin;   ///< mm, centre of voxel (0, 0, 0)
  vec3<double> stride;   ///< from a voxel's linear index to that of its upper neighbours

  explicit traversal_grid(grid const& g)
      : extent{double(g.extent[0]), double(g.extent[1]), double(g.extent[2])},
        spacing(g.spacing),
        origin(g.origin),
        stride{double(g.extent[1] * g.extent[2]), double(g.extent[2]), 1} {}

  /// Returns the indices behind a linear index, z fastest.
  [[nodiscard]] ISO_FUNCTION voxel at(std::int64_t index) const {
    auto const nz = std::int64_t(extent.z);
    auto const slab = std::int64_t(stride.x);
    return {index / slab, index % slab / nz, index % nz};
  }
};

}  // namespace iso::ray
