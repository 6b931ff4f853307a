// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/host_vectors.hpp>

#include <atomic>

namespace iso::backend {
namespace {

#ifdef ISO_HOST_AVX2
constexpr int min_vector_bytes = 32;
#else
constexpr int min_vector_bytes = 0;
#endif

int max_vector_bytes() {
#ifdef ISO_HOST_AVX512
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    return 64;
  }
#endif
  return min_vector_bytes;
}

std::atomic<int>& vector_bytes() {
  static std::atomic<int> bytes = max_vector_bytes();
  return bytes;
}

}  // namespace

int host_vector_bytes() { return vector_bytes().load(std::memory_order_relaxed); }

void set_host_vector_bytes(int bytes) {
  int const most = max_vector_bytes();
  vector_bytes().store(bytes >= most ? most : min_vector_bytes, std::memory_order_relaxed);
}

}  // namespace iso::backend
