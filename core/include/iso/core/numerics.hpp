// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/numerics.hpp
//! States the contract on numbers, as far as a header can: docs/adr/0002-strict-numerics.md.
#pragma once

#include <iso/core/arithmetic.hpp>

#include <cstdint>
#include <type_traits>

// GCC's __GCC_IEC_559 is 0 under -ffast-math and each of its parts that changes values. Clang tells
// of the whole and of -ffinite-math-only alone.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0) || \
    (defined(__GCC_IEC_559) && __GCC_IEC_559 == 0)
#error \
    "Isocenter promises the same bits on every backend; -ffast-math and its parts (-ffinite-math-only, \
-funsafe-math-optimizations, -fassociative-math, -freciprocal-math, -fno-signed-zeros) cannot."
#endif

namespace iso {

template <class T>
struct float_bits;
template <>
struct float_bits<float> {
  using type = std::uint32_t;
  // An enumerator has no address: device code may then bind it to a reference.
  enum : type { canonical_nan = 0x7fc00000U };
};
template <>
struct float_bits<double> {
  using type = std::uint64_t;
  enum : type { canonical_nan = 0x7ff8000000000000ULL };
};

template <class T>
using bits_of = typename float_bits<T>::type;

/// Returns whether x is neither NaN nor infinite. Determinism: backend_to_backend.
template <class T>
ISO_FUNCTION bool is_finite(T x) {
  return x - x == T(0);
}

/// Returns `x`, or the one quiet NaN that may leave a kernel. Determinism: backend_to_backend.
template <class T>
ISO_FUNCTION T canonical(T x) {
  return x == x ? x : math::bit_cast<T>(float_bits<T>::canonical_nan);
}

}  // namespace iso
