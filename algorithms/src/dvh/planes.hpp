// SPDX-License-Identifier: BSD-3-Clause
//! Sorts a structure's contours into planes and regions, and refuses what is none.
#pragma once

#include "polygon.hpp"

#include <iso/dvh/structure.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace iso::dvh::detail {

/// The share of a voxel, or of its width, that rounding may add.
constexpr double share_rounding = 1e-9;

/// An outer contour with the holes in it.
struct plane_region {
  std::vector<polygon> contours;  ///< the outer one first
  /// Hold the heights, mm, of its half-slice caps; 0 where it is joined on that side.
  double cap_below = 0;
  double cap_above = 0;
};

struct contour_plane {
  double z = 0;  ///< mm
  std::vector<plane_region> regions;
};

/// Regions of two planes that overlap, as seen along z, each the nearest that does.
struct joint {
  std::size_t low;  ///< planes
  std::size_t high;
  std::vector<std::size_t> below;  ///< regions of them
  std::vector<std::size_t> above;
};

/// The planes of a structure, z ascending.
struct contour_stack {
  std::vector<contour_plane> planes;
  std::vector<joint> joints;  ///< in the order of their lower planes
  structure_report report;    ///< all but volumes
};

/// Joins the regions of the stack's planes, gives those that end their caps, and reports both.
/// \param slice_thickness  mm, of a structure without joints; 0 where it is not known
/// \param asked            for each pair of regions that are compared; reports nothing
void join_planes(contour_stack& stack, double slice_thickness, job const& asked);

/// Sorts contours into planes and joins these.
/// \param asked  after each plane, and within one of many points; reports nothing
/// \throws iso::invalid_argument  as voxel_fractions does for contours
/// \throws iso::cancelled         as job::step
contour_stack stack_of(structure const& s, structure_options const& options, char const* function,
                       job const& asked);

}  // namespace iso::dvh::detail

namespace iso::dvh {

struct structure_plan::contents {
  std::string name;
  structure_options options;
  detail::contour_stack stack;
};

namespace detail {

/// Makes what a plan of `s` holds, for a function of that name.
structure_plan::contents planned(structure const& s, structure_options const& options,
                                 char const* function, job const& control);

}  // namespace detail
}  // namespace iso::dvh
