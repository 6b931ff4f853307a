// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/verify.hpp
#pragma once

#include <iso/jobs/report.hpp>
#include <iso/jobs/session.hpp>

#include <string>
#include <vector>

namespace iso::jobs {

enum class fault {
  none,
  one_bit,  ///< one bit of one result is flipped: verify must notice
};

struct verify_request {
  std::vector<std::string> backends;
  std::vector<int> threads = {1, 2, 3, 7, 16};  ///< of OpenMP
  int repeats = 2;
  fault inject = fault::none;
};

/// Runs every operation on every backend with every number of threads and launch shape, repeated,
/// and compares all bits with those of the first run.
report verify(verify_request const& request, observer const& watch);

}  // namespace iso::jobs
