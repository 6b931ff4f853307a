// SPDX-License-Identifier: BSD-3-Clause
//! Numbers as their bits.
#pragma once

#include <iso/core/concepts.hpp>
#include <iso/core/half.hpp>
#include <iso/core/numerics.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::sparse::detail {

KOKKOS_INLINE_FUNCTION std::uint16_t stored_bits(half x) { return x.bits; }
KOKKOS_INLINE_FUNCTION std::uint16_t stored_bits(bfloat16 x) { return x.bits; }
template <real T>
KOKKOS_INLINE_FUNCTION bits_of<T> stored_bits(T x) {
  return Kokkos::bit_cast<bits_of<T>>(x);
}

template <class Bits>
KOKKOS_INLINE_FUNCTION constexpr Bits sign_bit() {
  return Bits(Bits(1) << (8 * sizeof(Bits) - 1));
}

/// Of a row_block_csr: the value where a row has no entry, negative zero.
inline constexpr std::uint16_t padding = sign_bit<std::uint16_t>();

template <class Value>
KOKKOS_INLINE_FUNCTION bool is_padding(Value x) {
  return stored_bits(x) == sign_bit<decltype(stored_bits(x))>();
}

/// The least e with 2^e >= x; x is normal and above zero.
KOKKOS_INLINE_FUNCTION int ceil_log2(double x) {
  return int((Kokkos::bit_cast<std::uint64_t>(x) + 0x000fffffffffffffULL) >> 52) - 1023;
}

}  // namespace iso::sparse::detail
