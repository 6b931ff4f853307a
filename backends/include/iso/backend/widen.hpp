// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/widen.hpp
//! Converts stored numbers for kernels.
#pragma once

#include <iso/backend/detail/cuda_loads.hpp>
#include <iso/core/half.hpp>

#include <Kokkos_Macros.hpp>

namespace iso::backend {

/// Returns a stored number as T, exactly; by the GPU's own conversion where it has one.
template <class T, stored_real Stored>
KOKKOS_FORCEINLINE_FUNCTION T widen(Stored x) {
  return T(x);
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T widen(half x) {
  KOKKOS_IF_ON_DEVICE((return T(detail::widen_half(x.bits));))
  KOKKOS_IF_ON_HOST((return T(float(x));))
}

}  // namespace iso::backend
