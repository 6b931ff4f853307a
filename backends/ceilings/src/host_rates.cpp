// SPDX-License-Identifier: BSD-3-Clause
// Defines ISO_HOST_RATES. Everything else has internal linkage: the two objects of this file must
// not share code. Products are contracted to fma: what is measured is the machine.
#include "host_rates.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace iso::ceilings::detail {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t bytes = 64;
#else
constexpr std::size_t bytes = 32;
#endif
typedef float floats __attribute__((vector_size(bytes)));
typedef double doubles __attribute__((vector_size(bytes)));
typedef unsigned words __attribute__((vector_size(bytes)));
constexpr std::size_t width = bytes / sizeof(float);
constexpr std::size_t line = 64 / sizeof(float);
// How far ahead of the loads to ask for lines: the hardware's own stream detector stops at pages.
constexpr std::size_t ahead = 4096 / sizeof(float);

void stream(float* out, floats const& x) {
#if defined(__AVX512F__)
  _mm512_stream_ps(out, (__m512)x);
#elif defined(__AVX2__)
  _mm256_stream_ps(out, (__m256)x);
#else
  std::memcpy(out, &x, sizeof x);
#endif
}

void finish_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template <class Vector>
[[gnu::always_inline]] inline Vector load(void const* from) {
  Vector x;
  std::memcpy(&x, __builtin_assume_aligned(from, bytes), sizeof x);
  return x;
}

constexpr int streams = 8;

// Integers, since their addition waits for one cycle only; the sum depends on every bit.
template <bool Prefetch>
[[gnu::always_inline]] inline void accumulate(float const* in, std::size_t count, words* total) {
  for (std::size_t i = 0; i < count; i += width * streams) {
    if constexpr (Prefetch) {
#pragma GCC unroll 8
      for (std::size_t k = 0; k < width * streams; k += line) {
        __builtin_prefetch(in + i + ahead + k);
      }
    }
#pragma GCC unroll 8
    for (int k = 0; k < streams; ++k) {
      total[k] += load<words>(in + i + std::size_t(k) * width);
    }
  }
}

float read(float const* in, std::size_t count, std::size_t rounds) {
  words total[streams] = {};
  for (std::size_t round = 0; round < rounds; ++round) {
    // Each round might see other data, as far as the compiler knows: none is folded away.
    asm volatile("" : "+r"(in) : : "memory");
    rounds == 1 ? accumulate<true>(in, count, total) : accumulate<false>(in, count, total);
  }
  words sum{};
#pragma GCC unroll 8
  for (int k = 0; k < streams; ++k) {
    sum += total[k];
  }
  unsigned all = 0;
  for (std::size_t lane = 0; lane < width; ++lane) {
    all += sum[lane];
  }
  return float(all);
}

// out[i] = value(in[i]...), past the caches.
template <class Value, class... In>
[[gnu::always_inline]] inline void stream_all(float* out, std::size_t count, Value const& value,
                                              In const*... in) {
  for (std::size_t i = 0; i < count; i += 4 * line) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 4 * line; k += line) {
      (__builtin_prefetch(in + i + ahead + k), ...);
    }
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 4 * line; k += width) {
      stream(out + i + k, value(load<floats>(in + i + k)...));
    }
  }
  finish_stores();
}

void copy(float const* in, float* out, std::size_t count) {
  stream_all(out, count, [](floats const& x) { return x; }, in);
}

void triad(float const* b, float const* c, float s, float* out, std::size_t count) {
  floats const scale = floats{} + s;
  stream_all(out, count, [=](floats const& x, floats const& y) { return scale * y + x; }, b, c);
}

template <class T, class Vector>
T fma_rounds(std::size_t steps) {
  Vector x[fma_chains];
  Vector const factor = Vector{} + T(0.999);
  Vector const term = Vector{} + T(0.001);
#pragma GCC unroll 12
  for (int k = 0; k < fma_chains; ++k) {
    x[k] = Vector{} + T(k);
  }
  for (std::size_t i = 0; i < steps; ++i) {
#pragma GCC unroll 12
    for (int k = 0; k < fma_chains; ++k) {
      x[k] = x[k] * factor + term;
    }
  }
  // Indexed by constants only, here too: otherwise the chains live on the stack.
  Vector total{};
#pragma GCC unroll 12
  for (int k = 0; k < fma_chains; ++k) {
    total += x[k];
  }
  T all = 0;
  for (std::size_t lane = 0; lane < bytes / sizeof(T); ++lane) {
    all += total[lane];
  }
  return all;
}

}  // namespace

host_rates const ISO_HOST_RATES = {
    read, copy, triad, fma_rounds<float, floats>, fma_rounds<double, doubles>, bytes,
};

}  // namespace iso::ceilings::detail
