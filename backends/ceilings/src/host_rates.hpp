// SPDX-License-Identifier: BSD-3-Clause
// What one host thread does in each measurement of ceilings.cpp. host_rates.cpp is compiled twice,
// without Kokkos: for the build's own instruction set and, on x86, for AVX-512.
#pragma once

#include <cstddef>

namespace iso::ceilings::detail {

/// A thread's loops. Counts are in floats, multiples of 1024; pointers align to 64 bytes.
struct host_rates {
  /// Returns a value made of every element of `in`, read `rounds` times: once from memory, more
  /// often from a cache.
  float (*read)(float const* in, std::size_t count, std::size_t rounds);
  /// Sets out = in, past the caches.
  void (*copy)(float const* in, float* out, std::size_t count);
  /// Sets out = b + s c, past the caches.
  void (*triad)(float const* b, float const* c, float s, float* out, std::size_t count);
  /// Runs `steps` rounds of fma_chains vector operations; returns a value made of all of them.
  float (*fma_float)(std::size_t steps);
  double (*fma_double)(std::size_t steps);
  /// Gives the bytes of a vector.
  std::size_t vector_bytes;
};

/// The number of independent operations in flight: two pipes of four cycles want eight.
inline constexpr int fma_chains = 12;

/// The loops for the instruction set of the build, and for AVX-512 on a processor that has it: the
/// base ones where the build has no such set.
extern host_rates const host_rates_base;
extern host_rates const host_rates_wide;

}  // namespace iso::ceilings::detail
