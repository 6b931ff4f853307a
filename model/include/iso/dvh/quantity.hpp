// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dvh/quantity.hpp
//! Holds what is read off a dose-volume histogram.
#pragma once

#include <iso/model/describe.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace iso::dvh {

inline constexpr double mm3_per_cm3 = units::cm3.to_library(1);

/// The points whose smallest and largest dose are reported.
enum class extremes {
  surface,        ///< of voxels wholly inside, and region::surface
  whole_voxels,   ///< of voxels wholly inside
  touched_voxels  ///< of what planes leave of all voxels that have a share
};

/// The dose of a structure in a few numbers.
struct dose_statistics {
  double volume = 0;  ///< mm3, where there is a dose
  /// The volume, mm3, of voxels whose middle lies outside of the dose's voxels. A middle on their
  /// faces, to 1e-9 voxels of the dose, is inside.
  double outside = 0;
  double mean = 0;  ///< NaN where there is no volume, as the next two
  double minimum = 0;
  double maximum = 0;
};

/// A figure that is read off a dose-volume histogram, such as D95% or V20Gy.
struct quantity {
  enum class kind {
    dose_at_percent,   ///< D95: dose that `value` per cent of the volume get
    dose_at_volume,    ///< D0.1cc: dose that `value` cm3 get
    volume_at_dose,    ///< V20Gy: per cent of the volume that get `value`
    absolute_at_dose,  ///< V20Gy_cc: cm3 that get `value`
    mean,
    minimum,
    maximum,
    volume,       ///< cm3
    homogeneity,  ///< (D2 - D98) / D50, ICRU report 83
    conformity,   ///< CI60Gy: of `value`, iso::dvh::conformity
    outside       ///< cm3 where there is no dose
  };
  kind what = kind::mean;
  double value = 0;  ///< per cent, cm3 or Gy

  friend bool operator==(quantity const&, quantity const&) = default;
};

/// Reads a quantity, in any case: D95 or D95%, D0.1cc, V20Gy, V20Gy_cc, CI60Gy, mean, min, max (or
/// Dmean, minimum and their like), volume, homogeneity or HI, outside; and of the prescription (Gy)
/// CI and V95%.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  another name; a per cent not above 0 and at most 100; a volume
///                                not above 0; a dose below 0, of conformity not
///                                above 0; one of the prescription where that is 0, not known
quantity quantity_named(std::string_view name, double prescription = 0);

/// Returns the unit of a quantity: "Gy", "%", "cm3" or "1".
/// Determinism: backend_to_backend; made on the host.
std::string_view unit_of(quantity const& q);

/// The part of the largest dose where curves end, at no volume, unless told otherwise.
inline constexpr double beyond_largest_dose = 1.02;

struct histogram_options {
  std::int64_t bins = 1000;  ///< 1 to 2^20 - 1
  /// The dose where the last bin ends; the first begins at 0. 0: 1.02 times the largest finite dose
  /// at the voxels' middles of all doses, so that histograms have the same bins.
  double end = 0;
};

/// The histogram of one structure in one dose. Bins are for writing only: cumulative[n] is exact at
/// its dose, and differential[n] the exact volume between two of them.
struct histogram {
  double bin_width = 0;
  double volume = 0;                 ///< mm3, where there is a dose
  double outside = 0;                ///< mm3 where there is none
  std::vector<double> cumulative;    ///< bins + 1: mm3 that get n bin widths or more
  std::vector<double> differential;  ///< bins: mm3 that get from n to n + 1 bin widths
};

constexpr auto words(extremes) {
  return std::array{word{extremes::surface, "include"}, word{extremes::whole_voxels, "exclude"},
                    word{extremes::touched_voxels, "touched"}};
}

constexpr void describe(auto&& visit, describes<histogram_options> auto& x) {
  visit(x.bins, field{.name = "bins",
                      .says = "of the curves, from 0 to 1.02 times the largest dose",
                      .low = 1,
                      .high = (1 << 20) - 1});
  visit(
      x.end,
      hidden_field{
          {.name = "end", .says = "dose where the last bin ends", .low = 0, .zero_is_none = true}});
}

}  // namespace iso::dvh
