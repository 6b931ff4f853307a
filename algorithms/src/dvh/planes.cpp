// SPDX-License-Identifier: BSD-3-Clause
#include "planes.hpp"

#include "crossings.hpp"

#include <iso/core/check.hpp>
#include <iso/detail/check_word.hpp>
#include <iso/detail/job_parts.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

namespace iso::dvh::detail {
namespace {

/// How far apart, in mm, the z of one plane's points may be. Files round coordinates, to float or
/// to few digits, and not all contours of a slice alike.
constexpr double plane_slack = 0.01;

/// Of the square of a contour's extent: less is taken for none.
constexpr double min_area = 1e-12;

/// The part of a structure's area that contours which cross may leave in doubt.
constexpr double max_disputed = 0.01;

/// A structure's name in messages.
struct named {
  char const* function;
  std::string const& name;
};

/// A contour without the point that closes it, and z.
struct flat_contour {
  polygon points;
  double z;
};

bool has_area(polygon const& p) {
  double extent = 0;
  for (auto const& at : p) {
    extent = std::max({extent, std::fabs(at.x - p[0].x), std::fabs(at.y - p[0].y)});
  }
  return std::fabs(signed_area(p)) > min_area * extent * extent;
}

/// Returns whether all points lie on one line. The two halves of a contour that crosses itself may
/// cancel, and then it has no area either.
bool is_line(polygon const& p) {
  auto const from_first = [&](point2 const& at) { return point2{at.x - p[0].x, at.y - p[0].y}; };
  point2 far{};
  double extent = 0;
  for (auto const& at : p) {
    auto const d = from_first(at);
    double const size = std::max(std::fabs(d.x), std::fabs(d.y));
    if (size > extent) {
      extent = size;
      far = d;
    }
  }
  return std::all_of(p.begin(), p.end(), [&](point2 const& at) {
    auto const d = from_first(at);
    return std::fabs(far.x * d.y - far.y * d.x) <= min_area * extent * extent;
  });
}

/// Returns nothing for points and lines, which bound nothing.
std::optional<flat_contour> flatten(contour const& c, std::size_t n, named const& who) {
  if (c.points.empty()) {
    return {};
  }
  double low = c.points[0].z;
  double high = low;
  polygon flat;
  for (auto const& p : c.points) {
    ISO_VALIDATE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z),
                 "{}: contour {} of '{}' has a point at ({}, {}, {}) (coordinates must be finite); "
                 "remove the point",
                 who.function, n, who.name, p.x, p.y, p.z);
    low = std::min(low, p.z);
    high = std::max(high, p.z);
    point2 const at{p.x, p.y};
    if (flat.empty() || !(flat.back() == at)) {
      flat.push_back(at);
    }
  }
  while (flat.size() > 1 && flat.front() == flat.back()) {
    flat.pop_back();
  }
  if (flat.size() < 3 || is_line(flat)) {
    return {};
  }
  ISO_VALIDATE(high - low <= plane_slack,
               "{}: contour {} of '{}' goes from z = {} to {} mm (contours lie in axial planes); "
               "resample the contour to such planes",
               who.function, n, who.name, low, high);
  return flat_contour{std::move(flat), c.points[0].z};
}

/// Returns a number for each contour, alike for those that cross each other.
std::vector<std::size_t> crossing_groups(std::vector<polygon> const& all, contacts const& met,
                                         job const& asked) {
  std::vector<std::size_t> groups(all.size());
  std::iota(groups.begin(), groups.end(), std::size_t(0));
  auto const unite = [&](std::size_t a, std::size_t b) {
    std::size_t const from = groups[b];
    std::replace(groups.begin(), groups.end(), from, std::size_t(groups[a]));
  };
  for (auto const& [a, b] : met.crossing) {
    unite(a, b);
  }
  std::map<std::size_t, polygon_index> indices;  // of those that touch another
  auto const index_of = [&](std::size_t n) -> polygon_index const& {
    return indices.try_emplace(n, all[n]).first->second;
  };
  for (auto const& [a, b] : met.touching) {
    if (groups[a] != groups[b]) {
      asked.step(0);
      auto const& one = index_of(a);
      auto const& other = index_of(b);
      if (goes_into_and_out_of(one, other) || goes_into_and_out_of(other, one)) {
        unite(a, b);
      }
    }
  }
  return groups;
}

