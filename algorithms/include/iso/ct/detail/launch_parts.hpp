// SPDX-License-Identifier: BSD-3-Clause
//! Divides the work of a call into launches, between which a job is asked.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/job.hpp>

#include <algorithm>
#include <cstdint>

namespace iso::ct::detail {

/// The largest number of samples that a thread of a processor takes in one launch: by exact
/// lengths, at 7e7 a second, half a second's. Between launches a job is asked whether to go on.
inline constexpr double samples_a_thread = 0x1p25;

/// Returns how many of `parts` equal parts of so many samples one launch takes: on a processor as
/// many whole ones for each thread as the bound allows, and one at least.
template <class Exec>
std::int64_t parts_a_launch(Exec const& exec, std::int64_t parts, double samples) {
  if constexpr (backend::is_device<Exec>) {
    return parts;
  } else {
    double const of_thread =
        std::clamp(samples_a_thread / samples * double(parts), 1.0, std::max(double(parts), 1.0));
    return std::min(parts, std::int64_t(of_thread) * std::int64_t(exec.concurrency()));
  }
}

/// The part of a call that takes its job from the fraction `from` to the fraction `to`.
struct step_range {
  job const& control;
  double from;
  double to;

  /// Returns the beginning, where it is asked, and told no more than that.
  [[nodiscard]] step_range beginning() const { return {control, from, from}; }
};

/// Calls launch(first, count) for a launch of `count` of so many parts of equal work, from `first`
/// on, until all are under way, and asks the job after each.
template <class Exec, class Launch>
void launch_parts(Exec const& exec, std::int64_t parts, double samples, step_range const& within,
                  Launch const& launch) {
  std::int64_t const step = parts_a_launch(exec, parts, samples);
  for (std::int64_t first = 0; first < parts; first += step) {
    std::int64_t const last = std::min(parts, first + step);
    launch(first, last - first);
    within.control.step(last == parts ? within.to
                                      : within.from + (within.to - within.from) * double(last) /
                                                          double(parts));
  }
}

}  // namespace iso::ct::detail
