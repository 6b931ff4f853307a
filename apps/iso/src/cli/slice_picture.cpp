// SPDX-License-Identifier: BSD-3-Clause
#include "slice_picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace iso::cli {
namespace {

constexpr double largest_picture =
    2048;                             // pixels along an axis, unless a voxel needs more than one
constexpr double min_picture = 1200;  // of the three slices' width

}  // namespace

picture_slices slices_through(files::host_volume const& volume,
                              std::array<double, 3> const& point) {
  auto const& n = volume.extent;
  std::array<double, 3> length{};  // mm
  for (std::size_t a = 0; a < 3; ++a) {
    length[a] = volume.spacing[a] * double(n[a]);
  }
  // A pixel is as large as the smallest side of a voxel, larger where that would be a poster, and a
  // part of it where that would be a stamp.
  double const voxel = *std::min_element(volume.spacing.begin(), volume.spacing.end());
  double const most = *std::max_element(length.begin(), length.end());
  double const min_parts = std::ceil(min_picture * voxel / (2 * length[0] + length[1]));
  double const parts = std::min(min_parts, std::floor(largest_picture * voxel / most));
  double const side = parts >= 1 ? voxel / parts : most / largest_picture;
  std::array<std::int64_t, 3> pixels{};
  for (std::size_t a = 0; a < 3; ++a) {
    pixels[a] = std::max<std::int64_t>(std::int64_t(std::nearbyint(length[a] / side)), 1);
  }
  picture_slices slices = {{{2, 0, 1, true}, {1, 0, 2, false}, {0, 1, 2, false}}};
  std::int64_t left = 0;
  for (auto& s : slices) {
    double const index =
        std::nearbyint((point[s.across] - volume.origin[s.across]) / volume.spacing[s.across]);
    s.voxel = std::int64_t(std::clamp(index, 0.0, double(n[s.across] - 1)));
    s.left = left;
    s.width = pixels[s.column_axis];
    s.height = pixels[s.row_axis];
    left += s.width;
  }
  return slices;
}

files::host_volume grid_of(picture_slice const& slice, files::host_volume const& volume) {
  files::host_volume g;
  g.extent[slice.across] = 1;
  g.extent[slice.column_axis] = slice.width;
  g.extent[slice.row_axis] = slice.height;
  for (std::size_t a = 0; a < 3; ++a) {
    double const low = volume.origin[a] - 0.5 * volume.spacing[a];
    if (a == slice.across) {
      g.spacing[a] = volume.spacing[a];
      g.origin[a] = volume.origin[a] + double(slice.voxel) * volume.spacing[a];
    } else {
      g.spacing[a] = volume.spacing[a] * double(volume.extent[a]) / double(g.extent[a]);
      g.origin[a] = low + 0.5 * g.spacing[a];
    }
  }
  return g;
}

files::rgb_image draw_slices(files::host_volume const& volume, picture_slices const& slices,
                             std::function<colour(std::size_t)> const& colour_of) {
  auto const& n = volume.extent;
  std::int64_t width = 0;
  std::int64_t height = 0;
  for (auto const& s : slices) {
    width += s.width;
    height = std::max(height, s.height);
  }
  auto image = files::black_image(width, height);
  for (auto const& s : slices) {
    auto const voxel = [&](std::size_t axis, std::int64_t pixel, std::int64_t pixels) {
      return std::min((2 * pixel + 1) * n[axis] / (2 * pixels), n[axis] - 1);
    };
    for (std::int64_t row = 0; row < s.height; ++row) {
      for (std::int64_t column = 0; column < s.width; ++column) {
        std::array<std::int64_t, 3> at{};
        at[s.across] = s.voxel;
        at[s.column_axis] = voxel(s.column_axis, column, s.width);
        at[s.row_axis] = voxel(s.row_axis, s.is_downwards ? row : s.height - 1 - row, s.height);
        files::paint(image, s.left + column, row,
                     colour_of(std::size_t((at[0] * n[1] + at[1]) * n[2] + at[2])));
      }
    }
  }
  return image;
}

void draw_level(files::rgb_image& image, picture_slice const& slice,
                std::vector<double> const& values, double level, std::int64_t thick,
                std::int64_t halo, files::line_style const& style) {
  // Beyond the slice nothing changes: a line does not run along its border.
  auto const reaches = [&](std::int64_t column, std::int64_t up) {
    auto const c = std::clamp<std::int64_t>(column, 0, slice.width - 1);
    auto const u = std::clamp<std::int64_t>(up, 0, slice.height - 1);
    return values[std::size_t(c * slice.height + u)] >= level;
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> line;
  for (std::int64_t c = 0; c < slice.width; ++c) {
    for (std::int64_t u = 0; u < slice.height; ++u) {
      if (reaches(c, u) &&
          !(reaches(c - 1, u) && reaches(c + 1, u) && reaches(c, u - 1) && reaches(c, u + 1))) {
        line.emplace_back(slice.left + c, slice.is_downwards ? u : slice.height - 1 - u);
      }
    }
  }
  if (halo > 0) {
    for (auto const& [column, row] : line) {
      files::paint_line(image, column, row, thick + 2 * halo, {files::black});
    }
  }
  for (auto const& [column, row] : line) {
    files::paint_line(image, column, row, thick, style);
  }
}

void frame_slices(files::rgb_image& image, files::host_volume const& volume,
                  picture_slices const& slices) {
  auto const size = files::text_size(image);
  auto const gap = 3 * files::letter_width * size;
  std::vector<files::rgb_image> panels;
  std::int64_t width = 0;
  std::int64_t height = 0;
  for (auto const& s : slices) {
    auto panel = files::black_image(s.width, s.height);
    for (std::int64_t row = 0; row < s.height; ++row) {
      std::copy_n(image.values.begin() + (row * image.width + s.left) * 3, s.width * 3,
                  panel.values.begin() + row * s.width * 3);
    }
    auto const axis = [&](std::size_t of) {
      double const low = volume.origin[of] - 0.5 * volume.spacing[of];
      return files::picture_axis{fmt::format("{}, mm", "xyz"[of]), low,
                                 low + volume.spacing[of] * double(volume.extent[of])};
    };
    auto up = axis(s.row_axis);
    if (s.is_downwards) {
      std::swap(up.from, up.to);
    }
    files::add_axes(panel, axis(s.column_axis), up, size);
    double const at = volume.origin[s.across] + double(s.voxel) * volume.spacing[s.across];
    constexpr std::array<char const*, 3> names = {"sagittal", "coronal", "axial"};
    files::add_title(panel, fmt::format("{}, {} = {:.4g} mm", names[s.across], "xyz"[s.across], at),
                     size);
    width += panel.width + gap;
    height = std::max(height, panel.height);
    panels.push_back(std::move(panel));
  }
  image = files::black_image(width, height);
  std::int64_t left = 0;
  for (auto const& panel : panels) {
    files::put_image(panel, image, left, 0);
    left += panel.width + gap;
  }
}

}  // namespace iso::cli
