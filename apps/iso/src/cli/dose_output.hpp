// SPDX-License-Identifier: BSD-3-Clause
//! Makes what a dose is shown by: curves along and across the beams, and slices.
#pragma once

#include <iso/files/png_file.hpp>
#include <iso/jobs/dose.hpp>

#include <array>
#include <string>

namespace iso::cli {

/// Returns curves of the whole dose, as a table in CSV: for each beam the dose along its central
/// axis, and across it at the isocentre and where the dose along the axis is largest. `result` has
/// the density.
std::string dose_curves(files::plan_description const& plan, jobs::dose_result const& result);

/// Returns three slices through `point` (mm), side by side, across z, y and x: density in grey,
/// dose in colours, which a bar explains. Patients are seen from the feet, from the front and from
/// their left. `result` has the density.
files::rgb_image dose_picture(jobs::dose_result const& result, std::array<double, 3> const& point);

/// Is the density that is shown as white, g/cm3.
inline constexpr double white_density = 2;

}  // namespace iso::cli
