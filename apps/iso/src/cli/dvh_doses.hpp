// SPDX-License-Identifier: BSD-3-Clause
//! Reads the doses of iso dvh.
#pragma once

#include <iso/files/volume_file.hpp>

#include <optional>
#include <string>
#include <vector>

namespace iso::cli {

/// A dose in Gy, as iso dvh takes it.
struct dvh_dose {
  std::string name;  ///< its file, or those that were added, with " + " between
  std::vector<std::string> files;
  std::optional<std::string> frame;  ///< of reference; none where it is no DICOM
  files::host_volume volume;
};

/// Reads doses, and says what is taken for granted of them.
/// \throws iso::file_error  as files::read_rt_dose and files::read_volume; other units than Gy, or
///                          differences of doses
/// \param slice_thickness  of a single plane that does not say its own, mm; 0: it is refused
std::vector<dvh_dose> read_dvh_doses(std::vector<std::string> const& paths, double slice_thickness);

/// Reads the doses of all beams of a plan, and adds them voxel by voxel, in the order of `paths`,
/// in double.
/// \throws iso::file_error  as read_dvh_doses; one file alone; one that is no RT Dose of one beam
/// of
///                          one plan; two plans, frames of reference, types or grids; a beam twice
dvh_dose read_added_doses(std::vector<std::string> const& paths, double slice_thickness);

}  // namespace iso::cli
