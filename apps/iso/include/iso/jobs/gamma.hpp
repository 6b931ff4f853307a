// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/gamma.hpp
#pragma once

#include <iso/files/volume_file.hpp>
#include <iso/gamma/gamma_options.hpp>
#include <iso/jobs/repeats.hpp>
#include <iso/jobs/session.hpp>
#include <iso/jobs/slab_report.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace iso::jobs {

struct gamma_request {
  std::string backend;
  files::host_volume reference;
  files::host_volume evaluated;  ///< in the same unit
  // On ranks, where these have no values: return those of some of their planes, [nx, ny, planes].
  std::function<std::vector<float>(slab const& planes)> read_reference{};
  std::function<std::vector<float>(slab const& planes)> read_evaluated{};
  bool keeps_planes = false;  ///< leave the planes of gamma and status where the ranks have them
  std::vector<gamma::criterion> criteria;
  gamma::gamma_options options;
  gamma::summary_options summary;
  /// Bytes of the backend's memory through which slabs of the doses pass; none: both lie there.
  std::optional<std::int64_t> memory;
  repeats_request repeats{};
};

struct gamma_result {
  std::vector<gamma::gamma_summary> criteria;
  double reference_maximum = 0;
  std::array<double, 3> maximum_position{};  ///< mm; of its first voxel
  double cut_off_dose = 0;
  /// Of the first criterion, on the reference's grid; NaN below. Its values and those of the status
  /// are on rank 0 alone, or those of `planes`, where ranks keep them.
  files::host_volume gamma;
  slab planes{};
  files::host_volume status;  ///< gamma::point_status as a number, there too
  std::string hash;           ///< of the bits of gamma, all criteria
  double seconds = 0;         ///< of the search alone, data in place
  repeats_result repeats{};   ///< of the plan and the search; of slabs with their way there
  std::optional<slab_report> streamed;  ///< with a limit of memory
};

/// Compares two doses by the gamma index on the backend that the request names.
/// \throws iso::invalid_argument  as iso::gamma::gamma_plan; no reference dose reaches the cut-off
/// \throws iso::out_of_memory     with what is asked for and what is free, or may be used
/// \throws iso::cancelled         within a second as a rule
gamma_result compare_doses(gamma_request const& request, observer const& watch);

}  // namespace iso::jobs
