// SPDX-License-Identifier: BSD-3-Clause
#include "planes.hpp"

#include <iso/core/check.hpp>
#include <iso/dvh/structure.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace iso::dvh {
namespace detail {
namespace {

constexpr char const* function = "iso::dvh::structure_grid";

// A structure's voxels, unless it is told otherwise. What is misplaced on the surface goes with the
// square of voxels' number along the extent.
constexpr double largest_voxel = 1;  // mm
constexpr double min_voxels = 45;    // along an axis
constexpr double max_parts = 64;     // of a cell along an axis
constexpr char const* axis_names[] = {"x", "y", "z"};
// So many voxels at most, where axes want different numbers of parts.
constexpr std::int64_t max_divided_voxels = std::int64_t(1) << 24;

struct box {
  vec3<double> low;
  vec3<double> high;
};

/// Returns the box of a structure with its caps.
box box_of(contour_stack const& stack, end_cap caps) {
  double const infinity = HUGE_VAL;
  bool const capped = caps != end_cap::none;
  box b{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
  for (auto const& plane : stack.planes) {
    for (auto const& region : plane.regions) {
      b.low.z = std::min(b.low.z, plane.z - (capped ? region.cap_below : 0));
      b.high.z = std::max(b.high.z, plane.z + (capped ? region.cap_above : 0));
      for (auto const& p : region.contours[0]) {
        b.low.x = std::min(b.low.x, p.x);
        b.low.y = std::min(b.low.y, p.y);
        b.high.x = std::max(b.high.x, p.x);
        b.high.y = std::max(b.high.y, p.y);
      }
    }
  }
  return b;
}

/// Returns whether a structure lies partly beyond a dose's voxels, by more than rounding.
bool goes_beyond(box const& b, grid const& dose) {
  bool beyond = false;
  for (int axis = 0; axis < 3; ++axis) {
    double const slack = share_rounding * dose.spacing[axis];
    double const low = dose.origin[axis] - 0.5 * dose.spacing[axis];
    double const high = low + dose.spacing[axis] * double(dose.extent[axis]);
    beyond = beyond || b.low[axis] < low - slack || b.high[axis] > high + slack;
  }
  return beyond;
}

/// Returns the part within a box of the grid that divides each cell of a dose into parts^3.
grid divided_grid(std::string const& name, box const& b, grid const& dose, double parts) {
  grid g;
  for (int axis = 0; axis < 3; ++axis) {
    double const spacing = dose.spacing[axis] / parts;
    // Counted from the middle of the dose's first voxel; its face is half a spacing below.
    double const origin = dose.origin[axis];
    double const lowest = -std::ceil(0.5 * parts);
    double const highest = double(dose.extent[axis] - 1) * parts + std::ceil(0.5 * parts);
    // A face of the structure that rounding moves across one of the grid is on it.
    double const low = (b.low[axis] - origin) / spacing + share_rounding;
    double const high = (b.high[axis] - origin) / spacing - share_rounding;
    double const first = std::max(std::floor(low), lowest);
    double const end = std::min(std::ceil(high), highest);
    ISO_VALIDATE(end > first,
                 "{}: '{}' goes from {} to {} mm along {}, the dose's voxels from {} to {} mm "
                 "(they do not overlap); check that both are in one frame of reference",
                 function, name, b.low[axis], b.high[axis], axis_names[axis],
                 origin - 0.5 * dose.spacing[axis],
                 origin + (double(dose.extent[axis]) - 0.5) * dose.spacing[axis]);
    g.extent[std::size_t(axis)] = std::int64_t(end - first);
    g.spacing[axis] = spacing;
    g.origin[axis] = origin + (first + 0.5) * spacing;
  }
  iso::validate(g, function);
  return g;
}

void validate_arguments(grid const& dose, std::int64_t subdivision) {
  iso::validate(dose, function);
  ISO_VALIDATE(
      subdivision >= 0 && subdivision <= 64,
      "{}: a subdivision of {} (must be from 0 to 64); leave it at 0 for voxels of at most 1 mm",
      function, subdivision);
}

grid grid_of(structure_plan::contents const& plan, grid const& dose, std::int64_t subdivision) {
  auto const box = box_of(plan.stack, plan.options.caps);
  if (subdivision > 0) {
    return divided_grid(plan.name, box, dose, double(subdivision));
  }
  double least = max_parts;
  double most = 1;
  for (int axis = 0; axis < 3; ++axis) {
    double const target = std::min(largest_voxel, (box.high[axis] - box.low[axis]) / min_voxels);
    double const parts = std::clamp(std::ceil(dose.spacing[axis] / target - 1e-9), 1.0, max_parts);
    least = std::min(least, parts);
    most = std::max(most, parts);
  }
  // One number for all axes: only then do parts' tetrahedra lie in the cell's. Voxels of an even
  // number end at the dose's faces, those of an odd one are halved by them: an even number, if one
  // is not too many, for a structure that goes on beyond.
  if (goes_beyond(box, dose)) {
    for (double parts = 2 * std::ceil(0.5 * most); parts >= least && parts >= 2; parts -= 2) {
      grid const g = divided_grid(plan.name, box, dose, parts);
      if (g.size() <= max_divided_voxels) {
        return g;
      }
    }
  }
  for (double parts = most;; --parts) {
    grid const g = divided_grid(plan.name, box, dose, parts);
    if (parts <= least || g.size() <= max_divided_voxels) {
      return g;
    }
  }
}

}  // namespace
}  // namespace detail

grid structure_grid(structure const& s, grid const& dose, structure_options const& options,
                    std::int64_t subdivision, job const& control) {
  detail::validate_arguments(dose, subdivision);
  return detail::grid_of(detail::planned(s, options, detail::function, control), dose, subdivision);
}

grid structure_grid(structure_plan const& plan, grid const& dose, std::int64_t subdivision) {
  detail::validate_arguments(dose, subdivision);
  return detail::grid_of(plan.held(), dose, subdivision);
}

}  // namespace iso::dvh
