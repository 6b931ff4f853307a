// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/sweep.hpp
//! Measures many operations, each point written as soon as it is there.
#pragma once

#include <iso/files/sweep_file.hpp>
#include <iso/files/sweep_records.hpp>
#include <iso/jobs/session.hpp>
#include <iso/jobs/verify.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace iso::jobs {

struct sweep_request {
  files::sweep_description what;
  std::vector<std::string> backends;  ///< that may run
  std::filesystem::path output;       ///< of this process alone
  std::string version;                ///< of the tool
  std::string node;                   ///< that this process runs on
  int rank = 0;
  int ranks = 1;
  double slow_down = 1;  ///< calls wait until they have taken so many times as long
  fault inject = fault::none;
};

struct sweep_summary {
  std::int64_t measurements = 0;  ///< of all points in all rounds
  std::int64_t kept = 0;          ///< that the file held already
  std::vector<files::sweep_point> measured;
  std::vector<files::sweep_gap> gaps;  ///< that could not be measured
  std::vector<std::string> notes;
};

/// Measures the ceilings of each backend and number of threads, and every point that the output
/// does not hold yet.
/// \throws iso::invalid_argument  a point that is not in the table of operations, or none to
/// measure
/// \throws iso::file_error        the output is another sweep's, or another process writes it
/// \throws iso::cancelled         what was measured is kept
sweep_summary sweep(sweep_request const& request, observer const& watch);

/// Returns the points that `sweep` would measure here, in its order; measures nothing.
/// \throws iso::invalid_argument  as sweep
std::vector<files::sweep_key> sweep_points(sweep_request const& request);

/// A line of `iso sweep --list`.
struct sweep_operation {
  std::string name;
  std::string about;
  std::string size;
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  std::string precisions;
};
std::vector<sweep_operation> sweep_operations();

}  // namespace iso::jobs
