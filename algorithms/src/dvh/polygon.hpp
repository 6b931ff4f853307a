// SPDX-License-Identifier: BSD-3-Clause
//! Holds polygons of one plane: areas, crossings, what lies inside what.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace iso::dvh::detail {

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

enum class place { outside, inside, on };
place place_of(point2 const& at, polygon const& p);

/// Returns where `inner` lies in `outer`, which it does not cross; place::on where they are the
/// same.
place place_of(polygon const& inner, polygon const& outer);

/// Returns a point near which `a` goes into or out of `b`, where parts of it lie on either side;
/// finds crossings at points of either, which first_crossing leaves.
std::optional<point2> crossing_point(polygon const& a, polygon const& b);

/// Returns whether two polygons share any area.
bool overlap(polygon const& a, polygon const& b);

struct crossing {
  std::size_t first;   ///< polygons
  std::size_t second;  ///< may be the first
  point2 at;
};

/// Finds two edges, of one polygon or of two, that cross inside of both. Edges that touch, or lie
/// on each other, do not.
std::optional<crossing> first_crossing(std::vector<polygon> const& all);

/// Says of many points how far they are from a polygon's nearest edge and whether they lie in it.
/// Edges are looked at in blocks, of which boxes leave most out.
class polygon_index {
 public:
  explicit polygon_index(polygon const& p);
  [[nodiscard]] double distance_to(point2 const& at);
  /// As place_of.
  [[nodiscard]] place place_of(point2 const& at) const;

 private:
  struct block {
    point2 low;
    point2 high;
  };
  static constexpr std::size_t edges_a_block = 16;

  /// Calls f(a, b) for the edges of a block.
  template <class F>
  void for_each_edge(std::size_t n, F const& f) const;

  polygon points_;  ///< with the first at the end too
  std::vector<block> blocks_;
  std::size_t nearest_ = 0;  ///< block that the last point was nearest to
};

}  // namespace iso::dvh::detail
