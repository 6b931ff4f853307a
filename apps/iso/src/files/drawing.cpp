// SPDX-License-Identifier: BSD-3-Clause
#include <iso/files/drawing.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace iso::files {
namespace {

constexpr std::int64_t glyph_width = 5;
constexpr char first_glyph = ' ';
constexpr char last_glyph = '~';

/// Letters of 5 x 7 pixels from the blank to the tilde: a row each a digit to the base of 32, whose
/// largest bit is the left pixel.
constexpr std::string_view glyphs =
    "00000004444404AAA0000AAVAVAA4FKE5U4PP248JJCIICLID4480000248884284222480LEVEL0044V440"
    "0000624000V00000000CC11248GGEHJLPHE4C4444EEH1248VV2421HE26AIV22VGU11HE68GUHHEV124888"
    "EHHEHHEEHHF12C0CC0CC00660624248G84200V0V008421248EH12404EHNLMGEEHHVHHHUHHUHHUEHGGGHE"
    "UHHHHHUVGGUGGVVGGUGGGEHGNHHEHHHVHHHE44444E72222ICHIKOKIHGGGGGGVHRLLHHHHPLLJHHEHHHHHE"
    "UHHUGGGEHHHLIDUHHUKIHFGGE11UV444444HHHHHHEHHHHHA4HHHLLRHHHA4AHHHHA4444V1248GVE88888E"
    "GG84211E22222E4AH0000000000V842000000E1FHFGGUHHHU00FGGGF11FHHHF00EHVGE698S88800FHF1E"
    "GGUHHHH40C444E20622ICGGIKOKIC44444E00QLLLL00UHHHH00EHHHE00UHUGG00FHF1100MPGGG00FGE1U"
    "88S889600HHHHF00HHHA400HHLLA00HA4AH00HHF1E00V248V688G8864444444C22122C009LI00";
static_assert(glyphs.size() == (last_glyph - first_glyph + 1) * letter_height);

/// Returns whether the pixel of a glyph is set.
bool is_set(char letter, std::int64_t x, std::int64_t y) {
  char const digit = glyphs[std::size_t((letter - first_glyph) * letter_height + y)];
  int const row = digit <= '9' ? digit - '0' : digit - 'A' + 10;
  return x < glyph_width && (row >> (glyph_width - 1 - x) & 1) != 0;
}

constexpr bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

/// They are far from the colours of a dose, and from one another.
constexpr std::array<colour, 8> line_colours = {{{1, 0.3, 1},
                                                 {1, 1, 1},
                                                 {1, 0.6, 0.1},
                                                 {0.5, 1, 0.85},
                                                 {0.7, 0.5, 1},
                                                 {0.85, 1, 0.3},
                                                 {1, 0.65, 0.65},
                                                 {0.45, 0.75, 1}}};
constexpr std::int64_t dash = 4;  // thicknesses
constexpr colour grid_colour = {0.3, 0.3, 0.3};

/// Returns 1, 2 or 5 times a power of ten, of which 3 to 8 make up `end`.
double round_step(double end) {
  double const tenth = std::pow(10, std::floor(std::log10(end / 3)));
  return end / tenth >= 15 ? 5 * tenth : end / tenth >= 6 ? 2 * tenth : tenth;
}

/// Returns a round step of values such that marks are at least `apart` of `pixels` pixels apart.
double step_of_marks(double length, std::int64_t pixels, std::int64_t apart) {
  double const least = length * double(apart) / double(pixels);
  double const tenth = std::pow(10, std::floor(std::log10(least)));
  return least <= tenth       ? tenth
         : least <= 2 * tenth ? 2 * tenth
         : least <= 5 * tenth ? 5 * tenth
                              : 10 * tenth;
}

/// Returns the round values between both ends of an axis, and the part of it at which each stands.
std::vector<bar_mark> marks_of(double from, double to, double step) {
  std::vector<bar_mark> marks;
  double const low = std::min(from, to);
  double const high = std::max(from, to);
  for (double n = std::ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; ++n) {
    // No -0.
    marks.push_back({(n * step - from) / (to - from), fmt::format("{:.4g}", n * step + 0.0)});
  }
  return marks;
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

colour dose_colour(double part) {
  return colour_between({{0, 0, 0.7}, {0, 0.7, 1}, {0, 0.8, 0.2}, {1, 0.9, 0}, {0.9, 0, 0}}, part);
}

rgb_image black_image(std::int64_t width, std::int64_t height) {
  return {width, height, std::vector<std::uint8_t>(std::size_t(width * height * 3))};
}

void put_image(rgb_image const& image, rgb_image& into, std::int64_t left, std::int64_t top) {
  for (std::int64_t row = 0; row < image.height; ++row) {
    std::copy_n(image.values.begin() + row * image.width * 3, image.width * 3,
                into.values.begin() + ((top + row) * into.width + left) * 3);
  }
}

void paint(rgb_image& image, std::int64_t column, std::int64_t row, colour const& c) {
  if (column < 0 || column >= image.width || row < 0 || row >= image.height) {
    return;
  }
  auto const first = std::size_t((row * image.width + column) * 3);
  for (std::size_t n = 0; n < 3; ++n) {
    image.values[first + n] = std::uint8_t(std::lround(255 * std::clamp(c[n], 0.0, 1.0)));
  }
}

std::int64_t letters_of(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); });
}

