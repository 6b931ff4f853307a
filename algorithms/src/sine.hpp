// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/core/math.hpp>

namespace iso::detail {

inline double sine_of(double angle) {
  double s;
  double c;
  math::sincos(angle, s, c);
  return s;
}
inline double cosine_of(double angle) {
  double s;
  double c;
  math::sincos(angle, s, c);
  return c;
}

}  // namespace iso::detail
