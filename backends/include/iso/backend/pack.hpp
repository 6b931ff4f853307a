// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/pack.hpp
#pragma once

#include <Kokkos_Macros.hpp>

namespace iso::backend {

/// A pack of N numbers that lie side by side and are read at once.
template <class T, int N>
struct alignas(N * sizeof(T) > 16 ? 16 : N * sizeof(T)) pack {
  T number[N];

  KOKKOS_FORCEINLINE_FUNCTION T& operator[](int n) { return number[n]; }
  KOKKOS_FORCEINLINE_FUNCTION T const& operator[](int n) const { return number[n]; }
};

}  // namespace iso::backend
