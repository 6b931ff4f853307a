// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/error.hpp>
#include <iso/files/hounsfield.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace iso::files {
namespace {

/// 1/mm for a Hounsfield unit, below water and above.
double slope_below(attenuation_table const& t) { return t.water / 1000; }
double slope_above(attenuation_table const& t) {
  return t.bone == 0 ? slope_below(t) : (t.bone - t.water) / bone_hounsfield;
}

}  // namespace

void validate(attenuation_table const& t) {
  if (!(std::isfinite(t.water) && t.water > 0)) {
    throw invalid_argument(fmt::format(
        "attenuation of water {} /mm (must be positive and finite); give that at the scan's energy",
        t.water));
  }
  if (!(t.bone == 0 || (std::isfinite(t.bone) && t.bone > t.water))) {
    throw invalid_argument(fmt::format(
        "attenuation of bone {} /mm (must be above that of water, {} /mm); give both at one energy",
        t.bone, t.water));
  }
}

float attenuation_per_mm(float hounsfield, attenuation_table const& t) {
  double const hu = std::max(double(hounsfield), -1000.0);
  return float(t.water + hu * (hu < 0 ? slope_below(t) : slope_above(t)));
}

float hounsfield_units(double per_mm, attenuation_table const& t) {
  double const above = per_mm - t.water;
  return float(above / (above < 0 ? slope_below(t) : slope_above(t)));
}

void to_attenuation(std::vector<float>& values, attenuation_table const& table) {
  validate(table);
  std::transform(values.begin(), values.end(), values.begin(),
                 [&](float hu) { return attenuation_per_mm(hu, table); });
}

}  // namespace iso::files
