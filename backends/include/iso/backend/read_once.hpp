// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/read_once.hpp
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Macros.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace iso::backend {
namespace detail {

#ifdef __CUDACC__
/// A load that leaves the level-1 cache to what is read again.
template <class T>
__device__ __forceinline__ T load_past_cache(T const* p) {
  T value;
  if constexpr (sizeof(T) == 1) {
    std::uint16_t bits;
    asm("ld.global.nc.L1::no_allocate.u8 %0, [%1];" : "=h"(bits) : "l"(p));
    auto const byte = static_cast<unsigned char>(bits);
    memcpy(&value, &byte, 1);
  } else if constexpr (sizeof(T) == 2) {
    std::uint16_t bits;
    asm("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(bits) : "l"(p));
    memcpy(&value, &bits, 2);
  } else if constexpr (sizeof(T) == 4) {
    std::uint32_t bits;
    asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(bits) : "l"(p));
    memcpy(&value, &bits, 4);
  } else if constexpr (sizeof(T) == 8) {
    std::uint32_t bits[2];
    asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
        : "=r"(bits[0]), "=r"(bits[1])
        : "l"(p));
    memcpy(&value, bits, 8);
  } else {
    static_assert(sizeof(T) == 16, "iso::backend::read_once: 1, 2, 4, 8 or 16 bytes");
    std::uint32_t bits[4];
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
        : "l"(p));
    memcpy(&value, bits, 16);
  }
  return value;
}

/// The same, to stay in the level-1 cache.
template <class T>
__device__ __forceinline__ T load_whole(T const* p) {
  T value;
  if constexpr (sizeof(T) == 4) {
    std::uint32_t bits;
    asm("ld.global.nc.u32 %0, [%1];" : "=r"(bits) : "l"(p));
    memcpy(&value, &bits, 4);
  } else if constexpr (sizeof(T) == 8) {
    std::uint64_t bits;
    asm("ld.global.nc.u64 %0, [%1];" : "=l"(bits) : "l"(p));
    memcpy(&value, &bits, 8);
  } else {
    static_assert(sizeof(T) % 16 == 0, "iso::backend::read_whole: 4, 8 or a multiple of 16 bytes");
    std::uint64_t bits[sizeof(T) / 8];
#pragma unroll
    for (int i = 0; i < int(sizeof(T) / 8); i += 2) {
      asm("ld.global.nc.v2.u64 {%0, %1}, [%2];"
          : "=l"(bits[i]), "=l"(bits[i + 1])
          : "l"(reinterpret_cast<char const*>(p) + 8 * i));
    }
    memcpy(&value, bits, sizeof(T));
  }
  return value;
}
#endif

}  // namespace detail

/// *p, of an array that the kernel reads once from end to end and nobody writes meanwhile.
/// `T` is of 1, 2, 4, 8 or 16 bytes, and `p` aligned to them.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T read_once(T const* p) {
  KOKKOS_IF_ON_DEVICE((return detail::load_past_cache(p);))
  KOKKOS_IF_ON_HOST((return *p;))
}

/// *p by as few loads as can be, of an array that is read again and that nobody writes meanwhile;
/// the compiler, left alone, makes a load of every member. `T` is of 4, 8 or a multiple of 16
/// bytes, and `p` aligned to them, or to 16.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T read_whole(T const* p) {
  KOKKOS_IF_ON_DEVICE((return detail::load_whole(p);))
  KOKKOS_IF_ON_HOST((return *p;))
}

/// The same as read_once, to be kept for a while: on a GPU in whole registers, where a T of several
/// small numbers would take one for each.
template <class T>
class kept_once {
 public:
  kept_once() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit kept_once(T const* p)
      : stored_(read_once(reinterpret_cast<storage const*>(p))) {}
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T get() const {
    KOKKOS_IF_ON_DEVICE((return Kokkos::bit_cast<T>(stored_);))
    KOKKOS_IF_ON_HOST((return stored_;))
  }

 private:
#ifdef __CUDA_ARCH__
  struct alignas(T) storage {
    std::uint32_t word[sizeof(T) / 4];
  };
  static_assert(sizeof(T) % 4 == 0, "iso::backend::kept_once: whole registers");
#else
  using storage = T;
#endif
  storage stored_;
};

}  // namespace iso::backend
