// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/cuda_check.hpp>
#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>

#include "common_facts.hpp"

namespace iso::backend {

namespace detail {

void throw_cuda_error(cudaError_t status, char const* call) {
  throw error(std::string("iso::backend: CUDA: ") + cudaGetErrorString(status) + " (" +
              cudaGetErrorName(status) + " from " + call +
              "); check the driver, and what else uses the GPU");
}

}  // namespace detail

namespace {

struct fma_units {
  int fp32;
  int fp64;
};

// Units of one multiprocessor, by compute capability (CUDA C++ Programming Guide, arithmetic
// throughput); {0, 0} for one that this table does not know.
fma_units units_of(int major, int minor) {
  switch (10 * major + minor) {
    case 60:
      return {64, 32};
    case 61:
      return {128, 4};
    case 70:
      return {64, 32};
    case 75:
      return {64, 2};
    case 80:
      return {64, 32};
    case 86:
    case 87:
    case 89:
      return {128, 2};
    case 90:
    case 100:
      return {128, 64};
    case 103:
    case 120:
      return {128, 2};
    default:
      return {0, 0};
  }
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  ISO_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

int count_devices() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string device_uuid(int number) {
  cudaDeviceProp of;
  ISO_CUDA_CHECK(cudaGetDeviceProperties(&of, number));
  std::string digits;
  for (char const byte : of.uuid.bytes) {
    auto const bits = static_cast<unsigned char>(byte);
    digits += "0123456789abcdef"[bits / 16];
    digits += "0123456789abcdef"[bits % 16];
  }
  return digits;
}

template <>
device_facts facts(Kokkos::Cuda const& exec) {
  int const device = exec.cuda_device();
  ISO_CUDA_CHECK(cudaSetDevice(device));
  cudaDeviceProp properties;
  ISO_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));

  device_facts result = detail::common_facts(tag<Kokkos::Cuda>::name);
  result.processor = properties.name;
  std::size_t free = 0;
  std::size_t total = 0;
  ISO_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  result.memory_bytes = std::int64_t(total);
  result.memory_free_bytes = std::int64_t(free);
  result.l1_bytes = std::int64_t(properties.sharedMemPerMultiprocessor);
  result.l2_bytes = properties.l2CacheSize;
  result.cores = properties.multiProcessorCount;
  result.threads = properties.multiProcessorCount * properties.maxThreadsPerMultiProcessor;
  result.vector_isa = "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);

  // kHz; the memory moves two words a clock.
  result.clock_hz = 1e3 * attribute(cudaDevAttrClockRate, device);
  result.peak_bandwidth = 2.0 * 1e3 * attribute(cudaDevAttrMemoryClockRate, device) *
                          attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8.0;
  fma_units const units = units_of(properties.major, properties.minor);
  result.peak_fp32 = 2.0 * result.clock_hz * units.fp32 * result.cores;
  result.peak_fp64 = 2.0 * result.clock_hz * units.fp64 * result.cores;

  int version = 0;
  ISO_CUDA_CHECK(cudaDriverGetVersion(&version));
  result.driver = "CUDA " + version_text(version);
  ISO_CUDA_CHECK(cudaRuntimeGetVersion(&version));
  result.runtime = "CUDA " + version_text(version);
  return result;
}

}  // namespace iso::backend
