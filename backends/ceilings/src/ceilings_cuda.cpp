// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/cuda_check.hpp>
#include <iso/ceilings/ceilings.hpp>
#include <iso/ceilings/detail/rounds.hpp>
#include <iso/core/allocate.hpp>
#include <iso/core/check.hpp>

#include <Kokkos_Core.hpp>

#include <cuda_fp16.h>

#include <algorithm>
#include <limits>

namespace iso::backend {

namespace {

using word = uint4;  // what one load instruction takes at most

// Streamed data are read once: the first cache need not keep them.
__device__ word load_streamed(word const* p) {
  word x;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "l"(p));
  return x;
}

__device__ unsigned fold(word const& x) { return x.x ^ x.y ^ x.z ^ x.w; }

// Keeps `value` alive: the host never passes a `never` that it can equal by other than chance, and
// then only a word of scratch is written.
__device__ void keep(unsigned value, unsigned never, unsigned* sink) {
  if (value == never) {
    *sink = value;
  }
}

__global__ void fill_kernel(word* out, std::size_t count) {
  std::size_t const step = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    // Floats in [1, 2) with random-looking fractions.
    unsigned const h = unsigned(i) * 2654435761U;
    out[i] = word{0x3f800000U | (h >> 9U), 0x3f800000U | (h & 0x7fffffU),
                  0x3f800000U | ((h ^ 0x5bd1e995U) >> 9U), 0x3f800000U | ((h * 3U) >> 9U)};
  }
}

__device__ unsigned axpy(unsigned b, float s, unsigned c) {
  return __float_as_uint(__fmaf_rn(s, __uint_as_float(c), __uint_as_float(b)));
}

// Reads one array or two, `pitch` words apart, and folds them into a word (Writes 0), copies one or
// adds two (Writes 1). Tiles of blockDim.x * Loads words; a block takes every gridDim.x-th.
template <int Loads, int Reads, int Writes>
__global__ void __launch_bounds__(512)
    stream_kernel(word const* in, std::size_t pitch, word* out, unsigned tiles, unsigned never,
                  unsigned* sink) {
  unsigned total = 0;
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    std::size_t const first = std::size_t(tile) * (Loads * blockDim.x) + threadIdx.x;
    word x[Reads][Loads];
#pragma unroll
    for (int k = 0; k < Loads; ++k) {
#pragma unroll
      for (int r = 0; r < Reads; ++r) {
        x[r][k] = load_streamed(in + r * pitch + first + k * blockDim.x);
      }
    }
#pragma unroll
    for (int k = 0; k < Loads; ++k) {
      word const a = x[0][k];
      word const b = x[Reads - 1][k];
      if constexpr (Writes == 0) {
        total ^= fold(a);
      } else if constexpr (Reads == 1) {
        __stcs(out + first + k * blockDim.x, a);
      } else {
        __stcs(out + first + k * blockDim.x, word{axpy(a.x, 0.5F, b.x), axpy(a.y, 0.5F, b.y),
                                                  axpy(a.z, 0.5F, b.z), axpy(a.w, 0.5F, b.w)});
      }
    }
  }
  if constexpr (Writes == 0) {
    keep(total, never, sink);
  }
}

// `rounds` times over tiles that lie in the second cache, past the first one.
template <int Loads>
__global__ void __launch_bounds__(512)
    cache_kernel(word const* in, unsigned tiles, unsigned rounds, unsigned never, unsigned* sink) {
  unsigned total = 0;
  unsigned tile = blockIdx.x % tiles;
  for (unsigned long long done = blockIdx.x; done < (unsigned long long)tiles * rounds;
       done += gridDim.x) {
    word const* p = in + std::size_t(tile) * (Loads * blockDim.x) + threadIdx.x;
    word x[Loads];
#pragma unroll
    for (int k = 0; k < Loads; ++k) {
      x[k] = __ldcg(p + k * blockDim.x);
    }
#pragma unroll
    for (int k = 0; k < Loads; ++k) {
      total ^= fold(x[k]);
    }
    tile = (tile + gridDim.x) % tiles;
  }
  keep(total, never, sink);
}

__device__ float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
__device__ __half2 fused(__half2 a, __half2 b, __half2 c) { return __hfma2(a, b, c); }

__device__ unsigned bits(float x) { return __float_as_uint(x); }
__device__ unsigned bits(double x) { return unsigned(__double2loint(x)); }
__device__ unsigned bits(__half2 x) { return __float_as_uint(__low2float(x) + __high2float(x)); }

