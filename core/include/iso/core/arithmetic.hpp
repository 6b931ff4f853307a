// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/arithmetic.hpp
//! Provides what IEEE arithmetic and plain C++ lack on devices: written fma, square root and the
//! bits of a number.
#pragma once

#include <iso/core/macros.hpp>
#include <iso/core/real.hpp>

#include <cmath>
#include <type_traits>

namespace iso::math {

/// Returns a b + c, rounded once. Determinism: backend_to_backend.
template <real T>
ISO_FORCEINLINE_FUNCTION T fma(T a, std::type_identity_t<T> b, std::type_identity_t<T> c) {
  return std::fma(a, b, c);
}

/// Returns the square root, correctly rounded. Determinism: backend_to_backend.
template <real T>
ISO_FORCEINLINE_FUNCTION T sqrt(T x) {
  return std::sqrt(x);
}

/// Returns the value of type To that has the bits of `from`. Determinism: backend_to_backend.
template <class To, class From>
  requires(sizeof(To) == sizeof(From)) && std::is_trivially_copyable_v<To> &&
          std::is_trivially_copyable_v<From>
ISO_FORCEINLINE_FUNCTION constexpr To bit_cast(From const& from) {
  return __builtin_bit_cast(To, from);
}

}  // namespace iso::math
