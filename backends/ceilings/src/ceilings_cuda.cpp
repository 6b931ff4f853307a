// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/cuda_check.hpp>
#include <iso/ceilings/ceilings.hpp>
#include <iso/ceilings/detail/rounds.hpp>
#include <iso/core/allocate.hpp>

#include <Kokkos_Core.hpp>

#include <cuda_fp16.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace iso::ceilings {
namespace {

using word = uint4;  // what one load instruction takes at most

enum class level { memory, second_cache };

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
// adds two (Writes 1). Tiles of blockDim.x * Loads words; a block takes every gridDim.x-th, of
// `rounds` over all of them: of one round in memory.
template <level From, int Loads, int Reads, int Writes>
__global__ void __launch_bounds__(512)
    stream_kernel(word const* in, std::size_t pitch, word* out, unsigned tiles, unsigned rounds,
                  unsigned never, unsigned* sink) {
  unsigned total = 0;
  for (unsigned n = blockIdx.x; n < tiles * rounds; n += gridDim.x) {
    unsigned const tile = From == level::memory ? n : n % tiles;
    std::size_t const first = std::size_t(tile) * (Loads * blockDim.x) + threadIdx.x;
    word x[Reads][Loads];
#pragma unroll
    for (int k = 0; k < Loads; ++k) {
#pragma unroll
      for (int r = 0; r < Reads; ++r) {
        word const* const p = in + r * pitch + first + k * blockDim.x;
        x[r][k] = From == level::memory ? load_streamed(p) : __ldcg(p);
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

std::shared_ptr<CUevent_st> make_event() {
  cudaEvent_t made = nullptr;
  ISO_CUDA_CHECK(cudaEventCreate(&made));
  return {made, [](cudaEvent_t e) { static_cast<void>(cudaEventDestroy(e)); }};
}

std::size_t working_set(measure_options const& options) {
  if (options.bytes > 0) {
    return std::max<std::size_t>(std::size_t(options.bytes), std::size_t(1) << 20U);
  }
  std::size_t free = 0;
  std::size_t total = 0;
  ISO_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return std::min(std::size_t(3) << 30U, free / 2);
}

constexpr unsigned block_sizes[] = {128, 256, 512};
constexpr unsigned no_result = 0x9e3779b9U;

class cuda_machine {
 public:
  cuda_machine(Kokkos::Cuda const& exec, measure_options const& options)
      : stream_(exec.cuda_stream()),
        repeats_(options.repeats > 0 ? options.repeats : 3),
        sink_(Kokkos::view_alloc(exec, "iso::ceilings: sink"), 1) {
    int const device = exec.cuda_device();
    ISO_CUDA_CHECK(cudaSetDevice(device));
    ISO_CUDA_CHECK(cudaDeviceGetAttribute(&cores_, cudaDevAttrMultiProcessorCount, device));
    ISO_CUDA_CHECK(cudaDeviceGetAttribute(&l2_, cudaDevAttrL2CacheSize, device));
    ISO_CUDA_CHECK(
        cudaDeviceGetAttribute(&resident_, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    // Whole, halves and thirds of it start on a line.
    std::size_t const words = working_set(options) / sizeof(word) / 48 * 48;
    data_ = iso::allocate<decltype(data_)>("iso::ceilings: memory", {std::int64_t(words)}, exec,
                                           Kokkos::WithoutInitializing);
    fill_kernel<<<one_wave(256), 256, 0, stream_>>>(data_.data(), words);
    ISO_CUDA_CHECK(cudaGetLastError());
  }

  [[nodiscard]] rates measure() const {
    rates result;
    measure_streams<2>(result);
    measure_streams<4>(result);
    measure_streams<8>(result);
    std::size_t const half = data_.size() / 2;
    result.copy =
        std::max(result.copy, 2 * double(half * sizeof(word)) / seconds([&] {
                                ISO_CUDA_CHECK(cudaMemcpyAsync(data_.data() + half, data_.data(),
                                                               half * sizeof(word),
                                                               cudaMemcpyDeviceToDevice, stream_));
                              }));
    for (std::size_t const part : {8U, 4U, 3U}) {
      std::size_t const set = std::min(data_.size(), std::size_t(l2_) / part / sizeof(word));
      auto const rounds = std::max(1U, unsigned((std::size_t(1) << 31U) / sizeof(word) / set));
      for (unsigned const threads : block_sizes) {
        result.l2 = std::max(result.l2, stream_rate<level::second_cache, 8, 1, 0>(
                                            set, rounds, threads, one_wave(threads)));
      }
    }
    result.fp16 = fma_rate<__half2>(2, 2048);
    result.fp32 = fma_rate<float>(1, 2048);
    result.fp64 = fma_rate<double>(1, 1024);
    return result;
  }

 private:
  /// Blocks that fill the GPU once.
  [[nodiscard]] unsigned one_wave(unsigned threads) const {
    return unsigned(cores_) * (unsigned(resident_) / threads);
  }

  /// Seconds of the fastest run of what `enqueue` puts on the stream, after one that is not
  /// counted.
  template <class F>
  double seconds(F const& enqueue) const {
    auto const start = make_event();
    auto const stop = make_event();
    double best = std::numeric_limits<double>::infinity();
    for (int run = 0; run <= repeats_; ++run) {
      ISO_CUDA_CHECK(cudaEventRecord(start.get(), stream_));
      enqueue();
      ISO_CUDA_CHECK(cudaGetLastError());
      ISO_CUDA_CHECK(cudaEventRecord(stop.get(), stream_));
      ISO_CUDA_CHECK(cudaEventSynchronize(stop.get()));
      float milliseconds = 0;
      ISO_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()));
      if (run > 0) {
        best = std::min(best, 1e-3 * double(milliseconds));
      }
    }
    return best;
  }

  /// Bytes a second of stream_kernel over equal parts of the first `words` words.
  template <level From, int Loads, int Reads, int Writes>
  double stream_rate(std::size_t words, unsigned rounds, unsigned threads, unsigned blocks) const {
    constexpr int parts = Reads + Writes;
    std::size_t const pitch = words / parts;
    auto const tiles = std::max(1U, unsigned(pitch / (Loads * threads)));
    double const bytes = double(tiles) * rounds * Loads * threads * sizeof(word) * parts;
    return bytes / seconds([&] {
             stream_kernel<From, Loads, Reads, Writes>
                 <<<std::min(blocks, tiles * rounds), threads, 0, stream_>>>(
                     data_.data(), pitch, data_.data() + Reads * pitch, tiles, rounds, no_result,
                     sink_.data());
           });
  }

  /// Of several block sizes, with one block a tile and with a grid that fills the GPU once.
  template <int Loads>
  void measure_streams(rates& result) const {
    auto const take = [](double& most, double rate) { most = std::max(most, rate); };
    std::size_t const words = data_.size();
    for (unsigned const threads : block_sizes) {
      for (unsigned const blocks : {~0U, one_wave(threads)}) {
        take(result.read, stream_rate<level::memory, Loads, 1, 0>(words, 1, threads, blocks));
        take(result.copy, stream_rate<level::memory, Loads, 1, 1>(words, 1, threads, blocks));
        take(result.triad, stream_rate<level::memory, Loads, 2, 1>(words, 1, threads, blocks));
      }
    }
  }

  template <class T>
  double fma_rate(int lanes, int steps) const {
    unsigned const blocks = one_wave(256);
    double const operations =
        2.0 * lanes * fma_chains * fma_unroll * double(steps) * 256.0 * double(blocks);
    return operations / seconds([&] {
             fma_kernel<T><<<blocks, 256, 0, stream_>>>(steps, 0.999F, no_result, sink_.data());
           });
  }

  cudaStream_t stream_;
  int repeats_;
  int cores_ = 0;
  int l2_ = 0;
  int resident_ = 0;
  Kokkos::View<word*, Kokkos::CudaSpace> data_;
  Kokkos::View<unsigned*, Kokkos::CudaSpace> sink_;
};

}  // namespace

template <>
rates measure(Kokkos::Cuda const& exec, measure_options const& options) {
  detail::validate(options);
  cuda_machine const machine(exec, options);
  auto const result = detail::measure_in_rounds([&] { return machine.measure(); }, options);
  exec.fence("iso::ceilings::measure");
  return result;
}

}  // namespace iso::ceilings
