// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/beam.hpp
//! Describes beams of a linear accelerator, in the angles of IEC 61217.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/core/vec3.hpp>

#include <cstdint>
#include <vector>

namespace iso::dose {

/// Holds the relative photon fluence over the plane through the isocentre at right angles to the
/// beam's axis, constant within each pixel and zero outside of all. x and y are IEC 61217's axes of
/// the collimator.
struct fluence_map {
  double x_low = 0;    ///< mm; edge of the first column
  double y_low = 0;    ///< mm; edge of the first row
  double pixel_x = 1;  ///< mm
  double pixel_y = 1;  ///< mm
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::vector<double> values;  ///< [columns, rows], rows fastest

  /// Returns an open field: one within the edges (mm), zero outside.
  static fluence_map rectangle(double x_low, double x_high, double y_low, double y_high);

  [[nodiscard]] double x_high() const { return x_low + pixel_x * double(columns); }
  [[nodiscard]] double y_high() const { return y_low + pixel_y * double(rows); }

  /// Holds edges in mm.
  struct rectangle_edges {
    double x_low;
    double x_high;
    double y_low;
    double y_high;
  };
  /// Returns the edges of the smallest rectangle of pixels that holds all whose fluence is not
  /// zero: the field. Of the whole map where all are zero.
  [[nodiscard]] rectangle_edges open_edges() const;
};

struct beam {
  double source_distance = 1000;  ///< mm, from the isocentre
  vec3<double> isocentre{};       ///< mm, in the patient's coordinates
  double gantry = 0;              ///< rad
  double couch = 0;               ///< rad
  double collimator = 0;          ///< rad
  fluence_map fluence;
  double weight = 1;  ///< photons/cm2 where the fluence is 1
};

/// Places a beam in the patient's coordinates (DICOM's, head first supine: x to the left, y to
/// the back, z to the head). `along` is the direction of the axis, x and y those of the collimator.
struct beam_frame {
  vec3<double> source;  ///< mm
  vec3<double> x;
  vec3<double> y;
  vec3<double> along;
  double source_distance;  ///< mm

  /// Holds the distance along the axis, and where p's ray meets the plane of the isocentre, mm.
  struct point {
    double depth;
    double x;
    double y;
  };
  [[nodiscard]] point of(vec3<double> const& p) const;
};

/// The gantry at g puts the source at D (sin g, -cos g, 0) from the isocentre. A multiple of a
/// quarter turn gives axes of zeros and ones.
/// Determinism: backend_to_backend; made on the host from iso::math.
/// \throws iso::invalid_argument  a number that is not finite, a distance that is not positive, a
///                                fluence map without pixels, with a size of zero, with values that
///                                are negative or not finite, or all zero
beam_frame frame_of(beam const& b);

inline constexpr double default_margin = 27;  ///< mm

/// Returns the voxels of `patient` that a dose calculation covers: the box about the rays of the
/// field's open_edges(),
/// `margin` mm wider each way in the plane of the isocentre, and as wide everywhere as there.
/// Determinism: backend_to_backend; made on the host from iso::math.
/// \throws iso::invalid_argument  as frame_of and iso::grid; a negative margin; the source lies
///                                within the patient; the beam misses the patient
iso::grid region_around(beam const& b, iso::grid const& patient, double margin = default_margin);

}  // namespace iso::dose
