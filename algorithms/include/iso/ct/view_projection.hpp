// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/view_projection.hpp
//! Describes where a view sees a point; callable inside any kernel.
#pragma once

#include <iso/core/vec3.hpp>
#include <iso/ct/geometry.hpp>

#include <Kokkos_Core.hpp>

namespace iso::ct {

/// The linear function of . X + constant of a point X.
struct linear_function {
  vec3<double> of;
  double constant;

  [[nodiscard]] KOKKOS_FUNCTION double operator()(vec3<double> x) const {
    return constant + dot(of, x);
  }
};

/// The rows of a view's 3 x 4 projection matrix: the view sees the point X at pixel (u(X) /
/// depth(X), v(X) / depth(X)). A point beside or behind the source has a depth of zero or below.
struct view_projection {
  linear_function u;
  linear_function v;
  linear_function depth;
};

namespace detail {

/// Returns a vector across the detector, world coordinates (mm), of no certain length.
KOKKOS_INLINE_FUNCTION vec3<double> normal_of(view_vectors const& w) {
  return cross(w.u_step, w.v_step);
}

/// Returns projection_of with pixels counted from `first`, and the depth of a cone beam in units of
/// `reference`, a distance from the source as normal_of measures it.
KOKKOS_INLINE_FUNCTION view_projection projection_of(beam kind, view_vectors const& w, double first,
                                                     double reference) {
  vec3<double> const n = normal_of(w);
  double const nn = dot(n, n);
  // Dual to the steps: their products with u_step and v_step are 1 and 0, 0 and 1.
  vec3<double> const along_u = (1 / nn) * cross(w.v_step, n);
  vec3<double> const along_v = (1 / nn) * cross(n, w.u_step);
  if (kind == beam::cone) {
    // With X from the source s: u(X) / depth(X) = (o - s) . n ((X - s) . u*) / ((X - s) . n) less
    // the origin's own u.
    vec3<double> const to_origin = w.detector_origin - w.source;
    double const magnification = dot(n, to_origin) / reference;
    vec3<double> const depth = (1 / reference) * n;
    vec3<double> const u = magnification * along_u - (dot(along_u, to_origin) - first) * depth;
    vec3<double> const v = magnification * along_v - (dot(along_v, to_origin) - first) * depth;
    return {{u, -dot(u, w.source)}, {v, -dot(v, w.source)}, {depth, -dot(depth, w.source)}};
  }
  // Along the rays to the detector's plane.
  double const slope = 1 / dot(n, w.source);
  vec3<double> const u = along_u - (dot(along_u, w.source) * slope) * n;
  vec3<double> const v = along_v - (dot(along_v, w.source) * slope) * n;
  return {{u, first - dot(u, w.detector_origin)}, {v, first - dot(v, w.detector_origin)}, {{}, 1}};
}

}  // namespace detail

/// Returns where a view of a beam sees points. The depth is 0 at the source and 1 on the detector;
/// in a parallel beam it is 1 everywhere. Pixels may lie beyond the detector.
/// Determinism: backend_to_backend; products by fma.
KOKKOS_INLINE_FUNCTION view_projection projection_of(beam kind, view_vectors const& w) {
  return detail::projection_of(kind, w, 0, dot(detail::normal_of(w), w.detector_origin - w.source));
}

}  // namespace iso::ct
