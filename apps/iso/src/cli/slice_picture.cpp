// SPDX-License-Identifier: BSD-3-Clause
#include "slice_picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace iso::cli {
namespace {

/// One slice: the axes of its columns and rows, and whether a row further down has a larger
/// coordinate.
struct slice {
  std::size_t across;
  std::size_t column_axis;
  std::size_t row_axis;
  bool downwards;
};

/// Characters of 5 x 7 pixels: a row a number, its left pixel 16.
struct glyph {
  char character;
  std::array<std::uint8_t, 7> rows;
};
constexpr std::int64_t glyph_width = 5;
constexpr std::int64_t glyph_height = 7;
constexpr std::array<glyph, 19> glyphs = {{
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 2, 4, 8, 31}},     {'3', {31, 2, 4, 2, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},      {'-', {0, 0, 0, 31, 0, 0, 0}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},       {'e', {0, 0, 14, 17, 31, 16, 14}},
    {'G', {14, 17, 16, 23, 17, 17, 15}}, {'y', {0, 0, 17, 17, 15, 1, 14}},
    {'g', {0, 0, 15, 17, 15, 1, 14}},    {'a', {0, 0, 14, 1, 15, 17, 15}},
    {'m', {0, 0, 26, 21, 21, 17, 17}},
}};

void paint(files::rgb_image& image, std::int64_t column, std::int64_t row, colour const& c) {
  auto const first = std::size_t((row * image.width + column) * 3);
  for (std::size_t n = 0; n < 3; ++n) {
    image.values[first + n] = std::uint8_t(std::lround(255 * std::clamp(c[n], 0.0, 1.0)));
  }
}

/// Writes in white, pixels of `size`, from (left, top); what is beyond the image is left out.
void write(files::rgb_image& image, std::string_view text, std::int64_t left, std::int64_t top,
           std::int64_t size) {
  for (char const c : text) {
    auto const g = std::find_if(glyphs.begin(), glyphs.end(),
                                [&](glyph const& known) { return known.character == c; });
    for (std::int64_t n = 0; g != glyphs.end() && n < glyph_width * glyph_height * size * size;
         ++n) {
      std::int64_t const x = n % (glyph_width * size);
      std::int64_t const y = n / (glyph_width * size);
      bool const set = (g->rows[std::size_t(y / size)] >> (4 - x / size) & 1) != 0;
      if (set && left + x < image.width && top + y >= 0 && top + y < image.height) {
        paint(image, left + x, top + y, {1, 1, 1});
      }
    }
    left += (glyph_width + 1) * size;
  }
}

}  // namespace

colour colour_between(std::vector<colour> const& stops, double part) {
  double const place = std::clamp(part, 0.0, 1.0) * double(stops.size() - 1);
  auto const low = std::min(std::size_t(place), stops.size() - 2);
  colour out{};
  for (std::size_t c = 0; c < 3; ++c) {
    out[c] = stops[low][c] + (place - double(low)) * (stops[low + 1][c] - stops[low][c]);
  }
  return out;
}

files::rgb_image draw_slices(files::host_volume const& volume, std::array<double, 3> const& point,
                             std::function<colour(std::size_t)> const& colour_of) {
  auto const& n = volume.extent;
  std::array<std::int64_t, 3> centre{};
  std::array<std::int64_t, 3> pixels{};
  // Square pixels as large as the smallest side of a voxel, fewer where that would be a poster.
  double side = *std::min_element(volume.spacing.begin(), volume.spacing.end());
  for (std::size_t a = 0; a < 3; ++a) {
    side = std::max(side, volume.spacing[a] * double(n[a]) / 2048);
  }
  for (std::size_t a = 0; a < 3; ++a) {
    double const index = std::nearbyint((point[a] - volume.origin[a]) / volume.spacing[a]);
    centre[a] = std::int64_t(std::clamp(index, 0.0, double(n[a] - 1)));
    double const count = std::nearbyint(volume.spacing[a] * double(n[a]) / side);
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
      return std::min((2 * pixel + 1) * n[axis] / (2 * pixels[axis]), n[axis] - 1);
    };
    for (std::int64_t row = 0; row < pixels[s.row_axis]; ++row) {
      for (std::int64_t column = 0; column < pixels[s.column_axis]; ++column) {
        std::array<std::int64_t, 3> at = centre;
        at[s.column_axis] = voxel(s.column_axis, column);
        at[s.row_axis] = voxel(s.row_axis, s.downwards ? row : pixels[s.row_axis] - 1 - row);
        paint(image, left + column, row,
              colour_of(std::size_t((at[0] * n[1] + at[1]) * n[2] + at[2])));
      }
    }
    left += pixels[s.column_axis];
  }
  return image;
}

void add_colour_bar(files::rgb_image& image, std::function<colour(double)> const& colour_of,
                    std::vector<bar_mark> const& marks, std::string const& title) {
  std::int64_t const size = std::max<std::int64_t>(1, image.height / 250);
  std::size_t letters = 0;
  for (auto const& m : marks) {
    letters = std::max(letters, m.text.size());
  }
  std::int64_t const gap = 6 * size;
  std::int64_t const bar = 12 * size;
  std::int64_t const letter = (glyph_width + 1) * size;
  std::int64_t const beside =
      std::max(bar + gap + letter * std::int64_t(letters), letter * std::int64_t(title.size()));
  files::rgb_image wide;
  wide.width = image.width + 2 * gap + beside;
  wide.height = std::max(image.height, 100 * size);
  wide.values.assign(std::size_t(wide.width * wide.height * 3), 0);
  for (std::int64_t row = 0; row < image.height; ++row) {
    std::copy_n(image.values.begin() + row * image.width * 3, image.width * 3,
                wide.values.begin() + row * wide.width * 3);
  }
  std::int64_t const left = image.width + gap;
  std::int64_t const top = 2 * gap + glyph_height * size;
  std::int64_t const last = wide.height - 1 - gap - top;  // row of the bar
  write(wide, title, left, gap, size);
  for (std::int64_t row = 0; row <= last; ++row) {
    auto const c = colour_of(1 - double(row) / double(last));
    for (std::int64_t column = 0; column < bar; ++column) {
      paint(wide, left + column, top + row, c);
    }
  }
  for (auto const& m : marks) {
    auto const row = top + std::llround((1 - m.part) * double(last));
    write(wide, m.text, left + bar + gap, row - glyph_height * size / 2, size);
  }
  image = std::move(wide);
}

}  // namespace iso::cli
