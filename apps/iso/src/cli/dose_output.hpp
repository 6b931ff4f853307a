// SPDX-License-Identifier: BSD-3-Clause
//! Makes what a dose is shown by: curves along and across the beams, and slices.
#pragma once

#include "slice_picture.hpp"

#include <iso/jobs/dose.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace iso::cli {

/// Returns the value at a point (mm): linear between voxel centres, the border voxels' beyond
/// theirs; nothing outside of the volume.
std::optional<double> value_at(files::host_volume const& v, std::array<double, 3> const& p);

/// Returns curves of the whole dose, as a table in CSV: for each beam the dose along its central
/// axis, and across it at the isocentre and where the dose along the axis is largest. `result` has
/// the density.
std::string dose_curves(files::plan const& plan, jobs::dose_result const& result);

/// What is outlined in the slices of a picture.
struct outlined_structure {
  std::string name;
  files::line_style style;
  std::vector<std::vector<double>> shares;  ///< of each slice's pixels, 0 to 1
};

/// Is the share of a pixel from which on it lies inside of an outline.
inline constexpr double outline_share = 0.5;

/// Returns slices side by side: density in grey, dose in colours, which a bar explains, lines of
/// equal dose and of structures, which a legend names. `result` has the density.
/// \param isodoses  per cent of the largest dose
files::rgb_image dose_picture(jobs::dose_result const& result, picture_slices const& slices,
                              std::vector<double> const& isodoses,
                              std::vector<outlined_structure> const& structures);

/// Is the density that is shown as white, g/cm3.
inline constexpr double white_density = 2;

}  // namespace iso::cli
