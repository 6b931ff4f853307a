// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/math.hpp
//! Provides the transcendental functions that a kernel may call: the same bits on every backend.
//!
//! Each is one straight line of + - * /, written fma, integer arithmetic, comparisons and selects:
//! no table, no branch, no library call, so that IEEE arithmetic alone fixes every bit and loops
//! over them vectorise. float functions use float arithmetic throughout.
//!
//! Bound: at most 1 ulp off the exact value (ulp of the binade of the exact value, that of the
//! smallest normal number below it), for every argument the function accepts, subnormal arguments
//! and results included. A NaN argument gives the canonical NaN. The largest errors found by
//! tests/core/test_math.cpp with 30 million random arguments each stand with each function.
//!
//! Method: argument reduction as Cody and Waite 1980 describe it, with the parts that fma makes
//! exact kept as unevaluated sums (Dekker 1971, Knuth 1969), and minimax polynomials by the second
//! algorithm of Remez, relative to the function's leading term, their coefficients rounded to T at
//! the end.
#pragma once

#include <iso/core/arithmetic.hpp>
#include <iso/core/detail/math_constants.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/real.hpp>

namespace iso::math {
namespace detail {

/// Returns the bits of 2^e in T, for e + bias given, in [1, 2 bias].
template <real T>
ISO_FORCEINLINE_FUNCTION T power_of_two(bits_of<T> biased) {
  return math::bit_cast<T>(bits_of<T>(biased << constants<T>::mantissa_bits));
}

/// Returns what rounding the exact a + b to `sum` lost; exact for any order of magnitudes.
template <real T>
ISO_FORCEINLINE_FUNCTION T lost(T a, T b, T sum) {
  T const part = sum - a;
  return (a - (sum - part)) + (b - part);
}

/// The parts of x = k ln 2 + r, with e^r - 1 = r + square + low and |r| <= ln 2 / 2.
template <real T>
struct exp_parts {
  T r;
  T square;            ///< r^2 / 2
  T low;               ///< all else
  bits_of<T> half_up;  ///< biased exponents of two powers of two whose product is 2^k
  bits_of<T> half_down;
};

template <real T>
ISO_FORCEINLINE_FUNCTION exp_parts<T> reduce_exp(T x) {
  using c = constants<T>;
  T const shifted = math::fma(x, c::log2_e, c::rounder);
  T const k = shifted - c::rounder;
  T const high = math::fma(-k, c::ln2_high, x);
  T const correction = k * c::ln2_low;
  T const r = high - correction;
  T const tail = (high - r) - correction;
  // Two's complement k plus twice the bias is positive: a logical shift halves it.
  auto const sum = bits_of<T>(math::bit_cast<bits_of<T>>(shifted) -
                              math::bit_cast<bits_of<T>>(T(c::rounder)) + 2 * c::bias);
  auto const half = bits_of<T>(sum >> 1);
  T const z = r * r;
  T const z_low = math::fma(r, r, -z);
  T const low = math::fma(r * z, c::exp_tail(r), math::fma(T(0.5), z_low, tail));
  return {r, T(0.5) * z, low, half, bits_of<T>(sum - half)};
}

/// Returns a where the condition holds, else b, by masks: the host's vectoriser stops at nested
/// conditionals.
template <real T>
ISO_FORCEINLINE_FUNCTION T select(bool condition, T a, T b) {
  using word = bits_of<T>;
  auto const mask = word(word(0) - word(condition));
  return math::bit_cast<T>(
      word((math::bit_cast<word>(a) & mask) | (math::bit_cast<word>(b) & ~mask)));
}

/// Returns `x`, or the canonical NaN.
template <real T>
ISO_FORCEINLINE_FUNCTION T quiet(T x) {
  return select(x == x, x, math::bit_cast<T>(float_bits<T>::canonical_nan));
}

template <real T>
ISO_FORCEINLINE_FUNCTION T clamp(T x, T low, T high) {
  T const y = x < low ? low : x;
  return y > high ? high : y;
}

}  // namespace detail

/// Returns e^x. Overflows to +infinity, underflows through the subnormal numbers to +0.
/// Largest error found: float 0.81, double 0.80 ulp.
/// Determinism: backend_to_backend.
template <real T>
ISO_FORCEINLINE_FUNCTION T exp(T x) {
  using c = detail::constants<T>;
  // Beyond these bounds the last product below overflows, or rounds to zero, by itself.
  auto const p = detail::reduce_exp(detail::clamp(x, c::exp_lowest, c::exp_highest));
  T const y = T(1) + (p.r + (p.square + p.low));
  return detail::quiet(y * detail::power_of_two<T>(p.half_up) *
                       detail::power_of_two<T>(p.half_down));
}

/// Returns e^x - 1 without cancellation. -1 at -infinity; keeps the sign of zero.
/// Largest error found: float 0.71, double 0.80 ulp.
/// Determinism: backend_to_backend.
template <real T>
ISO_FORCEINLINE_FUNCTION T expm1(T x) {
  using c = detail::constants<T>;
  auto const p = detail::reduce_exp(detail::clamp(x, c::expm1_lowest, c::exp_highest));
  // 2^k ((1 - 2^-k) + (e^r - 1)), both terms as sums of two numbers.
  T const inverse = detail::power_of_two<T>(2 * c::bias - p.half_up) *
                    detail::power_of_two<T>(2 * c::bias - p.half_down);
  T const one = T(1) - inverse;
  T const one_low = (T(1) - one) - inverse;
  T const e = p.r + p.square;
  T const e_low = ((p.r - e) + p.square) + p.low;
  T const sum = one + e;
  T const sum_low = (one - sum) + e;
  T const y = sum + (sum_low + (e_low + one_low));
  T const result = y * detail::power_of_two<T>(p.half_up) * detail::power_of_two<T>(p.half_down);
  return detail::quiet(detail::select(x == T(0), x, result));
}

/// Returns the natural logarithm. It is -infinity at +0 and -0, the canonical NaN below.
/// Largest error found: float 0.84, double 0.84 ulp.
/// Determinism: backend_to_backend.
template <real T>
ISO_FORCEINLINE_FUNCTION T log(T x) {
  using c = detail::constants<T>;
  using word = bits_of<T>;
  T const lifted = x * c::lift;
  bool const subnormal = x < c::smallest_normal;
  T const normal = detail::select(subnormal, lifted, x);
  // x = 2^k (1 + f) with 1 + f in [sqrt 1/2, sqrt 2).
  word const moved =
      math::bit_cast<word>(normal) + (math::bit_cast<word>(T(1)) - c::sqrt_half_bits);
  word const exponent = moved >> c::mantissa_bits;
  T const f = math::bit_cast<T>(word((moved & c::mantissa_mask) + c::sqrt_half_bits)) - T(1);
  T const k = (math::bit_cast<T>(word(exponent | math::bit_cast<word>(T(c::integer_base)))) -
               (c::integer_base + T(c::bias))) -
              detail::select(subnormal, c::lift_exponent, T(0));
  // log(1 + f) = 2 atanh(s) = f - s (f - z R) = f - (h - s (h + z R)), h = f^2 / 2.
  T const s = f / (T(2) + f);
  T const z = s * s;
  T const h = (T(0.5) * f) * f;
  T const small = h - math::fma(s, math::fma(z, c::log_tail(z), h), k * c::ln2_low);
  T const high = k * c::ln2_high;
  T const sum = high + f;
  T const sum_low = (high - sum) + f;
  T y = sum + (sum_low - small);
  T const infinity = c::infinity;
  y = detail::select(x == infinity, infinity, y);
  y = detail::select(x == T(0), -infinity, y);
  // Negative numbers and NaN.
  return detail::select(x >= T(0), y, math::bit_cast<T>(float_bits<T>::canonical_nan));
}

/// Computes sin x and cos x for |x| <= 1e5 radians. Beyond, and for arguments that are not finite,
/// both are the canonical NaN: an angle that the reduction cannot hold is an error, not a number.
/// The sine keeps the sign of zero. Largest error found, of both: float 0.78, double 0.72 ulp.
/// Determinism: backend_to_backend.
template <real T>
ISO_FORCEINLINE_FUNCTION void sincos(T x, T& sine, T& cosine) {
  using c = detail::constants<T>;
  using word = bits_of<T>;
  T const shifted = math::fma(x, c::two_over_pi, c::rounder);
  T const k = shifted - c::rounder;
  word const quarter = math::bit_cast<word>(shifted);
  // x - k pi/2 as r + low. The first step is exact: both are multiples of one ulp of the result.
  T const a = math::fma(-k, c::half_pi_high, x);
  T const middle = k * c::half_pi_middle;
  T const middle_low = math::fma(k, c::half_pi_middle, -middle);
  T const b = a - middle;
  T const rest = detail::lost(a, -middle, b) - math::fma(k, c::half_pi_low, middle_low);
  T const r = b + rest;
  T const low = detail::lost(b, rest, r);
  T const z = r * r;
  // sin(r + low) = r + (r^3 S + low (1 - z / 2)), cos(r + low) = (1 - z / 2) + (z^2 C - r low).
  T const s = r + math::fma(z * r, c::sin_tail(z), math::fma(T(-0.5) * z, low, low));
  T const z_low = math::fma(r, r, -z);
  T const h = T(0.5) * z;
  T const w = T(1) - h;
  T const w_low = (T(1) - w) - h;
  T const d = w + (w_low + math::fma(z * z, c::cos_tail(z), -math::fma(r, low, T(0.5) * z_low)));
  bool const swap = (quarter & 1U) != 0;
  word const sign_s = (quarter & 2U) << (c::word_bits - 2);
  word const sign_c = ((quarter + 1U) & 2U) << (c::word_bits - 2);
  T const first = detail::select(x == T(0), x, s);
  T const nan = math::bit_cast<T>(float_bits<T>::canonical_nan);
  bool const good = (x >= -c::max_sincos) & (x <= c::max_sincos);
  T const a_sine = detail::select(swap, d, first);
  T const a_cosine = detail::select(swap, first, d);
  sine = detail::select(good, math::bit_cast<T>(word(math::bit_cast<word>(a_sine) ^ sign_s)), nan);
  cosine =
      detail::select(good, math::bit_cast<T>(word(math::bit_cast<word>(a_cosine) ^ sign_c)), nan);
}

}  // namespace iso::math
