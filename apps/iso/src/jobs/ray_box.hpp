// SPDX-License-Identifier: BSD-3-Clause
//! Cuts rays of a scan by the box of a volume.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/ct/geometry.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace iso::jobs {

struct ray_box {
  vec3<double> low;
  vec3<double> high;
};

/// Returns the box of a volume's voxels and of `margin` voxels about them.
inline ray_box box_of(grid const& g, double margin) {
  auto const& s = g.spacing;
  auto const& n = g.extent;
  double const beyond = margin + 0.5;
  return {{g.origin.x - beyond * s.x, g.origin.y - beyond * s.y, g.origin.z - beyond * s.z},
          {g.origin.x + (double(n[0] - 1) + beyond) * s.x,
           g.origin.y + (double(n[1] - 1) + beyond) * s.y,
           g.origin.z + (double(n[2] - 1) + beyond) * s.z}};
}

/// A ray `from + t along`: a cone's has its source at t = 0 and its pixel at 1, a parallel one its
/// pixel at 0.
struct ray_line {
  vec3<double> from;
  vec3<double> along;
};

/// Returns the ray of a reading of the scan.
inline ray_line ray_of(ct::geometry const& g, std::size_t view, double u, double v) {
  auto const& w = g.views()[view];
  vec3<double> const pixel = w.detector_origin + u * w.u_step + v * w.v_step;
  return g.kind() == ct::beam::cone ? ray_line{w.source, pixel - w.source}
                                    : ray_line{pixel, w.source};
}

/// The part of a ray from t = first to t = last; none where they are the other way round.
struct ray_part {
  double first = -std::numeric_limits<double>::infinity();
  double last = std::numeric_limits<double>::infinity();
};

/// Returns what of `part` lies in the box. `open` is an axis along which the box has no ends; -1:
/// none is.
inline ray_part within(ray_box const& b, ray_line const& ray, ray_part part = {}, int open = -1) {
  for (int axis = 0; axis < 3; ++axis) {
    if (axis == open) {
      continue;
    }
    double const d = ray.along[axis];
    double const near = b.low[axis] - ray.from[axis];
    double const far = b.high[axis] - ray.from[axis];
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

}  // namespace iso::jobs
