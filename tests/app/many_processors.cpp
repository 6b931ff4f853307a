// SPDX-License-Identifier: BSD-3-Clause
// Loaded before the C library: every thread may run on 600 processors.
#include <pthread.h>
#include <sched.h>

#include <cerrno>

extern "C" int pthread_getaffinity_np(pthread_t, size_t bytes, cpu_set_t* set) {
  constexpr int processors = 600;
  if (bytes < CPU_ALLOC_SIZE(processors)) {
    return EINVAL;
  }
  CPU_ZERO_S(bytes, set);
  for (int i = 0; i < processors; ++i) {
    CPU_SET_S(i, bytes, set);
  }
  return 0;
}
