// SPDX-License-Identifier: BSD-3-Clause
//! Provides loads and conversions of stored numbers for which the compiler has no better way to say
//! it.
#pragma once

#ifdef __CUDACC__

#include <cstdint>
#include <cstring>

namespace iso::backend::detail {

/// Loads *p and leaves the level-1 cache to what is read again.
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
    static_assert(sizeof(T) == 16, "iso::backend::streaming_load: 1, 2, 4, 8 or 16 bytes");
    std::uint32_t bits[4];
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
        : "l"(p));
    memcpy(&value, bits, 16);
  }
  return value;
}

/// Does the same, but keeps it in the level-1 cache.
template <class T>
__device__ __forceinline__ T load_vector(T const* p) {
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
    static_assert(sizeof(T) % 16 == 0, "iso::backend::vector_load: 4, 8 or a multiple of 16 bytes");
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

/// Returns p, which lies in global memory, as a number that the compiler does not see through.
template <class T>
__device__ __forceinline__ T const* opaque_address(T const* p) {
  asm("" : "+l"(p));
  __builtin_assume(__isGlobal(p));
  return p;
}

/// Returns a number of half precision, given by its bits, as float.
__device__ __forceinline__ float widen_half(std::uint16_t bits) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
  return wide;
}

}  // namespace iso::backend::detail

#endif
