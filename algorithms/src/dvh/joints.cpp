// SPDX-License-Identifier: BSD-3-Clause
#include "planes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace iso::dvh::detail {
namespace {

// Median distances of a part's planes: beyond the first a slice is missing, beyond the second what
// lies above is another part.
constexpr double gap = 1.5;
constexpr double farthest = 4;

using planes_of_stack = std::vector<contour_plane>;

/// Returns the lower one of two in the middle: a gap beside one slice spacing is a gap.
double median_of(std::vector<double> values) {
  auto const middle = values.begin() + std::ptrdiff_t((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The regions that overlap one, of the nearest plane that has some.
struct neighbours {
  std::size_t plane = 0;
  std::vector<std::size_t> regions;  ///< empty: there are none
};

/// The outer contours of a plane's regions.
struct outlines {
  std::vector<polygon_index> regions;
  joined_boxes boxes;  ///< of each region
};

std::vector<outlines> outlines_of(planes_of_stack const& planes) {
  std::vector<outlines> all;
  for (auto const& plane : planes) {
    auto& of_plane = all.emplace_back();
    std::vector<box2> boxes;
    for (auto const& region : plane.regions) {
      boxes.push_back(of_plane.regions.emplace_back(region.contours[0]).box());
    }
    of_plane.boxes = joined_boxes(boxes);
  }
  return all;
}

std::vector<std::size_t> overlapping(polygon_index const& outline, outlines const& plane,
                                     job const& asked) {
  std::vector<std::size_t> found;
  plane.boxes.for_each_block([&](box2 const& b) { return b.meets(outline.box()); },
                             [&](std::size_t first, std::size_t end) {
                               for (std::size_t m = first; m < end; ++m) {
                                 asked.step(0);
                                 if (overlap(outline, plane.regions[m], asked)) {
                                   found.push_back(m);
                                 }
                               }
                             });
  return found;
}

/// Of each plane's regions.
using neighbour_lists = std::vector<std::vector<neighbours>>;

neighbour_lists neighbours_above(std::vector<outlines> const& planes, job const& asked) {
  neighbour_lists all(planes.size());
  for (std::size_t n = 0; n < planes.size(); ++n) {
    for (auto const& outline : planes[n].regions) {
      auto& found = all[n].emplace_back();
      for (std::size_t k = n + 1; k < planes.size() && found.regions.empty(); ++k) {
        found = {k, overlapping(outline, planes[k], asked)};
      }
    }
  }
  return all;
}

neighbour_lists neighbours_below(std::vector<outlines> const& planes, neighbour_lists const& above,
                                 job const& asked) {
  neighbour_lists all(planes.size());
  for (std::size_t k = 0; k < planes.size(); ++k) {
    all[k].resize(planes[k].regions.size());
    if (k == 0) {
      continue;
    }
    // What overlaps the next plane is known.
    for (std::size_t r = 0; r < above[k - 1].size(); ++r) {
      auto const& up = above[k - 1][r];
      for (std::size_t const m : up.plane == k ? up.regions : std::vector<std::size_t>{}) {
        all[k][m].plane = k - 1;
        all[k][m].regions.push_back(r);
      }
    }
    for (std::size_t m = 0; m < all[k].size(); ++m) {
      auto& found = all[k][m];
      for (std::size_t n = k - 1; n-- > 0 && found.regions.empty();) {
        found = {n, overlapping(planes[k].regions[m], planes[n], asked)};
      }
    }
  }
  return all;
}

/// Numbers from 0, of which some are united: each group goes by its least one.
class united_numbers {
 public:
  explicit united_numbers(std::size_t count) : before_(count) {
    std::iota(before_.begin(), before_.end(), std::size_t(0));
  }
  [[nodiscard]] std::size_t count() const { return before_.size(); }
  std::size_t least(std::size_t n) {
    while (before_[n] != n) {
      n = before_[n] = before_[before_[n]];  // a shorter way for the next
    }
    return n;
  }
  void unite(std::size_t a, std::size_t b) {
    std::size_t const of_a = least(a);
    std::size_t const of_b = least(b);
    before_[std::max(of_a, of_b)] = std::min(of_a, of_b);
  }

 private:
  std::vector<std::size_t> before_;  ///< one of its group that is no greater
};

/// Returns joints of each plane with the one above: groups of regions that overlap each other and
/// have no nearer ones.
std::vector<joint> joints_of(planes_of_stack const& planes, job const& asked) {
  auto const outer = outlines_of(planes);
  auto const above = neighbours_above(outer, asked);
  auto const below = neighbours_below(outer, above, asked);
  std::vector<joint> joints;
  for (std::size_t n = 0; n < planes.size(); ++n) {
    std::size_t const count = planes[n].regions.size();
    // By the higher plane: the group of each region of both.
    std::map<std::size_t, united_numbers> groups;
    for (std::size_t r = 0; r < count; ++r) {
      auto const& up = above[n][r];
      for (std::size_t const m : up.regions) {
        if (below[up.plane][m].plane != n) {
          continue;
        }
        auto& group =
            groups.try_emplace(up.plane, count + planes[up.plane].regions.size()).first->second;
        group.unite(r, count + m);
      }
    }
    for (auto& [plane, group] : groups) {
      std::map<std::size_t, joint> members;
      for (std::size_t g = 0; g < group.count(); ++g) {
        auto& j = members.try_emplace(group.least(g), joint{n, plane, {}, {}}).first->second;
        (g < count ? j.below : j.above).push_back(g < count ? g : g - count);
      }
      for (auto const& [key, j] : members) {
        if (!j.below.empty() && !j.above.empty()) {
          joints.push_back(j);
        }
      }
    }
  }
  return joints;
}

/// Returns the number of a structure's regions in the planes before each, and in all.
std::vector<std::size_t> first_regions(planes_of_stack const& planes) {
  std::vector<std::size_t> first = {0};
  for (auto const& plane : planes) {
    first.push_back(first.back() + plane.regions.size());
  }
  return first;
}

/// The parts of a structure, each all regions that joints hold together.
class structure_parts {
 public:
  structure_parts(planes_of_stack const& planes, std::vector<joint> const& joints)
      : first_(first_regions(planes)), parts_(first_.back()) {
    for (auto const& j : joints) {
      for (std::size_t const r : j.below) {
        parts_.unite(first_[j.low] + r, any_of(j));
      }
      for (std::size_t const r : j.above) {
        parts_.unite(first_[j.high] + r, any_of(j));
      }
    }
    std::map<std::size_t, std::vector<double>> spacings;
    for (auto const& j : joints) {
      spacings[parts_.least(any_of(j))].push_back(planes[j.high].z - planes[j.low].z);
    }
    for (auto const& [part, all] : spacings) {
      spacing_[part] = median_of(all);
    }
  }
  /// Returns the median distance of the planes that the part of a joint has.
  [[nodiscard]] double spacing(joint const& j) { return spacing_.at(parts_.least(any_of(j))); }
  [[nodiscard]] std::int64_t count() {
    std::int64_t parts = 0;
    for (std::size_t n = 0; n < parts_.count(); ++n) {
      parts += parts_.least(n) == n ? 1 : 0;
    }
    return parts;
  }

 private:
  /// Returns a region of the part of a joint.
  [[nodiscard]] std::size_t any_of(joint const& j) const { return first_[j.low] + j.below[0]; }

  std::vector<std::size_t> first_;  ///< of each plane's regions
  united_numbers parts_;
  std::map<std::size_t, double> spacing_;
};

void add_once(std::vector<std::pair<double, double>>& all, std::pair<double, double> const& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) {
    all.push_back(one);
  }
}

}  // namespace

void join_planes(contour_stack& stack, double slice_thickness, job const& asked) {
  auto& planes = stack.planes;
  auto& report = stack.report;
  auto const distance = [&](joint const& j) { return planes[j.high].z - planes[j.low].z; };
  auto const between = [&](joint const& j) { return std::pair(planes[j.low].z, planes[j.high].z); };
  auto const found = joints_of(planes, asked);
  structure_parts whole(planes, found);
  for (auto const& j : found) {
    if (distance(j) > farthest * whole.spacing(j)) {
      add_once(report.separations, between(j));
    } else {
      stack.joints.push_back(j);
    }
  }
  structure_parts parts(planes, stack.joints);
  report.parts = parts.count();
  report.planes = std::int64_t(planes.size());
  std::vector<double> distances;
  for (auto const& j : stack.joints) {
    distances.push_back(distance(j));
  }
  // Of a region without joints nothing says how thick it is.
  double usual = slice_thickness;
  if (!distances.empty()) {
    usual = median_of(distances);
    report.min_spacing = *std::min_element(distances.begin(), distances.end());
    report.largest_spacing = *std::max_element(distances.begin(), distances.end());
  } else if (!(usual > 0)) {
    for (std::size_t n = 1; n < planes.size(); ++n) {
      distances.push_back(planes[n].z - planes[n - 1].z);
    }
    usual = median_of(distances);
  }
  for (auto& plane : planes) {
    for (auto& region : plane.regions) {
      region.cap_below = region.cap_above = 0.5 * usual;
    }
  }
  // A region that is joined on one side is on the other as high as half of that, or of its part's
  // spacing where a slice is missing.
  for (auto const& j : stack.joints) {
    double const spacing = parts.spacing(j);
    bool const is_gap = distance(j) > gap * spacing;
    if (is_gap) {
      add_once(report.missing_slices, between(j));
    }
    double const height = 0.5 * (is_gap ? spacing : distance(j));
    for (std::size_t const r : j.below) {
      planes[j.low].regions[r].cap_below = height;
    }
    for (std::size_t const r : j.above) {
      planes[j.high].regions[r].cap_above = height;
    }
  }
  for (auto const& j : stack.joints) {
    for (std::size_t const r : j.below) {
      planes[j.low].regions[r].cap_above = 0;
    }
    for (std::size_t const r : j.above) {
      planes[j.high].regions[r].cap_below = 0;
    }
  }
}

}  // namespace iso::dvh::detail
