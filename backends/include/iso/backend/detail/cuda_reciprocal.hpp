// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>

namespace iso::backend::detail {

/// Returns 1 / x, rounded once, of x from 2^-64 to 2^64. A GPU's division branches, in case x or
/// the quotient is no normal number; these are the steps that it takes where they are.
KOKKOS_FORCEINLINE_FUNCTION float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float near;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(x));
  return Kokkos::fma(near, Kokkos::fma(-x, near, 1.0F), near);
#else
  return 1.0F / x;
#endif
}
KOKKOS_FORCEINLINE_FUNCTION double reciprocal(double x) { return 1.0 / x; }

}  // namespace iso::backend::detail
