// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/unroll.hpp
#ifndef ISO_SET
#ifndef ISO_BACKEND_UNROLL_HPP
#define ISO_BACKEND_UNROLL_HPP

#include <Kokkos_Macros.hpp>

#include <utility>

/// Asks the GPU's compiler to unroll the next loop by four, or two where registers are short,
/// so that one step's loads are under way while the next is set up. A processor reorders by itself.
#ifdef __CUDA_ARCH__
#define ISO_DEVICE_UNROLL _Pragma("unroll 4")
#define ISO_DEVICE_UNROLL_TWICE _Pragma("unroll 2")
/// Keeps that compiler from unrolling the next loop, whose body is long.
#define ISO_DEVICE_NO_UNROLL _Pragma("unroll 1")
#else
#define ISO_DEVICE_UNROLL
#define ISO_DEVICE_UNROLL_TWICE
#define ISO_DEVICE_NO_UNROLL
#endif

/// Makes the next loop straight-line code, so that arrays of registers stay in registers.
#if defined(__CUDA_ARCH__) || defined(__clang__)
#define ISO_EACH_REGISTER _Pragma("unroll") for
#else
#define ISO_EACH_REGISTER _Pragma("GCC unroll 128") for
#endif

namespace iso::backend {

/// A number as a type, as std::integral_constant; its conversion is a device function too.
template <int Number>
struct constant {
  static constexpr int value = Number;
  KOKKOS_INLINE_FUNCTION constexpr operator int() const { return Number; }
};

}  // namespace iso::backend

#define ISO_SET_HEADER <iso/backend/unroll.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::backend::ISO_SET {

template <class F, int... I>
KOKKOS_FORCEINLINE_FUNCTION void unrolled_by(F const& f, std::integer_sequence<int, I...>) {
  (f(constant<I>()), ...);
}

/// Calls f(0), f(1), ... f(Count - 1), each with its number as a type: straight-line code on all
/// compilers, so that arrays indexed by it are registers.
template <int Count, class F>
KOKKOS_FORCEINLINE_FUNCTION void unrolled(F const& f) {
  unrolled_by(f, std::make_integer_sequence<int, Count>());
}

}  // namespace iso::backend::ISO_SET

#endif
