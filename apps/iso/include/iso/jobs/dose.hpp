// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/dose.hpp
#pragma once

#include <iso/core/grid.hpp>
#include <iso/files/plan_file.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/jobs/repeats.hpp>
#include <iso/jobs/session.hpp>
#include <iso/model/number_type.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace iso::jobs {

struct dose_request {
  std::string backend;
  iso::precision precision = iso::precision::f32;
  files::plan plan;
  files::host_volume volume;  ///< g/cm3 or Hounsfield units; not read where a phantom is wanted
  bool hounsfield = false;    ///< `volume` is in Hounsfield units
  files::table_source density_table{"schneider_2000"};
  double phantom_voxel = 0;   ///< mm; above 0: the slab phantom of such voxels instead
  bool keep_density = false;  ///< the result holds the density too
  bool keeps_planes = false;  ///< leave the planes of the dose where the ranks have them
  repeats_request repeats{};
};

/// Where a beam lies, by the volume's axes, and what was calculated for it.
struct beam_result {
  std::array<double, 3> source{};  ///< mm
  std::array<double, 3> along{};   ///< from the source to the isocentre, length 1
  std::array<double, 3> x{};       ///< the collimator's
  std::array<double, 3> y{};
  std::array<std::int64_t, 3> region_first{};  ///< voxel
  std::array<std::int64_t, 3> region_extent{};
  double seconds = 0;
};

struct dose_result {
  /// Gy for the beams' weights, on the grid of the whole volume; its values are on rank 0 alone, or
  /// those of `planes`, where ranks keep them.
  files::host_volume dose;
  slab planes{};
  files::host_volume density;  ///< g/cm3; without values unless asked for
  std::vector<beam_result> beams;
  std::int64_t directions = 0;               ///< of each kernel
  std::int64_t kernels = 1;                  ///< above 1: of bins of the spectrum
  double maximum = 0;                        ///< Gy
  std::array<std::int64_t, 3> maximum_at{};  ///< its first voxel
  std::array<double, 3> maximum_position{};  ///< mm
  std::string hash;                          ///< of the bits in the precision of the request
  double seconds = 0;                        ///< of the calculation alone, data in place
  repeats_result repeats{};
};

/// Returns the voxels of the dose, without values.
/// \throws iso::invalid_argument  a phantom's voxel that does not divide it
files::host_volume dose_grid(dose_request const& request);

/// Calculates the collapsed-cone dose of all beams, added in order, and of each beam bin by bin of
/// the spectrum where the plan asks for a kernel for each, on the backend that the request names.
/// \throws iso::invalid_argument  plan, tables, a beam that misses, a density that is none
/// \throws iso::out_of_memory     with what is asked for and what is free
/// \throws iso::cancelled         between two beams or bins
dose_result calculate_dose(dose_request const& request, observer const& watch);

}  // namespace iso::jobs
