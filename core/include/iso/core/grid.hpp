// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/grid.hpp
#pragma once

#include <iso/core/array.hpp>
#include <iso/core/vec3.hpp>

#include <cstdint>

namespace iso {

/// The bounds of lengths in mm, such as of a voxel or from the isocentre. Between them, squares and
/// quotients of lengths fit double precision. Other lengths are refused.
inline constexpr double shortest_length = 1e-150;
inline constexpr double longest_length = 1e150;

/// A regular grid of voxels along the axes of the world.
///
/// Voxel (i, j, k) is the half-open box of one spacing about `origin + spacing * (i, j, k)`: a
/// point on a face between two voxels belongs to the upper one, and a point on the upper face of
/// the grid to none.
struct grid {
  array<std::int64_t, 3> extent{};  ///< voxels along x, y, z
  vec3<double> spacing{1, 1, 1};    ///< mm
  vec3<double> origin{};            ///< mm; centre of voxel (0, 0, 0)

  /// Returns a grid of `extent` voxels whose middle lies at the world's origin, the isocentre.
  static grid centred(array<std::int64_t, 3> const& extent, vec3<double> spacing);

  [[nodiscard]] ISO_FUNCTION std::int64_t size() const { return extent[0] * extent[1] * extent[2]; }
  /// Maps a world point (mm) to its continuous voxel index: the centre of voxel (0, 0, 0) is (0, 0,
  /// 0).
  [[nodiscard]] ISO_FUNCTION vec3<double> to_index(vec3<double> p) const {
    return {(p.x - origin.x) / spacing.x, (p.y - origin.y) / spacing.y,
            (p.z - origin.z) / spacing.z};
  }
  /// Maps a world vector (mm) to voxels.
  [[nodiscard]] ISO_FUNCTION vec3<double> to_index_vector(vec3<double> d) const {
    return {d.x / spacing.x, d.y / spacing.y, d.z / spacing.z};
  }

  friend bool operator==(grid const&, grid const&) = default;
};

/// Planes [first, last) of a grid along z.
struct slab {
  std::int64_t first = 0;
  std::int64_t last = 0;

  [[nodiscard]] ISO_FUNCTION std::int64_t count() const { return last - first; }
  [[nodiscard]] ISO_FUNCTION bool holds(std::int64_t plane) const {
    return plane >= first && plane < last;
  }

  friend bool operator==(slab const&, slab const&) = default;
};

/// Returns all planes of a grid.
/// Determinism: backend_to_backend.
inline slab all_planes(grid const& g) { return {0, g.extent[2]}; }

/// Checks that a grid has the planes of a slab, one at least.
/// Determinism: backend_to_backend; a check made on the host.
/// \throws iso::invalid_argument  naming `function`
void validate(slab const& planes, grid const& g, char const* function);

/// Checks a grid.
/// Determinism: backend_to_backend; a check made on the host.
/// \throws iso::invalid_argument  naming `function`: an extent below 1, a product of them beyond 63
///                                bits, a spacing outside 1e-150..1e150 mm, an origin that is not
///                                finite or beyond 1e150 mm
void validate(grid const& g, char const* function);

}  // namespace iso
