// SPDX-License-Identifier: BSD-3-Clause
//! Counts the views that see a volume.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/ct/geometry.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace iso::jobs {

/// Counts views that see no voxel's centre: its ray meets the detector's plane a pixel or more
/// beside the outer pixels' centres. A view with a voxel at or behind its source does not count.
std::int64_t blind_views(ct::geometry const& g, grid const& volume);

/// Counts the views of which no ray meets the box of `volume` and of `margin` voxels about it. A
/// cone ray ends at its pixel. Takes time for the pixels before the box in those views alone.
std::int64_t missed_views(ct::geometry const& g, grid const& volume, double margin);

/// The rays beside a volume that have readings all the same, or readings that are too large for
/// what they cross of it.
struct body_outside {
  std::int64_t rays_with_readings = 0;   ///< looked at, above a twentieth of the largest reading
  std::int64_t rays_beside = 0;          ///< of these, ones that do not meet the volume
  std::int64_t noise_beside = 0;         ///< rays beside it that read as much below zero
  std::int64_t rays_clipped = 0;         ///< ones that cross next to nothing of it for their
                                         ///< readings; 0 below a hundredth, as metal may be there
  std::array<double, 3> half_extent{};   ///< mm from the volume's middle to where these pass it
  std::array<std::int64_t, 3> voxels{};  ///< of the volume about the same middle that holds both

  /// Whether the body reaches out of the volume: a thousandth may be pixels that are wrong, and
  /// noise is as often above zero as below, three standard deviations more at most.
  [[nodiscard]] bool is_there() const {
    std::int64_t const more = rays_beside - noise_beside;
    bool const beside = more * 1000 > rays_with_readings && more > 0 &&
                        more * more > 9 * (rays_beside + noise_beside);
    return beside || rays_clipped > 0;
  }
  [[nodiscard]] double part() const {
    return double(rays_beside + rays_clipped) / double(rays_with_readings);
  }
};

/// Finds out from the readings whether the body that was scanned is larger than the volume, which
/// iterations must hold. `mask` is empty, or 0 where a reading does not count.
body_outside find_body_outside(ct::geometry const& g, grid const& volume,
                               std::span<float const> readings, std::span<float const> mask);

}  // namespace iso::jobs
