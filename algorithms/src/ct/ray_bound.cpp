// SPDX-License-Identifier: BSD-3-Clause
// How many rays a voxel may get, and what words their products take.
#include <iso/ct/detail/back_project_words.hpp>
#include <iso/ct/detail/joseph_path.hpp>
#include <iso/ct/detail/weighted_backprojection_kernel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace iso::ct::detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A view in voxel coordinates and what bounds need of it.
struct view_bound {
  index_view w;
  bool cone;
  vec3<double> along;   ///< from the source to pixel (0, 0); parallel: of all rays
  vec3<double> normal;  ///< of the detector
  double width;         ///< dot of both
  double nearest;       ///< least share of the way from source to detector of a voxel; parallel: 1
  double rounding;      ///< voxels that coordinates in float may be off by
  double rows;          ///< pixels
  double columns;

  view_bound(view_vectors const& view, geometry const& g, iso::grid const& volume)
      : w(to_index(view, volume, g.kind())),
        cone(g.kind() == beam::cone),
        along(cone ? w.origin - w.source : w.source),
        normal(cross(w.u_step, w.v_step)),
        width(dot(normal, along)),
        nearest(1),
        rounding(0.01 + double(std::max({volume.extent[0], volume.extent[1], volume.extent[2]})) *
                            0x1p-21),
        rows(double(g.num_u())),
        columns(double(g.num_v())) {
    if (cone) {
      nearest = infinity;
      for (int corner = 0; corner < 8; ++corner) {
        vec3<double> p{};
        for (int a = 0; a < 3; ++a) {
          p[a] = (corner >> a & 1) != 0 ? double(volume.extent[std::size_t(a)] - 1) : 0.0;
        }
        nearest = std::min(nearest, dot(normal, p - w.source) / width);
      }
    }
  }

  [[nodiscard]] vec3<double> ray_of_corner(int corner) const {
    return cone ? along + ((corner & 1) != 0 ? rows : -1.0) * w.u_step +
                      ((corner & 2) != 0 ? columns : -1.0) * w.v_step
                : along;
  }
  /// Returns the largest |component| along `axis` of a ray's direction: at a corner.
  [[nodiscard]] double largest(int axis) const {
    double most = 0;
    for (int corner = 0; corner < 4; ++corner) {
      most = std::max(most, std::abs(ray_of_corner(corner)[axis]));
    }
    return most;
  }
  /// Returns whether `axis` may drive a ray: unless it is, at all corners, below what the others
  /// certainly have, which are at least a linear form of them over the root of two.
  [[nodiscard]] bool may_drive(int axis) const {
    vec3<double> across =
        along + (cone ? 0.5 * rows : 0.0) * w.u_step + (cone ? 0.5 * columns : 0.0) * w.v_step;
    across[axis] = 0;
    double const length = norm(across);
    if (!(length > 0)) {
      return true;
    }
    double least = infinity;
    for (int corner = 0; corner < 4; ++corner) {
      least = std::min(least, dot(across, ray_of_corner(corner)) / length);
    }
    return !(largest(axis) < 0.7 * least);
  }
  /// Returns half the most pixels along u (else v) between the image of a voxel and those of points
  /// that lie `reach` voxels from it along every axis but `axis`.
  [[nodiscard]] double half_box(bool along_u, int axis, double reach) const {
    vec3<double> const to = along_u ? cross(w.v_step, along) : cross(along, w.u_step);
    double most = 0;
    for (double const end : {-1.0, along_u ? rows : columns}) {
      double sum = 0;
      for (int a = 0; a < 3; ++a) {
        sum += a == axis ? 0.0 : std::abs(cone ? to[a] - end * normal[a] : to[a]) * reach;
      }
      most = std::max(most, sum / std::abs(width));
    }
    return most / nearest;
  }
  /// Bounds the sum of tents in a plane across `axis`: rows of pixels along `step` move by q, the
  /// rows themselves by p.
  [[nodiscard]] double weights(int axis, vec3<double> const& step, int p, int q) const {
    // No ray of a voxel's has a slope above `steepest`: one, and what its support adds.
    double const depth =
        cone ? nearest * std::abs(width) / (norm(normal) * std::sqrt(3.0)) : infinity;
    double const steepest = 1 + 1.5 / depth;
    double const move_q = std::abs(step[q]) - steepest * std::abs(step[axis]);
    if (!(depth > 3) || !(move_q > 0)) {
      return infinity;
    }
    double const widened = (std::abs(step[p]) + steepest * std::abs(step[axis])) / move_q;
    double const move_p =
        std::abs(width) / (largest(axis) * (std::abs(step[q]) + steepest * std::abs(step[axis])));
    return ((1 + 2 * widened) / (nearest * move_p) + 1) * (1 / (nearest * move_q) + 1);
  }

  [[nodiscard]] ray_bound bound(bool joseph) const {
    double const pixels = rows * columns;
    if (!(std::abs(width) > 0) || !(nearest > 0)) {
      return {pixels, pixels};
    }
    double box[2] = {0, 0};
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
      if (joseph && !may_drive(axis)) {
        continue;
      }
      for (int v = 0; v < 2; ++v) {
        box[v] =
            std::max(box[v], half_box(v == 0, joseph ? axis : -1, (joseph ? 1.0 : 0.5) + rounding));
      }
      int const a = other_axis(axis, 0);
      int const b = other_axis(axis, 1);
      sum += std::min(std::min(weights(axis, w.v_step, a, b), weights(axis, w.v_step, b, a)),
                      std::min(weights(axis, w.u_step, a, b), weights(axis, w.u_step, b, a)));
    }
    double const rays =
        std::min(std::floor(2 * box[0]) + 1, rows) * std::min(std::floor(2 * box[1]) + 1, columns);
    double const safe = rays >= 1 && rays <= pixels ? rays : pixels;  // not of a NaN
    return {safe, joseph && sum < safe ? sum : safe};
  }
};

}  // namespace

ray_bound bound_rays(geometry const& g, iso::grid const& volume, projector method) {
  ray_bound most{1, 1};
  for (auto const& view : g.views()) {
    auto const of_view = view_bound(view, g, volume).bound(is_joseph(method));
    most = {std::max(most.rays, of_view.rays), std::max(most.weights, of_view.weights)};
  }
  return most;
}

sum_words make_words(ray_bound bound, std::int32_t count) {
  double const rays = block_views * bound.rays;
  double const weights = block_views * bound.weights;
  if (count == 1) {
    // A sample's part is off by half a unit for each of at most three roundings.
    double const capacity = std::max(0x1p31 - 1 - 1.5 * rays, 1.0) / weights;
    return {1, 0, capacity, 1.5 * bound.rays * 2 / capacity / bound.weights};
  }
  // Digits of all rays add up to less than 2^32, and the last words to less than 2^31.
  int low_bits = 1;
  while (low_bits < 26 && std::ldexp(rays, low_bits + 1) <= 0x1p32) {
    ++low_bits;
  }
  double const capacity =
      std::min(std::ldexp(0x1p31 - 1 - rays, low_bits * (count - 1)) / weights, 0x1p51);
  return {count, low_bits, capacity, 0.5 * bound.rays * 2 / capacity / bound.weights};
}

}  // namespace iso::ct::detail
