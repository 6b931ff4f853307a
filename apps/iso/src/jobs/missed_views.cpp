// SPDX-License-Identifier: BSD-3-Clause
#include "coverage.hpp"
#include "ray_box.hpp"

#include <iso/ct/view_projection.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace iso::jobs {
namespace {

struct pixel_range {
  std::array<std::int64_t, 2> first;
  std::array<std::int64_t, 2> last;  ///< this one included; before the first one: no pixel
};

/// A point as a view sees it: its depth, and its pixel coordinates times the depth.
struct seen_point {
  double depth;
  std::array<double, 2> pixel;
};

/// The pixels before the box; all where a part of it is beside or behind the source.
pixel_range pixels_before(ct::geometry const& g, ct::view_vectors const& w, ray_box const& b) {
  pixel_range r{{0, 0}, {g.num_u() - 1, g.num_v() - 1}};
  ct::view_projection const seen = ct::projection_of(g.kind(), w);
  std::array<seen_point, 8> corners;
  for (unsigned i = 0; i < 8; ++i) {
    vec3<double> const x{(i & 1U) != 0 ? b.high.x : b.low.x, (i & 2U) != 0 ? b.high.y : b.low.y,
                         (i & 4U) != 0 ? b.high.z : b.low.z};
    corners[i] = {seen.depth(x), {seen.u(x), seen.v(x)}};
  }
  auto const all = [&](auto const& condition) {
    return std::all_of(corners.begin(), corners.end(), condition);
  };
  bool const before = all([](auto const& c) { return c.depth > 0; });
  bool beside = all([](auto const& c) { return c.depth <= 0; });
  for (std::size_t axis = 0; axis < 2; ++axis) {
    double const end = double(r.last[axis]);
    beside = beside || all([&](auto const& c) { return c.pixel[axis] < 0; }) ||
             all([&](auto const& c) { return c.pixel[axis] > end * c.depth; });
    if (before) {
      double least = end;
      double most = 0;
      for (auto const& c : corners) {
        least = std::min(least, c.pixel[axis] / c.depth);
        most = std::max(most, c.pixel[axis] / c.depth);
      }
      r.first[axis] = std::int64_t(std::floor(std::max(least, 0.0)));
      r.last[axis] = std::int64_t(std::ceil(std::min(most, end)));
    }
  }
  return beside ? pixel_range{{0, 0}, {-1, -1}} : r;
}

bool hits(ct::geometry const& g, std::size_t view, ray_box const& b) {
  ray_part const whole = g.kind() == ct::beam::cone ? ray_part{0, 1} : ray_part{};
  auto const ray_meets = [&](std::int64_t u, std::int64_t v) {
    auto const part = within(b, ray_of(g, view, double(u), double(v)), whole);
    return part.first <= part.last;
  };
  auto const r = pixels_before(g, g.views()[view], b);
  // Nearly always the one in the middle does.
  if (r.first[0] <= r.last[0] && r.first[1] <= r.last[1] &&
      ray_meets((r.first[0] + r.last[0]) / 2, (r.first[1] + r.last[1]) / 2)) {
    return true;
  }
  for (std::int64_t u = r.first[0]; u <= r.last[0]; ++u) {
    for (std::int64_t v = r.first[1]; v <= r.last[1]; ++v) {
      if (ray_meets(u, v)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

std::int64_t missed_views(ct::geometry const& g, grid const& volume, double margin) {
  ray_box const b = box_of(volume, margin);
  std::int64_t missed = 0;
  for (std::size_t view = 0; view < g.views().size(); ++view) {
    missed += hits(g, view, b) ? 0 : 1;
  }
  return missed;
}

}  // namespace iso::jobs
