// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/core/math.hpp>
#include <iso/ct/geometry.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

inline constexpr double pi = 0x1.921fb54442d18p+1;

/// The angle of (x, y), in [0, 2 pi), by Newton's method on iso::math's sine: the same on every
/// machine.
KOKKOS_INLINE_FUNCTION double angle_of(double x, double y) {
  double const length = Kokkos::sqrt(x * x + y * y);
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

KOKKOS_INLINE_FUNCTION double horizontal(vec3<double> a) {
  return Kokkos::sqrt(a.x * a.x + a.y * a.y);
}

/// Signed distance of the ray through (u, v), as seen along the z axis, from that axis. The
/// opposite ray's is its negative.
KOKKOS_INLINE_FUNCTION double distance_from_axis(beam kind, view_vectors const& w, double u,
                                                 double v) {
  vec3<double> const pixel = w.detector_origin + u * w.u_step + v * w.v_step;
  vec3<double> const along = kind == beam::cone ? pixel - w.source : w.source;
  return (pixel.x * along.y - pixel.y * along.x) / horizontal(along);
}

/// The angle of the ray through (u, v) to the one through the z axis, from x to y.
KOKKOS_INLINE_FUNCTION double fan_angle(beam kind, view_vectors const& w, double u, double v) {
  if (kind == beam::parallel) {
    return 0;
  }
  double const s = -distance_from_axis(kind, w, u, v) / horizontal(w.source);
  double const angle = angle_of(Kokkos::sqrt(Kokkos::fmax(0.0, 1 - s * s)), s);
  return angle > pi ? angle - 2 * pi : angle;
}

KOKKOS_INLINE_FUNCTION double sine_of(double angle) {
  double s;
  double c;
  math::sincos(angle, s, c);
  return s;
}

/// From 0 at x = -1 to 2 at x = 1, x and -x adding up to 2.
KOKKOS_INLINE_FUNCTION double half_fan(double x) {
  return x <= -1 ? 0 : x >= 1 ? 2 : 1 + sine_of(0.5 * pi * x);
}

/// Twice the squared sine of a part of a right angle: 0 at 0, 2 at 1.
KOKKOS_INLINE_FUNCTION double rise(double part) {
  double const s = sine_of(0.5 * pi * part);
  return 2 * s * s;
}

/// Twice Parker's weight of the ray at the angle gamma of the fan, beta after the arc's beginning;
/// the arc is pi + 2 spare. The ray that runs the other way is (beta + pi + 2 gamma, -gamma).
KOKKOS_INLINE_FUNCTION double parker(double beta, double gamma, double spare) {
  if (beta < 2 * (spare - gamma)) {
    return rise(beta / (2 * (spare - gamma)));
  }
  if (beta > pi - 2 * gamma) {
    return rise((pi + 2 * spare - beta) / (2 * (spare + gamma)));
  }
  return 2;
}

/// By how much rays count of those that are measured from either side, where columns of pixels say
/// nothing about it. As scan_weights has them; null where it has none.
struct ray_shares {
  double const* overlaps = nullptr;
  double const* begins = nullptr;
  double spare = 0;

  /// `row`: the number of v among the overlaps.
  [[nodiscard]] KOKKOS_FUNCTION double at(beam kind, view_vectors const& w, std::int64_t view,
                                          double u, double v, std::int64_t row) const {
    if (overlaps != nullptr) {
      return half_fan(distance_from_axis(kind, w, u, v) / overlaps[row]);
    }
    return begins == nullptr ? 1.0 : parker(begins[view], fan_angle(kind, w, u, v), spare);
  }
};

}  // namespace iso::ct::detail