/// Splits contours that cross themselves or others, and leaves all others as they are.
/// \param report  says how many were split, and how many have no area
/// \return        the contours, and the area, mm2, that is disputed
std::pair<std::vector<polygon>, double> without_crossings(std::vector<polygon> const& all,
                                                          structure_report& report,
                                                          job const& asked) {
  auto const met = contacts_of(all, asked);
  auto const groups = crossing_groups(all, met, asked);
  std::map<std::size_t, std::vector<polygon>> members;
  for (std::size_t n = 0; n < all.size(); ++n) {
    members[groups[n]].push_back(all[n]);
  }
  std::vector<polygon> loops;
  double disputed = 0;
  bool is_split = false;
  for (auto const& [group, contours] : members) {
    // A contour that touches itself may be a keyhole, or cross itself at its points.
    bool const is_one = contours.size() == 1;
    if (!is_one || met.crossing.contains({group, group}) || met.touching.contains({group, group})) {
      auto const parts = split_crossings(contours, asked);
      if (!is_one || !parts.was_simple || met.crossing.contains({group, group})) {
        std::copy_if(parts.loops.begin(), parts.loops.end(), std::back_inserter(loops), has_area);
        disputed += parts.disputed;
        report.crossing_contours += std::int64_t(contours.size());
        is_split = true;
        continue;
      }
    }
    if (has_area(contours[0])) {
      loops.push_back(contours[0]);
    } else {
      ++report.left_out;
    }
  }
  report.crossing_planes += is_split ? 1 : 0;
  return {std::move(loops), disputed};
}

/// Returns which contours each one lies in.
std::vector<std::vector<std::size_t>> holders_of(std::vector<polygon> const& all, double z,
                                                 named const& who, job const& asked) {
  std::vector<polygon_index> const indices(all.begin(), all.end());
  std::vector<box2> found;
  std::transform(all.begin(), all.end(), std::back_inserter(found), bounds_of);
  joined_boxes const boxes(found);
  std::vector<std::vector<std::size_t>> holders(all.size());
  for (std::size_t n = 0; n < all.size(); ++n) {
    asked.step(0);
    auto const may_hold = [&](box2 const& b) { return b.holds(indices[n].box()); };
    boxes.for_each_block(may_hold, [&](std::size_t first, std::size_t end) {
      for (std::size_t m = first; m < end; ++m) {
        if (n == m || !may_hold(indices[m].box())) {
          continue;
        }
        auto const where = place_of(indices[n], indices[m]);
        ISO_VALIDATE(where != place::on,
                     "{}: '{}' has one contour twice at z = {} mm (inside or a hole?); remove one "
                     "of the two",
                     who.function, who.name, z);
        if (where == place::inside) {
          holders[n].push_back(m);
        }
      }
    });
  }
  return holders;
}

contour_plane plane_of(std::vector<polygon> const& all, double z, named const& who,
                       job const& asked) {
  auto const holders = holders_of(all, z, who, asked);
  contour_plane plane{z, {}};
  std::vector<std::size_t> regions(all.size());  // of those that are no holes
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (holders[n].size() % 2 == 0) {
      regions[n] = plane.regions.size();
      plane.regions.emplace_back().contours.push_back(all[n]);
    }
  }
  for (std::size_t hole = 0; hole < all.size(); ++hole) {
    auto const& around = holders[hole];
    for (std::size_t const n : around) {
      if (around.size() % 2 != 0 && holders[n].size() + 1 == around.size()) {
        plane.regions[regions[n]].contours.push_back(all[hole]);
      }
    }
  }
  return plane;
}

/// Returns the area of a plane's regions, mm2.
double area_of(contour_plane const& plane) {
  double sum = 0;
  for (auto const& region : plane.regions) {
    for (std::size_t c = 0; c < region.contours.size(); ++c) {
      sum += (c == 0 ? 1 : -1) * std::fabs(signed_area(region.contours[c]));
    }
  }
  return sum;
}

}  // namespace