void write_text(rgb_image& image, std::string_view text, std::int64_t left, std::int64_t top,
                std::int64_t size, colour const& c) {
  for (char const byte : text) {
    if (continues(byte)) {
      continue;
    }
    char const letter = byte < first_glyph || byte > last_glyph ? '?' : byte;
    for (std::int64_t y = 0; y < letter_height * size; ++y) {
      for (std::int64_t x = 0; x < glyph_width * size; ++x) {
        if (is_set(letter, x / size, y / size)) {
          paint(image, left + x, top + y, c);
        }
      }
    }
    left += letter_width * size;
  }
}

rgb_image in_colours(gray_image const& image, gray_window window,
                     std::function<colour(double)> const& colour_of, std::int64_t scale) {
  auto large = black_image(image.width * scale, image.height * scale);
  double const width = window.white - window.black;
  for (std::int64_t row = 0; row < large.height; ++row) {
    for (std::int64_t column = 0; column < large.width; ++column) {
      double const value = image.values[std::size_t(row / scale * image.width + column / scale)];
      if (!std::isnan(value)) {
        paint(large, column, row, colour_of(width > 0 ? (value - window.black) / width : 0));
      }
    }
  }
  return large;
}

void add_title(rgb_image& image, std::string const& text, std::int64_t size) {
  std::int64_t const height = 2 * letter_height * size;
  auto titled = black_image(
      std::max(image.width, letters_of(text) * letter_width * size + 2 * letter_width * size),
      image.height + height);
  put_image(image, titled, 0, height);
  write_text(titled, text, letter_width * size, letter_height * size / 2, size, white);
  image = std::move(titled);
}

