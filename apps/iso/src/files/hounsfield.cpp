// SPDX-License-Identifier: BSD-3-Clause
#include <iso/files/hounsfield.hpp>

#include <algorithm>

namespace iso::files {

float attenuation_per_mm(float hounsfield) {
  auto const& table = attenuation_table;
  double const hu = std::max(double(hounsfield), table.front().hounsfield);
  std::size_t piece = 0;
  while (piece + 2 < table.size() && hu > table[piece + 1].hounsfield) {
    ++piece;
  }
  auto const& low = table[piece];
  auto const& high = table[piece + 1];
  double const slope = (high.per_mm - low.per_mm) / (high.hounsfield - low.hounsfield);
  return float(low.per_mm + (hu - low.hounsfield) * slope);
}

void to_attenuation(std::vector<float>& values) {
  std::transform(values.begin(), values.end(), values.begin(), attenuation_per_mm);
}

}  // namespace iso::files
