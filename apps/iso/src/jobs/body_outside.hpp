// SPDX-License-Identifier: BSD-3-Clause
//! Tells from its readings whether a scan saw more than a volume, or its detector, holds.
#pragma once

#include "given_readings.hpp"

#include <iso/core/grid.hpp>
#include <iso/ct/geometry.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace iso::jobs {

/// The parts of a body that a volume, or the detector, does not hold.
/// docs/algorithms/iterative.md has the rule.
struct body_outside {
  /// Of the rays with readings, those that pass the volume by or cross too little of it for what
  /// they read; 0 where these are no more than wrong pixels or metal may make.
  double part = 0;
  double cut = 0;             ///< of the rows, those that end within the body; 0 below a hundredth
  bool beyond_field = false;  ///< they end there, and the volume is narrower than it seems to be
  std::array<std::int64_t, 3> voxels{};  ///< of a volume about the same middle that would do

  [[nodiscard]] bool volume_too_small() const { return part > 0 || beyond_field; }
};

/// Looks at the readings of a scan. `mask` is empty, or 0 where a reading does not count.
body_outside find_body_outside(ct::geometry const& g, grid const& volume,
                               given_readings const& readings, std::span<float const> mask);

}  // namespace iso::jobs
