// SPDX-License-Identifier: BSD-3-Clause
//! Measures how long the threads of this process waited for a core that another process had.
#pragma once

#include <map>
#include <string>

namespace iso::jobs {

/// Waits for a core from now on. None where the system does not tell of them (Linux does).
class core_waits {
 public:
  core_waits();

  /// Returns the seconds that the thread which waited longest since then waited.
  [[nodiscard]] double longest_since() const;

 private:
  std::map<std::string, double> seconds_;  ///< by thread
};

}  // namespace iso::jobs
