// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/lane_group.hpp>

#include <algorithm>
#include <atomic>

namespace iso::backend::detail {
namespace {

int most_vector_bytes() {
#ifdef ISO_HOST_AVX512
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    return 64;
  }
#endif
#ifdef ISO_HOST_AVX2
  return 32;
#else
  return 0;
#endif
}

std::atomic<int>& vector_bytes() {
  static std::atomic<int> bytes = most_vector_bytes();
  return bytes;
}

}  // namespace

int host_vector_bytes() { return vector_bytes().load(std::memory_order_relaxed); }

void set_host_vector_bytes(int bytes) {
  vector_bytes().store(std::min(bytes, most_vector_bytes()), std::memory_order_relaxed);
}

}  // namespace iso::backend::detail
