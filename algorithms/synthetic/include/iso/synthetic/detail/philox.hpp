// SPDX-License-Identifier: BSD-3-Clause
//! Random bits by counting: Philox 4x32 of ten rounds.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::synthetic::detail {

/// Four words of 32 bits.
struct philox_words {
  std::uint32_t word[4];
};

/// What Philox 4x32-10 makes of a counter and a key (Salmon, Moraes, Dror and Shaw 2011, Parallel
/// random numbers: as easy as 1, 2, 3, section 3.3): a bijection of the counter for every key.
KOKKOS_INLINE_FUNCTION philox_words philox(philox_words counter, std::uint64_t key) {
  auto k0 = std::uint32_t(key);
  auto k1 = std::uint32_t(key >> 32);
  std::uint32_t* const c = counter.word;
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const a = std::uint64_t(0xd2511f53U) * c[0];
    std::uint64_t const b = std::uint64_t(0xcd9e8d57U) * c[2];
    std::uint32_t const c0 = std::uint32_t(b >> 32) ^ c[1] ^ k0;
    std::uint32_t const c2 = std::uint32_t(a >> 32) ^ c[3] ^ k1;
    c[1] = std::uint32_t(b);
    c[3] = std::uint32_t(a);
    c[0] = c0;
    c[2] = c2;
    k0 += 0x9e3779b9U;
    k1 += 0xbb67ae85U;
  }
  return counter;
}

/// Two numbers between 0 and 1, neither of which they reach: odd multiples of 2^-53.
struct uniform_pair {
  double first;
  double second;

  KOKKOS_FUNCTION explicit uniform_pair(philox_words const& w)
      : first(number(w.word[0], w.word[1])), second(number(w.word[2], w.word[3])) {}

  KOKKOS_FUNCTION static double number(std::uint32_t low, std::uint32_t high) {
    std::uint64_t const bits = std::uint64_t(high) << 32 | low;
    return double(2 * (bits >> 12) + 1) * 0x1p-53;
  }
};

/// The random numbers of one element: the `attempt`-th pair of stream `stream`.
KOKKOS_INLINE_FUNCTION uniform_pair uniforms(std::uint64_t seed, std::uint64_t element,
                                             std::uint32_t stream, std::uint32_t attempt) {
  return uniform_pair(
      philox({{std::uint32_t(element), std::uint32_t(element >> 32), attempt, stream}}, seed));
}

}  // namespace iso::synthetic::detail
