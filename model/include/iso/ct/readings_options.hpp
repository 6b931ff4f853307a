// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/readings_options.hpp
//! Holds what may be chosen on the way from a detector's readings to line integrals.
#pragma once

#include <iso/model/describe.hpp>

#include <cstdint>

namespace iso::ct {

struct line_integral_options {
  /// The least transmission; lower ones count as this. A pixel that no photon reached says only
  /// that the line integral is large.
  double min_transmission = 0x1p-14;
};

struct dead_pixel_options {
  std::int64_t radius = 2;  ///< of the square that a pixel is compared with, 1 to 8 pixels
  double tolerance = 0.5;   ///< of its median, in (0, 1)
};

struct centre_options {
  double guess = 0;  ///< pixels
  double reach = 0;  ///< pixels either side of the guess; 0: a quarter of the detector
};

constexpr void describe(auto&& visit, describes<line_integral_options> auto& x) {
  visit(x.min_transmission,
        field{.name = "min-transmission", .says = "lower ones count as this", .low = 0, .high = 1});
}

constexpr void describe(auto&& visit, describes<dead_pixel_options> auto& x) {
  visit(x.radius, field{.name = "radius",
                        .says = "of the square that a pixel is compared with, pixels",
                        .low = 1,
                        .high = 8});
  visit(x.tolerance,
        field{.name = "tolerance", .says = "of the square's median", .low = 0, .high = 1});
}

constexpr void describe(auto&& visit, describes<centre_options> auto& x) {
  visit(x.guess, field{.name = "guess", .says = "of the axis' place along u, pixels"});
  visit(x.reach, field{.name = "reach",
                       .says = "either side of the guess, pixels (default: a quarter of the "
                               "detector)",
                       .low = 0,
                       .zero_is_none = true});
}

}  // namespace iso::ct
