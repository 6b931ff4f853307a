// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ray/ray.hpp
#pragma once

#include <iso/core/concepts.hpp>
#include <iso/core/vec3.hpp>

#include <Kokkos_Core.hpp>

namespace iso::ray {

/// A ray: the points origin + t direction, t in [t_min, t_max], in world coordinates (mm). The
/// direction may have any length; with t_min = -infinity the ray is a whole line.
///
/// A ray with a NaN anywhere, an infinite origin or direction, a direction of zero, or t_min >=
/// t_max is empty: it visits no voxel.
template <real T>
struct ray {
  vec3<T> origin;
  vec3<T> direction;
  T t_min = T(0);
  T t_max = Kokkos::Experimental::infinity_v<T>;

  /// Returns the segment from `a` to `b`.
  [[nodiscard]] static KOKKOS_FUNCTION ray between(vec3<T> a, vec3<T> b) {
    return {a, b - a, T(0), T(1)};
  }
};

}  // namespace iso::ray
