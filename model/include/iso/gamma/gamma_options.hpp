// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/gamma/gamma_options.hpp
//! Holds what a comparison by the gamma index may choose, and what it reports.
#pragma once

#include <iso/model/describe.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace iso::gamma {

/// The evaluated dose between the middles of its voxels.
enum class interpolation {
  trilinear,    ///< linear along each axis
  tetrahedra,   ///< linear on six tetrahedra a cell, which share its diagonal (0,0,0)-(1,1,1)
  grid_points,  ///< nothing: only the middles of voxels are compared
};

/// The dose of which the criteria's dose differences are fractions.
enum class normalisation {
  global,  ///< the largest reference dose
  local,   ///< the reference dose at the point
  given,   ///< gamma_options::given_dose
};

/// A pair of criteria, such as 3 %/3 mm.
struct criterion {
  double dose_difference;  ///< fraction of the dose that `normalisation` names: 0.03 for 3 %
  double distance;         ///< distance to agreement, mm
};

struct gamma_options {
  interpolation between = interpolation::trilinear;
  normalisation normalise = normalisation::global;
  double given_dose = 0;  ///< of normalisation::given, unit of the doses
  /// The fraction of the largest reference dose (normalisation::given: of the given dose) below
  /// which reference doses are not compared. That dose is rounded to T, as the doses are.
  double cut_off = 0.1;
  /// The largest gamma: no gamma is larger, but for rounding to T, and the search ends at max_gamma
  /// x distance. It must be above 1, so that a point at the maximum fails.
  double max_gamma = 2;
};

/// The outcome at a reference point.
enum class point_status : std::uint8_t {
  compared = 0,
  below_cut_off = 1,
  outside = 2,  ///< compared, but it lies outside the box of the evaluated voxels' middles
};

/// The rule by which points pass. Doses are compared as they are rounded: 1 and 1.01 differ by more
/// than 1 % in double, and gamma is 1.0000000000000009.
enum class pass_rule {
  at_most_one,  ///< gamma <= 1
  below_one,    ///< gamma < 1, as in pymedphys
};

struct summary_options {
  pass_rule passes = pass_rule::at_most_one;
  std::int32_t bins = 100;  ///< of the histogram, from 0 to the maximum gamma
};

/// A summary of the gamma of one criterion.
struct gamma_summary {
  std::int64_t below_cut_off = 0;   ///< points that were not compared
  std::int64_t compared = 0;        ///< all others, those outside included
  std::int64_t passed = 0;          ///< of those compared
  std::int64_t outside = 0;         ///< of those compared, outside the evaluated box
  std::int64_t outside_passed = 0;  ///< of those outside
  double pass_rate = 0;             ///< passed over compared; NaN where none is compared
  double largest = 0;               ///< 0 where none is compared
  double mean = 0;                  ///< NaN where none is compared
  double bin_width = 0;
  /// The number of compared points in each bin: bin n has those of gamma >= n bin widths and < (n +
  /// 1) bin widths; the last bin has those at the maximum too.
  std::vector<std::int64_t> histogram;
};

/// Reads a pair of criteria, written as 3%/3mm.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  another text
criterion criterion_named(std::string_view text);

/// Writes a pair of criteria as 3%/3mm, six digits of each.
/// Determinism: backend_to_backend; made on the host.
std::string to_string(criterion const& c);

constexpr auto words(interpolation) {
  return std::array{word{interpolation::trilinear, "trilinear"},
                    word{interpolation::tetrahedra, "tetrahedra"},
                    word{interpolation::grid_points, "grid"}};
}
constexpr auto words(normalisation) {
  return std::array{word{normalisation::global, "global"}, word{normalisation::local, "local"},
                    word{normalisation::given, "given"}};
}
constexpr auto words(point_status) {
  return std::array{word{point_status::compared, "compared"},
                    word{point_status::below_cut_off, "below_cut_off"},
                    word{point_status::outside, "outside"}};
}
constexpr auto words(pass_rule) {
  return std::array{word{pass_rule::at_most_one, "gamma <= 1"},
                    word{pass_rule::below_one, "gamma < 1"}};
}

constexpr void describe(auto&& visit, describes<criterion> auto& x) {
  visit(x.dose_difference, field{.name = "dose-difference",
                                 .says = "of the dose that the normalisation names",
                                 .unit = units::percent,
                                 .low = 0,
                                 .key = "dose_difference"});
  visit(x.distance, field{.name = "distance", .says = "to agreement", .unit = units::mm, .low = 0});
}

constexpr void describe(auto&& visit, describes<gamma_options> auto& x) {
  visit(x.between,
        field{.name = "interpolation",
              .says = "of the evaluated dose; tetrahedra: linear on six a cell; grid: none"});
  visit(x.normalise, field{.name = "normalisation",
                           .says = "what the dose differences are per cent of: global (the largest "
                                   "reference dose), local (the reference dose at the point), or a "
                                   "dose in the volumes' unit"});
  visit(x.given_dose, field{.name = "given-dose",
                            .says = "of the normalisation, unit of the doses",
                            .low = 0,
                            .zero_is_none = true});
  visit(x.cut_off, field{.name = "cut-off",
                         .says = "points below this part of the largest reference dose, or of the "
                                 "dose that `normalisation` gives, are not compared",
                         .unit = units::percent,
                         .low = 0,
                         .key = "cut_off"});
  visit(x.max_gamma, field{.name = "max-gamma",
                           .says = "no larger gamma is looked for; above 1",
                           .low = 1,
                           .high = 1e6});
}

constexpr void describe(auto&& visit, describes<summary_options> auto& x) {
  visit(x.passes,
        field{.name = "passes", .says = "a gamma of exactly 1 does not pass", .flag = "strict"});
  visit(x.bins, field{.name = "bins",
                      .says = "of the histograms, from 0 to the maximum gamma",
                      .low = 1,
                      .high = 1 << 20});
}

constexpr void describe(auto&& visit, describes<gamma_summary> auto& x) {
  visit(x.below_cut_off, field{.name = "below-cut-off", .says = "points that were not compared"});
  visit(x.compared, field{.name = "compared", .says = "all others, those outside included"});
  visit(x.passed, field{.name = "passed", .says = "of those compared"});
  visit(x.outside,
        field{.name = "outside", .says = "of those compared, outside the evaluated box"});
  visit(x.outside_passed, field{.name = "outside-passed", .says = "of those outside"});
  visit(x.pass_rate, field{.name = "pass-rate", .says = "passed over compared"});
  visit(x.largest, field{.name = "maximum", .says = "0 where none is compared"});
  visit(x.mean, field{.name = "mean", .says = "null where none is compared"});
  visit(x.bin_width, field{.name = "bin-width", .says = "of the histogram"});
  visit(x.histogram, field{.name = "histogram", .says = "compared points in each bin"});
}

}  // namespace iso::gamma
