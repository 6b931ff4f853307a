// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/dvh.hpp
#pragma once

#include <iso/dvh/contours.hpp>
#include <iso/dvh/quantity.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/jobs/repeats.hpp>
#include <iso/jobs/session.hpp>
#include <iso/jobs/slab_report.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iso::jobs {

struct dvh_request {
  std::string backend;
  std::vector<files::host_volume> doses;        ///< Gy
  std::vector<files::rt_structure> structures;  ///< in the coordinates of the doses
  std::vector<dvh::quantity> quantities;
  dvh::structure_options shape{.beyond = dvh::off_grid::cut};
  dvh::extremes surface = dvh::extremes::surface;
  /// A structure that is refused is told in the result, and the others are evaluated.
  bool report_others = false;
  std::int64_t bins = 0;  ///< of the curves; 0: none are made
  /// Bytes of the backend's memory through which slabs of the doses pass; none: all lie there.
  std::optional<std::int64_t> memory;
  repeats_request repeats{};
};

/// What one structure gets of one dose.
struct dvh_entry {
  double volume = 0;   ///< mm3, where there is a dose
  double outside = 0;  ///< mm3, where there is none
  dvh::structure_report report;
  std::vector<double> values;        ///< of the quantities; NaN where there is none
  std::vector<double> cumulative;    ///< bins + 1: mm3 that get n bin widths or more
  std::vector<double> differential;  ///< bins: mm3 that get from n to n + 1 bin widths
};

/// A structure without figures, and the message that says why.
struct refused_structure {
  std::string name;
  std::string reason;
};

struct dvh_result {
  std::vector<std::vector<dvh_entry>> entries;  ///< [doses][reported]
  std::vector<std::size_t> reported;            ///< structures of the request
  std::vector<refused_structure> refused;       ///< all others
  double bin_width = 0;                         ///< Gy, the same in all curves
  std::string hash;                             ///< of the bits of all values and curves
  double seconds = 0;                           ///< of values and curves, data in place
  std::int64_t bytes_needed = 0;                ///< that were asked for in the backend's memory
  repeats_result repeats{};                     ///< of structures' voxels, values and curves
  std::optional<slab_report> streamed;          ///< with a limit of memory
};

/// Evaluates every structure in every dose on the backend that the request names. What lies outside
/// of a dose's voxels is left out and counted.
/// \throws iso::invalid_argument  as iso::dvh::voxel_fractions and iso::dvh::evaluate; a structure
///                                that lies wholly outside of a dose; where others are to be
///                                reported, if none can be
/// \throws iso::out_of_memory     with what is asked for and what is free, or may be used
/// \throws iso::cancelled         within a second as a rule
dvh_result evaluate_structures(dvh_request const& request, observer const& watch);

/// Returns which share of each voxel lies in the structure, for each of some grids, z fastest, with
/// half-slice caps; a structure with one plane is as thick as a voxel of `patient`. Volumes are
/// grids: their values are not read.
/// \throws iso::invalid_argument  as iso::dvh::voxel_fractions; a structure that lies wholly
///                                outside of `patient`
/// \throws iso::cancelled         within a second as a rule
std::vector<std::vector<double>> structure_shares(files::rt_structure const& structure,
                                                  files::host_volume const& patient,
                                                  std::vector<files::host_volume> const& grids,
                                                  job const& asked = {});

}  // namespace iso::jobs
