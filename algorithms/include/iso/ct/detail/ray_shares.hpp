// SPDX-License-Identifier: BSD-3-Clause
//! Computes redundancy weights of rays that a scan measures twice: half-fan and Parker weights.
#pragma once

#include <iso/ct/geometry.hpp>
#include <iso/detail/angles.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

using iso::detail::angle_of;
using iso::detail::pi;
using iso::detail::sine_of;

KOKKOS_INLINE_FUNCTION double horizontal(vec3<double> a) {
  return Kokkos::sqrt(a.x * a.x + a.y * a.y);
}

/// Returns the signed distance of the ray through (u, v), as seen along the z axis, from that axis.
/// The opposite ray's is its negative.
KOKKOS_INLINE_FUNCTION double distance_from_axis(beam kind, view_vectors const& w, double u,
                                                 double v) {
  vec3<double> const pixel = w.detector_origin + u * w.u_step + v * w.v_step;
  vec3<double> const along = kind == beam::cone ? pixel - w.source : w.source;
  return (pixel.x * along.y - pixel.y * along.x) / horizontal(along);
}

/// Returns the angle of the ray through (u, v) to the one through the z axis, from x to y.
KOKKOS_INLINE_FUNCTION double fan_angle(beam kind, view_vectors const& w, double u, double v) {
  if (kind == beam::parallel) {
    return 0;
  }
  double const s = -distance_from_axis(kind, w, u, v) / horizontal(w.source);
  double const angle = angle_of(Kokkos::sqrt(Kokkos::fmax(0.0, 1 - s * s)), s);
  return angle > pi ? angle - 2 * pi : angle;
}

/// Returns a weight from 0 at x = -1 to 2 at x = 1, x and -x adding up to 2.
KOKKOS_INLINE_FUNCTION double half_fan(double x) {
  return x <= -1 ? 0 : x >= 1 ? 2 : 1 + sine_of(0.5 * pi * x);
}

/// Returns twice the squared sine of a part of a right angle: 0 at 0, 2 at 1.
KOKKOS_INLINE_FUNCTION double rise(double part) {
  double const s = sine_of(0.5 * pi * part);
  return 2 * s * s;
}

/// Returns twice Parker's weight of the ray at the fan's angle gamma, beta after the arc's
/// beginning; the arc is pi + 2 spare. The ray that runs the other way is (beta + pi + 2 gamma,
/// -gamma).
KOKKOS_INLINE_FUNCTION double parker(double beta, double gamma, double spare) {
  if (beta < 2 * (spare - gamma)) {
    return rise(beta / (2 * (spare - gamma)));
  }
  if (beta > pi - 2 * gamma) {
    return rise((pi + 2 * spare - beta) / (2 * (spare + gamma)));
  }
  return 2;
}

/// The redundancy weights of rays that are measured from either side, where columns of pixels have
/// none. As scan_weights has them; null where it has none.
struct ray_shares {
  double const* overlaps = nullptr;
  double const* begins = nullptr;
  double spare = 0;

  /// Takes as `row` the number of v among the overlaps.
  [[nodiscard]] KOKKOS_FUNCTION double at(beam kind, view_vectors const& w, std::int64_t view,
                                          double u, double v, std::int64_t row) const {
    if (overlaps != nullptr) {
      return half_fan(distance_from_axis(kind, w, u, v) / overlaps[row]);
    }
    return begins == nullptr ? 1.0 : parker(begins[view], fan_angle(kind, w, u, v), spare);
  }
};

}  // namespace iso::ct::detail
