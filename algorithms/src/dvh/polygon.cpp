// SPDX-License-Identifier: BSD-3-Clause
#include "polygon.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace iso::dvh::detail {
namespace {

struct edge {
  point2 a;
  point2 b;
  std::size_t owner;
  std::size_t place;  ///< among the owner's edges
  box2 box;
};

/// Returns on which side of a-b `c` lies: 1, -1, or 0 where rounding may decide.
int side_of(point2 const& a, point2 const& b, point2 const& c) {
  double const first = (b.x - a.x) * (c.y - a.y);
  double const second = (b.y - a.y) * (c.x - a.x);
  // Differences of coordinates and their products, each rounded once.
  double const size = std::max({std::fabs(a.x), std::fabs(a.y), std::fabs(b.x), std::fabs(b.y),
                                std::fabs(c.x), std::fabs(c.y)});
  double const reach = std::max(
      {std::fabs(b.x - a.x), std::fabs(b.y - a.y), std::fabs(c.x - a.x), std::fabs(c.y - a.y)});
  double const noise = 4 * std::numeric_limits<double>::epsilon() *
                       (std::fabs(first) + std::fabs(second) + size * reach);
  double const difference = first - second;
  return difference > noise ? 1 : difference < -noise ? -1 : 0;
}

bool cross(edge const& e, edge const& f) {
  return side_of(e.a, e.b, f.a) * side_of(e.a, e.b, f.b) < 0 &&
         side_of(f.a, f.b, e.a) * side_of(f.a, f.b, e.b) < 0;
}

bool is_on(point2 const& p, edge const& e) {
  return e.box.holds({p, p}) && side_of(e.a, e.b, p) == 0;
}

bool touch(edge const& e, edge const& f) {
  return is_on(e.a, f) || is_on(e.b, f) || is_on(f.a, e) || is_on(f.b, e);
}

box2 box_of_edge(point2 const& a, point2 const& b) {
  return {{std::min(a.x, b.x), std::min(a.y, b.y)}, {std::max(a.x, b.x), std::max(a.y, b.y)}};
}

box2 joined(box2 const& a, box2 const& b) {
  return {{std::min(a.low.x, b.low.x), std::min(a.low.y, b.low.y)},
          {std::max(a.high.x, b.high.x), std::max(a.high.y, b.high.y)}};
}

/// Returns where `at` lies with one more edge, where the edges before have it at `so_far`.
place beyond_edge(point2 const& at, point2 const& a, point2 const& b, place so_far) {
  if (std::min(a.y, b.y) > at.y || std::max(a.y, b.y) < at.y) {
    return so_far;
  }
  // Beyond the edge along x rounding decides nothing.
  bool crosses = at.x < std::min(a.x, b.x);
  if (!crosses && at.x <= std::max(a.x, b.x)) {
    int const side = side_of(a, b, at);
    if (side == 0) {
      return place::on;
    }
    crosses = b.y > a.y ? side > 0 : side < 0;
  }
  crosses = crosses && (a.y <= at.y) != (b.y <= at.y);
  return !crosses ? so_far : so_far == place::inside ? place::outside : place::inside;
}

/// Returns the square of the distance from `at` to an edge.
double square_to(point2 const& at, point2 const& a, point2 const& b) {
  double const dx = b.x - a.x;
  double const dy = b.y - a.y;
  double const length = dx * dx + dy * dy;
  double const along = (at.x - a.x) * dx + (at.y - a.y) * dy;
  double const t = length > 0 ? std::clamp(along / length, 0.0, 1.0) : 0.0;
  double const ex = a.x + t * dx - at.x;
  double const ey = a.y + t * dy - at.y;
  return ex * ex + ey * ey;
}

/// Returns the square of the distance from `at` to a box.
double square_to(point2 const& at, box2 const& b) {
  double const x = std::max({b.low.x - at.x, at.x - b.high.x, 0.0});
  double const y = std::max({b.low.y - at.y, at.y - b.high.y, 0.0});
  return x * x + y * y;
}

point2 middle(point2 const& a, point2 const& b) { return {0.5 * (a.x + b.x), 0.5 * (a.y + b.y)}; }

/// Returns the middle of edge n.
point2 middle(polygon_index const& p, std::size_t n) { return middle(p.point(n), p.point(n + 1)); }

edge edge_of(point2 const& a, point2 const& b, std::size_t owner, std::size_t place) {
  return {a, b, owner, place, box_of_edge(a, b)};
}

/// Calls f(e, g) for each two edges whose boxes meet.
template <class F>
void for_each_near_pair(std::vector<edge> edges, job const& asked, F const& f) {
  double width = 0;
  double height = 0;
  for (auto const& e : edges) {
    width += e.box.high.x - e.box.low.x;
    height += e.box.high.y - e.box.low.y;
  }
  // Along the axis along which edges are short, so that few are passed at once.
  bool const along_x = width <= height;
  auto const low = [&](edge const& e) { return along_x ? e.box.low.x : e.box.low.y; };
  auto const high = [&](edge const& e) { return along_x ? e.box.high.x : e.box.high.y; };
  std::stable_sort(edges.begin(), edges.end(),
                   [&](edge const& e, edge const& g) { return low(e) < low(g); });
  for (std::size_t n = 0; n < edges.size(); ++n) {
    if (n % edges_between_questions == 0) {
      asked.step(0);
    }
    for (std::size_t m = n + 1; m < edges.size() && low(edges[m]) <= high(edges[n]); ++m) {
      if (edges[n].box.meets(edges[m].box)) {
        f(edges[n], edges[m]);
      }
    }
  }
}

}  // namespace

