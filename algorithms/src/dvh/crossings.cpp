// SPDX-License-Identifier: BSD-3-Clause
#include "crossings.hpp"

#include <algorithm>
#include <boost/polygon/polygon.hpp>
#include <boost/polygon/segment_utils.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace iso::dvh::detail {
namespace {

/// Bits of coordinates, so that sums of products of two of their differences fit 64.
constexpr int bits = 27;

using point = std::pair<std::int32_t, std::int32_t>;
using corner = boost::polygon::point_data<std::int32_t>;
using segment = boost::polygon::segment_data<std::int32_t>;

/// A map of mm to whole numbers, by a power of two, and back.
struct whole_frame {
  double unit;
  double x;  ///< in units
  double y;

  explicit whole_frame(box2 const& b) {
    double const extent = std::max(b.high.x - b.low.x, b.high.y - b.low.y);
    unit = std::ldexp(1.0, std::ilogb(extent) + 1 - bits);
    x = std::floor(b.low.x / unit);
    y = std::floor(b.low.y / unit);
  }
  [[nodiscard]] point to_whole(point2 const& p) const {
    return {std::int32_t(std::nearbyint(p.x / unit - x)),
            std::int32_t(std::nearbyint(p.y / unit - y))};
  }
  [[nodiscard]] point2 to_mm(point const& p) const {
    return {(double(p.first) + x) * unit, (double(p.second) + y) * unit};
  }
};

/// An edge from its lesser to its greater end, of all that lie on it: edges cross and overlap no
/// others.
struct whole_edge {
  point low;
  point high;
  /// Of each polygon that it is of: how often that goes from low to high, less how often it comes
  /// back.
  std::vector<std::pair<std::size_t, int>> along;
  int copies = 0;

  void add(std::size_t polygon, int way) {
    auto const same = std::find_if(along.begin(), along.end(),
                                   [&](auto const& of) { return of.first == polygon; });
    if (same == along.end()) {
      along.emplace_back(polygon, way);
    } else {
      same->second += way;
    }
    ++copies;
  }
};

/// Cuts the edges of polygons where they meet.
std::vector<whole_edge> edges_of(std::vector<polygon> const& all, whole_frame const& frame) {
  std::vector<segment> segments;
  std::vector<std::pair<std::size_t, bool>> of;  // polygon, and whether it runs from low to high
  for (std::size_t owner = 0; owner < all.size(); ++owner) {
    for (std::size_t n = 0; n < all[owner].size(); ++n) {
      auto const a = frame.to_whole(all[owner][n]);
      auto const b = frame.to_whole(next_of(all[owner], n));
      if (a != b) {
        auto const& [low, high] = std::minmax(a, b);
        segments.emplace_back(corner(low.first, low.second), corner(high.first, high.second));
        of.emplace_back(owner, a < b);
      }
    }
  }
  std::vector<std::pair<std::size_t, segment>> cut;
  boost::polygon::intersect_segments(cut, segments.begin(), segments.end());
  std::map<std::pair<point, point>, whole_edge> found;
  for (auto const& [id, part] : cut) {
    point const a{part.low().x(), part.low().y()};
    point const b{part.high().x(), part.high().y()};
    if (a == b) {
      continue;
    }
    auto const& [low, high] = std::minmax(a, b);
    auto& edge = found[{low, high}];
    edge.low = low;
    edge.high = high;
    edge.add(of[id].first, of[id].second ? 1 : -1);
  }
  std::vector<whole_edge> edges;
  for (auto& [ends, edge] : found) {
    edges.push_back(std::move(edge));
  }
  return edges;  // in the order of their lesser ends
}

/// Returns whether `e` passes below the middle of `of`, between the ends of which along x that
/// lies.
bool is_below_middle(whole_edge const& e, whole_edge const& of) {
  std::int64_t const x = std::int64_t(of.low.first) + of.high.first;    // twice the middle
  std::int64_t const y = std::int64_t(of.low.second) + of.high.second;  // twice
  std::int64_t const width = std::int64_t(e.high.first) - e.low.first;
  std::int64_t const rise = std::int64_t(e.high.second) - e.low.second;
  return rise * (x - 2 * std::int64_t(e.low.first)) < (y - 2 * std::int64_t(e.low.second)) * width;
}

/// Areas in squares of the unit.
struct areas {
  double disputed = 0;
  double once_up = 0;    ///< that polygons go around once, from x to y
  double once_down = 0;  ///< the other way
};

/// How often each of some polygons goes around a place. Most do not: these cost nothing.
class winding_numbers {
 public:
  explicit winding_numbers(std::size_t polygons) : of_(polygons), is_changed_(polygons) {}

  void add(whole_edge const& e) {
    for (auto const& [n, ways] : e.along) {
      of_[n] += ways;
      if (!is_changed_[n]) {
        is_changed_[n] = true;
        changed_.push_back(n);
      }
    }
  }
  void clear() {
    for (std::size_t const n : changed_) {
      of_[n] = 0;
      is_changed_[n] = false;
    }
    changed_.clear();
  }
  /// Adds an area of such a place.
  void add_area(areas& sum, double area) const {
    double* to = nullptr;
    for (std::size_t const n : changed_) {
      if (int const w = of_[n]; w != 0) {
        bool const is_disputed = to != nullptr || w > 1 || w < -1;
        to = is_disputed ? &sum.disputed : w > 0 ? &sum.once_up : &sum.once_down;
      }
    }
    if (to != nullptr) {
      *to += area;
    }
  }

