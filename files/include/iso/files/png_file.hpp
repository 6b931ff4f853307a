// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/png_file.hpp
#pragma once

#include <iso/files/atomic_file.hpp>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace iso::files {

struct gray_image {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<float> values;  ///< row by row, top row first
};

struct rgb_image {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint8_t> values;  ///< red, green, blue; row by row, top row first
};

/// The values that are shown as black and as white.
struct gray_window {
  double black = 0;
  double white = 1;
};

/// Returns the window from the smallest to the largest finite value.
gray_window full_window(gray_image const& image);

/// Returns the window from the value that the part `low` of the finite values, from 0 to 1, does
/// not exceed to the one that the part `high` does not.
gray_window percentile_window(std::vector<float> values, double low, double high);

enum class png_depth { bits8, bits16 };

/// Prepares a picture of `image`, which a commit puts in place: values below the window are black,
/// above it white, not-a-number black.
/// \throws iso::file_error
[[nodiscard]] atomic_file prepare_png(std::filesystem::path const& path, gray_image const& image,
                                      gray_window window, png_depth depth = png_depth::bits8);

/// Does the same in colours, 8 bits each.
/// \throws iso::file_error
[[nodiscard]] atomic_file prepare_png(std::filesystem::path const& path, rgb_image const& image);

}  // namespace iso::files