contour_stack stack_of(structure const& s, structure_options const& options, char const* function,
                       job const& asked) {
  named const who{function, s.name};
  ISO_VALIDATE(!s.contours.empty(),
               "{}: '{}' has no contours (there is nothing inside); leave it out", function,
               s.name);
  iso::detail::check_word(options.between, function, "between");
  iso::detail::check_word(options.caps, function, "caps");
  ISO_VALIDATE(std::isfinite(options.slice_thickness) && options.slice_thickness >= 0,
               "{}: a slice thickness of {} mm (must be finite and positive, or 0); leave it at 0 "
               "to take the planes' distance",
               function, options.slice_thickness);
  std::vector<flat_contour> flat;
  contour_stack stack;
  auto& report = stack.report;
  for (std::size_t n = 0; n < s.contours.size(); ++n) {
    if (auto one = flatten(s.contours[n], n, who)) {
      flat.push_back(std::move(*one));
    } else {
      ++report.left_out;
    }
  }
  std::stable_sort(flat.begin(), flat.end(),
                   [](auto const& a, auto const& b) { return a.z < b.z; });
  double area = 0;
  double disputed = 0;
  double first_disputed = 0;
  for (std::size_t first = 0; first < flat.size();) {
    std::vector<polygon> together;
    std::size_t n = first;
    for (; n < flat.size() && flat[n].z - flat[first].z <= plane_slack; ++n) {
      together.push_back(std::move(flat[n].points));
    }
    double const z = flat[first].z;
    auto const [loops, in_dispute] = without_crossings(together, report, asked);
    first_disputed = disputed == 0 && in_dispute > 0 ? z : first_disputed;
    disputed += in_dispute;
    if (!loops.empty()) {
      stack.planes.push_back(plane_of(loops, z, who, asked));
      area += area_of(stack.planes.back());
      for (auto const& region : stack.planes.back().regions) {
        report.holes += std::int64_t(region.contours.size()) - 1;
      }
    }
    first = n;
  }
  report.contours = std::int64_t(s.contours.size()) - report.left_out;
  // Of a contour that goes around twice nothing is left, which is in dispute all the same.
  ISO_VALIDATE(!stack.planes.empty() || disputed > 0,
               "{}: '{}' has {} contour{} without area (points and lines bound nothing); leave it "
               "out",
               function, s.name, s.contours.size(), s.contours.size() == 1 ? "" : "s");
  report.disputed = disputed > 0 ? disputed / area : 0;
  ISO_VALIDATE(
      report.disputed <= max_disputed,
      "{}: contours of '{}' cross or are drawn twice, and go around {} mm2 more than once, "
      "of all planes together (at most 1 % of the {} mm2 that are left may be disputed; "
      "the first lie at z = {} mm); draw these contours anew",
      function, s.name, disputed, area, first_disputed);
  ISO_VALIDATE(stack.planes.size() > 1 || options.slice_thickness > 0,
               "{}: '{}' has contours at z = {} mm only (their thickness is not known); give "
               "slice_thickness in mm",
               function, s.name, stack.planes[0].z);
  ISO_VALIDATE(stack.planes.size() > 1 || options.caps != end_cap::none,
               "{}: '{}' has contours at z = {} mm only, and no end caps (it has no volume); "
               "choose end_cap::half_slice",
               function, s.name, stack.planes[0].z);
  join_planes(stack, options.slice_thickness, asked);
  return stack;
}

structure_plan::contents planned(structure const& s, structure_options const& options,
                                 char const* function, job const& control) {
  return {s.name, options, stack_of(s, options, function, iso::detail::asked_only(control))};
}

}  // namespace iso::dvh::detail

namespace iso::dvh {

structure_plan::structure_plan(structure const& s, structure_options const& options,
                               job const& control)
    : held_(std::make_shared<contents const>(
          detail::planned(s, options, "iso::dvh::structure_plan", control))) {}

}  // namespace iso::dvh
