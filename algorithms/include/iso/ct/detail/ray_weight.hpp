// SPDX-License-Identifier: BSD-3-Clause
//! Gives weights of FDK that depend on how a detector stands.
#pragma once

#include <iso/ct/geometry.hpp>
#include <iso/ct/view_projection.hpp>

#include <Kokkos_Core.hpp>

namespace iso::ct::detail {

/// Returns a horizontal vector, across the rows of u.
KOKKOS_INLINE_FUNCTION vec3<double> across_rows(view_vectors const& w) {
  return {-w.u_step.y, w.u_step.x, 0};
}

/// Returns a ratio of lengths, 1 where only its rounding differs from that: a detector that stands
/// upright across the central ray has the plain weights whatever the angle of its view.
KOKKOS_INLINE_FUNCTION double unless_rounding(double ratio) {
  return Kokkos::fabs(ratio - 1) <= 0x1p-46 ? 1.0 : ratio;
}

/// Returns by what the reading of a ray from the source counts before the ramp, without redundancy
/// weights. Of a ray r, the source s, its part h across the z axis, the detector's normal n and a =
/// across_rows, the cosine of the angle of r to n times
///     |n| |a| (r . h) / ((n . s) (r . a))
/// (docs/algorithms/reconstruction.md derives it): 1 where n runs along h and u across both.
KOKKOS_INLINE_FUNCTION double ray_weight(view_vectors const& w, vec3<double> ray) {
  vec3<double> const n = normal_of(w);
  vec3<double> const a = across_rows(w);
  vec3<double> const h{w.source.x, w.source.y, 0};
  double const nn = dot(n, n);
  double const cosine = Kokkos::fabs(dot(n, ray)) / Kokkos::sqrt(nn * dot(ray, ray));
  double const tilted = Kokkos::sqrt(nn * dot(a, a)) * Kokkos::fabs(dot(ray, h));
  return cosine * unless_rounding(tilted / Kokkos::fabs(dot(n, w.source) * dot(ray, a)));
}

/// Returns by what 1 / |gradient|, the distance of neighbouring columns of pixels as parallel rays
/// see them, differs from the distance of the rays through neighbouring pixels of a row: their
/// ratio, times the row's part in the plane of rotation. `gradient`: of the column's number, at
/// right angles to the rays. 1 where columns are seen at right angles to the rows.
KOKKOS_INLINE_FUNCTION double column_spread(view_vectors const& w, vec3<double> gradient) {
  vec3<double> const a = across_rows(w);
  vec3<double> const h{w.source.x, w.source.y, 0};
  double const level = Kokkos::sqrt(dot(a, a) * dot(h, h) / dot(w.u_step, w.u_step));
  return unless_rounding(level / (norm(gradient) * Kokkos::fabs(dot(a, h))));
}

}  // namespace iso::ct::detail
