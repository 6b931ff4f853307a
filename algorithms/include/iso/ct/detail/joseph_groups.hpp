// SPDX-License-Identifier: BSD-3-Clause
//! Says which rays walk together by Joseph's method.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/projector_options.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// The rays that walk together, and share samples where slabs do: a choice for all views and slabs
/// of one projection.
struct joseph_groups {
  bool fast = false;     ///< on the fast path: neighbours along v
  bool along_u = false;  ///< else: neighbours along u
};

/// Returns the choice for a scan and voxels of so many bytes.
joseph_groups groups_of(geometry const& g, iso::grid const& whole, joseph_path path,
                        std::int64_t value_bytes);

/// Returns the planes below and above those that a slab owns that its samples may read.
std::int64_t halo_of(geometry const& g, iso::grid const& whole, joseph_groups const& groups);

/// Returns the most that halo_needed is of any of a scan's views by themselves, for `options.path`:
/// automatic where the fast path applies to all of them.
std::int64_t largest_halo(geometry const& g, iso::grid const& whole,
                          forward_project_options const& options);

}  // namespace iso::ct::detail
