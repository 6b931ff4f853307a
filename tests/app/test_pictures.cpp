// SPDX-License-Identifier: BSD-3-Clause
#include "../../apps/iso/src/cli/reconstruct_picture.hpp"
#include "../../apps/iso/src/cli/slice_picture.hpp"

#include <iso/files/drawing.hpp>
#include <iso/files/volume_file.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace cli = iso::cli;
namespace files = iso::files;

namespace {

using rgb = std::array<int, 3>;

rgb pixel(files::rgb_image const& image, std::int64_t column, std::int64_t row) {
  auto const* const at = image.values.data() + (row * image.width + column) * 3;
  return {at[0], at[1], at[2]};
}
constexpr rgb black = {0, 0, 0};
constexpr rgb white = {255, 255, 255};

/// Rows of "#" and "." between two corners.
std::string seen(files::rgb_image const& image, std::int64_t left, std::int64_t width,
                 std::int64_t top, std::int64_t height) {
  std::string rows;
  for (std::int64_t row = top; row < top + height; ++row) {
    for (std::int64_t column = left; column < left + width; ++column) {
      rows += pixel(image, column, row) == black ? '.' : '#';
    }
    rows += '\n';
  }
  return rows;
}

/// 4 x 6 x 8 voxels of 2 x 1 x 0.5 mm from (0, 0, 0).
files::host_volume volume() {
  files::host_volume v{{4, 6, 8}, {2, 1, 0.5}, {1, 0.5, 0.25}, {}};
  v.values.assign(4 * 6 * 8, 0.0F);
  return v;
}

}  // namespace

TEST_CASE("text is written in letters of 5 x 7 pixels, and what has no letter as a question mark") {
  auto image = files::black_image(18, 7);
  files::write_text(image, "Gy\xc3\xa4", 0, 0, 1, files::white);
  CHECK(seen(image, 0, 18, 0, 7) ==
        ".###.........###..\n"
        "#...#.......#...#.\n"
        "#.....#...#.....#.\n"
        "#.###.#...#....#..\n"
        "#...#..####...#...\n"
        "#...#.....#.......\n"
        ".###...###....#...\n");
  CHECK(files::letters_of("Gy\xc3\xa4") == 3);
  // Beyond the image there is nothing to write to.
  files::write_text(image, "W", 15, 3, 4, files::white);
}

TEST_CASE("slices lie side by side, their pixels on the voxels") {
  auto const v = volume();
  auto const slices = cli::slices_through(v, {4.9, 100, 0.8});
  CHECK(slices[0].voxel == 1);  // z from 0.5 to 1
  CHECK(slices[1].voxel == 5);  // the last, for a point beyond
  CHECK(slices[2].voxel == 2);
  CHECK(slices[1].left == slices[0].width);
  // All of the box of 8 x 6 x 4 mm is shown, in square pixels: at least 1200 of them for the 22 mm
  // side by side.
  CHECK(slices[0].width * 6 == slices[0].height * 8);
  CHECK(slices[2].left + slices[2].width >= 1200);
  auto const g = cli::grid_of(slices[1], v);
  CHECK(g.extent == std::array<std::int64_t, 3>{slices[1].width, 1, slices[1].height});
  CHECK(g.origin[1] == 5.5);
  CHECK(g.spacing[0] * double(g.extent[0]) == doctest::Approx(8));
  CHECK(g.origin[2] - 0.5 * g.spacing[2] == doctest::Approx(0));
  // One voxel is one rectangle: the slice across z has y downwards, the one across x has z upwards.
  auto const marked = std::size_t((2 * 6 + 4) * 8 + 1);
  auto const image = cli::draw_slices(
      v, slices, [&](std::size_t n) { return n == marked ? files::white : files::black; });
  auto const at = [&](std::size_t n, double column_mm, double row_mm) {
    double const side = 8.0 / double(slices[0].width);
    return pixel(image, slices[n].left + std::int64_t(column_mm / side),
                 std::int64_t(row_mm / side));
  };
  CHECK(at(0, 5, 4.5) == white);
  CHECK(at(0, 5, 1.5) == black);
  CHECK(at(2, 4.5, 4 - 0.75) == white);
  CHECK(at(2, 4.5, 0.75) == black);
  CHECK(at(1, 5, 4 - 0.75) == black);  // another y
}

