// SPDX-License-Identifier: BSD-3-Clause
//! What a warp does with small matrices in its registers, on GPUs that multiply matrices of double
//! with sixteen rows (Hopper, Blackwell).
#pragma once

#include <iso/backend/detail/cuda_lane_group.hpp>
#include <iso/backend/detail/narrow_products.hpp>

#include <cstdint>

namespace iso::backend::detail {

#ifdef ISO_CUDA_MULTIPLIES_MATRICES
#define ISO_MATRIX_FUNCTION __device__ __forceinline__

/// Loads that the compiler leaves where they stand, of memory that nobody writes meanwhile: past
/// the level-1 cache, or to stay in it.
ISO_MATRIX_FUNCTION std::uint32_t load_once_in_turn(std::uint32_t const* p) {
  std::uint32_t value;
  asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(value) : "l"(p));
  return value;
}
ISO_MATRIX_FUNCTION std::uint32_t load_in_turn(std::uint8_t const* p) {
  std::uint32_t value;
  asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(value) : "l"(p));
  return value;
}
ISO_MATRIX_FUNCTION std::uint32_t load_in_turn(std::uint16_t const* p) {
  std::uint16_t value;
  asm volatile("ld.global.nc.u16 %0, [%1];" : "=h"(value) : "l"(p));
  return value;
}
ISO_MATRIX_FUNCTION std::int32_t load_in_turn(std::int32_t const* p) {
  std::int32_t value;
  asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(value) : "l"(p));
  return value;
}
ISO_MATRIX_FUNCTION std::int64_t load_in_turn(std::int64_t const* p) {
  std::int64_t value;
  asm volatile("ld.global.nc.s64 %0, [%1];" : "=l"(value) : "l"(p));
  return value;
}
ISO_MATRIX_FUNCTION double load_in_turn(double const* p) {
  double value;
  asm volatile("ld.global.nc.f64 %0, [%1];" : "=d"(value) : "l"(p));
  return value;
}

/// An 8 x 8 matrix of 16-bit values, lane l having two of row l / 4 from column 2 (l mod 4) on, to
/// its transpose.
ISO_MATRIX_FUNCTION std::uint32_t transposed(std::uint32_t two) {
  std::uint32_t result;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(two));
  return result;
}

/// The first and the second of two 16-bit values.
template <narrow Kind>
ISO_MATRIX_FUNCTION void widen_two(std::uint32_t two, double& first, double& second) {
  float low;
  float high;
  if constexpr (Kind == narrow::half) {
    asm("{.reg .f16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
        : "=f"(low), "=f"(high)
        : "r"(two));
  } else {
    low = __uint_as_float(two << 16U);
    high = __uint_as_float(two & 0xffff0000U);
  }
  first = double(low);
  second = double(high);
}

/// c += a b, every sum four fma, k ascending. Lane l has a(l / 4, k), b(k, l / 4) for k = l mod 4,
/// and c(l / 4, n) for n = 2 (l mod 4) and the next.
ISO_MATRIX_FUNCTION void multiply_add(double (&c)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a), "d"(b));
}
/// The same of sixteen rows, eight fma a sum: a(l / 4, k), a(8 + l / 4, k), a(l / 4, 4 + k), a(8 +
/// l / 4, 4 + k) and b(k, l / 4), b(4 + k, l / 4); the second two of c are 8 rows below the first.
ISO_MATRIX_FUNCTION void multiply_add(double (&c)[4], double const (&a)[4], double const (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

#undef ISO_MATRIX_FUNCTION
#endif

}  // namespace iso::backend::detail
