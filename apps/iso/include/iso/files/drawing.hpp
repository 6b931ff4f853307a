// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/drawing.hpp
//! Draws into pictures in colours: text, lines, axes, colour bars, legends, curves.
#pragma once

#include <iso/files/png_file.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace iso::files {

/// Holds red, green and blue, each from 0 to 1.
using colour = std::array<double, 3>;
inline constexpr colour black = {0, 0, 0};
inline constexpr colour white = {1, 1, 1};

/// Returns the colour at `part`, from 0 to 1, of a scale of colours at equal distances.
colour colour_between(std::vector<colour> const& stops, double part);
/// Returns the colour at `part`, from 0 to 1, of a dose: blue, cyan, green, yellow, red.
colour dose_colour(double part);

/// Returns a black image.
rgb_image black_image(std::int64_t width, std::int64_t height);

/// Puts an image into another, its upper left corner at (left, top).
void put_image(rgb_image const& image, rgb_image& into, std::int64_t left, std::int64_t top);

/// Sets one pixel; nothing beyond the image.
void paint(rgb_image& image, std::int64_t column, std::int64_t row, colour const& c);

/// Is what a character takes, with the gap behind it, in pixels of a text's size.
inline constexpr std::int64_t letter_width = 6;
inline constexpr std::int64_t letter_height = 7;

/// Counts the characters of UTF-8.
std::int64_t letters_of(std::string_view text);

/// Writes from (left, top), with pixels of `size`. What is not printable ASCII becomes "?".
void write_text(rgb_image& image, std::string_view text, std::int64_t left, std::int64_t top,
                std::int64_t size, colour const& c);

/// Returns the size of the pixels of text in a picture.
std::int64_t text_size(rgb_image const& image);

/// Returns `image` with the colour of each value's part of the window, in squares of `scale` x
/// `scale` pixels. What is not a number is black.
rgb_image in_colours(gray_image const& image, gray_window window,
                     std::function<colour(double)> const& colour_of, std::int64_t scale);

/// Adds black rows above `image` with a line of text, and columns on the right where it is longer.
void add_title(rgb_image& image, std::string const& text, std::int64_t size);

/// An axis of a picture: values at the outer edges of its first and last pixel, from the
/// left or from below.
struct picture_axis {
  std::string name;  ///< "x, mm"
  double from = 0;
  double to = 1;
};

/// Adds axes on the left of `image` and below it, with marks at round values.
void add_axes(rgb_image& image, picture_axis const& across, picture_axis const& up,
              std::int64_t size);

/// Text beside a colour bar.
struct bar_mark {
  double part;  ///< 0 at the bar's foot, 1 at its top
  std::string text;
};

/// Returns marks at round values of a bar from `low` to `high`.
std::vector<bar_mark> round_marks(double low, double high);

/// Adds a bar of colours on the right of `image`, with `title` above it. A mark that has no room
/// between those before it in the list has no text.
/// \param colour_of  the colour at a part of the bar
void add_colour_bar(rgb_image& image, std::function<colour(double)> const& colour_of,
                    std::vector<bar_mark> const& marks, std::string const& title);

/// How a line looks.
struct line_style {
  colour c = white;
  bool is_dashed = false;
};

/// Returns how the n-th of many lines looks: eight colours, then the same dashed.
line_style style_of(std::size_t n);

/// Puts a square of a line, `thick` pixels wide, about a pixel; nothing where it is a gap between
/// dashes.
void paint_line(rgb_image& image, std::int64_t column, std::int64_t row, std::int64_t thick,
                line_style const& style);

/// A line of a picture, and what it is.
struct legend_entry {
  std::string name;
  line_style style;
};

/// Adds black rows below the image that say what its lines are.
/// \param size  of the text's pixels
void add_legend(rgb_image& image, std::vector<legend_entry> const& lines, std::int64_t size);
/// Adds the same for lines of style_of(0), style_of(1), ...
void add_legend(rgb_image& image, std::vector<std::string> const& names, std::int64_t size);

/// A function from 0 to 100 % of values at even distances from 0.
struct curve {
  std::string name;
  std::vector<double> percent;
};

/// Draws curves over an axis from 0 to `end`, with a legend of their names.
/// \param unit  of that axis
rgb_image draw_curves(std::vector<curve> const& curves, double end, std::string const& unit);

}  // namespace iso::files
