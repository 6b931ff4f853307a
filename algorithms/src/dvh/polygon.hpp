// SPDX-License-Identifier: BSD-3-Clause
//! Holds polygons of one plane: areas, crossings, what lies inside what.
#pragma once

#include <iso/core/job.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace iso::dvh::detail {

/// A job is asked once in so many edges, of which each may be compared with hundreds of others.
inline constexpr std::size_t edges_between_questions = 1024;

struct point2 {
  double x = 0;
  double y = 0;

  friend bool operator==(point2 const&, point2 const&) = default;
};

/// Is closed: its last point is joined to the first.
using polygon = std::vector<point2>;

inline point2 next_of(polygon const& p, std::size_t n) { return p[n + 1 == p.size() ? 0 : n + 1]; }

/// Returns the area, positive where the polygon runs from x to y.
double signed_area(polygon const& p);

/// A rectangle along the axes.
struct box2 {
  point2 low;
  point2 high;

  /// Returns whether both have a point in common.
  [[nodiscard]] bool meets(box2 const& b) const {
    return low.x <= b.high.x && b.low.x <= high.x && low.y <= b.high.y && b.low.y <= high.y;
  }
  [[nodiscard]] bool holds(box2 const& b) const {
    return low.x <= b.low.x && b.high.x <= high.x && low.y <= b.low.y && b.high.y <= high.y;
  }
};

box2 bounds_of(polygon const& p);

/// Boxes, of which neighbours in their order are joined: a search passes most of them by.
class joined_boxes {
 public:
  joined_boxes() = default;
  explicit joined_boxes(std::vector<box2> const& all);

  /// Calls f(first, end) for boxes that come one after the other where wanted(b) holds of the box
  /// around these, in order.
  template <class Wanted, class F>
  void for_each_block(Wanted const& wanted, F const& f) const {
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      if (!wanted(groups_[group])) {
        continue;
      }
      std::size_t const end = std::min((group + 1) * a_block, blocks_.size());
      for (std::size_t n = group * a_block; n < end; ++n) {
        if (wanted(blocks_[n])) {
          f(n * a_block, std::min((n + 1) * a_block, count_));
        }
      }
    }
  }

 private:
  static constexpr std::size_t a_block = 16;  // boxes, and blocks of a group

  std::size_t count_ = 0;
  std::vector<box2> blocks_;
  std::vector<box2> groups_;  ///< of blocks
};

enum class place { outside, inside, on };

/// A polygon that many points and others are asked about: how far they are from its nearest edge,
/// whether they lie in it, which edges they come near. Boxes of edges leave most of them out of
/// these searches, rows along y out of the second.
class polygon_index {
 public:
  explicit polygon_index(polygon const& p);
  [[nodiscard]] std::size_t size() const { return points_.size() - 1; }
  /// Returns where edge n begins; that of size() is the first one's again.
  [[nodiscard]] point2 const& point(std::size_t n) const { return points_[n]; }
  [[nodiscard]] box2 const& box() const { return box_; }
  /// Returns how far `at` is from the nearest edge, or `within` where that is farther.
  [[nodiscard]] double distance_to(point2 const& at, double within);
  [[nodiscard]] place place_of(point2 const& at) const;
  /// Returns the edges, in order, whose boxes meet one: all that have a point in it.
  [[nodiscard]] std::vector<std::size_t> edges_near(box2 const& b) const;

 private:
  [[nodiscard]] std::size_t row_of(double y) const;

  polygon points_;  ///< with the first at the end too
  box2 box_;
  joined_boxes edges_;
  std::vector<std::size_t> row_ends_;  ///< in `in_rows_`
  std::vector<std::size_t> in_rows_;   ///< edges that reach a row, row by row
  double rows_per_mm_ = 0;
  std::size_t nearest_ = 0;  ///< edge that the last point was nearest to
};

/// Returns where `inner` lies in `outer`, which it does not cross; place::on where they are the
/// same.
place place_of(polygon_index const& inner, polygon_index const& outer);

/// Returns whether parts of `a` lie on either side of `b`; finds crossings at points of either,
/// which contacts_of has among those that touch.
bool goes_into_and_out_of(polygon_index const& a, polygon_index const& b);

/// Returns whether two polygons share any area.
/// \param asked  while many edges are looked at; reports nothing
bool overlap(polygon_index const& a, polygon_index const& b, job const& asked);

/// Pairs of polygons that meet, each once, the lesser first. A pair of one polygon twice is of
/// edges that are not neighbours.
struct contacts {
  using pairs = std::set<std::pair<std::size_t, std::size_t>>;
  pairs crossing;  ///< some edges cross inside of both
  pairs touching;  ///< some point lies on an edge
};

/// Finds which polygons meet each other, or themselves.
/// \param asked  while many edges are looked at; reports nothing
contacts contacts_of(std::vector<polygon> const& all, job const& asked = {});

}  // namespace iso::dvh::detail
