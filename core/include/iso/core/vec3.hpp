// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/vec3.hpp
#pragma once

#include <iso/core/arithmetic.hpp>

namespace iso {

/// A point or a direction. Sums of products are written with fma, x first, so that every backend
/// rounds alike.
template <class T>
struct vec3 {
  T x{};
  T y{};
  T z{};

  ISO_FUNCTION constexpr T& operator[](int axis) { return axis == 0 ? x : axis == 1 ? y : z; }
  ISO_FUNCTION constexpr T operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
  template <class U>
  ISO_FUNCTION constexpr explicit operator vec3<U>() const {
    return {U(x), U(y), U(z)};
  }

  friend ISO_FUNCTION constexpr vec3 operator+(vec3 a, vec3 b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  friend ISO_FUNCTION constexpr vec3 operator-(vec3 a, vec3 b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend ISO_FUNCTION constexpr vec3 operator*(T s, vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
  friend constexpr bool operator==(vec3 const&, vec3 const&) = default;
};

/// Returns the dot product, x first, by two fmas. Determinism: backend_to_backend.
template <class T>
ISO_FUNCTION T dot(vec3<T> a, vec3<T> b) {
  return math::fma(a.z, b.z, math::fma(a.y, b.y, a.x * b.x));
}

/// Returns the cross product, an fma a component. Determinism: backend_to_backend.
template <class T>
ISO_FUNCTION vec3<T> cross(vec3<T> a, vec3<T> b) {
  return {math::fma(a.y, b.z, -(a.z * b.y)), math::fma(a.z, b.x, -(a.x * b.z)),
          math::fma(a.x, b.y, -(a.y * b.x))};
}

/// Returns the square root of dot(a, a). Determinism: backend_to_backend.
template <class T>
ISO_FUNCTION T norm(vec3<T> a) {
  return math::sqrt(dot(a, a));
}

/// Returns whether no component is NaN or infinite, without branches.
/// Determinism: backend_to_backend.
template <class T>
ISO_FORCEINLINE_FUNCTION bool is_finite(vec3<T> a) {
  return (a.x - a.x == 0) & (a.y - a.y == 0) & (a.z - a.z == 0);
}

}  // namespace iso
