// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/integer_atomics.hpp
//! Updates sums and flags in memory with many groups at them at once. Whole numbers add exactly and
//! bits have no order: the result is the same whoever comes first. There is none for floating
//! point.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::backend {

/// Adds x to *p, modulo 2^32 or 2^64.
KOKKOS_FORCEINLINE_FUNCTION void atomic_sum(std::uint32_t* p, std::uint32_t x) {
  Kokkos::atomic_add(p, x);
}
KOKKOS_FORCEINLINE_FUNCTION void atomic_sum(std::uint64_t* p, std::uint64_t x) {
  Kokkos::atomic_add(p, x);
}
/// Makes *p x, which is all that anyone writes to it meanwhile.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void atomic_mark(T* p, T x) {
  Kokkos::atomic_store(p, x);
}
/// Sets the bits of x in *p.
KOKKOS_FORCEINLINE_FUNCTION void atomic_flags(std::uint32_t* p, std::uint32_t x) {
  Kokkos::atomic_or(p, x);
}

}  // namespace iso::backend
