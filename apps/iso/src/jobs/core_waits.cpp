// SPDX-License-Identifier: BSD-3-Clause
#include "core_waits.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace iso::jobs {

core_waits::core_waits() {
  std::error_code failure;
  std::filesystem::directory_iterator const threads("/proc/self/task", failure);
  if (failure) {
    return;
  }
  for (auto const& thread : threads) {
    // Nanoseconds on a core, and ready to run without one.
    std::ifstream file(thread.path() / "schedstat");
    double running = 0;
    double waiting = 0;
    if (file >> running >> waiting) {
      seconds_[thread.path().filename().string()] = 1e-9 * waiting;
    }
  }
}

double core_waits::longest_since() const {
  double longest = 0;
  for (auto const& [thread, seconds] : core_waits().seconds_) {
    auto const before = seconds_.find(thread);
    longest = std::max(longest, seconds - (before == seconds_.end() ? 0 : before->second));
  }
  return longest;
}

}  // namespace iso::jobs
