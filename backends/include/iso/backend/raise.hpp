// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/raise.hpp
#pragma once

#include <Kokkos_Core.hpp>

namespace iso::backend {

/// Raises *p to x where x is larger, with many groups at it at once. No NaN. A maximum has no
/// order: the result is the same whoever comes first, which no sum's is.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void raise(T* p, T x) {
  Kokkos::atomic_max(p, x);
}

}  // namespace iso::backend
