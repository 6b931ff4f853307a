// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/repeats.hpp
//! Holds what a job tells of an operation that it runs again, to be timed.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace iso::jobs {

/// How often an operation is run again.
struct repeats_request {
  int count = 0;
  bool by_kernel = false;  ///< once more, with a wait before and after each kernel
};

struct run_time {
  double seconds = 0;            ///< on the wall
  double processor_seconds = 0;  ///< of this process' threads, which others do not lengthen
};

struct repeats_result {
  std::vector<run_time> runs;
  std::map<std::string, run_time> kernels;  ///< by label; without by_kernel empty
};

}  // namespace iso::jobs
