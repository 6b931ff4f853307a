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

  [[nodiscard]] double left() const { return std::min(a.x, b.x); }
  [[nodiscard]] double right() const { return std::max(a.x, b.x); }
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

point2 meeting_point(edge const& e, edge const& f) {
  double const dx = e.b.x - e.a.x;
  double const dy = e.b.y - e.a.y;
  double const gx = f.b.x - f.a.x;
  double const gy = f.b.y - f.a.y;
  double const t = ((f.a.x - e.a.x) * gy - (f.a.y - e.a.y) * gx) / (dx * gy - dy * gx);
  return {e.a.x + t * dx, e.a.y + t * dy};
}

std::pair<point2, point2> box_of(polygon const& p) {
  std::pair<point2, point2> box{p[0], p[0]};
  for (auto const& at : p) {
    box.first = {std::min(box.first.x, at.x), std::min(box.first.y, at.y)};
    box.second = {std::max(box.second.x, at.x), std::max(box.second.y, at.y)};
  }
  return box;
}

/// Returns where `at` lies with one more edge, where the edges before have it at `so_far`.
place beyond_edge(point2 const& at, point2 const& a, point2 const& b, place so_far) {
  if (std::min(a.y, b.y) > at.y || std::max(a.y, b.y) < at.y) {
    return so_far;
  }
  int const side = side_of(a, b, at);
  if (side == 0 && at.x >= std::min(a.x, b.x) && at.x <= std::max(a.x, b.x)) {
    return place::on;
  }
  bool const crosses = (a.y <= at.y) != (b.y <= at.y) && (b.y > a.y ? side > 0 : side < 0);
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

point2 middle(point2 const& a, point2 const& b) { return {0.5 * (a.x + b.x), 0.5 * (a.y + b.y)}; }

}  // namespace

double signed_area(polygon const& p) {
  double sum = 0;
  for (std::size_t n = 1; n + 1 < p.size(); ++n) {
    sum += (p[n].x - p[0].x) * (p[n + 1].y - p[0].y) - (p[n].y - p[0].y) * (p[n + 1].x - p[0].x);
  }
  return 0.5 * sum;
}

place place_of(point2 const& at, polygon const& p) {
  auto so_far = place::outside;
  for (std::size_t n = 0; n < p.size() && so_far != place::on; ++n) {
    so_far = beyond_edge(at, p[n], next_of(p, n), so_far);
  }
  return so_far;
}

place place_of(polygon const& inner, polygon const& outer) {
  for (bool const middles : {false, true}) {
    for (std::size_t n = 0; n < inner.size(); ++n) {
      auto const where = place_of(middles ? middle(inner[n], next_of(inner, n)) : inner[n], outer);
      if (where != place::on) {
        return where;
      }
    }
  }
  return place::on;
}

std::optional<point2> crossing_point(polygon const& a, polygon const& b) {
  auto const [low, high] = box_of(b);
  std::optional<point2> last;
  bool inside = false;
  bool outside = false;
  for (std::size_t n = 0; n < a.size(); ++n) {
    for (point2 const& at : {a[n], middle(a[n], next_of(a, n))}) {
      bool const near = at.x >= low.x && at.x <= high.x && at.y >= low.y && at.y <= high.y;
      auto const where = near ? place_of(at, b) : place::outside;
      inside = inside || where == place::inside;
      outside = outside || where == place::outside;
      if (where != place::outside) {
        last = at;
      }
    }
  }
  return inside && outside ? last : std::nullopt;
}

bool overlap(polygon const& a, polygon const& b) {
  auto const [low, high] = box_of(a);
  auto const [first, last] = box_of(b);
  if (high.x < first.x || high.y < first.y || last.x < low.x || last.y < low.y) {
    return false;
  }
  auto const has_point_in = [](polygon const& p, polygon const& around) {
    for (std::size_t n = 0; n < p.size(); ++n) {
      // Of polygons with edges on one line only the middle of another edge may lie inside.
      if (place_of(p[n], around) == place::inside ||
          place_of(middle(p[n], next_of(p, n)), around) == place::inside) {
        return true;
      }
    }
    return false;
  };
  return has_point_in(a, b) || has_point_in(b, a) || place_of(a, b) != place::outside ||
         first_crossing({a, b}).has_value();
}

std::optional<crossing> first_crossing(std::vector<polygon> const& all) {
  std::vector<edge> edges;
  for (std::size_t owner = 0; owner < all.size(); ++owner) {
    for (std::size_t n = 0; n < all[owner].size(); ++n) {
      edges.push_back({all[owner][n], next_of(all[owner], n), owner});
    }
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](edge const& e, edge const& f) { return e.left() < f.left(); });
  for (std::size_t n = 0; n < edges.size(); ++n) {
    edge const& e = edges[n];
    for (std::size_t m = n + 1; m < edges.size() && edges[m].left() <= e.right(); ++m) {
      edge const& f = edges[m];
      if (std::max(e.a.y, e.b.y) >= std::min(f.a.y, f.b.y) &&
          std::max(f.a.y, f.b.y) >= std::min(e.a.y, e.b.y) && cross(e, f)) {
        return crossing{std::min(e.owner, f.owner), std::max(e.owner, f.owner),
                        meeting_point(e, f)};
      }
    }
  }
  return {};
}

polygon_index::polygon_index(polygon const& p) : points_(p) {
  points_.push_back(p[0]);
  for (std::size_t from = 0; from < p.size(); from += edges_a_block) {
    std::size_t const to = std::min(from + edges_a_block, p.size());
    auto const [low, high] =
        box_of({points_.begin() + std::ptrdiff_t(from), points_.begin() + std::ptrdiff_t(to) + 1});
    blocks_.push_back({low, high});
  }
}

template <class F>
void polygon_index::for_each_edge(std::size_t n, F const& f) const {
  std::size_t const to = std::min((n + 1) * edges_a_block, points_.size() - 1);
  for (std::size_t edge = n * edges_a_block; edge < to; ++edge) {
    f(points_[edge], points_[edge + 1]);
  }
}

double polygon_index::distance_to(point2 const& at) {
  constexpr double rounding = 1 - 1e-9;
  double least = std::numeric_limits<double>::infinity();
  auto const look = [&](std::size_t n) {
    for_each_edge(n, [&](point2 const& a, point2 const& b) {
      double const square = square_to(at, a, b);
      if (square < least) {
        least = square;
        nearest_ = n;
      }
    });
  };
  std::size_t const first = nearest_;
  look(first);
  for (std::size_t n = 0; n < blocks_.size(); ++n) {
    auto const& [low, high] = blocks_[n];
    double const x = std::max({low.x - at.x, at.x - high.x, 0.0});
    double const y = std::max({low.y - at.y, at.y - high.y, 0.0});
    if (n != first && (x * x + y * y) * rounding < least) {
      look(n);
    }
  }
  return std::sqrt(least);
}

place polygon_index::place_of(point2 const& at) const {
  auto so_far = place::outside;
  for (std::size_t n = 0; n < blocks_.size(); ++n) {
    if (blocks_[n].low.y > at.y || blocks_[n].high.y < at.y) {
      continue;
    }
    for_each_edge(n, [&](point2 const& a, point2 const& b) {
      so_far = so_far == place::on ? so_far : beyond_edge(at, a, b, so_far);
    });
  }
  return so_far;
}

}  // namespace iso::dvh::detail
