// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/xtekct_file.hpp
//! Reads the settings that Nikon's scanners write beside their images (.xtekct): docs/formats.md.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace iso::files {

/// The settings of section [XTekCT]; other sections and keys are ignored. Lengths are mm, angles
/// degrees.
struct xtekct {
  double source_object = 0;                 ///< SrcToObject: to the axis of rotation
  double source_detector = 0;               ///< SrcToDetector
  std::array<std::int64_t, 2> pixels{};     ///< DetectorPixelsX, DetectorPixelsY
  std::array<double, 2> pitch{};            ///< DetectorPixelSizeX, DetectorPixelSizeY
  std::array<double, 2> detector_offset{};  ///< DetectorOffsetX, DetectorOffsetY (0)
  double axis_offset = 0;                   ///< CentreOfRotationTop and -Bottom (0), equal
  std::int64_t projections = 0;             ///< Projections
  double first_angle = 0;                   ///< InitialAngle (0)
  double angular_step = 0;                  ///< AngularStep (360 / Projections)
  std::optional<double> white_level;        ///< WhiteLevel: the reading of an open beam
};

/// Reads and checks it.
/// \throws iso::file_error  naming the key: missing, no number, twice there, or out of range; an
///                          axis that is tilted; units other than mm
xtekct read_xtekct(std::filesystem::path const& path);

}  // namespace iso::files
