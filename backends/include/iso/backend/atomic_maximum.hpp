// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/atomic_maximum.hpp
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::backend {

/// Raises *p to x where x is larger, with many groups at it at once. No NaN, nothing below zero. A
/// maximum has no order: the result is the same whoever comes first, which no sum's is.
KOKKOS_FORCEINLINE_FUNCTION void atomic_maximum(std::int32_t* p, std::int32_t x) {
  Kokkos::atomic_max(p, x);
}
/// Does the same for doubles. A GPU compares their bits, which have the order of such numbers: it
/// has an atomic maximum of integers that does not wait.
KOKKOS_FORCEINLINE_FUNCTION void atomic_maximum(double* p, double x) {
  KOKKOS_IF_ON_DEVICE((using bits = unsigned long long;
                       Kokkos::atomic_max(reinterpret_cast<bits*>(p), Kokkos::bit_cast<bits>(x));))
  KOKKOS_IF_ON_HOST((Kokkos::atomic_max(p, x);))
}

}  // namespace iso::backend
