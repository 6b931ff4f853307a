// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/rank_report.hpp
//! Says what a rank of a job sends and holds.
#pragma once

#include <cstdint>

namespace iso {

/// What a rank sends and holds.
struct rank_report {
  std::int64_t bytes_sent = 0;  ///< to other ranks so far
  std::int64_t bytes_held = 0;  ///< where its backend computes, beside the arrays of its calls
};

}  // namespace iso
