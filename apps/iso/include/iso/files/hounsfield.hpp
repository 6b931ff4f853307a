// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/hounsfield.hpp
//! Converts CT numbers and linear attenuation, both ways by one table: docs/formats.md.
#pragma once

#include <vector>

namespace iso::files {

/// Describes water and ICRU-44 cortical bone of 1.92 g/cm3 at 100 keV, 1/mm: mass attenuation
/// 0.1707 and 0.1855 cm2/g (NIST SRD 126, Hubbell and Seltzer).
inline constexpr double water_at_100_kev = 0.01707;
inline constexpr double bone_at_100_kev = 0.035616;

/// Is the CT number of that bone in a scanner with an effective energy of 70 keV.
inline constexpr double bone_hounsfield = 1590;

/// Three points with lines through them: (-1000 HU, 0), (0 HU, water) and (1590 HU, bone).
/// The last line goes on.
struct attenuation_table {
  double water = water_at_100_kev;  ///< 1/mm
  double bone = 0;  ///< 1/mm; 0: 2.59 water, the definition of the Hounsfield unit throughout
};

/// \throws iso::invalid_argument  unless 0 < water < bone (where that is not 0), all finite
void validate(attenuation_table const& table);

/// Returns the linear attenuation, 1/mm, of a CT number; 0 below -1000 HU. Never falls with rising
/// CT number.
float attenuation_per_mm(float hounsfield, attenuation_table const& table);
/// Is its inverse. Attenuation below 0, as noise makes it, goes on below -1000 HU.
float hounsfield_units(double per_mm, attenuation_table const& table);

/// Applies the first to every value in place.
/// \throws iso::invalid_argument  as validate
void to_attenuation(std::vector<float>& values, attenuation_table const& table);

}  // namespace iso::files
