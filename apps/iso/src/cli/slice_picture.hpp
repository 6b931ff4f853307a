// SPDX-License-Identifier: BSD-3-Clause
//! Draws slices of volumes in colours, with a bar that says what the colours mean.
#pragma once

#include <iso/files/png_file.hpp>
#include <iso/files/volume_file.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace iso::cli {

/// Holds red, green and blue, each from 0 to 1.
using colour = std::array<double, 3>;

/// Returns the colour at `part`, from 0 to 1, of a scale of colours at equal distances.
colour colour_between(std::vector<colour> const& stops, double part);

/// Returns three slices of the grid of `volume` through `point` (mm), side by side, across z, y and
/// x. Patients are seen from the feet, from the front and from their left.
/// \param colour_of  the colour of a voxel, by its number, z fastest
files::rgb_image draw_slices(files::host_volume const& volume, std::array<double, 3> const& point,
                             std::function<colour(std::size_t)> const& colour_of);

/// Holds text beside a colour bar.
struct bar_mark {
  double part;  ///< 0 at the bar's foot, 1 at its top
  std::string text;
};

/// Adds a bar of colours on the right of `image`, with `title` above it. Text has the characters
/// 0-9 . - + e G y g a m.
/// \param colour_of  the colour at a part of the bar
void add_colour_bar(files::rgb_image& image, std::function<colour(double)> const& colour_of,
                    std::vector<bar_mark> const& marks, std::string const& title);

}  // namespace iso::cli