void add_axes(rgb_image& image, picture_axis const& across, picture_axis const& up,
              std::int64_t size) {
  std::int64_t const letter = letter_width * size;
  std::int64_t const line = letter_height * size;
  std::int64_t const tick = 3 * size;
  auto const below =
      marks_of(across.from, across.to,
               step_of_marks(std::abs(across.to - across.from), image.width, 8 * letter));
  auto const beside =
      marks_of(up.from, up.to, step_of_marks(std::abs(up.to - up.from), image.height, 3 * line));
  std::int64_t letters = letters_of(up.name);
  for (auto const& mark : beside) {
    letters = std::max(letters, letters_of(mark.text));
  }
  std::int64_t const left = (letters + 1) * letter + tick;
  std::int64_t const top = 2 * line;  // the vertical axis' name
  auto framed = black_image(left + image.width + 3 * letter, top + image.height + tick + 4 * line);
  put_image(image, framed, left, top);
  std::int64_t const foot = top + image.height;
  auto const line_from = [&](std::int64_t column, std::int64_t row, bool sideways) {
    for (std::int64_t n = 0; n < tick * size; ++n) {
      std::int64_t const along = n / size;
      std::int64_t const thick = n % size;
      paint(framed, column + (sideways ? -1 - along : thick), row + (sideways ? thick : along),
            white);
    }
  };
  write_text(framed, up.name, letter / 2, line / 4, size, white);
  for (auto const& mark : beside) {
    std::int64_t const row = foot - std::llround(mark.part * double(image.height));
    line_from(left, std::min(row, foot - size), true);
    write_text(framed, mark.text, left - tick - letter / 2 - letters_of(mark.text) * letter,
               row - line / 2, size, white);
  }
  for (auto const& mark : below) {
    std::int64_t const column = left + std::llround(mark.part * double(image.width));
    line_from(std::min(column, left + image.width - size), foot, false);
    write_text(framed, mark.text, column - letters_of(mark.text) * letter / 2, foot + tick + size,
               size, white);
  }
  write_text(framed, across.name, left + (image.width - letters_of(across.name) * letter) / 2,
             foot + tick + 2 * line, size, white);
  image = std::move(framed);
}

std::vector<bar_mark> round_marks(double low, double high) {
  return high > low ? marks_of(low, high, round_step(high - low)) : std::vector<bar_mark>();
}

std::int64_t text_size(rgb_image const& image) {
  return std::max<std::int64_t>({1, image.width / 600, image.height / 250});
}

void add_colour_bar(rgb_image& image, std::function<colour(double)> const& colour_of,
                    std::vector<bar_mark> const& marks, std::string const& title) {
  std::int64_t const size = text_size(image);
  std::int64_t letters = 0;
  for (auto const& m : marks) {
    letters = std::max(letters, letters_of(m.text));
  }
  std::int64_t const gap = 6 * size;
  std::int64_t const bar = 12 * size;
  std::int64_t const letter = letter_width * size;
  std::int64_t const beside = std::max(bar + gap + letter * letters, letter * letters_of(title));
  auto wide = black_image(image.width + 2 * gap + beside, std::max(image.height, 100 * size));
  put_image(image, wide, 0, 0);
  std::int64_t const left = image.width + gap;
  std::int64_t const top = 2 * gap + letter_height * size;
  std::int64_t const last = wide.height - 1 - gap - top;  // row of the bar
  write_text(wide, title, left, gap, size, white);
  for (std::int64_t row = 0; row <= last; ++row) {
    auto const c = colour_of(1 - double(row) / double(last));
    for (std::int64_t column = 0; column < bar; ++column) {
      paint(wide, left + column, top + row, c);
    }
  }
  std::vector<std::int64_t> written;
  for (auto const& m : marks) {
    auto const row = top + std::llround((1 - m.part) * double(last));
    for (std::int64_t n = 0; n < (bar + gap / 2) * size; ++n) {
      paint(wide, left + n / size, row + n % size, n / size < bar ? black : white);
    }
    if (std::none_of(written.begin(), written.end(), [&](std::int64_t other) {
          return std::abs(other - row) < (letter_height + 1) * size;
        })) {
      write_text(wide, m.text, left + bar + gap, row - letter_height * size / 2, size, white);
      written.push_back(row);
    }
  }
  image = std::move(wide);
}

line_style style_of(std::size_t n) {
  return {line_colours[n % line_colours.size()], n / line_colours.size() % 2 == 1};
}

void paint_line(rgb_image& image, std::int64_t column, std::int64_t row, std::int64_t thick,
                line_style const& style) {
  if (style.is_dashed && (column + row) / (dash * thick) % 2 == 1) {
    return;
  }
  for (std::int64_t n = 0; n < thick * thick; ++n) {
    paint(image, column - thick / 2 + n % thick, row - thick / 2 + n / thick, style.c);
  }
}

void add_legend(rgb_image& image, std::vector<std::string> const& names, std::int64_t size) {
  std::vector<legend_entry> lines;
  for (auto const& name : names) {
    lines.push_back({name, style_of(lines.size())});
  }
  add_legend(image, lines, size);
}

