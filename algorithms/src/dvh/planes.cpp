// SPDX-License-Identifier: BSD-3-Clause
#include "planes.hpp"

#include <iso/core/check.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace iso::dvh::detail {
namespace {

/// Returns how far apart, in mm, the z of one plane's points may be. Files round coordinates, to
/// float or to few digits, and not all contours of a slice alike.
double plane_slack(double extent) { return std::max(0.01, 1e-6 * extent); }

/// Of the square of a contour's extent: less is taken for none.
constexpr double min_area = 1e-12;

/// Names a structure in messages.
struct named {
  char const* function;
  std::string const& name;
};

/// A contour without the point that closes it, and z.
struct flat_contour {
  polygon points;
  double z;
  double extent;
};

flat_contour flatten(contour const& c, std::size_t n, named const& who) {
  auto points = c.points;
  while (points.size() > 1 && points.front() == points.back()) {
    points.pop_back();
  }
  ISO_VALIDATE(points.size() >= 3,
               "{}: contour {} of '{}' has {} points (a closed one has 3 or more); leave out "
               "points and lines",
               who.function, n, who.name, points.size());
  vec3<double> low = points[0];
  vec3<double> high = points[0];
  for (auto const& p : points) {
    ISO_VALIDATE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z),
                 "{}: contour {} of '{}' has a point at ({}, {}, {}) (coordinates must be finite); "
                 "remove the point",
                 who.function, n, who.name, p.x, p.y, p.z);
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], p[axis]);
      high[axis] = std::max(high[axis], p[axis]);
    }
  }
  double const extent = std::max(high.x - low.x, high.y - low.y);
  ISO_VALIDATE(high.z - low.z <= plane_slack(extent),
               "{}: contour {} of '{}' goes from z = {} to {} mm (contours lie in axial planes); "
               "resample the contour to such planes",
               who.function, n, who.name, low.z, high.z);
  flat_contour flat{{}, points[0].z, extent};
  for (auto const& p : points) {
    point2 const at{p.x, p.y};
    if (flat.points.empty() || !(flat.points.back() == at)) {
      flat.points.push_back(at);
    }
  }
  return flat;
}

[[noreturn]] void fail_crossing(point2 const& at, double z, named const& who) {
  fail_argument(
      "{}: two contours of '{}' at z = {} mm cross each other near ({}, {}) (neither is a hole in "
      "the other); join the contours, or part them",
      who.function, who.name, z, at.x, at.y);
}

/// Returns which contours each one lies in.
std::vector<std::vector<std::size_t>> holders_of(std::vector<polygon> const& all, double z,
                                                 named const& who) {
  std::vector<std::vector<std::size_t>> holders(all.size());
  for (std::size_t n = 0; n < all.size(); ++n) {
    for (std::size_t m = 0; m < all.size(); ++m) {
      if (n == m) {
        continue;
      }
      auto const where = place_of(all[n], all[m]);
      ISO_VALIDATE(
          where != place::on,
          "{}: '{}' has one contour twice at z = {} mm (inside or a hole?); remove one of the two",
          who.function, who.name, z);
      if (auto const at = crossing_point(all[n], all[m])) {
        fail_crossing(*at, z, who);
      }
      if (where == place::inside) {
        holders[n].push_back(m);
      }
    }
  }
  return holders;
}

bool has_area(polygon const& p) {
  double extent = 0;
  for (auto const& at : p) {
    extent = std::max({extent, std::fabs(at.x - p[0].x), std::fabs(at.y - p[0].y)});
  }
  return std::fabs(signed_area(p)) > min_area * extent * extent;
}

contour_plane plane_of(std::vector<polygon> const& all, double z, named const& who) {
  if (auto const c = first_crossing(all)) {
    if (c->first == c->second) {
      fail_argument(
          "{}: a contour of '{}' at z = {} mm crosses itself near ({}, {}) (its inside is not "
          "defined); draw the contour anew",
          who.function, who.name, z, c->at.x, c->at.y);
    }
    fail_crossing(c->at, z, who);
  }
  for (auto const& c : all) {
    // After crossings: the two halves of one that crosses itself may cancel.
    ISO_VALIDATE(has_area(c),
                 "{}: a contour of '{}' at z = {} mm has no area (all points lie on one line); "
                 "leave the contour out",
                 who.function, who.name, z);
  }
  auto const holders = holders_of(all, z, who);
  contour_plane plane{z, {}};
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (holders[n].size() % 2 != 0) {
      continue;
    }
    auto& region = plane.regions.emplace_back();
    region.contours.push_back(all[n]);
    for (std::size_t hole = 0; hole < all.size(); ++hole) {
      auto const& around = holders[hole];
      if (around.size() == holders[n].size() + 1 &&
          std::find(around.begin(), around.end(), n) != around.end()) {
        region.contours.push_back(all[hole]);
      }
    }
  }
  return plane;
}

}  // namespace

contour_stack stack_of(structure const& s, structure_options const& options, char const* function) {
  named const who{function, s.name};
  ISO_VALIDATE(!s.contours.empty(),
               "{}: '{}' has no contours (there is nothing inside); leave it out", function,
               s.name);
  ISO_VALIDATE(
      options.between == between_planes::frusta || options.between == between_planes::prisms,
      "{}: shape {} between planes (none of its enumeration); choose one of "
      "iso::dvh::between_planes",
      function, int(options.between));
  ISO_VALIDATE(options.caps == end_cap::none || options.caps == end_cap::half_slice ||
                   options.caps == end_cap::rounded,
               "{}: end cap {} (none of its enumeration); choose one of iso::dvh::end_cap",
               function, int(options.caps));
  ISO_VALIDATE(std::isfinite(options.slice_thickness) && options.slice_thickness >= 0,
               "{}: a slice thickness of {} mm (must be finite and positive, or 0); leave it at 0 "
               "to take the planes' distance",
               function, options.slice_thickness);
  std::vector<flat_contour> flat;
  double extent = 0;
  for (std::size_t n = 0; n < s.contours.size(); ++n) {
    flat.push_back(flatten(s.contours[n], n, who));
    extent = std::max(extent, flat.back().extent);
  }
  std::stable_sort(flat.begin(), flat.end(),
                   [](auto const& a, auto const& b) { return a.z < b.z; });
  contour_stack stack;
  stack.report.contours = std::int64_t(flat.size());
  for (std::size_t first = 0; first < flat.size();) {
    std::vector<polygon> together;
    std::size_t n = first;
    for (; n < flat.size() && flat[n].z - flat[first].z <= plane_slack(extent); ++n) {
      together.push_back(flat[n].points);
    }
    stack.planes.push_back(plane_of(together, flat[first].z, who));
    for (auto const& region : stack.planes.back().regions) {
      stack.report.holes += std::int64_t(region.contours.size()) - 1;
    }
    first = n;
  }
  ISO_VALIDATE(stack.planes.size() > 1 || options.slice_thickness > 0,
               "{}: '{}' has contours at z = {} mm only (their thickness is not known); give "
               "slice_thickness in mm",
               function, s.name, stack.planes[0].z);
  ISO_VALIDATE(stack.planes.size() > 1 || options.caps != end_cap::none,
               "{}: '{}' has contours at z = {} mm only, and no end caps (it has no volume); "
               "choose end_cap::half_slice",
               function, s.name, stack.planes[0].z);
  join_planes(stack, options.slice_thickness);
  return stack;
}

}  // namespace iso::dvh::detail
