// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/slab_report.hpp
#pragma once

#include <cstdint>

namespace iso::jobs {

/// How volumes in the machine's memory passed through a part of the backend's.
struct slab_report {
  std::int64_t planes = 0;        ///< of the largest slab
  std::int64_t device_bytes = 0;  ///< of the backend's memory, at most at once
  std::int64_t bytes_in = 0;      ///< to it
  std::int64_t bytes_out = 0;     ///< from it
};

}  // namespace iso::jobs
