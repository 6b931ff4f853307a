// SPDX-License-Identifier: BSD-3-Clause
//! Draws the demo's pictures.
#pragma once

#include <iso/cases/dvh.hpp>
#include <iso/core/grid.hpp>
#include <iso/files/drawing.hpp>
#include <iso/files/png_file.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iso::jobs {

/// What colours show.
enum class demo_palette { grey, difference, dose };

/// Where y points to in a picture.
enum class demo_rows { upwards, downwards };

/// What a picture shows, and how.
struct demo_picture {
  std::string file;
  std::string title;
  std::string unit;
  demo_palette colours = demo_palette::grey;
  std::optional<files::gray_window> window = {};  ///< none: all values
  std::array<char const*, 2> axes = {"x, mm", "y, mm"};
  bool has_place = true;  ///< the title says which slice it is
};

inline constexpr files::gray_window demo_brain = {0, 0.5};  ///< 1/mm; the skull is overexposed

/// Draws a slice, number `slice` of a box, with axes, a bar and a title.
files::rgb_image draw_demo_slice(demo_picture const& what, files::gray_image const& image,
                                 grid const& box, std::int64_t slice, demo_rows direction);

/// Draws cumulative histograms, with figures in the legend.
files::rgb_image draw_demo_histograms(cases::histogram_case<float> const& what,
                                      std::vector<float> const& values);

}  // namespace iso::jobs
