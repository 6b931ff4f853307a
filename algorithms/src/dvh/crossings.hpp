// SPDX-License-Identifier: BSD-3-Clause
//! Splits polygons that cross themselves or each other into loops that do not.
#pragma once

#include "polygon.hpp"

#include <vector>

namespace iso::dvh::detail {

/// What an even number of loops goes around is outside, as it is of contours in contours.
struct split_polygons {
  std::vector<polygon> loops;  ///< visit no point twice; touch each other at most
  /// The area that a polygon goes around more than once, or that several have inside.
  double disputed = 0;
  /// There was one polygon that goes around all of its area in one direction, but for what rounding
  /// makes of points on its edges: it need not be split.
  bool was_simple = false;
};

/// Splits polygons where they cross. Points are rounded to about 2^-27 of the extent of all.
/// \param asked  while many edges are looked at; reports nothing
split_polygons split_crossings(std::vector<polygon> const& all, job const& asked = {});

}  // namespace iso::dvh::detail
