// SPDX-License-Identifier: BSD-3-Clause
//! Undoes flips and permutations of a file's axes: voxels are put along the world's.
#pragma once

#include <iso/files/reorder.hpp>
#include <iso/files/volume_file.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace iso::files::detail {

/// The axes of the world along which those of a file run, and which way.
struct alignment {
  std::array<std::size_t, 3> world{};
  std::array<int, 3> sign{};
  bool operator==(alignment const&) const = default;
};

/// Returns the axis of the world that a direction runs along, and which way; nothing where it is
/// oblique. Directions stored as 32-bit quaternions come back with errors of 1e-5.
template <class Direction>
std::optional<std::pair<std::size_t, int>> axis_along(Direction const& direction) {
  double const slack = 1e-5;
  std::optional<std::pair<std::size_t, int>> along;
  for (std::size_t world = 0; world < 3; ++world) {
    double const size = std::abs(direction[world]);
    if (size <= slack) {
      continue;
    }
    if (along || !(std::abs(size - 1) <= slack)) {
      return {};
    }
    along = {world, direction[world] > 0 ? 1 : -1};
  }
  return along;
}

/// Sets extent, spacing and origin of a volume, of the file's axes, from the first voxel on.
inline void place_along_world(alignment const& how, std::array<std::int64_t, 3> const& extent,
                              std::array<double, 3> const& spacing,
                              std::array<double, 3> const& first, host_volume& volume) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto const world = how.world[axis];
    volume.extent[world] = extent[axis];
    volume.spacing[world] = spacing[axis];
    volume.origin[world] =
        how.sign[axis] > 0 ? first[world] : first[world] - double(extent[axis] - 1) * spacing[axis];
  }
}

/// Returns how voxels of `extent` along the file's axes, the first one fastest, lie along the
/// world's, the last one fastest; moves `first`, the array's begin, to the file's first voxel.
template <class T>
std::array<axis_copy, 3> axes_along_world(std::array<std::int64_t, 3> const& extent,
                                          alignment const& how, T*& first) {
  std::array<std::int64_t, 3> world{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    world[how.world[axis]] = extent[axis];
  }
  std::array<std::int64_t, 3> const strides{world[1] * world[2], world[2], 1};
  auto const from = last_axis_fastest(extent);
  std::array<axis_copy, 3> axes{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::int64_t const stride = strides[how.world[axis]];
    axes[axis] = {extent[axis], from[axis].stride, how.sign[axis] * stride};
    first += how.sign[axis] < 0 ? (extent[axis] - 1) * stride : 0;
  }
  return axes;
}

/// Returns such voxels along the world's axes.
template <class T>
std::vector<float> along_world(std::span<T const> values, std::array<std::int64_t, 3> const& extent,
                               alignment const& how) {
  std::vector<float> result(values.size());
  float* first = result.data();
  auto const axes = axes_along_world(extent, how, first);
  copy_axes(values.data(), first, axes);
  return result;
}

}  // namespace iso::files::detail
