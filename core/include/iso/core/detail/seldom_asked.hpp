// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/core/job.hpp>

#include <cstdint>

namespace iso::detail {

/// Asks a job once in so many short steps of a loop on the host, and reports nothing. The job must
/// outlive it.
class seldom_asked {
 public:
  explicit seldom_asked(job const& control, std::uint64_t steps = std::uint64_t(1) << 16)
      : cancelled_{{}, control.cancelled}, steps_(steps) {}

  /// Counts a step.
  /// \throws iso::cancelled  as job::step
  void operator()() {
    if (++taken_ % steps_ == 0) {
      cancelled_.step(0);
    }
  }

 private:
  job cancelled_;
  std::uint64_t steps_;
  std::uint64_t taken_ = 0;
};

}  // namespace iso::detail
