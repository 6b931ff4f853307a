// SPDX-License-Identifier: BSD-3-Clause
//! Sorts a structure's contours into planes and regions, and refuses what is none.
#pragma once

#include "polygon.hpp"

#include <iso/dvh/structure.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace iso::dvh::detail {

/// Is an outer contour with the holes in it.
struct plane_region {
  std::vector<polygon> contours;  ///< the outer one first
};

struct contour_plane {
  double z = 0;  ///< mm
  std::vector<plane_region> regions;
};

/// Holds the planes of a structure, z ascending.
struct contour_stack {
  std::vector<contour_plane> planes;
  std::int64_t contours = 0;
  std::int64_t holes = 0;
  double median_spacing = 0;  ///< mm; of one plane slice_thickness
};

/// \throws iso::invalid_argument  as voxel_fractions does for contours
contour_stack stack_of(structure const& s, structure_options const& options, char const* function);

/// Returns the height of a cap below (or above) plane `n`: half the distance to the plane there,
/// and at either end of the stack to the one on the other side.
double cap_height(contour_stack const& stack, std::size_t n, bool above);

/// Returns the groups of regions of planes n and n + 1 that overlap each other, as seen along z.
struct linked_regions {
  std::vector<std::size_t> below;
  std::vector<std::size_t> above;
};
std::vector<linked_regions> links_of(contour_plane const& below, contour_plane const& above);

}  // namespace iso::dvh::detail
