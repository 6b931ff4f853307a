// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/core/math.hpp>
#include <iso/core/numerics.hpp>
#include <iso/synthetic/detail/philox.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::synthetic::detail {

/// log k! for whole k >= 0: products up to 9!, from there Stirling's series, five terms of which
/// leave less than 1e-13.
KOKKOS_INLINE_FUNCTION double log_factorial(double k) {
  if (k < 10) {
    double product = 1;
    for (double i = 2; i <= k; i += 1) {
      product *= i;
    }
    return math::log(product);
  }
  double const n = k + 1;
  double const r = 1 / (n * n);
  double const series =
      (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r / 1188)))) / n;
  double const half_log_two_pi = 0x1.d67f1c864beb5p-1;
  return (k + 0.5) * math::log(n) - n + half_log_two_pi + series;
}

/// A Poisson count by inversion: counts up until the sum of the probabilities passes `u`.
KOKKOS_INLINE_FUNCTION double poisson_by_inversion(double mean, double u) {
  double probability = math::exp(-mean);
  double sum = probability;
  double k = 0;
  // Beyond 200 no probability of a mean below 10 is left in double.
  while (u > sum && k < 200) {
    k += 1;
    probability *= mean / k;
    sum += probability;
  }
  return k;
}

/// A Poisson count by transformed rejection with squeeze (Hoermann's PTRS), mean >= 10.
KOKKOS_INLINE_FUNCTION double poisson_by_rejection(double mean, std::uint64_t seed,
                                                   std::uint64_t element, std::uint32_t stream) {
  double const root = Kokkos::sqrt(mean);
  double const b = 0.931 + 2.53 * root;
  double const a = -0.059 + 0.02483 * b;
  double const inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  double const squeeze = 0.9277 - 3.6224 / (b - 2);
  double const log_mean = math::log(mean);
  // About one in seven attempts is in vain at most: a thousand never are.
  for (std::uint32_t attempt = 0; attempt < 1000; ++attempt) {
    uniform_pair const random = uniforms(seed, element, stream, attempt);
    double const u = random.first - 0.5;
    double const v = random.second;
    double const us = 0.5 - Kokkos::fabs(u);
    double const k = Kokkos::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= squeeze) {
      return k;
    }
    if (k < 0 || (us < 0.013 && v > us)) {
      continue;
    }
    double const left = math::log(v * inverse_alpha / (a / (us * us) + b));
    if (left <= k * log_mean - mean - log_factorial(k)) {
      return k;
    }
  }
  return Kokkos::floor(mean);
}

/// The largest mean: beyond it the logarithms' rounding would show.
inline constexpr double largest_mean = 0x1p30;

/// A Poisson count, or the canonical NaN where the mean is none.
KOKKOS_INLINE_FUNCTION double poisson_count(double mean, std::uint64_t seed, std::uint64_t element,
                                            std::uint32_t stream) {
  if (!(mean >= 0 && mean <= largest_mean)) {
    return Kokkos::bit_cast<double>(float_bits<double>::canonical_nan);
  }
  return mean < 10 ? poisson_by_inversion(mean, uniforms(seed, element, stream, 0).first)
                   : poisson_by_rejection(mean, seed, element, stream);
}

template <class T>
struct poisson_kernel {
  T const* means;
  T* counts;
  std::uint64_t seed;
  std::uint64_t first;
  std::uint32_t stream;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    counts[i] =
        canonical(T(poisson_count(double(means[i]), seed, first + std::uint64_t(i), stream)));
  }
};

}  // namespace iso::synthetic::detail
