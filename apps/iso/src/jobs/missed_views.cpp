// SPDX-License-Identifier: BSD-3-Clause
#include "coverage.hpp"

#include <iso/ct/view_projection.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

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

/// The part of a ray from t = first to t = last; none where they are the other way round.
struct ray_part {
  double first = -std::numeric_limits<double>::infinity();
  double last = std::numeric_limits<double>::infinity();
};

/// Returns the part of `from + t along` that lies in the box and in `part`. `open` is an axis along
/// which the box has no ends; -1: none is.
ray_part within(box const& b, vec3<double> from, vec3<double> along, ray_part part, int open = -1) {
  for (int axis = 0; axis < 3; ++axis) {
    if (axis == open) {
      continue;
    }
    double const d = along[axis];
    double const near = b.low[axis] - from[axis];
    double const far = b.high[axis] - from[axis];
    if (d == 0) {
      if (near > 0 || far < 0) {
        return {1, 0};
      }
      continue;
    }
    part.first = std::max(part.first, std::min(near / d, far / d));
    part.last = std::min(part.last, std::max(near / d, far / d));
  }
  return part;
}

/// Whether `from + t along` meets the box for a t from `first` to `last`.
bool meets(box const& b, vec3<double> from, vec3<double> along, double first, double last) {
  auto const part = within(b, from, along, {first, last});
  return part.first <= part.last;
}

struct ray_line {
  vec3<double> from;
  vec3<double> along;
};

/// Returns the ray of a reading of the scan, from its source or, of a parallel beam, its pixel.
ray_line ray_of(ct::geometry const& g, std::size_t reading) {
  auto const row = std::size_t(g.num_v());
  auto const view = std::size_t(g.num_u()) * row;
  auto const& w = g.views()[reading / view];
  vec3<double> const pixel = w.detector_origin + double(reading % view / row) * w.u_step +
                             double(reading % row) * w.v_step;
  return g.kind() == ct::beam::cone ? ray_line{w.source, pixel - w.source}
                                    : ray_line{pixel, w.source};
}

/// A ray with a reading, and what it crosses of the volume.
struct read_ray {
  std::size_t reading;
  float length;   ///< mm within the volume
  float average;  ///< the reading over it
};

/// Looks for rays that cross little of the volume for what they read: of a body that goes on behind
/// the volume's end. Their way is then that through the volume without this end. They count where
/// they are more than a hundredth of the rays with readings.
void find_clipped(ct::geometry const& g, box const& b, std::vector<read_ray> const& rays,
                  body_outside& found) {
  constexpr float far_above = 4;
  constexpr double next_to_nothing = 0.25;
  float longest = 0;
  for (auto const& ray : rays) {
    longest = std::max(longest, ray.length);
  }
  std::vector<float> averages;
  for (auto const& ray : rays) {
    if (2 * ray.length > longest) {
      averages.push_back(ray.average);
    }
  }
  if (averages.empty()) {
    return;
  }
  // Of nearly all long rays; a few may go through metal.
  auto const most = averages.begin() + std::ptrdiff_t(averages.size() * 9 / 10);
  std::nth_element(averages.begin(), most, averages.end());
  vec3<double> const middle = 0.5 * (b.low + b.high);
  auto seen = found;
  std::array<std::int64_t, 3> clipped_at{};  // ends across each axis
  std::array<double, 3> reach{};
  for (auto const& ray : rays) {
    if (!(ray.average > far_above * *most)) {
      continue;
    }
    auto const [from, along] = ray_of(g, ray.reading);
    // The end without which it would be enough, and which asks for least. A body is not much longer
    // than the volume: rays through metal go on for ever where an end is away that they meet.
    int end = -1;
    double least = 1.5 * double(longest);
    for (int axis = 0; axis < 3; ++axis) {
      auto const whole = within(b, from, along, {}, axis);
      double const way = (whole.last - whole.first) * norm(along);
      if (double(ray.length) < next_to_nothing * way && way < least) {
        least = way;
        end = axis;
      }
    }
    if (end < 0) {
      continue;
    }
    ++seen.rays_clipped;
    ++clipped_at[std::size_t(end)];
    auto const whole = within(b, from, along, {}, end);
    auto& half = reach[std::size_t(end)];
    for (double const t : {whole.first, whole.last}) {
      half = std::max(half, std::abs(from[end] + t * along[end] - middle[end]));
    }
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    // Of rays by a corner it may be any end: most rays know.
    if (4 * clipped_at[axis] > seen.rays_clipped) {
      seen.half_extent[axis] = std::max(seen.half_extent[axis], reach[axis]);
    }
  }
  if (seen.rays_clipped * 100 > seen.rays_with_readings) {
    found = seen;
  }
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
  // A large scan is looked at in part: every pixel of a lattice.
  std::size_t const step = readings.size() / 4'000'000 + 1;
  std::vector<read_ray> rays;
  for (std::size_t i = 0; i < readings.size(); i += step) {
    bool const counts = mask.empty() || mask[i] != 0;
    float const least = 0.05F * most;
    if (!counts || !(std::abs(readings[i]) > least)) {
      continue;
    }
    auto const [from, along] = ray_of(g, i);
    if (readings[i] < 0) {
      auto const part = within(b, from, along, {});
      found.noise_beside += part.first > part.last ? 1 : 0;
      continue;
    }
    ++found.rays_with_readings;
    if (auto const part = within(b, from, along, {}); part.first < part.last) {
      auto const length = float((part.last - part.first) * norm(along));
      rays.push_back({i, length, readings[i] / length});
    } else if (part.first > part.last) {
      ++found.rays_beside;
      vec3<double> const nearest =
          from + (dot(middle - from, along) / dot(along, along)) * along - middle;
      for (int axis = 0; axis < 3; ++axis) {
        auto& half = found.half_extent[std::size_t(axis)];
        half = std::max(half, std::abs(nearest[axis]));
      }
    }
  }
  if (!found.is_there()) {
    find_clipped(g, b, rays, found);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double const own = 0.5 * volume.spacing[int(axis)] * double(volume.extent[axis]);
    double const wanted = std::max(found.half_extent[axis], own);
    found.voxels[axis] = std::int64_t(std::ceil(2 * wanted / volume.spacing[int(axis)] - 1e-6));
  }
  return found;
}

}  // namespace iso::jobs
