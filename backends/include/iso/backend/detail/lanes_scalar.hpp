// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_BACKEND_DETAIL_LANES_SCALAR_HPP
#define ISO_BACKEND_DETAIL_LANES_SCALAR_HPP

#include <Kokkos_Core.hpp>

#include <cstdint>

#define ISO_SET_HEADER <iso/backend/detail/lanes_scalar.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::backend::ISO_SET {

/// Registers of one lane: plain arithmetic on any execution space. What every other instruction set
/// does, bit by bit.
struct scalar_lanes {
  /// The number of registers of the machine.
  static constexpr int num_registers = 32;
  template <class T>
  static constexpr int width = 1;
  template <class T, int>
  using reg = T;
  template <class T, int>
  using mask = bool;

  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R all(R x) {
    return x;
  }
  /// Returns 0, 1, 2, ...
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R ramp() {
    return R(0);
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R load(R const* p) {
    return *p;
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static void store(R* p, R a) {
    *p = a;
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R add(R a, R b) {
    return a + b;
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R sub(R a, R b) {
    return a - b;
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R mul(R a, R b) {
    return a * b;
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R div(R a, R b) {
    return a / b;
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R bit_or(R a, R b) {
    return a | b;
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R bit_and(R a, R b) {
    return a & b;
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R min(R a, R b) {
    return a < b ? a : b;
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R max(R a, R b) {
    return a > b ? a : b;
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R fma(R a, R b, R c) {
    return Kokkos::fma(a, b, c);
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R floor(R a) {
    return Kokkos::floor(a);
  }
  template <class To, class R>
  KOKKOS_FORCEINLINE_FUNCTION static To truncate(R a) {
    return To(a);
  }
  template <class To, class R>
  KOKKOS_FORCEINLINE_FUNCTION static To nearest(R a) {
    // The sum has whole numbers for neighbours.
    return To(std::uint32_t(Kokkos::bit_cast<std::uint64_t>(double(a) + 0x1.8p52)));
  }
  template <class To, class R>
  KOKKOS_FORCEINLINE_FUNCTION static To convert(R a) {
    return To(a);
  }
  template <class To, class R>
  KOKKOS_FORCEINLINE_FUNCTION static To bits(R a) {
    return Kokkos::bit_cast<To>(a);
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static bool less(R a, R b) {
    return a < b;
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static bool less_equal(R a, R b) {
    return a <= b;
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static bool equal(R a, R b) {
    return a == b;
  }
  KOKKOS_FORCEINLINE_FUNCTION static bool both(bool a, bool b) { return a && b; }
  KOKKOS_FORCEINLINE_FUNCTION static bool negated(bool a) { return !a; }
  template <int W>
  KOKKOS_FORCEINLINE_FUNCTION static bool every(bool a) {
    return a;
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static R select(bool m, R a, R b) {
    return m ? a : b;
  }
  template <class R, class K>
  KOKKOS_FORCEINLINE_FUNCTION static R gather(R const* p, K k) {
    return p[k];
  }
  template <class R, class K>
  KOKKOS_FORCEINLINE_FUNCTION static void gather_pairs(R const* p, K k, R& a, R& b) {
    a = p[k];
    b = p[k + 1];
  }
};

#if ISO_SET_BYTES == 0
using native_lanes = scalar_lanes;
#endif

}  // namespace iso::backend::ISO_SET

#endif