double signed_area(polygon const& p) {
  double sum = 0;
  for (std::size_t n = 1; n + 1 < p.size(); ++n) {
    sum += (p[n].x - p[0].x) * (p[n + 1].y - p[0].y) - (p[n].y - p[0].y) * (p[n + 1].x - p[0].x);
  }
  return 0.5 * sum;
}

box2 bounds_of(polygon const& p) {
  box2 box{p[0], p[0]};
  for (auto const& at : p) {
    box = joined(box, {at, at});
  }
  return box;
}

joined_boxes::joined_boxes(std::vector<box2> const& all) : count_(all.size()) {
  auto const join = [](std::vector<box2> const& some, std::vector<box2>& to) {
    for (std::size_t n = 0; n < some.size(); ++n) {
      if (n % a_block == 0) {
        to.push_back(some[n]);
      }
      to.back() = joined(to.back(), some[n]);
    }
  };
  join(all, blocks_);
  join(blocks_, groups_);
}

polygon_index::polygon_index(polygon const& p) : points_(p), box_(bounds_of(p)) {
  points_.push_back(p[0]);
  double rise = 0;
  std::vector<box2> boxes;
  for (std::size_t n = 0; n < size(); ++n) {
    boxes.push_back(box_of_edge(points_[n], points_[n + 1]));
    rise += boxes.back().high.y - boxes.back().low.y;
  }
  edges_ = joined_boxes(boxes);
  // So many rows that an edge is in about two of them, whatever way the edges go.
  double const high = box_.high.y - box_.low.y;
  double const most = double(size());
  double const rows = rise > 0 ? std::clamp(std::floor(most * (high / rise)), 1.0, most) : 1.0;
  rows_per_mm_ = high > 0 ? rows / high : 0;
  if (!std::isfinite(rows_per_mm_)) {
    rows_per_mm_ = 0;
  }
  row_ends_.resize(std::size_t(rows));
  auto const for_each_row = [&](std::size_t n, auto const& f) {
    auto const [low, top] = std::minmax(points_[n].y, points_[n + 1].y);
    for (std::size_t row = row_of(low); row <= row_of(top); ++row) {
      f(row);
    }
  };
  for (std::size_t n = 0; n < size(); ++n) {
    for_each_row(n, [&](std::size_t row) { ++row_ends_[row]; });
  }
  std::size_t all = 0;
  for (auto& end : row_ends_) {
    std::size_t const count = end;
    end = all;  // where the row begins, until its edges are there
    all += count;
  }
  in_rows_.resize(all);
  for (std::size_t n = 0; n < size(); ++n) {
    for_each_row(n, [&](std::size_t row) { in_rows_[row_ends_[row]++] = n; });
  }
}

std::size_t polygon_index::row_of(double y) const {
  // Grows with y, so that a point's row is among those of the edges beside it.
  double const row = (y - box_.low.y) * rows_per_mm_;
  return std::min(std::size_t(std::max(row, 0.0)), row_ends_.size() - 1);
}

double polygon_index::distance_to(point2 const& at, double within) {
  constexpr double rounding = 1 - 1e-9;
  double least = std::numeric_limits<double>::infinity();
  auto const look = [&](std::size_t first, std::size_t end) {
    for (std::size_t n = first; n < end; ++n) {
      double const square = square_to(at, points_[n], points_[n + 1]);
      if (square < least) {
        least = square;
        nearest_ = n;
      }
    }
  };
  auto const may_be_nearer = [&](box2 const& b) { return square_to(at, b) * rounding < least; };
  if (!(square_to(at, box_) * rounding < within * within)) {
    return within;
  }
  look(nearest_, nearest_ + 1);
  edges_.for_each_block(may_be_nearer, look);
  return std::min(std::sqrt(least), within);
}

