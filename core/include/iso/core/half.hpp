// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/half.hpp
//! Provides numbers of sixteen bits, of the same type and the same bits on every backend. Kokkos'
//! half_t is a float wherever no device has the format; these are not.
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Macros.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace iso {
namespace detail {

/// Returns `x` rounded once, to nearest and even, to a sign, `Exponent` and `Fraction` bits,
/// subnormal numbers included; beyond the largest it is infinite, and NaN is one quiet pattern.
template <int Exponent, int Fraction>
KOKKOS_INLINE_FUNCTION std::uint16_t narrowed(double x) {
  constexpr int bias = (1 << (Exponent - 1)) - 1;
  constexpr int shift = 52 - Fraction;
  constexpr std::uint64_t infinity = ((std::uint64_t(1) << Exponent) - 1) << Fraction;
  auto const bits = Kokkos::bit_cast<std::uint64_t>(x);
  std::uint64_t const sign = bits >> 63 << (Exponent + Fraction);
  std::uint64_t const magnitude = bits & 0x7fffffffffffffffULL;
  auto const size = Kokkos::bit_cast<double>(magnitude);
  std::uint64_t result;
  if (magnitude > 0x7ff0000000000000ULL) {
    return std::uint16_t(infinity | (std::uint64_t(1) << (Fraction - 1)));
  }
  if (magnitude < std::uint64_t(1024 - bias) << 52) {
    // The grid of the subnormal numbers is that of the doubles near this one.
    constexpr std::uint64_t anchor = std::uint64_t(1024 - bias - Fraction + 52) << 52;
    result = Kokkos::bit_cast<std::uint64_t>(size + Kokkos::bit_cast<double>(anchor)) - anchor;
  } else {
    std::uint64_t const half_step = (std::uint64_t(1) << (shift - 1)) - 1;
    result = ((magnitude + half_step + (magnitude >> shift & 1)) >> shift) -
             (std::uint64_t(1023 - bias) << Fraction);
    result = result < infinity ? result : infinity;
  }
  return std::uint16_t(sign | result);
}

}  // namespace detail

/// A number in IEEE binary16: 11 significant bits, 2^-24 to 65504. It is for storage: convert it to
/// float or double to compute.
struct half {
  std::uint16_t bits = 0;

  half() = default;
  template <std::floating_point T>
  KOKKOS_FUNCTION explicit half(T x) : bits(detail::narrowed<5, 10>(double(x))) {}

  /// Converts exactly and without branches, so that a loop over it becomes vector instructions.
  KOKKOS_FUNCTION explicit operator float() const {
    std::uint32_t const magnitude = bits & 0x7fffU;
    // An exponent too small by 112, subnormal numbers included; infinity and NaN keep all ones.
    float const size = Kokkos::bit_cast<float>(magnitude << 13) * 0x1p112F;
    std::uint32_t const ones = magnitude >= 0x7c00U ? 0x7f800000U : 0U;
    return Kokkos::bit_cast<float>(Kokkos::bit_cast<std::uint32_t>(size) | ones |
                                   std::uint32_t(bits & 0x8000U) << 16);
  }
  KOKKOS_FUNCTION explicit operator double() const { return double(float(*this)); }
};

/// A number in bfloat16: 8 significant bits with the range of float. It is for storage: convert it
/// to float or double to compute.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  template <std::floating_point T>
  KOKKOS_FUNCTION explicit bfloat16(T x) : bits(detail::narrowed<8, 7>(double(x))) {}

  /// Converts exactly.
  KOKKOS_FUNCTION explicit operator float() const {
    return Kokkos::bit_cast<float>(std::uint32_t(bits) << 16);
  }
  KOKKOS_FUNCTION explicit operator double() const { return double(float(*this)); }
};

/// The types of number in which a matrix may be stored.
template <class T>
concept stored_real = std::same_as<T, half> || std::same_as<T, bfloat16> ||
                      std::same_as<T, float> || std::same_as<T, double>;

}  // namespace iso