template <class T>
__device__ T value(float x) {
  return T(x);
}
template <>
__device__ __half2 value<__half2>(float x) {
  return __float2half2_rn(x);
}

constexpr int fma_chains = 8;
constexpr int fma_unroll = 16;

template <class T>
__global__ void __launch_bounds__(256)
    fma_kernel(int steps, float scale, unsigned never, unsigned* sink) {
  T const factor = value<T>(scale);
  T const term = value<T>(1.0F - scale);
  T x[fma_chains];
#pragma unroll
  for (int k = 0; k < fma_chains; ++k) {
    x[k] = value<T>(float(threadIdx.x + unsigned(k)) * 0.0078125F);
  }
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < fma_unroll; ++i) {
#pragma unroll
      for (int k = 0; k < fma_chains; ++k) {
        x[k] = fused(x[k], factor, term);
      }
    }
  }
  unsigned total = 0;
#pragma unroll
  for (int k = 0; k < fma_chains; ++k) {
    total ^= bits(x[k]);
  }
  keep(total, never, sink);
}

constexpr unsigned block_sizes[] = {128, 256, 512};

class event {
 public:
  event() { ISO_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~event() { static_cast<void>(cudaEventDestroy(event_)); }
  event(event const&) = delete;
  event& operator=(event const&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class cuda_machine {
 public:
  cuda_machine(Kokkos::Cuda const& exec, ceiling_options const& options)
      : stream_(exec.cuda_stream()), repeats_(options.repeats > 0 ? options.repeats : 3) {
    int const device = exec.cuda_device();
    ISO_CUDA_CHECK(cudaSetDevice(device));
    ISO_CUDA_CHECK(cudaDeviceGetAttribute(&cores_, cudaDevAttrMultiProcessorCount, device));
    ISO_CUDA_CHECK(cudaDeviceGetAttribute(&l2_, cudaDevAttrL2CacheSize, device));
    ISO_CUDA_CHECK(
        cudaDeviceGetAttribute(&resident_, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] std::size_t l2_bytes() const { return std::size_t(l2_); }
  /// Blocks that fill the GPU once.
  [[nodiscard]] unsigned one_wave(unsigned threads) const {
    return unsigned(cores_) * (unsigned(resident_) / threads);
  }

  /// Seconds of the fastest run of what `enqueue` puts on the stream, after one that is not
  /// counted.
  template <class F>
  double seconds(F const& enqueue) const {
    event const start;
    event const stop;
    double best = std::numeric_limits<double>::infinity();
    for (int run = 0; run <= repeats_; ++run) {
      ISO_CUDA_CHECK(cudaEventRecord(start, stream_));
      enqueue();
      ISO_CUDA_CHECK(cudaGetLastError());
      ISO_CUDA_CHECK(cudaEventRecord(stop, stream_));
      ISO_CUDA_CHECK(cudaEventSynchronize(stop));
      float milliseconds = 0;
      ISO_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
      if (run > 0) {
        best = std::min(best, 1e-3 * double(milliseconds));
      }
    }
    return best;
  }

 private:
  cudaStream_t stream_;
  int repeats_;
  int cores_ = 0;
  int l2_ = 0;
  int resident_ = 0;
};

// Bytes a second of the fastest launch of stream_kernel over equal parts of `words` words: of
// several block sizes, with one block a tile and with a grid that fills the GPU once.
template <int Loads, int Reads, int Writes>
double stream_rate(cuda_machine const& machine, word* data, std::size_t words, unsigned* sink) {
  constexpr int parts = Reads + Writes;
  std::size_t const pitch = words / parts;
  double best = 0;
  for (unsigned const threads : block_sizes) {
    auto const tiles = unsigned(pitch / (Loads * threads));
    double const bytes = double(tiles) * Loads * threads * sizeof(word) * parts;
    for (unsigned const blocks : {tiles, std::min(tiles, machine.one_wave(threads))}) {
      best = std::max(best, bytes / machine.seconds([&] {
        stream_kernel<Loads, Reads, Writes><<<blocks, threads, 0, machine.stream()>>>(
            data, pitch, data + Reads * pitch, tiles, 0x9e3779b9U, sink);
      }));
    }
  }
  return best;
}

template <int Loads>
void measure_streams(cuda_machine const& machine, word* data, std::size_t words, unsigned* sink,
                     ceilings& result) {
  result.read = std::max(result.read, stream_rate<Loads, 1, 0>(machine, data, words, sink));
  result.copy = std::max(result.copy, stream_rate<Loads, 1, 1>(machine, data, words, sink));
  result.triad = std::max(result.triad, stream_rate<Loads, 2, 1>(machine, data, words, sink));
}

double measure_cache(cuda_machine const& machine, word const* data, std::size_t words,
                     unsigned* sink) {
  constexpr int loads = 8;
  double best = 0;
  for (std::size_t const part : {8U, 4U, 3U}) {
    for (unsigned const threads : block_sizes) {
      std::size_t const set = std::min(words, machine.l2_bytes() / part / sizeof(word));
      auto const tiles = std::max(1U, unsigned(set / (loads * threads)));
      unsigned const rounds = std::max(1U, unsigned((std::size_t(1) << 31U) / sizeof(word) / set));
      double const bytes = double(tiles) * rounds * loads * threads * sizeof(word);
      double const seconds = machine.seconds([&] {
        cache_kernel<loads><<<machine.one_wave(threads), threads, 0, machine.stream()>>>(
            data, tiles, rounds, 0x9e3779b9U, sink);
      });
      best = std::max(best, bytes / seconds);
    }
  }
  return best;
}

template <class T>
double measure_fma(cuda_machine const& machine, int lanes, int steps, unsigned* sink) {
  unsigned const blocks = machine.one_wave(256);
  double const operations =
      2.0 * lanes * fma_chains * fma_unroll * double(steps) * 256.0 * double(blocks);
  return operations / machine.seconds([&] {
    fma_kernel<T><<<blocks, 256, 0, machine.stream()>>>(steps, 0.999F, 0x9e3779b9U, sink);
  });
}

ceilings measure(cuda_machine const& machine, word* data, std::size_t words, unsigned* sink) {
  ceilings result;
  measure_streams<2>(machine, data, words, sink, result);
  measure_streams<4>(machine, data, words, sink, result);
  measure_streams<8>(machine, data, words, sink, result);
  double const half = double(words / 2 * sizeof(word));
  result.copy = std::max(result.copy, 2 * half / machine.seconds([&] {
    ISO_CUDA_CHECK(cudaMemcpyAsync(data + words / 2, data, std::size_t(half),
                                   cudaMemcpyDeviceToDevice, machine.stream()));
  }));
  result.l2 = measure_cache(machine, data, words, sink);
  result.fp16 = measure_fma<__half2>(machine, 2, 2048, sink);
  result.fp32 = measure_fma<float>(machine, 1, 2048, sink);
  result.fp64 = measure_fma<double>(machine, 1, 1024, sink);
  return result;
}

std::size_t working_set(ceiling_options const& options) {
  if (options.bytes > 0) {
    return std::max<std::size_t>(std::size_t(options.bytes), std::size_t(1) << 20U);
  }
  std::size_t free = 0;
  std::size_t total = 0;
  ISO_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return std::min(std::size_t(3) << 30U, free / 2);
}

}  // namespace

template <>
ceilings measure_ceilings(Kokkos::Cuda const& exec, ceiling_options const& options) {
  ISO_VALIDATE(options.bytes >= 0 && options.repeats >= 0,
               "measure_ceilings: bytes {}, repeats {} (negative) use 0 for the default",
               options.bytes, options.repeats);
  cuda_machine const machine(exec, options);
  // Whole, halves and thirds of it start on a line.
  std::size_t const words = working_set(options) / sizeof(word) / 48 * 48;
  using storage = Kokkos::View<word*, Kokkos::CudaSpace>;
  auto const data = iso::allocate<storage>("iso::backend::ceilings memory", {std::int64_t(words)},
                                           exec, Kokkos::WithoutInitializing);
  Kokkos::View<unsigned*, Kokkos::CudaSpace> const sink(
      Kokkos::view_alloc(exec, "iso::backend::ceilings sink"), 1);
  fill_kernel<<<machine.one_wave(256), 256, 0, machine.stream()>>>(data.data(), words);
  ISO_CUDA_CHECK(cudaGetLastError());

  auto const round = [&] { return measure(machine, data.data(), words, sink.data()); };
  auto const result = detail::measure_in_rounds(round, options);
  exec.fence("iso::backend::measure_ceilings");
  return result;
}

}  // namespace iso::backend
