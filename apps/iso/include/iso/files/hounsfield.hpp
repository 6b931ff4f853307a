// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/hounsfield.hpp
#pragma once

#include <array>
#include <vector>

namespace iso::files {

/// One corner of the piecewise-linear table from CT number to linear attenuation.
struct attenuation_point {
  double hounsfield;
  double per_mm;  ///< at 100 keV
};

/// Air, water and cortical bone at 100 keV: mass attenuation 0.1707 (water) and 0.1855 cm2/g
/// (ICRU-44 cortical bone) of NIST SRD 126 (Hubbell and Seltzer), densities 1 and 1.92 g/cm3. A
/// scanner with an effective energy of 70 keV shows that bone at 1590 HU. docs/formats.md has the
/// derivation.
inline constexpr std::array<attenuation_point, 3> attenuation_table = {
    {{-1000, 0}, {0, 0.01707}, {1590, 0.035616}}};

/// Linear attenuation at 100 keV, 1/mm, of a CT number: linear between the table's corners, 0 below
/// the first, the last slope carried on beyond the last. Never falls with rising CT number.
float attenuation_per_mm(float hounsfield);

/// The same, for every value in place.
void to_attenuation(std::vector<float>& values);

}  // namespace iso::files
