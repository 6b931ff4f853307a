// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/loads.hpp
#pragma once

#include <iso/backend/detail/cuda_loads.hpp>

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Macros.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::backend {

/// Reads *p, of an array that the kernel reads once from end to end and nobody writes meanwhile.
/// `T` is of 1, 2, 4, 8 or 16 bytes, and `p` aligned to them.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T streaming_load(T const* p) {
  KOKKOS_IF_ON_DEVICE((return detail::load_past_cache(p);))
  KOKKOS_IF_ON_HOST((return *p;))
}

/// Reads *p by as few loads as can be, of an array that is read again and that nobody writes
/// meanwhile; the compiler, left alone, makes a load of every member. `T` is of 4, 8 or a multiple
/// of 16 bytes, and `p` aligned to them, or to 16.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T vector_load(T const* p) {
  KOKKOS_IF_ON_DEVICE((return detail::load_vector(p);))
  KOKKOS_IF_ON_HOST((return *p;))
}

/// Returns p, which lies in a GPU's memory. The compiler, which does not see what p is the sum of,
/// keeps it in place of the sum's parts.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T const* opaque_address(T const* p) {
  KOKKOS_IF_ON_DEVICE((return detail::opaque_address(p);))
  KOKKOS_IF_ON_HOST((return p;))
}

/// The type that holds what streaming_load has read until it is used: on a GPU in whole registers,
/// where a T of several small numbers would take one for each.
template <class T>
class streamed {
 public:
  streamed() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit streamed(T const* p)
      : stored_(streaming_load(reinterpret_cast<storage const*>(p))) {}
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T get() const {
    KOKKOS_IF_ON_DEVICE((return Kokkos::bit_cast<T>(stored_);))
    KOKKOS_IF_ON_HOST((return stored_;))
  }

 private:
#ifdef __CUDA_ARCH__
  struct alignas(T) storage {
    std::uint32_t word[sizeof(T) / 4];
  };
  static_assert(sizeof(T) % 4 == 0, "iso::backend::streamed: whole registers");
#else
  using storage = T;
#endif
  storage stored_;
};

}  // namespace iso::backend
