// SPDX-License-Identifier: BSD-3-Clause
#include "coverage.hpp"

#include <iso/ct/view_projection.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace iso::jobs {
namespace {

/// A linear function of a voxel's numbers i, j, k.
struct linear {
  double at_first;
  vec3<double> step;

  /// The least value over all voxels, or the largest.
  [[nodiscard]] double extreme(grid const& volume, bool largest) const {
    double value = at_first;
    double const by[3] = {step.x, step.y, step.z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double const end = by[axis] * double(volume.extent[axis] - 1);
      value += largest ? std::max(0.0, end) : std::min(0.0, end);
    }
    return value;
  }
};

linear operator+(linear const& a, linear const& b) {
  return {a.at_first + b.at_first, a.step + b.step};
}
linear operator*(double a, linear const& b) { return {a * b.at_first, a * b.step}; }

linear on_voxels(ct::linear_function const& f, grid const& g) {
  return {f(g.origin), {f.of.x * g.spacing.x, f.of.y * g.spacing.y, f.of.z * g.spacing.z}};
}

/// Depth, which is positive before the source, and four functions that are positive where the view
/// sees a voxel: what is left to the detector's edges, times the depth.
struct view_window {
  linear depth;
  std::array<linear, 4> inside;
};

view_window window_of(ct::geometry const& g, ct::view_vectors const& w, grid const& volume) {
  ct::view_projection const p = ct::projection_of(g.kind(), w);
  linear const depth = on_voxels(p.depth, volume);
  linear const of_u = on_voxels(p.u, volume);
  linear const of_v = on_voxels(p.v, volume);
  return {depth,
          {of_u + depth, (-1.0) * of_u + double(g.num_u()) * depth, of_v + depth,
           (-1.0) * of_v + double(g.num_v()) * depth}};
}

/// Whether all four are positive at a voxel of column (i, j).
bool sees_column(view_window const& w, double i, double j, double num_k) {
  double first = 0;
  double last = num_k - 1;
  for (linear const& f : w.inside) {
    double const at = f.at_first + i * f.step.x + j * f.step.y;
    if (f.step.z == 0) {
      last = at > 0 ? last : -1;
    } else if (f.step.z > 0) {
      first = std::max(first, std::floor(-at / f.step.z) + 1);
    } else {
      last = std::min(last, std::ceil(-at / f.step.z) - 1);
    }
  }
  return first <= last;
}

bool sees(view_window const& w, grid const& volume) {
  auto const& n = volume.extent;
  if (w.depth.extreme(volume, false) <= 0) {
    return true;  // refused elsewhere, with its reason
  }
  for (linear const& f : w.inside) {
    if (f.extreme(volume, true) <= 0) {
      return false;
    }
  }
  // Nearly always the middle is seen.
  if (sees_column(w, double(n[0] / 2), double(n[1] / 2), double(n[2]))) {
    return true;
  }
  for (std::int64_t i = 0; i < n[0]; ++i) {
    for (std::int64_t j = 0; j < n[1]; ++j) {
      if (sees_column(w, double(i), double(j), double(n[2]))) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

std::int64_t blind_views(ct::geometry const& g, grid const& volume) {
  return std::count_if(g.views().begin(), g.views().end(), [&](ct::view_vectors const& w) {
    return !sees(window_of(g, w, volume), volume);
  });
}

}  // namespace iso::jobs
