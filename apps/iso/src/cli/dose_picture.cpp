// SPDX-License-Identifier: BSD-3-Clause
#include "dose_output.hpp"

#include <algorithm>
#include <cmath>

namespace iso::cli {
namespace {

using colour = std::array<double, 3>;

/// Blue, cyan, green, yellow, red.
colour dose_colour(double part) {
  constexpr std::array<colour, 5> stops = {
      {{0, 0, 0.7}, {0, 0.7, 1}, {0, 0.8, 0.2}, {1, 0.9, 0}, {0.9, 0, 0}}};
  double const place = std::clamp(part, 0.0, 1.0) * double(stops.size() - 1);
  auto const low = std::min(std::size_t(place), stops.size() - 2);
  colour out{};
  for (std::size_t c = 0; c < 3; ++c) {
    out[c] = stops[low][c] + (place - double(low)) * (stops[low + 1][c] - stops[low][c]);
  }
  return out;
}

/// One slice: the axes of its columns and rows, and whether a row further down has a larger
/// coordinate.
struct slice {
  std::size_t across;
  std::size_t column_axis;
  std::size_t row_axis;
  bool downwards;
};

}  // namespace

files::rgb_image dose_picture(jobs::dose_result const& result, std::array<double, 3> const& point) {
  auto const& dose = result.dose;
  std::array<std::int64_t, 3> centre{};
  std::array<std::int64_t, 3> pixels{};
  // Square pixels as large as the smallest side of a voxel, fewer where that would be a poster.
  double side = *std::min_element(dose.spacing.begin(), dose.spacing.end());
  for (std::size_t a = 0; a < 3; ++a) {
    side = std::max(side, dose.spacing[a] * double(dose.extent[a]) / 2048);
  }
  for (std::size_t a = 0; a < 3; ++a) {
    double const index = std::nearbyint((point[a] - dose.origin[a]) / dose.spacing[a]);
    centre[a] = std::int64_t(std::clamp(index, 0.0, double(dose.extent[a] - 1)));
    double const count = std::nearbyint(dose.spacing[a] * double(dose.extent[a]) / side);
    pixels[a] = std::max<std::int64_t>(std::int64_t(count), 1);
  }
  constexpr std::array<slice, 3> slices = {{{2, 0, 1, true}, {1, 0, 2, false}, {0, 1, 2, false}}};
  files::rgb_image image;
  for (auto const& s : slices) {
    image.width += pixels[s.column_axis];
    image.height = std::max(image.height, pixels[s.row_axis]);
  }
  image.values.assign(std::size_t(image.width * image.height * 3), 0);
  std::int64_t left = 0;
  for (auto const& s : slices) {
    auto const voxel = [&](std::size_t axis, std::int64_t pixel) {
      return std::min((2 * pixel + 1) * dose.extent[axis] / (2 * pixels[axis]),
                      dose.extent[axis] - 1);
    };
    for (std::int64_t row = 0; row < pixels[s.row_axis]; ++row) {
      for (std::int64_t column = 0; column < pixels[s.column_axis]; ++column) {
        std::array<std::int64_t, 3> at = centre;
        at[s.column_axis] = voxel(s.column_axis, column);
        at[s.row_axis] = voxel(s.row_axis, s.downwards ? row : pixels[s.row_axis] - 1 - row);
        auto const n = std::size_t((at[0] * dose.extent[1] + at[1]) * dose.extent[2] + at[2]);
        double const grey = std::clamp(double(result.density.values[n]) / white_density, 0.0, 1.0);
        double const part = result.maximum > 0 ? double(dose.values[n]) / result.maximum : 0;
        // Little dose leaves the density to be seen.
        double const cover = 0.65 * std::clamp(part / 0.1, 0.0, 1.0);
        colour const wash = dose_colour(part);
        auto const first = std::size_t((row * image.width + left + column) * 3);
        for (std::size_t c = 0; c < 3; ++c) {
          image.values[first + c] =
              std::uint8_t(std::lround(255 * ((1 - cover) * grey + cover * wash[c])));
        }
      }
    }
    left += pixels[s.column_axis];
  }
  return image;
}

}  // namespace iso::cli
