// SPDX-License-Identifier: BSD-3-Clause
#include "coverage.hpp"

#include <iso/ct/view_projection.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace iso::jobs {
namespace {

struct box {
  vec3<double> low;
  vec3<double> high;
};

box box_of(grid const& g, double margin) {
  auto const& s = g.spacing;
  auto const& n = g.extent;
  double const beyond = margin + 0.5;
  return {{g.origin.x - beyond * s.x, g.origin.y - beyond * s.y, g.origin.z - beyond * s.z},
          {g.origin.x + (double(n[0] - 1) + beyond) * s.x,
           g.origin.y + (double(n[1] - 1) + beyond) * s.y,
           g.origin.z + (double(n[2] - 1) + beyond) * s.z}};
}

/// Whether `from + t along` meets the box for a t from `first` to `last`.
bool meets(box const& b, vec3<double> from, vec3<double> along, double first, double last) {
  for (int axis = 0; axis < 3; ++axis) {
    double const d = along[axis];
    double const near = b.low[axis] - from[axis];
    double const far = b.high[axis] - from[axis];
    if (d == 0) {
      if (near > 0 || far < 0) {
        return false;
      }
      continue;
    }
    first = std::max(first, std::min(near / d, far / d));
    last = std::min(last, std::max(near / d, far / d));
  }
  return first <= last;
}

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
pixel_range pixels_before(ct::geometry const& g, ct::view_vectors const& w, box const& b) {
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

bool hits(ct::geometry const& g, ct::view_vectors const& w, box const& b) {
  bool const cone = g.kind() == ct::beam::cone;
  auto const ray_meets = [&](std::int64_t u, std::int64_t v) {
    vec3<double> const pixel = w.detector_origin + double(u) * w.u_step + double(v) * w.v_step;
    double const infinity = std::numeric_limits<double>::infinity();
    return cone ? meets(b, w.source, pixel - w.source, 0, 1)
                : meets(b, pixel, w.source, -infinity, infinity);
  };
  auto const r = pixels_before(g, w, b);
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
  box const b = box_of(volume, margin);
  return std::count_if(g.views().begin(), g.views().end(),
                       [&](ct::view_vectors const& w) { return !hits(g, w, b); });
}

body_outside find_body_outside(ct::geometry const& g, grid const& volume,
                               std::span<float const> readings, std::span<float const> mask) {
  body_outside found;
  float most = 0;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    bool const counts = mask.empty() || mask[i] != 0;
    most = counts && std::isfinite(readings[i]) ? std::max(most, readings[i]) : most;
  }
  if (!(most > 0)) {
    return found;
  }
  box const b = box_of(volume, 0);
  vec3<double> const middle = 0.5 * (b.low + b.high);
  bool const cone = g.kind() == ct::beam::cone;
  // A large scan is looked at in part: every pixel of a lattice.
  std::size_t const step = readings.size() / 4'000'000 + 1;
  auto const row = std::size_t(g.num_v());
  auto const view = std::size_t(g.num_u()) * row;
  for (std::size_t i = 0; i < readings.size(); i += step) {
    bool const counts = mask.empty() || mask[i] != 0;
    if (!counts || !(readings[i] > 0.05F * most)) {
      continue;
    }
    auto const& w = g.views()[i / view];
    vec3<double> const pixel =
        w.detector_origin + double(i % view / row) * w.u_step + double(i % row) * w.v_step;
    vec3<double> const from = cone ? w.source : pixel;
    vec3<double> const along = cone ? pixel - w.source : w.source;
    double const infinite = std::numeric_limits<double>::infinity();
    ++found.rays_with_readings;
    if (!meets(b, from, along, -infinite, infinite)) {
      ++found.rays_beside;
      vec3<double> const nearest =
          from + (dot(middle - from, along) / dot(along, along)) * along - middle;
      for (int axis = 0; axis < 3; ++axis) {
        auto& half = found.half_extent[std::size_t(axis)];
        half = std::max(half, std::abs(nearest[axis]));
      }
    }
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double const own = 0.5 * volume.spacing[int(axis)] * double(volume.extent[axis]);
    double const wanted = std::max(found.half_extent[axis], own);
    found.voxels[axis] = std::int64_t(std::ceil(2 * wanted / volume.spacing[int(axis)] - 1e-6));
  }
  return found;
}

}  // namespace iso::jobs
