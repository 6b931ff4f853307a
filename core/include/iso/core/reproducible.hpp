// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/reproducible.hpp
//! Makes sums that do not depend on their order: each term is rounded to an integer multiple of
//! 2^-k beforehand, and integers add exactly.
#pragma once

#include <iso/core/numerics.hpp>

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_MathematicalFunctions.hpp>

namespace iso {

/// The common grid 2^-k of a reproducible sum of at most `terms` terms of magnitude at most `most`.
///
/// k is the largest integer with most 2^k <= 2^(p-3) and most terms 2^k < 2^(b-1), where p and b
/// are the significand and word lengths of T (24 and 32, 53 and 64), one less where terms rounded
/// up to the grid would reach 2^(b-1), and at most the largest whose 2^-k is a normal number of T.
/// Each term is then off by at most 2^-k / 2. `most` = 0 gives k = 0. The rounding constant is 1.5
/// * 2^(p-1); every term's bits are added as unsigned integers modulo 2^b, and the constant's
/// multiple is taken off at the end.
/// Determinism: backend_to_backend, in any order and partition of the terms.
template <class T>
class reproducible_scale {
 public:
  using word = bits_of<T>;
  static constexpr int significand = sizeof(T) == 4 ? 24 : 53;
  static constexpr int word_bits = sizeof(T) == 4 ? 32 : 64;
  static constexpr T rounder = sizeof(T) == 4 ? T(12582912.0) : T(6755399441055744.0);

  reproducible_scale() = default;
  KOKKOS_FUNCTION reproducible_scale(double most, double terms) {
    int k = 0;
    if (most > 0 && most - most == 0) {
      auto const m = split(most);
      auto const n = split(terms > 1 ? terms : 1.0);
      // The first bound; the second: floor(log2(most terms)) + k <= b - 2.
      int const first = significand - 3 - m.exponent - (m.fraction > 1 ? 1 : 0);
      int const second =
          word_bits - 2 - m.exponent - n.exponent - (below(m.fraction, n.fraction, 2) ? 0 : 1);
      k = first < second ? first : second;
      k = k > range ? range : k < -range ? -range : k;
      double const top = (m.fraction * power(m.exponent + k) + to_integer) - to_integer;
      k -= below(top, n.fraction, power(word_bits - 1 - n.exponent)) ? 0 : 1;
      k = k < -range ? -range : k;
    }
    scale_ = power<T>(k);
    unit_ = power<T>(-k);
  }

  /// Rounds `x` to the grid: bits to be added modulo 2^b and or-ed into the sum's flags.
  [[nodiscard]] KOKKOS_FUNCTION word round(T x) const {
    return Kokkos::bit_cast<word>(Kokkos::fma(x, scale_, rounder));
  }
  /// Returns `sum` of the bits of `count` rounded terms, without their rounding constants.
  [[nodiscard]] KOKKOS_FUNCTION word without_rounder(word sum, word count) const {
    return sum - count * Kokkos::bit_cast<word>(T(rounder));
  }
  /// Returns the value of such a sum, rounded once.
  [[nodiscard]] KOKKOS_FUNCTION T value(word sum) const {
    using signed_word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    return T(signed_word(sum)) * unit_;
  }
  /// Returns whether the or of all terms' bits shows that one was not finite (an exponent of all
  /// ones; terms in range never set these bits).
  [[nodiscard]] KOKKOS_FUNCTION bool flagged(word or_of_terms) const {
    return (or_of_terms & outside) != 0;
  }
  /// Returns what `round` multiplies by, 2^k.
  [[nodiscard]] KOKKOS_FUNCTION T scale() const { return scale_; }
  /// Returns the distance of the grid's points, 2^-k.
  [[nodiscard]] KOKKOS_FUNCTION T unit() const { return unit_; }

 private:
  // 2^k and 2^-k must both be normal numbers of T.
  static constexpr int range = sizeof(T) == 4 ? 126 : 1022;
  static constexpr double to_integer = 0x1.8p52;
  // The bits of sign and exponent that are zero in the rounder.
  static constexpr word outside = sizeof(T) == 4 ? word(0xb4800000U) : word(0xbcc0000000000000ULL);

  /// The parts of x = fraction 2^exponent with fraction in [1, 2).
  struct parts {
    double fraction;
    int exponent;
  };
  KOKKOS_FUNCTION static parts split(double x) {
    bool const subnormal = x < 0x1p-1022;
    auto const bits = Kokkos::bit_cast<std::uint64_t>(subnormal ? x * 0x1p54 : x);
    return {Kokkos::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL),
            int(bits >> 52) - 1023 - (subnormal ? 54 : 0)};
  }
  /// Returns whether a b < bound, without rounding.
  KOKKOS_FUNCTION static bool below(double a, double b, double bound) {
    double const product = a * b;
    return product < bound || (product == bound && Kokkos::fma(a, b, -product) < 0);
  }
  /// Returns 2^k for k in the range of normal numbers; of double, clamped to it.
  template <class U = double>
  KOKKOS_FUNCTION static U power(int k) {
    if constexpr (sizeof(U) == 4) {
      return Kokkos::bit_cast<float>(std::uint32_t(k + 127) << 23);
    } else {
      int const normal = k < -1022 ? -1022 : k > 1023 ? 1023 : k;
      return Kokkos::bit_cast<double>(std::uint64_t(normal + 1023) << 52);
    }
  }

  T scale_ = T(1);
  T unit_ = T(1);
};

}  // namespace iso
