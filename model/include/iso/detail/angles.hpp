// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/detail/angles.hpp
//! Computes sines, cosines and their inverses from iso::math, which has no inverse: the C library's
//! differ from machine to machine.
#pragma once

#include <iso/core/math.hpp>

namespace iso::detail {

inline constexpr double pi = 0x1.921fb54442d18p+1;

ISO_FUNCTION inline double sine_of(double angle) {
  double s;
  double c;
  math::sincos(angle, s, c);
  return s;
}
ISO_FUNCTION inline double cosine_of(double angle) {
  double s;
  double c;
  math::sincos(angle, s, c);
  return c;
}

/// Returns the angle of (x, y), in [0, 2 pi), by Newton's method.
ISO_FUNCTION inline double angle_of(double x, double y) {
  double const length = math::sqrt(x * x + y * y);
  double const c = x / length;
  double const s = y / length;
  double angle = s >= 0 ? (1 - c) * (pi / 2) : (3 + c) * (pi / 2);
  for (int step = 0; step < 6; ++step) {
    double sine;
    double cosine;
    math::sincos(angle, sine, cosine);
    double const off = s * cosine - c * sine;  // sin of what is missing
    angle += off + off * off * off / 6;
  }
  return angle < 0 ? angle + 2 * pi : angle >= 2 * pi ? angle - 2 * pi : angle;
}

/// Returns the angle in [0, pi] with this cosine, by bisection.
inline double angle_of_cosine(double cosine) {
  double low = 0;
  double high = pi;
  for (int i = 0; i < 54; ++i) {
    double const middle = 0.5 * (low + high);
    (cosine_of(middle) > cosine ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace iso::detail
