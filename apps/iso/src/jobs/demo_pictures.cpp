// SPDX-License-Identifier: BSD-3-Clause
#include "demo_pictures.hpp"

#include <iso/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace iso::jobs {
namespace {

files::colour demo_colour(demo_palette colours, double part) {
  switch (colours) {
    case demo_palette::difference:
      return files::colour_between({{0.1, 0.3, 0.9}, {1, 1, 1}, {0.9, 0.1, 0.1}}, part);
    case demo_palette::dose:
      return files::dose_colour(part);
    case demo_palette::grey:
      break;
  }
  return files::colour_between({files::black, files::white}, part);
}

/// The least to the largest value; of differences the same on both sides of zero, and all but the
/// largest half per cent, which lie on a few edges.
files::gray_window demo_window(demo_palette colours, files::gray_image const& image) {
  if (colours == demo_palette::difference) {
    auto sizes = image.values;
    std::transform(sizes.begin(), sizes.end(), sizes.begin(), [](float d) { return std::abs(d); });
    double const most = files::percentile_window(std::move(sizes), 0, 0.995).white;
    return {-most, most};
  }
  auto const full = files::full_window(image);
  return colours == demo_palette::dose ? files::gray_window{0, full.white} : full;
}

}  // namespace

files::rgb_image draw_demo_slice(demo_picture const& what, files::gray_image const& image,
                                 grid const& box, std::int64_t slice, demo_rows direction) {
  auto const& n = box.extent;
  auto const window = what.window.value_or(demo_window(what.colours, image));
  auto const colour = [&](double part) { return demo_colour(what.colours, part); };
  std::int64_t const scale = std::max<std::int64_t>((512 + n[0] - 1) / n[0], 1);
  auto drawn = files::in_colours(image, window, colour, scale);
  auto const size = files::text_size(drawn);
  auto const axis = [&](int a) {
    double const low = box.origin[a] - 0.5 * box.spacing[a];
    return files::picture_axis{what.axes[std::size_t(a)], low,
                               low + box.spacing[a] * double(n[std::size_t(a)])};
  };
  auto up = axis(1);
  if (direction == demo_rows::downwards) {
    std::swap(up.from, up.to);
  }
  files::add_axes(drawn, axis(0), up, size);
  files::add_colour_bar(drawn, colour, files::round_marks(window.black, window.white), what.unit);
  auto title = what.title;
  if (what.has_place) {
    title += message(", z = {:.4g} mm", {box.origin.z + double(slice) * box.spacing.z});
  }
  files::add_title(drawn, title, size);
  return drawn;
}

files::rgb_image draw_demo_histograms(cases::histogram_case<float> const& what,
                                      std::vector<float> const& values) {
  std::vector<files::curve> curves;
  for (std::size_t s = 0; s < what.organs.size(); ++s) {
    auto const* const of = values.data() + s * std::size_t(what.numbers_each());
    auto const* const figures = of + what.bins + 1;
    auto const gray = [&](int n) { return double(figures[n]) / 100 * what.end; };
    curves.push_back({message("{}: mean {:.3g} Gy, D95 {:.3g} Gy",
                              {std::string_view(what.organs[s].contours.name), gray(0), gray(1)}),
                      {of, figures}});
  }
  auto image = files::draw_curves(curves, what.end, "Gy");
  files::add_title(image, "Volume of each structure that gets a dose, or more", 2);
  return image;
}

}  // namespace iso::jobs
