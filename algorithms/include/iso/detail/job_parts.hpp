// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/core/job.hpp>

namespace iso::detail {

/// Returns a job that asks as `control` does, and reports nothing: for a part of its work.
inline job asked_only(job const& control) { return {{}, control.cancelled}; }

/// Returns a job for the part of the work of `control`, which must outlive it, that takes it from
/// the fraction `from` to the fraction `to`.
inline job part_of(job const& control, double from, double to) {
  job part{{}, control.cancelled};
  if (control.progress) {
    part.progress = [&control, from, to](double fraction) {
      control.progress(fraction < 1 ? from + (to - from) * fraction : to);
    };
  }
  return part;
}

}  // namespace iso::detail
