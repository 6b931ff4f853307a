// SPDX-License-Identifier: BSD-3-Clause
#include "wait_policy.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace iso::cli {
namespace {

/// Counts the threads of this machine that run or could, but for this one: the fourth field of
/// /proc/loadavg is 3/106 where 3 of 106 do. 0 where the system does not tell.
int count_others() {
  std::ifstream file("/proc/loadavg");
  std::string load;
  int running = 0;
  file >> load >> load >> load >> running;
  return std::max(running - 1, 0);
}

/// Returns the least of three counts: what runs for a moment does not count.
int count_lasting_others() {
  int least = std::numeric_limits<int>::max();
  for (int n = 0; n < 3 && least > 0; ++n) {
    if (n > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    least = std::min(least, count_others());
  }
  return least;
}

int count_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/// Returns how many threads OpenMP starts by itself.
int count_threads(int cores) {
  char const* const asked = std::getenv("OMP_NUM_THREADS");
  int const number = asked == nullptr ? 0 : std::atoi(asked);
  return number > 0 ? number : cores;
}

bool is_chosen() {
  auto const names = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
  return std::any_of(names.begin(), names.end(),
                     [](char const* name) { return std::getenv(name) != nullptr; });
}

}  // namespace

bool is_overloaded(int others, int threads, int cores) {
  return others + threads > cores + cores / 8;
}

void wait_passively_where_busy(char* const* argv) {
  int const cores = count_cores();
  int const threads = count_threads(cores);
  if (cores == 0 || threads < 2 || is_chosen() ||
      !is_overloaded(count_lasting_others(), threads, cores)) {
    return;
  }
  // Set, it keeps the program that is started from starting another.
  if (::setenv("OMP_WAIT_POLICY", "passive", 1) == 0) {
    ::execv("/proc/self/exe", argv);
  }
}

}  // namespace iso::cli
