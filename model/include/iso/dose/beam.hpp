// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/beam.hpp
//! Describes photon beams of a linear accelerator. Angles are those of IEC 61217.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/core/vec3.hpp>
#include <iso/model/describe.hpp>
#include <iso/model/limits.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace iso::dose {

/// The relative photon fluence of a beam, as a map of rectangular pixels. The map lies in the plane
/// through the isocentre at right angles to the beam's axis. x and y are the axes of the collimator
/// in IEC 61217. The fluence is constant within a pixel, and zero outside of the map.
struct fluence_map {
  double x_low = 0;    ///< mm; edge of the first column
  double y_low = 0;    ///< mm; edge of the first row
  double pixel_x = 1;  ///< mm
  double pixel_y = 1;  ///< mm
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::vector<double> values;  ///< [columns, rows], rows fastest

  /// Returns the map of an open rectangular field: one pixel with the fluence 1, between the edges
  /// (mm).
  static fluence_map rectangle(double x_low, double x_high, double y_low, double y_high);

  [[nodiscard]] double x_high() const { return x_low + pixel_x * double(columns); }
  [[nodiscard]] double y_high() const { return y_low + pixel_y * double(rows); }

  /// The edges of a rectangle, mm.
  struct rectangle_edges {
    double x_low;
    double x_high;
    double y_low;
    double y_high;
  };
  /// Returns the edges of the field: the smallest rectangle of pixels that holds every pixel whose
  /// fluence is not zero. Where all are zero, returns the edges of the whole map.
  [[nodiscard]] rectangle_edges open_edges() const;
};

/// A photon beam: where its source stands, how the machine is turned, and its fluence.
struct beam {
  double source_distance = 1000;  ///< mm, from the isocentre
  vec3<double> isocentre{};       ///< mm, in the patient's coordinates
  double gantry = 0;              ///< rad
  double couch = 0;               ///< rad
  double collimator = 0;          ///< rad
  fluence_map fluence;
  double weight = 1;  ///< photons/cm2 where the fluence is 1
};

constexpr void describe(auto&& visit, describes<beam> auto& x) {
  visit(x.source_distance, field{.name = "source-distance",
                                 .says = "from the source to the isocentre",
                                 .unit = units::mm,
                                 .low = 1e-6,
                                 .high = max_distance});
  visit(x.isocentre, field{.name = "isocentre", .says = "a point [x, y, z]", .unit = units::mm});
  auto const angle = [&](auto& a, std::string_view name) {
    visit(a, field{.name = name,
                   .says = "as IEC 61217 defines it",
                   .unit = units::turned_degrees,
                   .low = -max_degrees,
                   .high = max_degrees});
  };
  angle(x.gantry, "gantry");
  angle(x.couch, "couch");
  angle(x.collimator, "collimator");
  visit(x.fluence, hidden_field{{.name = "fluence", .says = "relative, in pixels"}});
  visit(x.weight, field{.name = "weight",
                        .says = "photons/cm2 in air at the isocentre where the fluence is 1",
                        .low = 0,
                        .high = 1e15});
}

/// The place and axes of a beam in the patient's coordinates. These are DICOM's for a head-first
/// supine patient: x to the left, y to the back, z to the head. `x` and `y` are unit vectors along
/// the axes of the collimator, and `along` is the unit vector along the beam's axis, away from the
/// source.
struct beam_frame {
  vec3<double> source;  ///< mm
  vec3<double> x;
  vec3<double> y;
  vec3<double> along;
  double source_distance;  ///< mm

  /// A point as the beam sees it: its distance from the source along the beam's axis, and the place
  /// where the ray through it meets the plane of the isocentre, mm.
  struct point {
    double depth;
    double x;
    double y;
  };
  [[nodiscard]] point of(vec3<double> const& p) const;
};

/// Returns the place and axes of a beam. The gantry at the angle g puts the source at D (sin g,
/// -cos g, 0) from the isocentre, D being the source's distance. For angles that are multiples of a
/// quarter turn, the components of the axes are exactly 0, 1 or -1.
///
/// Determinism: backend_to_backend; computed on the host with iso::math.
/// \throws iso::invalid_argument  a number that is not finite; a distance that is not positive; a
///                                fluence map without pixels, with a pixel of size zero, or with
///                                values that are negative, not finite, or all zero
beam_frame frame_of(beam const& b);

inline constexpr double default_margin = 27;  ///< mm

/// Returns the voxels of `patient` that get a dose. They are the smallest box of voxels that holds
/// two sets of voxel centres: those that rays of the field (open_edges()) pass through, and those
/// within a prism along the beam's axis, whose section is the field in the plane of the isocentre,
/// widened by `margin` mm on every side.
///
/// Determinism: backend_to_backend; computed on the host with iso::math.
/// \throws iso::invalid_argument  as frame_of; an invalid grid; a negative margin; a source within
///                                the patient; a beam that misses the patient
iso::grid region_around(beam const& b, iso::grid const& patient, double margin = default_margin);

}  // namespace iso::dose
