// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/detail/host_memory.hpp>

#include "common_facts.hpp"
#include "host_facts.hpp"

#include <algorithm>
#include <thread>

#if ISO_HAS_OPENMP
#include <omp.h>
#endif

namespace iso::backend {

std::string source_revision() { return detail::git_revision(); }

namespace {

// The instruction set that the host's lane groups use, by what the code was compiled for.
std::string vector_isa(int vector_bytes) {
  if (vector_bytes >= 64) {
    return "avx512";
  }
#if defined(__AVX2__)
  return "avx2";
#elif defined(__x86_64__)
  return "sse2";
#else
  return {};
#endif
}

template <class Exec>
device_facts host_facts(Exec const& exec) {
  device_facts result = detail::common_facts(tag<Exec>::name);
  result.processor = detail::host_processor();
  auto const memory = iso::detail::read_array_memory();
  result.memory_bytes = std::int64_t(memory.total);
  result.memory_free_bytes = std::int64_t(memory.available);
  result.l1_bytes = detail::host_l1_bytes();
  result.l2_bytes = detail::host_l2_bytes();
  result.l3_bytes = detail::host_l3_bytes();
  result.cores = detail::host_cores();
  result.threads = int(exec.concurrency());
  result.vector_bytes = host_vector_bytes();
  result.vector_isa = vector_isa(result.vector_bytes);
  result.clock_hz = detail::host_clock_hz();
  return result;
}

}  // namespace

template <>
device_facts facts(Kokkos::Serial const& exec) {
  return host_facts(exec);
}

int count_threads() {
#if ISO_HAS_OPENMP
  return omp_get_max_threads();
#elif ISO_HAS_THREADS
  return int(std::max(1U, std::thread::hardware_concurrency()));
#else
  return 1;
#endif
}

int count_granted_threads(int wanted) {
#if ISO_HAS_OPENMP
  int granted = 1;  // all that is certain where OpenMP may adjust the number
  if (omp_get_dynamic() == 0) {
#pragma omp parallel num_threads(wanted)
#pragma omp single
    granted = omp_get_num_threads();
  }
  return granted;
#else
  return wanted;
#endif
}

std::int64_t min_stack() {
  std::int64_t least = detail::stack_bytes();
  if (Kokkos::is_initialized()) {
    using host = Kokkos::DefaultHostExecutionSpace;
    std::int64_t others = least;
    Kokkos::parallel_reduce(
        "iso::backend::min_stack", Kokkos::RangePolicy<host>(0, host().concurrency()),
        [](int, std::int64_t& all) { all = std::min(all, detail::stack_bytes()); },
        Kokkos::Min<std::int64_t>(others));
    least = std::min(least, others);
  }
  return least;
}

#if !ISO_HAS_CUDA
int count_devices() { return 0; }
std::string device_uuid(int /*number*/) { return {}; }
#endif

#if ISO_HAS_THREADS
template <>
device_facts facts(Kokkos::Threads const& exec) {
  return host_facts(exec);
}
#endif

#if ISO_HAS_OPENMP
template <>
device_facts facts(Kokkos::OpenMP const& exec) {
  device_facts result = host_facts(exec);
  result.runtime = "OpenMP " + std::to_string(_OPENMP);
  return result;
}
#endif

}  // namespace iso::backend
