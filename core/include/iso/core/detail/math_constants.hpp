// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/detail/math_constants.hpp
//! Holds constants and polynomials of iso/core/math.hpp, as immediate operands rather than tables.
#pragma once

#include <iso/core/numerics.hpp>

#include <cstdint>
#include <limits>

namespace iso::math::detail {

/// Returns c0 + c1 x + c2 x^2 + ..., innermost first.
template <class T>
ISO_FORCEINLINE_FUNCTION T horner(T, T c0) {
  return c0;
}
template <class T, class... Rest>
ISO_FORCEINLINE_FUNCTION T horner(T x, T c0, Rest... rest) {
  return math::fma(horner(x, rest...), x, c0);
}

template <class T>
struct constants;

// ln2_high has so many trailing zeros that its product with any exponent is exact; the parts of
// pi/2 are its roundings and what they leave. Polynomials: error against the function's leading
// term is 2^-32 at most (float), 2^-57.9 (double), before the coefficients are rounded.
template <>
struct constants<float> {
  static constexpr int mantissa_bits = 23;
  static constexpr int word_bits = 32;
  static constexpr std::uint32_t bias = 127;
  static constexpr std::uint32_t mantissa_mask = 0x007fffffU;
  static constexpr std::uint32_t sqrt_half_bits = 0x3f3504f3U;
  static constexpr float rounder = 0x1.8p23F;     ///< adding it rounds to an integer
  static constexpr float integer_base = 0x1p23F;  ///< its last bit is worth 1
  static constexpr float lift = 0x1p24F;          ///< makes subnormal numbers normal
  static constexpr float lift_exponent = 24;
  static constexpr float smallest_normal = 0x1p-126F;
  static constexpr float infinity = std::numeric_limits<float>::infinity();
  static constexpr float log2_e = 0x1.715476p+0F;
  static constexpr float ln2_high = 0x1.62e4p-1F;
  static constexpr float ln2_low = 0x1.7f7d1cp-20F;
  static constexpr float exp_lowest = -104;
  static constexpr float exp_highest = 89;
  static constexpr float expm1_lowest = -20;
  static constexpr float max_sincos = 1e5F;
  static constexpr float two_over_pi = 0x1.45f306p-1F;
  static constexpr float half_pi_high = 0x1.921fb6p+0F;
  static constexpr float half_pi_middle = -0x1.777a5cp-25F;
  static constexpr float half_pi_low = -0x1.ee59dap-50F;

  /// Returns (e^r - 1 - r - r^2 / 2) / r^3, |r| <= ln 2 / 2
  ISO_FORCEINLINE_FUNCTION static float exp_tail(float r) {
    return horner(r, 0x1.555556p-3F, 0x1.5554aep-5F, 0x1.11109p-7F, 0x1.6d74e4p-10F, 0x1.a1a2p-13F);
  }
  /// Returns (2 atanh(s) - 2 s) / s^3 by z = s^2, |s| <= 3 - 2 sqrt 2
  ISO_FORCEINLINE_FUNCTION static float log_tail(float z) {
    return horner(z, 0x1.55557ap-1F, 0x1.995e9cp-2F, 0x1.31e674p-2F);
  }
  /// Returns (sin r - r) / r^3 by z = r^2, |r| <= pi/4
  ISO_FORCEINLINE_FUNCTION static float sin_tail(float z) {
    return horner(z, -0x1.555546p-3F, 0x1.11073p-7F, -0x1.993d9p-13F);
  }
  /// Returns (cos r - 1 + r^2 / 2) / r^4 by z = r^2, |r| <= pi/4
  ISO_FORCEINLINE_FUNCTION static float cos_tail(float z) {
    return horner(z, 0x1.55554ap-5F, -0x1.6c0c5ap-10F, 0x1.99f34p-16F);
  }
};

template <>
struct constants<double> {
  static constexpr int mantissa_bits = 52;
  static constexpr int word_bits = 64;
  static constexpr std::uint64_t bias = 1023;
  static constexpr std::uint64_t mantissa_mask = 0x000fffffffffffffULL;
  static constexpr std::uint64_t sqrt_half_bits = 0x3fe6a09e667f3bcdULL;
  static constexpr double rounder = 0x1.8p52;
  static constexpr double integer_base = 0x1p52;
  static constexpr double lift = 0x1p54;
  static constexpr double lift_exponent = 54;
  static constexpr double smallest_normal = 0x1p-1022;
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double log2_e = 0x1.71547652b82fep+0;
  static constexpr double ln2_high = 0x1.62e42fefa3p-1;
  static constexpr double ln2_low = 0x1.3de6af278ece6p-42;
  static constexpr double exp_lowest = -746;
  static constexpr double exp_highest = 710;
  static constexpr double expm1_lowest = -40;
  static constexpr double max_sincos = 1e5;
  static constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
  static constexpr double half_pi_high = 0x1.921fb54442d18p+0;
  static constexpr double half_pi_middle = 0x1.1a62633145c07p-54;
  static constexpr double half_pi_low = -0x1.f1976b7ed8fbcp-110;

  ISO_FORCEINLINE_FUNCTION static double exp_tail(double r) {
    return horner(r, 0x1.5555555555559p-3, 0x1.555555555555ap-5, 0x1.111111110f690p-7,
                  0x1.6c16c16c14425p-10, 0x1.a01a01aff48d6p-13, 0x1.a01a01b0c651ep-16,
                  0x1.71ddf825a9820p-19, 0x1.27e4c57db5f9fp-22, 0x1.af5f1a476e15bp-26,
                  0x1.1f959c2a3e9dfp-29);
  }
  ISO_FORCEINLINE_FUNCTION static double log_tail(double z) {
    return horner(z, 0x1.5555555555593p-1, 0x1.999999997fb5bp-2, 0x1.2492494215b5dp-2,
                  0x1.c71c51e952777p-3, 0x1.746645ecd3e4bp-3, 0x1.39a0fadd9e35dp-3,
                  0x1.2f0d581549a0fp-3);
  }
  ISO_FORCEINLINE_FUNCTION static double sin_tail(double z) {
    return horner(z, -0x1.5555555555548p-3, 0x1.111111110f748p-7, -0x1.a01a019be961cp-13,
                  0x1.71de35535e1f7p-19, -0x1.ae5e48be8e0a3p-26, 0x1.5d8a2fb1c43f0p-33);
  }
  ISO_FORCEINLINE_FUNCTION static double cos_tail(double z) {
    return horner(z, 0x1.555555555554bp-5, -0x1.6c16c16c15061p-10, 0x1.a01a019c93bdcp-16,
                  -0x1.27e4f7f2e1bdcp-22, 0x1.1ee9db691e770p-29, -0x1.8fa5af3ad5d0dp-37);
  }
};

}  // namespace iso::math::detail
