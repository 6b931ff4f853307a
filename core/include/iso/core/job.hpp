// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/job.hpp
#pragma once

#include <iso/core/error.hpp>

#include <functional>

namespace iso {

/// The callbacks of a long operation: it reports its progress by one, and asks by the other whether
/// to stop. Both callbacks run on the calling host thread, between launches, never inside a kernel;
/// either may be empty.
struct job {
  std::function<void(double fraction)> progress;
  std::function<bool()> cancelled;

  /// Reports `fraction` in [0, 1].
  /// \throws iso::cancelled  the caller asks for a stop; outputs are then incomplete, and nothing
  /// is
  ///                         left running that the caller's next fence would not wait for
  void step(double fraction) const {
    if (progress) {
      progress(fraction);
    }
    if (cancelled && cancelled()) {
      throw iso::cancelled(
          "iso::job: cancelled by the caller (its outputs are incomplete); discard them, or call "
          "again");
    }
  }
};

}  // namespace iso
