// SPDX-License-Identifier: BSD-3-Clause
#include "dose_output.hpp"
#include "slice_picture.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace iso::cli {
namespace {

/// Blue, cyan, green, yellow, red.
colour dose_colour(double part) {
  return colour_between({{0, 0, 0.7}, {0, 0.7, 1}, {0, 0.8, 0.2}, {1, 0.9, 0}, {0.9, 0, 0}}, part);
}

}  // namespace

files::rgb_image dose_picture(jobs::dose_result const& result, std::array<double, 3> const& point) {
  auto image = draw_slices(result.dose, point, [&](std::size_t n) {
    double const grey = std::clamp(double(result.density.values[n]) / white_density, 0.0, 1.0);
    double const part = result.maximum > 0 ? double(result.dose.values[n]) / result.maximum : 0;
    // Little dose leaves the density to be seen.
    double const cover = 0.65 * std::clamp(part / 0.1, 0.0, 1.0);
    colour const wash = dose_colour(part);
    colour mixed{};
    for (std::size_t c = 0; c < 3; ++c) {
      mixed[c] = (1 - cover) * grey + cover * wash[c];
    }
    return mixed;
  });
  std::vector<bar_mark> marks;
  for (double const part : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    marks.push_back({part, fmt::format("{:.3g}", part * result.maximum)});
  }
  add_colour_bar(image, dose_colour, marks, "Gy");
  return image;
}

}  // namespace iso::cli