std::vector<std::size_t> polygon_index::edges_near(box2 const& b) const {
  std::vector<std::size_t> found;
  edges_.for_each_block([&](box2 const& around) { return around.meets(b); },
                        [&](std::size_t first, std::size_t end) {
                          for (std::size_t n = first; n < end; ++n) {
                            if (box_of_edge(points_[n], points_[n + 1]).meets(b)) {
                              found.push_back(n);
                            }
                          }
                        });
  return found;
}

place polygon_index::place_of(point2 const& at) const {
  auto so_far = place::outside;
  if (!box_.holds({at, at})) {
    return so_far;
  }
  std::size_t const row = row_of(at.y);
  for (std::size_t k = row == 0 ? 0 : row_ends_[row - 1]; k < row_ends_[row]; ++k) {
    std::size_t const n = in_rows_[k];
    so_far = beyond_edge(at, points_[n], points_[n + 1], so_far);
    if (so_far == place::on) {
      break;
    }
  }
  return so_far;
}

place place_of(polygon_index const& inner, polygon_index const& outer) {
  for (bool const middles : {false, true}) {
    for (std::size_t n = 0; n < inner.size(); ++n) {
      auto const where = outer.place_of(middles ? middle(inner, n) : inner.point(n));
      if (where != place::on) {
        return where;
      }
    }
  }
  return place::on;
}

bool goes_into_and_out_of(polygon_index const& a, polygon_index const& b) {
  bool inside = false;
  bool outside = !b.box().holds(a.box());
  for (std::size_t const n : a.edges_near(b.box())) {
    for (auto const& at : {a.point(n), middle(a, n)}) {
      auto const where = b.place_of(at);
      inside = inside || where == place::inside;
      outside = outside || where == place::outside;
    }
    if (inside && outside) {
      return true;
    }
  }
  return false;
}

bool overlap(polygon_index const& a, polygon_index const& b, job const& asked) {
  if (!a.box().meets(b.box())) {
    return false;
  }
  // Of a large polygon beside a small one most edges lie elsewhere.
  auto const of_a = a.edges_near(b.box());
  auto const of_b = b.edges_near(a.box());
  auto const has_point_in = [](polygon_index const& p, std::vector<std::size_t> const& edges,
                               polygon_index const& around) {
    return std::any_of(edges.begin(), edges.end(), [&](std::size_t n) {
      // Of polygons with edges on one line only the middle of another edge may lie inside.
      return around.place_of(p.point(n)) == place::inside ||
             around.place_of(middle(p, n)) == place::inside;
    });
  };
  if (has_point_in(a, of_a, b) || has_point_in(b, of_b, a) || place_of(a, b) != place::outside) {
    return true;
  }
  std::vector<edge> edges;
  for (std::size_t const n : of_a) {
    edges.push_back(edge_of(a.point(n), a.point(n + 1), 0, n));
  }
  for (std::size_t const n : of_b) {
    edges.push_back(edge_of(b.point(n), b.point(n + 1), 1, n));
  }
  bool crosses = false;
  for_each_near_pair(std::move(edges), asked, [&](edge const& e, edge const& f) {
    crosses = crosses || (e.owner != f.owner && cross(e, f));
  });
  return crosses;
}

contacts contacts_of(std::vector<polygon> const& all, job const& asked) {
  std::vector<edge> edges;
  for (std::size_t owner = 0; owner < all.size(); ++owner) {
    for (std::size_t n = 0; n < all[owner].size(); ++n) {
      edges.push_back(edge_of(all[owner][n], next_of(all[owner], n), owner, n));
    }
  }
  contacts found;
  for_each_near_pair(std::move(edges), asked, [&](edge const& e, edge const& f) {
    std::pair<std::size_t, std::size_t> const owners = std::minmax(e.owner, f.owner);
    bool const of_one = owners.first == owners.second;
    std::size_t const apart = e.place > f.place ? e.place - f.place : f.place - e.place;
    if (of_one && (apart == 1 || apart + 1 == all[e.owner].size())) {
      return;  // neighbours have a point in common
    }
    if (!found.crossing.contains(owners) && cross(e, f)) {
      found.crossing.insert(owners);
    }
    if (!found.touching.contains(owners) && touch(e, f)) {
      found.touching.insert(owners);
    }
  });
  return found;
}

}  // namespace iso::dvh::detail
