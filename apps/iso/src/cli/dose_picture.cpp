// SPDX-License-Identifier: BSD-3-Clause
#include "dose_output.hpp"
#include "structure_options.hpp"

#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace iso::cli {
namespace {

/// The dose at the middles of a slice's pixels.
std::vector<double> sampled(files::host_volume const& dose, picture_slice const& slice) {
  auto const g = grid_of(slice, dose);
  std::vector<double> values;
  values.reserve(std::size_t(slice.width * slice.height));
  auto p = g.origin;
  for (std::int64_t c = 0; c < slice.width; ++c) {
    p[slice.column_axis] = g.origin[slice.column_axis] + double(c) * g.spacing[slice.column_axis];
    for (std::int64_t r = 0; r < slice.height; ++r) {
      p[slice.row_axis] = g.origin[slice.row_axis] + double(r) * g.spacing[slice.row_axis];
      values.push_back(value_at(dose, p).value_or(0));
    }
  }
  return values;
}

}  // namespace

files::rgb_image dose_picture(jobs::dose_result const& result, picture_slices const& slices,
                              std::vector<double> const& isodoses,
                              std::vector<outlined_structure> const& structures) {
  auto image = draw_slices(result.dose, slices, [&](std::size_t n) {
    double const grey = std::clamp(double(result.density.values[n]) / white_density, 0.0, 1.0);
    double const part = result.maximum > 0 ? double(result.dose.values[n]) / result.maximum : 0;
    // Little dose leaves the density to be seen.
    double const cover = 0.65 * std::clamp(part / 0.1, 0.0, 1.0);
    colour const wash = files::dose_colour(part);
    colour mixed{};
    for (std::size_t c = 0; c < 3; ++c) {
      mixed[c] = (1 - cover) * grey + cover * wash[c];
    }
    return mixed;
  });
  auto const size = files::text_size(image);
  std::vector<files::bar_mark> marks = {{0, "0"}, {1, fmt::format("{:.3g}", result.maximum)}};
  for (double const percent : isodoses) {
    marks.push_back(
        {percent / 100, fmt::format("{:.3g} {:.4g}%", percent / 100 * result.maximum, percent)});
  }
  for (std::size_t s = 0; s < slices.size(); ++s) {
    auto const values = sampled(result.dose, slices[s]);
    for (double const percent : isodoses) {
      if (result.maximum > 0) {
        draw_level(image, slices[s], values, percent / 100 * result.maximum, 1, 0, {files::black});
      }
    }
    for (auto const& one : structures) {
      draw_level(image, slices[s], one.shares[s], outline_share, size, 1, one.style);
    }
  }
  frame_slices(image, result.dose, slices);
  files::add_colour_bar(image, files::dose_colour, marks, "Gy");
  if (!structures.empty()) {
    std::vector<files::legend_entry> lines;
    for (auto const& one : structures) {
      lines.push_back({files::shortened(one.name, widest_name), one.style});
    }
    files::add_legend(image, lines, size);
  }
  return image;
}

}  // namespace iso::cli
