// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/verify.hpp
#pragma once

#include <iso/jobs/info.hpp>
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
  std::vector<std::string> operations = {};  ///< names; empty: all
  ceilings_wanted ceilings = ceilings_wanted::yes;
};

/// Runs the operations on every backend with every number of threads and launch shape, repeated,
/// and compares all bits with those of the first run. Notes where not all operations ran.
/// \throws iso::invalid_argument  an operation that is not in the table, before any runs
report verify(verify_request const& request, observer const& watch);

/// A line of `iso verify --list`.
struct verify_operation {
  std::string name;
  std::vector<std::string> functions;  ///< public ones that it runs
};
std::vector<verify_operation> verify_operations();

}  // namespace iso::jobs
