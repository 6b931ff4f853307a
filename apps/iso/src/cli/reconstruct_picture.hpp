// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/files/png_file.hpp>
#include <iso/files/volume_file.hpp>

namespace iso::cli {

/// Draws the middle slices across z, y and x, side by side. Across z, y grows downwards: of a
/// patient, whose y runs to the back, the front is above.
files::gray_image middle_slices(files::host_volume const& v);

/// Returns the window of those slices: of their voxels inside of the cylinder inscribed into the
/// volume all but half a per cent at either end. Beyond it, in the corners, lies what few views
/// see.
files::gray_window window_of_slices(files::host_volume const& v);

}  // namespace iso::cli
