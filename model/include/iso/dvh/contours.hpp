// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dvh/contours.hpp
//! Holds the contours of organs and targets, and how their shape is taken.
#pragma once

#include <iso/core/vec3.hpp>
#include <iso/model/describe.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iso::dvh {

/// A closed polygon in an axial plane: z is the same at all points. The last point is joined to the
/// first, which may be given again at the end. It may run in either direction. One of fewer than 3
/// points, or of points on a line, bounds nothing and is left out.
struct contour {
  std::vector<vec3<double>> points;  ///< mm
};

/// The contours of one organ or target, in any order.
///
/// A hole is a contour inside another (islands in holes inside that, and so on: even-odd), or part
/// of one polygon that goes to the hole and back along one line (keyhole).
struct structure {
  std::string name;
  std::vector<contour> contours;
};

/// The shape between neighbouring planes.
enum class between_planes {
  /// The surface runs straight from a contour to the next: (1 - t) d_1 + t d_2 = 0, where d_1 and
  /// d_2 are the signed distances from the contours of both planes. Circles about one axis give the
  /// frustum of their cone.
  frusta,
  prisms,  ///< each plane's contours go half-way to the next
};

/// The end of the shape at a contour that is joined to no other on one side.
enum class end_cap {
  none,
  half_slice,  ///< the contour, half-way to where its next plane would be
  rounded,     ///< to the same height, shrunk as the radius of an ellipsoid
};

/// The treatment of parts that lie outside of the grid.
enum class off_grid {
  refuse,
  cut,  ///< left out and told in structure_report
};

struct structure_options {
  between_planes between = between_planes::frusta;
  end_cap caps = end_cap::half_slice;
  off_grid beyond = off_grid::refuse;
  /// The thickness, mm, of contours of a structure in which none are joined. It must be given for a
  /// structure of one plane.
  double slice_thickness = 0;
};

/// What was found in the contours.
struct structure_report {
  double volume = 0;   ///< mm3, inside the grid
  double outside = 0;  ///< mm3, outside of the grid
  std::int64_t planes = 0;
  std::int64_t contours = 0;
  std::int64_t left_out = 0;  ///< contours that bound nothing: fewer than 3 points, or a line
  /// Contours that cross themselves or another, and were split into loops that do not.
  std::int64_t crossing_contours = 0;
  std::int64_t crossing_planes = 0;  ///< that have such
  /// The share of the area of all planes that crossing contours go around more than once, or that
  /// two of them have inside: an even number of times is outside, as of contours in contours. At
  /// most 0.01.
  double disputed = 0;
  std::int64_t holes = 0;      ///< contours that bound a hole from outside
  std::int64_t parts = 0;      ///< that no contours join
  double min_spacing = 0;      ///< mm, between joined planes; 0 where none are
  double largest_spacing = 0;  ///< mm
  /// Pairs of joined planes (mm) that are farther apart than 1.5 times the median spacing of their
  /// part. The shape goes on between them.
  std::vector<std::pair<double, double>> missing_slices;
  /// Pairs of planes (mm) whose contours overlap but are not joined: they are farther apart than 4
  /// times that spacing, and end in caps.
  std::vector<std::pair<double, double>> separations;
};

/// Returns the structure of that name.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  none or two of that name
structure const& structure_named(std::vector<structure> const& all, std::string_view name);

constexpr auto words(between_planes) {
  return std::array{word{between_planes::frusta, "frusta"}, word{between_planes::prisms, "prisms"}};
}
constexpr auto words(end_cap) {
  return std::array{word{end_cap::none, "none"}, word{end_cap::half_slice, "half-slice"},
                    word{end_cap::rounded, "rounded"}};
}
constexpr auto words(off_grid) {
  return std::array{word{off_grid::refuse, "refuse"}, word{off_grid::cut, "cut"}};
}

constexpr void describe(auto&& visit, describes<structure_options> auto& x) {
  visit(x.between, field{.name = "between-planes",
                         .says = "contours go half-way to the next plane unchanged, in place of "
                                 "straight surfaces from each to the next",
                         .flag = "prisms"});
  visit(x.caps, field{.name = "caps", .says = "what lies beyond the first and the last contour"});
  visit(x.beyond,
        hidden_field{{.name = "beyond", .says = "what happens to parts outside of the grid"}});
  visit(x.slice_thickness,
        field{.name = "slice-thickness",
              .says = "mm, of structures that have contours in one plane alone, and of a dose of "
                      "one plane that does not say its own",
              .unit = units::mm,
              .low = 1e-6,
              .high = 1e6,
              .zero_is_none = true});
}

constexpr void describe(auto&& visit, describes<structure_report> auto& x) {
  visit(x.volume, field{.name = "volume", .says = "inside the grid", .unit = units::cm3});
  visit(x.outside, field{.name = "outside", .says = "outside of the grid", .unit = units::cm3});
  visit(x.planes, field{.name = "planes", .says = "that have contours"});
  visit(x.contours, field{.name = "contours", .says = "that bound something"});
  visit(x.left_out, field{.name = "left-out-contours", .says = "points and lines"});
  visit(x.crossing_contours,
        field{.name = "crossing-contours", .says = "those that cross themselves or another"});
  visit(x.crossing_planes, field{.name = "crossing-planes", .says = "that have such"});
  visit(x.disputed, field{.name = "disputed",
                          .says = "share of the area that crossing contours go around twice",
                          .unit = units::percent});
  visit(x.holes, field{.name = "holes", .says = "contours that bound a hole"});
  visit(x.parts, field{.name = "parts", .says = "that no contours join"});
  visit(x.min_spacing,
        field{.name = "min-spacing", .says = "between joined planes", .unit = units::mm});
  visit(x.largest_spacing,
        field{.name = "max-spacing", .says = "between joined planes", .unit = units::mm});
  visit(x.missing_slices, field{.name = "missing-slices", .says = "pairs of planes, mm"});
  visit(x.separations, field{.name = "separations", .says = "pairs of planes, mm"});
}

}  // namespace iso::dvh