void add_legend(rgb_image& image, std::vector<legend_entry> const& lines, std::int64_t size) {
  std::int64_t const gap = 2 * letter_width * size;
  std::int64_t const line = 4 * letter_width * size;  // beside a name
  std::int64_t const row_height = 2 * letter_height * size;
  auto const width_of = [&](std::string const& name) {
    return line + (1 + letters_of(name)) * letter_width * size;
  };
  // From left to right, then from top to bottom; a name that is too long is cut by the border.
  std::vector<std::array<std::int64_t, 2>> places;
  std::int64_t left = gap;
  std::int64_t row = 0;
  for (auto const& [name, style] : lines) {
    if (left > gap && left + width_of(name) + gap > image.width) {
      left = gap;
      ++row;
    }
    places.push_back({left, row});
    left += width_of(name) + gap;
  }
  auto taller = black_image(image.width, image.height + (row + 1) * row_height + gap / 2);
  put_image(image, taller, 0, 0);
  for (std::size_t n = 0; n < lines.size(); ++n) {
    auto const [at, of_row] = places[n];
    auto const top = image.height + gap / 2 + of_row * row_height;
    for (std::int64_t x = 0; x < line - letter_width * size; ++x) {
      paint_line(taller, at + x, top + letter_height * size / 2, 2 * size, lines[n].style);
    }
    write_text(taller, lines[n].name, at + line, top, size, white);
  }
  image = std::move(taller);
}

rgb_image draw_curves(std::vector<curve> const& curves, double end, std::string const& unit) {
  constexpr std::int64_t size = 2;
  constexpr std::int64_t width = 640;  // of the field that the axes bound
  constexpr std::int64_t height = 360;
  constexpr std::int64_t left = 5 * letter_width * size;
  constexpr std::int64_t top = 2 * letter_height * size;
  auto image =
      black_image(left + width + 2 * letter_width * size, top + height + 3 * letter_height * size);
  auto const write = [&](std::string const& text, double column, std::int64_t row) {
    auto const wide = letters_of(text) * letter_width * size;
    write_text(image, text, std::llround(column * double(width) + left) - wide / 2, row, size,
               white);
  };
  for (int percent = 0; percent <= 100; percent += 20) {
    std::int64_t const y = top + height * (100 - percent) / 100;
    for (std::int64_t x = 0; x <= width; ++x) {
      paint(image, left + x, y, grid_colour);
    }
    auto const text = fmt::format("{}%", percent);
    write_text(image, text, left - letters_of(text) * letter_width * size - size,
               y - letter_height * size / 2, size, white);
  }
  std::int64_t const below = top + height + letter_height * size;
  double const step = round_step(end);
  for (int n = 0; n * step <= end; ++n) {
    double const part = n * step / end;
    for (std::int64_t y = 0; y <= height; ++y) {
      paint(image, left + std::llround(part * double(width)), top + y, grid_colour);
    }
    if (part < 0.92) {  // the unit stands there
      write(fmt::format("{:.3g}", n * step), part, below);
    }
  }
  write(unit, 1, below);
  std::vector<std::string> names;
  for (auto const& c : curves) {
    auto const style = style_of(names.size());
    names.push_back(c.name);
    auto const row_of = [&](std::int64_t x) {
      double const place = double(x) / double(width) * double(c.percent.size() - 1);
      auto const low = std::min(std::size_t(place), c.percent.size() - 2);
      double const between = place - double(low);
      double const value = (1 - between) * c.percent[low] + between * c.percent[low + 1];
      return top + std::llround((1 - value / 100) * double(height));
    };
    for (std::int64_t x = 0; x < width; ++x) {
      auto const from = row_of(x);
      auto const to = row_of(x + 1);
      for (auto y = std::min(from, to); y <= std::max(from, to); ++y) {
        paint_line(image, left + x, y, size, style);
      }
    }
  }
  add_legend(image, names, size);
  return image;
}

}  // namespace iso::files
