// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/gamma.hpp
#pragma once

#include <iso/files/volume_file.hpp>
#include <iso/jobs/session.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace iso::jobs {

/// A pair of criteria: 0.03 and 3 for 3 %/3 mm.
struct gamma_criterion {
  double dose_difference;  ///< fraction of the dose that the normalisation names
  double distance;         ///< mm
};

struct gamma_request {
  std::string backend;
  files::host_volume reference;
  files::host_volume evaluated;  ///< in the same unit
  std::vector<gamma_criterion> criteria;
  std::string interpolation = "trilinear";  ///< or "tetrahedra", "grid"
  std::string normalisation = "global";     ///< or "local", "given"
  double given_dose = 0;                    ///< of "given"
  double cut_off = 0.1;                     ///< fraction of the normalisation's, or largest, dose
  double max_gamma = 2;
  bool strict = false;  ///< gamma of exactly 1 does not pass
  int bins = 100;       ///< of the histograms
};

/// Counts of the points of one criterion.
struct gamma_counts {
  std::int64_t passed = 0;
  std::int64_t outside_passed = 0;
  double mean = 0;
  double largest = 0;
  std::vector<std::int64_t> histogram;
};

/// What became of a point of the reference, as iso::gamma::point_status.
enum class gamma_status {
  compared = 0,
  below_cut_off = 1,
  outside = 2,  ///< compared, outside of the box of the evaluated middles
};

struct gamma_result {
  std::int64_t compared = 0;  ///< points at or above the cut-off, those outside included
  std::int64_t below_cut_off = 0;
  std::int64_t outside = 0;  ///< of those compared, outside the box of the evaluated middles
  std::vector<gamma_counts> criteria;
  double bin_width = 0;
  double reference_maximum = 0;
  std::array<double, 3> maximum_position{};  ///< mm; of its first voxel
  double cut_off_dose = 0;
  files::host_volume gamma;   ///< of the first criterion, on the reference's grid; NaN below
  files::host_volume status;  ///< gamma_status as a number, there too
  std::string hash;           ///< of the bits of gamma, all criteria
  double seconds = 0;         ///< of the search alone, data in place
};

/// Compares two doses by the gamma index on the backend that the request names.
/// \throws iso::invalid_argument  as iso::gamma::gamma_plan; no reference dose reaches the cut-off
/// \throws iso::out_of_memory     with what is asked for and what is free
/// \throws iso::cancelled         within a second as a rule
gamma_result compare_doses(gamma_request const& request, observer const& watch);

}  // namespace iso::jobs