 private:
  std::vector<int> of_;
  std::vector<bool> is_changed_;
  std::vector<std::size_t> changed_;
};

/// Adds the trapezoids below edges with what changes there.
areas areas_of(std::vector<whole_edge> const& edges, std::size_t polygons, job const& asked) {
  areas sum;
  // Edges whose middles come one after the other, each with those that pass there.
  std::vector<whole_edge const*> by_middle;
  for (auto const& e : edges) {
    if (e.low.first < e.high.first) {
      by_middle.push_back(&e);
    }
  }
  auto const by_low = by_middle;
  auto const middle = [](whole_edge const* e) {
    return std::int64_t(e->low.first) + e->high.first;
  };
  std::stable_sort(by_middle.begin(), by_middle.end(),
                   [&](auto const* a, auto const* b) { return middle(a) < middle(b); });
  std::vector<whole_edge const*> passing;
  auto next = by_low.begin();
  winding_numbers windings(polygons);
  std::size_t looked_at = 0;
  for (auto const* e : by_middle) {
    if (looked_at++ % edges_between_questions == 0) {
      asked.step(0);
    }
    std::int64_t const at = middle(e);
    for (; next != by_low.end() && 2 * std::int64_t((*next)->low.first) <= at; ++next) {
      passing.push_back(*next);
    }
    std::erase_if(passing, [&](auto const* f) { return 2 * std::int64_t(f->high.first) <= at; });
    windings.clear();
    for (auto const* f : passing) {
      if (f != e && is_below_middle(*f, *e)) {
        windings.add(*f);
      }
    }
    double const area = 0.5 * (double(e->low.second) + double(e->high.second)) *
                        (double(e->high.first) - double(e->low.first));
    windings.add_area(sum, area);
    windings.add(*e);
    windings.add_area(sum, -area);
  }
  return sum;
}

/// Returns whether the direction to `a` comes before that to `b`, counter-clockwise from +x.
bool turns_before(point const& from, point const& a, point const& b) {
  std::int64_t const ax = std::int64_t(a.first) - from.first;
  std::int64_t const ay = std::int64_t(a.second) - from.second;
  std::int64_t const bx = std::int64_t(b.first) - from.first;
  std::int64_t const by = std::int64_t(b.second) - from.second;
  bool const a_is_upper = ay > 0 || (ay == 0 && ax > 0);
  bool const b_is_upper = by > 0 || (by == 0 && bx > 0);
  return a_is_upper != b_is_upper ? a_is_upper : ax * by - ay * bx > 0;
}

/// Follows the edges that bound what is inside: those that an odd number of edges lie on. Around
/// each point they come in pairs, of which each bounds a sector; a loop goes from one of a pair to
/// the other, so that loops do not cross there.
std::vector<std::vector<point>> loops_of(std::vector<whole_edge> const& edges) {
  std::map<point, std::vector<point>> around;
  for (auto const& e : edges) {
    if (e.copies % 2 != 0) {
      around[e.low].push_back(e.high);
      around[e.high].push_back(e.low);
    }
  }
  std::map<std::pair<point, point>, point> onward;  // from, to: where the loop goes then
  for (auto& [at, ends] : around) {
    std::sort(ends.begin(), ends.end(),
              [&from = at](point const& a, point const& b) { return turns_before(from, a, b); });
    for (std::size_t n = 0; n + 1 < ends.size(); n += 2) {
      onward[{ends[n], at}] = ends[n + 1];
      onward[{ends[n + 1], at}] = ends[n];
    }
  }
  std::vector<std::vector<point>> loops;
  while (!onward.empty()) {
    std::vector<point> trail;
    std::map<point, std::size_t> places;  // of points on the trail
    auto step = onward.begin()->first;
    for (;;) {
      auto const found = onward.find(step);
      if (found == onward.end()) {
        break;  // around
      }
      auto const [from, at] = step;
      step = {at, found->second};
      onward.erase(found);
      onward.erase({step.second, at});  // the way back
      if (auto const seen = places.find(at); seen != places.end()) {
        // A point twice: what lies between is a loop of its own.
        auto const first = trail.begin() + std::ptrdiff_t(seen->second);
        for (auto p = first + 1; p != trail.end(); ++p) {
          places.erase(*p);
        }
        loops.emplace_back(first, trail.end());
        trail.erase(first + 1, trail.end());
      } else {
        places[at] = trail.size();
        trail.push_back(at);
      }
    }
    loops.push_back(std::move(trail));
  }
  return loops;
}

}  // namespace

split_polygons split_crossings(std::vector<polygon> const& all, job const& asked) {
  box2 box = bounds_of(all[0]);
  for (auto const& p : all) {
    auto const one = bounds_of(p);
    box = {{std::min(box.low.x, one.low.x), std::min(box.low.y, one.low.y)},
           {std::max(box.high.x, one.high.x), std::max(box.high.y, one.high.y)}};
  }
  whole_frame const frame(box);
  auto const edges = edges_of(all, frame);
  asked.step(0);
  auto const found = areas_of(edges, all.size(), asked);
  split_polygons result;
  result.disputed = found.disputed * frame.unit * frame.unit;
  double rounding = 0;  // each edge may be moved by a unit, and that once more where it is cut
  for (auto const& e : edges) {
    rounding +=
        2 * std::hypot(double(e.high.first) - e.low.first, double(e.high.second) - e.low.second);
  }
  result.was_simple = all.size() == 1 && found.disputed <= rounding &&
                      std::min(found.once_up, found.once_down) <= rounding;
  for (auto const& loop : loops_of(edges)) {
    if (loop.size() >= 3) {
      auto& points = result.loops.emplace_back();
      for (auto const& p : loop) {
        points.push_back(frame.to_mm(p));
      }
    }
  }
  return result;
}

}  // namespace iso::dvh::detail
