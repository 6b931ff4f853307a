// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/saturate.hpp
#pragma once

#include <Kokkos_Core.hpp>

namespace iso::backend {

/// Returns x limited to [0, 1]; x is not NaN, and -0 may stay. A GPU's addition does it on its way.
KOKKOS_FORCEINLINE_FUNCTION float saturate(float x) {
  KOKKOS_IF_ON_DEVICE((return __saturatef(x);))
  KOKKOS_IF_ON_HOST((return x < 0.0F ? 0.0F : x > 1.0F ? 1.0F : x;))
}
KOKKOS_FORCEINLINE_FUNCTION double saturate(double x) { return x < 0 ? 0.0 : x > 1 ? 1.0 : x; }

}  // namespace iso::backend