TEST_CASE("a level is a closed line around what reaches it, and none runs along the border") {
  cli::picture_slice const slice{2, 0, 1, true, 0, 1, 7, 6};
  std::vector<double> values(7 * 6, 0.0);
  for (std::size_t column = 2; column < 6; ++column) {
    for (std::size_t row = 1; row < 5; ++row) {
      values[column * 6 + row] = 1;
    }
  }
  auto image = files::black_image(9, 6);
  cli::draw_level(image, slice, values, 0.5, 1, 0, {files::white});
  CHECK(seen(image, 0, 9, 0, 6) ==
        ".........\n"
        "...####..\n"
        "...#..#..\n"
        "...#..#..\n"
        "...####..\n"
        ".........\n");
  image = files::black_image(9, 6);
  cli::draw_level(image, slice, std::vector<double>(7 * 6, 1.0), 0.5, 1, 0, {files::white});
  CHECK(seen(image, 0, 9, 0, 6) == seen(files::black_image(9, 6), 0, 9, 0, 6));
}

TEST_CASE("a bar has its marks in order of height, without text where there is no room") {
  auto const ramp = [](double part) { return files::colour{part, 0, 0}; };
  auto image = files::black_image(10, 200);
  files::add_colour_bar(image, ramp, {{0, "0"}, {1, "1"}, {0.5, "half"}}, "Gy");
  CHECK(image.width == 10 + 12 + 12 + 6 + 24);
  auto crowded = files::black_image(10, 200);
  files::add_colour_bar(crowded, ramp, {{0, "0"}, {1, "1"}, {0.5, "half"}, {0.51, "half"}}, "Gy");
  std::int64_t const text = 10 + 6 + 12 + 6;
  CHECK(seen(image, text, 24, 0, 200) == seen(crowded, text, 24, 0, 200));
}

TEST_CASE("a legend has a line of each name's own style, and as many rows as it needs") {
  auto image = files::black_image(200, 10);
  std::vector<std::string> names;
  for (int n = 0; n < 9; ++n) {
    names.push_back("organ " + std::to_string(n));
  }
  files::add_legend(image, names, 1);
  CHECK(image.width == 200);
  CHECK(image.height == 10 + 5 * 14 + 6);  // two in a row
  auto const first = files::style_of(0);
  auto const ninth = files::style_of(8);
  CHECK(first.c == ninth.c);
  CHECK((!first.is_dashed && ninth.is_dashed));
  for (std::size_t n = 1; n < 8; ++n) {
    CHECK(files::style_of(n).c != first.c);
  }
  auto own = files::black_image(200, 10);
  files::add_legend(own, std::vector<files::legend_entry>{{"green", {{0, 1, 0}}}}, 1);
  CHECK(pixel(own, 12 + 2, 10 + 6 + 3) == rgb{0, 255, 0});
}

TEST_CASE("curves run from 100 % at the left to where they end") {
  std::vector<double> falling;
  for (int n = 0; n <= 10; ++n) {
    falling.push_back(100 - 10.0 * n);
  }
  auto const image = files::draw_curves({{"straight", falling}}, 5, "Gy");
  auto const c = files::style_of(0).c;
  rgb const line = {int(std::lround(255 * c[0])), int(std::lround(255 * c[1])),
                    int(std::lround(255 * c[2]))};
  // The axes' field is 640 x 360 from (60, 28).
  CHECK(pixel(image, 60 + 320, 28 + 180) == line);
  CHECK(pixel(image, 60 + 160, 28 + 90) == line);
  CHECK(pixel(image, 60 + 160, 28 + 270) != line);
}

TEST_CASE("an image in colours has a square for each value, and black where there is no number") {
  auto const image = files::in_colours(
      {2, 1, {1.0F, std::nanf("")}}, {0, 2}, [](double part) { return files::colour{part, 0, 1}; },
      3);
  CHECK(image.width == 6);
  CHECK(image.height == 3);
  CHECK(pixel(image, 2, 2) == rgb{128, 0, 255});
  CHECK(pixel(image, 3, 0) == black);
}

