// SPDX-License-Identifier: BSD-3-Clause
//! Draws slices of volumes in colours, and lines in them.
#pragma once

#include <iso/files/drawing.hpp>
#include <iso/files/volume_file.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace iso::cli {

using files::colour;

/// One of three slices side by side in a picture.
struct picture_slice {
  std::size_t across;       ///< axis
  std::size_t column_axis;  ///< to the right
  std::size_t row_axis;
  bool is_downwards;       ///< a row further down has a larger coordinate
  std::int64_t voxel = 0;  ///< along `across`
  std::int64_t left = 0;   ///< column of the picture
  std::int64_t width = 0;  ///< pixels
  std::int64_t height = 0;
};
using picture_slices = std::array<picture_slice, 3>;

/// Returns slices of the grid of `volume` through `point` (mm), across z, y and x, in square
/// pixels. Patients are seen from the feet, from the front and from their left.
picture_slices slices_through(files::host_volume const& volume, std::array<double, 3> const& point);

/// Returns the pixels of a slice as a grid one voxel thick, without values.
files::host_volume grid_of(picture_slice const& slice, files::host_volume const& volume);

/// Draws slices.
/// \param colour_of  the colour of a voxel, by its number, z fastest
files::rgb_image draw_slices(files::host_volume const& volume, picture_slices const& slices,
                             std::function<colour(std::size_t)> const& colour_of);

/// Draws a line where values cross `level`, around those that are no less.
/// \param values  of the pixels, in the order of the voxels of grid_of(slice)
/// \param halo    black pixels on both sides, which may be none
void draw_level(files::rgb_image& image, picture_slice const& slice,
                std::vector<double> const& values, double level, std::int64_t thick,
                std::int64_t halo, files::line_style const& style);

/// Takes the slices of an image that draw_slices made apart: each gets its name, axes in mm, and a
/// gap to the next.
void frame_slices(files::rgb_image& image, files::host_volume const& volume,
                  picture_slices const& slices);

}  // namespace iso::cli
