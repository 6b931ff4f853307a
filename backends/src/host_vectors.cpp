// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/host_vectors.hpp>

#include <algorithm>
#include <atomic>

namespace iso::backend {
namespace {

int max_vector_bytes() {
#if defined(__x86_64__)
  // F16C, BMI and LZCNT, which clang 14 cannot ask for, come with every processor that has these.
  bool const avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2");
  bool const avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  return avx2 ? (avx512 ? 64 : 32) : 0;
#else
  return 0;
#endif
}

std::atomic<int>& vector_bytes() {
  static std::atomic<int> bytes = max_vector_bytes();
  return bytes;
}

}  // namespace

int host_vector_bytes() { return vector_bytes().load(std::memory_order_relaxed); }

void set_host_vector_bytes(int bytes) {
  int const wanted = bytes >= 64 ? 64 : bytes >= 32 ? 32 : 0;
  vector_bytes().store(std::min(wanted, max_vector_bytes()), std::memory_order_relaxed);
}

}  // namespace iso::backend