TEST_CASE("axes have marks at round values, rising or falling") {
  // 100 pixels for 100 mm: marks at least 48 pixels apart stand at 0, 50 and 100.
  auto image = files::black_image(100, 100);
  files::add_axes(image, {"x, mm", 0, 100}, {"y, mm", 100, 0}, 1);
  std::int64_t const left = 6 * (5 + 1) + 3;  // "y, mm" is the longest text
  std::int64_t const foot = 14 + 100;
  for (std::int64_t column = 0; column < 100; ++column) {
    bool const marked = column == 0 || column == 50 || column == 99;
    CHECK((pixel(image, left + column, foot) == white) == marked);
  }
  // At least 21 pixels apart: 0, 50 and 100 from above.
  for (std::int64_t row = 0; row < 100; ++row) {
    bool const marked = row == 0 || row == 50 || row == 99;
    CHECK((pixel(image, left - 1, 14 + row) == white) == marked);
  }
  // The number at the top of the falling axis is 0, in the column before the mark.
  CHECK(seen(image, left - 12, 6, 11, 7) ==
        ".###..\n#...#.\n#..##.\n#.#.#.\n##..#.\n#...#.\n.###..\n");
}

TEST_CASE("round marks lie within a bar") {
  auto const marks = files::round_marks(-0.3, 0.5);
  REQUIRE(marks.size() == 4);
  CHECK(marks.front().text == "-0.2");
  CHECK(marks[1].text == "0");
  CHECK(marks[1].part == doctest::Approx(0.375));
  CHECK(marks.back().part == doctest::Approx(0.875));
  CHECK(files::round_marks(1, 1).empty());
}

TEST_CASE("a title stands above, and widens what it does not fit") {
  auto image = files::black_image(10, 5);
  files::paint(image, 0, 0, files::white);
  files::add_title(image, "longer", 1);
  CHECK(image.width == 8 * 6);
  CHECK(image.height == 14 + 5);
  CHECK(pixel(image, 0, 14) == white);
}

TEST_CASE("slices with axes keep their pixels, with a gap between them") {
  auto const v = volume();
  auto const slices = cli::slices_through(v, {1, 0.5, 0.25});
  auto const plain = cli::draw_slices(v, slices, [](std::size_t) { return files::white; });
  auto framed = plain;
  cli::frame_slices(framed, v, slices);
  CHECK(framed.width > plain.width);
  CHECK(framed.height > plain.height);
  // A row through the middle of the first slice crosses three white runs of their widths.
  std::vector<std::int64_t> runs;
  std::int64_t run = 0;
  auto const size = files::text_size(plain);
  std::int64_t const row = 4 * files::letter_height * size + slices[1].height / 2 + 3 * size;
  for (std::int64_t column = 0; column < framed.width; ++column) {
    run = pixel(framed, column, row) == white ? run + 1 : 0;
    if (run > 100 * size &&
        (column + 1 == framed.width || pixel(framed, column + 1, row) == black)) {
      runs.push_back(run);
    }
  }
  CHECK(runs == std::vector<std::int64_t>{slices[0].width, slices[1].width, slices[2].width});
}

TEST_CASE("a window by percentiles leaves out what is rare or not finite") {
  std::vector<float> values;
  for (int n = 0; n <= 1000; ++n) {
    values.push_back(float(n));
  }
  values.push_back(std::nanf(""));
  auto const window = files::percentile_window(values, 0.005, 0.995);
  CHECK(window.black == 5);
  CHECK(window.white == 995);
  auto const none = files::percentile_window({std::nanf("")}, 0.1, 0.9);
  CHECK(none.black < none.white);
}

TEST_CASE(
    "the window of a reconstruction leaves the corners out, and half a per cent at either end") {
  constexpr std::int64_t n = 33;
  files::host_volume v;
  v.extent = {n, n, n};
  v.spacing = {1, 1, 1};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t k = 0; k < n; ++k) {
        bool const is_corner = i + j < 6;
        v.values.push_back(is_corner ? 1000.0F : float(k) / float(n - 1));
      }
    }
  }
  auto const window = cli::window_of_slices(v);
  CHECK(window.black == 0);
  CHECK(window.white == 1);
  // One speck of metal in the cylinder is rarer than half a per cent.
  v.values[std::size_t((n / 2 * n + n / 2) * n + n / 2)] = 5000;
  CHECK(cli::window_of_slices(v).white == 1);
}
