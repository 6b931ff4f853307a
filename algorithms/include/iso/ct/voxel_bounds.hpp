// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/voxel_bounds.hpp
//! Holds what sums of rays must know of all voxels.
#pragma once

#include <Kokkos_Core.hpp>

namespace iso::ct {

/// What the sums of rays must know of a whole volume before its first slab comes.
struct voxel_bounds {
  double max_abs = 0;      ///< the largest finite |voxel|
  bool all_finite = true;  ///< no voxel is NaN or infinite

  /// Returns the bounds of two parts of a volume together.
  [[nodiscard]] KOKKOS_FUNCTION voxel_bounds joined(voxel_bounds const& other) const {
    return {max_abs > other.max_abs ? max_abs : other.max_abs, all_finite && other.all_finite};
  }

  friend bool operator==(voxel_bounds const&, voxel_bounds const&) = default;
};

}  // namespace iso::ct
