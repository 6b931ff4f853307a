// SPDX-License-Identifier: BSD-3-Clause
//! Holds the area of a region within each pixel, and its signed distances at their corners.
#pragma once

#include "planes.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace iso::dvh::detail {

/// A map of mm to pixels: pixel (i, j) is [i, i + 1] x [j, j + 1].
struct pixel_frame {
  double corner_x = 0;  ///< mm, of pixel (0, 0)
  double corner_y = 0;
  double spacing_x = 1;
  double spacing_y = 1;

  [[nodiscard]] point2 to_pixels(point2 const& p) const {
    return {(p.x - corner_x) / spacing_x, (p.y - corner_y) / spacing_y};
  }
  [[nodiscard]] point2 to_mm(double u, double v) const {
    return {corner_x + spacing_x * u, corner_y + spacing_y * v};
  }
};

/// A rectangle of pixels, y fastest.
struct pixel_window {
  std::int64_t first[2] = {0, 0};
  std::int64_t extent[2] = {0, 0};

  [[nodiscard]] std::int64_t size() const { return extent[0] * extent[1]; }
  /// Returns the place of pixel (i, j), which is inside.
  [[nodiscard]] std::size_t index(std::int64_t i, std::int64_t j) const {
    return std::size_t((i - first[0]) * extent[1] + (j - first[1]));
  }
  /// Returns the rows of it that are at least `from` and less than `to`; there may be none.
  [[nodiscard]] pixel_window rows(std::int64_t from, std::int64_t to) const {
    std::int64_t const low = std::max(from, first[0]);
    std::int64_t const high = std::min(to, first[0] + extent[0]);
    return {{low, first[1]}, {std::max<std::int64_t>(high - low, 0), extent[1]}};
  }
};

/// Returns the pixels that regions reach.
/// \throws iso::invalid_argument  naming `function`: more than 2^28
pixel_window window_of(std::vector<plane_region const*> const& regions, pixel_frame const& frame,
                       char const* function);

/// Returns the share of each pixel of `part` in the regions, by signed trapezoids. Pixels wholly
/// inside have 1 and those outside 0, exactly. Shares do not depend on what the part is.
/// \param window  as window_of, or larger
/// \param part    rows of it
std::vector<double> pixel_areas(std::vector<plane_region const*> const& regions,
                                pixel_frame const& frame, pixel_window const& window,
                                pixel_window const& part);

/// Signed distances (mm, negative inside) from the boundary of regions at corners of pixels,
/// each once.
class corner_distances {
 public:
  corner_distances(std::vector<plane_region const*> const& regions, pixel_frame const& frame,
                   pixel_window const& window);

  /// Returns that of the lower corner of pixel (i, j).
  double at(std::int64_t i, std::int64_t j);
  /// Returns the largest distance inside at pixels' corners.
  double depth();

 private:
  std::vector<polygon_index> contours_;
  pixel_frame frame_;
  pixel_window corners_;
  std::vector<double> known_;
};

}  // namespace iso::dvh::detail
