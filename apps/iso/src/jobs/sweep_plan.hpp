// SPDX-License-Identifier: BSD-3-Clause
//! Describes which points a sweep measures, and in what order.
#pragma once

#include <iso/cases/table.hpp>
#include <iso/jobs/sweep.hpp>

#include <string>
#include <utility>
#include <vector>

namespace iso::jobs {

/// What shares one set of ceilings.
struct configuration {
  std::string backend;
  int threads = 1;

  friend auto operator<=>(configuration const&, configuration const&) = default;
};

/// Holds the points of each configuration, in the order of the sweep file.
using sweep_plan = std::vector<std::pair<configuration, std::vector<files::sweep_key>>>;

/// \throws iso::invalid_argument  a point that is not in the table of operations, or none to
/// measure
sweep_plan plan_sweep(sweep_request const& request, std::vector<std::string>& notes);

cases::point point_of(files::sweep_key const& key);
/// Returns a name for people: operation, size, precision, backend, threads.
std::string name_of(files::sweep_key const& key);

/// Estimates a point's seconds and the ceilings', for the time left: nothing depends on it.
double expected_seconds(files::sweep_key const& key, files::sweep_description const& what);
inline constexpr double expected_ceilings = 2;

}  // namespace iso::jobs
