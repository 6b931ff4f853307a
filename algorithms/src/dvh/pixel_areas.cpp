// SPDX-License-Identifier: BSD-3-Clause
#include "pixel_areas.hpp"

#include <iso/core/check.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace iso::dvh::detail {
namespace {

constexpr double max_pixels = 0x1p28;
/// Coordinates are rounded to so many parts of a pixel: sums of their differences are exact.
constexpr double parts = 0x1p32;

double rounded(double x) { return std::nearbyint(x * parts) / parts; }

/// Sums of trapezoids between edges and the far end of v. `u` is the index of rows.
class trapezoids {
 public:
  trapezoids(pixel_window const& window, pixel_window const& part)
      : first_row_(part.first[0] - window.first[0]),
        end_row_(first_row_ + part.extent[0]),
        columns_(part.extent[1]),
        area_(std::size_t(part.size())),
        cover_(std::size_t(part.size())) {}

  /// \param sign  1 where the edge counts as it runs
  void add(point2 a, point2 b, double sign) {
    a.x = rounded(a.x);
    b.x = rounded(b.x);
    if (a.x > b.x) {
      // Both directions are cut at the same points: what runs there and back cancels.
      std::swap(a, b);
      sign = -sign;
    }
    double const slope = (b.y - a.y) / (b.x - a.x);
    auto const at_row = [&](double row) { return point2{row, a.y + slope * (row - a.x)}; };
    auto const first = double(first_row_);
    for (point2 from = a.x < first ? at_row(first) : a; from.x < b.x;) {
      double const row = std::floor(from.x);
      if (row >= double(end_row_)) {
        break;
      }
      point2 const to = row + 1 < b.x ? at_row(row + 1) : b;
      add_in_row(std::int64_t(row) - first_row_, from, to, sign);
      from = to;
    }
  }
  [[nodiscard]] std::vector<double> shares() const {
    std::vector<double> all(area_.size());
    for (std::size_t row = 0; row < all.size(); row += std::size_t(columns_)) {
      double inside = 0;
      for (std::size_t n = row; n < row + std::size_t(columns_); ++n) {
        all[n] = inside + area_[n];
        inside += cover_[n];
      }
    }
    return all;
  }

 private:
  void add_in_row(std::int64_t row, point2 from, point2 const& to, double sign) {
    bool const rises = to.y >= from.y;
    double const inverse = to.y == from.y ? 0.0 : (to.x - from.x) / (to.y - from.y);
    point2 const start = from;
    while (from.x < to.x) {
      double const column =
          std::clamp(rises ? std::floor(from.y) : std::ceil(from.y) - 1, 0.0, double(columns_ - 1));
      double const border = rises ? column + 1 : column;
      point2 next = to;
      if (rises ? border < to.y : border > to.y) {
        next.x = std::clamp(rounded(start.x + (border - start.y) * inverse), from.x, to.x);
        next.y = border;
      }
      std::size_t const n = std::size_t(row * columns_ + std::int64_t(column));
      double const width = sign * (next.x - from.x);
      cover_[n] += width;
      area_[n] += width * (column + 1 - 0.5 * (from.y + next.y));
      if (next == from) {
        break;  // at the window's end
      }
      from = next;
    }
  }

  std::int64_t first_row_;  ///< of those that are wanted
  std::int64_t end_row_;
  std::int64_t columns_;
  std::vector<double> area_;   ///< beyond edges, in their pixels
  std::vector<double> cover_;  ///< of rows, by the edges in a pixel
};

}  // namespace

pixel_window window_of(std::vector<plane_region const*> const& regions, pixel_frame const& frame,
                       char const* function) {
  double const infinity = std::numeric_limits<double>::infinity();
  point2 low{infinity, infinity};
  point2 high{-infinity, -infinity};
  for (auto const* region : regions) {
    for (auto const& p : region->contours[0]) {
      auto const at = frame.to_pixels(p);
      low = {std::min(low.x, at.x), std::min(low.y, at.y)};
      high = {std::max(high.x, at.x), std::max(high.y, at.y)};
    }
  }
  // A pixel to spare takes what is rounded across a border.
  double const u = std::floor(low.x) - 1;
  double const v = std::floor(low.y) - 1;
  double const rows = std::floor(high.x) + 2 - u;
  double const columns = std::floor(high.y) + 2 - v;
  ISO_VALIDATE(std::fabs(u) < 0x1p52 && std::fabs(v) < 0x1p52 && rows * columns <= max_pixels,
               "{}: contours reach over {} x {} pixels in a plane (at most 2^28 pixels); use "
               "larger voxels, and check that contours and grid are both in mm",
               function, rows, columns);
  return {{std::int64_t(u), std::int64_t(v)}, {std::int64_t(rows), std::int64_t(columns)}};
}

std::vector<double> pixel_areas(std::vector<plane_region const*> const& regions,
                                pixel_frame const& frame, pixel_window const& window,
                                pixel_window const& part) {
  trapezoids sum(window, part);
  auto const local = [&](point2 const& p) {
    auto const at = frame.to_pixels(p);
    return point2{at.x - double(window.first[0]), at.y - double(window.first[1])};
  };
  for (auto const* region : regions) {
    for (std::size_t c = 0; c < region->contours.size(); ++c) {
      auto const& contour = region->contours[c];
      double const sign = (signed_area(contour) > 0) == (c == 0) ? 1.0 : -1.0;
      for (std::size_t n = 0; n < contour.size(); ++n) {
        sum.add(local(contour[n]), local(next_of(contour, n)), sign);
      }
    }
  }
  return sum.shares();
}

corner_distances::corner_distances(std::vector<plane_region const*> const& regions,
                                   pixel_frame const& frame, pixel_window const& window)
    : frame_(frame),
      corners_{{window.first[0], window.first[1]}, {window.extent[0] + 1, window.extent[1] + 1}},
      known_(std::size_t(corners_.size()), std::numeric_limits<double>::quiet_NaN()) {
  for (auto const* region : regions) {
    for (auto const& contour : region->contours) {
      contours_.emplace_back(contour);
    }
  }
}

double corner_distances::at(std::int64_t i, std::int64_t j) {
  double& known = known_[corners_.index(i, j)];
  if (std::isnan(known)) {
    point2 const p = frame_.to_mm(double(i), double(j));
    double least = std::numeric_limits<double>::infinity();
    bool inside = false;
    for (auto& contour : contours_) {
      least = contour.distance_to(p, least);
      inside = inside != (contour.place_of(p) == place::inside);
    }
    known = inside ? -least : least;
  }
  return known;
}

double corner_distances::depth() {
  double most = 0;
  for (std::int64_t i = 0; i < corners_.extent[0]; ++i) {
    for (std::int64_t j = 0; j < corners_.extent[1]; ++j) {
      most = std::max(most, -at(corners_.first[0] + i, corners_.first[1] + j));
    }
  }
  return most;
}

}  // namespace iso::dvh::detail
