// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/geometry.hpp
//! Describes where source and detector stand, view by view.
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/vec3.hpp>
#include <iso/model/word.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace iso::ct {

enum class beam {
  cone,      ///< rays from a point source through the pixel centres
  parallel,  ///< rays of one direction through the pixel centres
};

constexpr auto words(beam) {
  return std::array{word{beam::cone, "cone"}, word{beam::parallel, "parallel"}};
}

/// The source and the detector of one view, in world coordinates (mm).
struct view_vectors {
  vec3<double> source;  ///< cone: source position; parallel: direction of the rays, any length
  vec3<double> detector_origin;  ///< centre of pixel (u, v) = (0, 0)
  vec3<double> u_step;           ///< from pixel (u, v) to (u + 1, v)
  vec3<double> v_step;           ///< from pixel (u, v) to (u, v + 1)
};

/// The geometry of a scan: the shape of its detector and a view_vectors for each view. The
/// constructor checks it, so that algorithms need not look at every view again.
class geometry {
 public:
  /// Makes a geometry of given views, which are checked.
  /// \throws iso::invalid_argument  an unknown beam; an empty detector or no views; more pixels
  ///                                than 63 bits count; a view with a field (both named) that is
  ///                                not finite, longer than 1e150 or shorter than 1e-150 mm, or
  ///                                makes u and v parallel to 1e-4 rad
  geometry(beam kind, std::int64_t num_u, std::int64_t num_v, std::vector<view_vectors> views);

  [[nodiscard]] beam kind() const { return kind_; }
  [[nodiscard]] std::int64_t num_views() const { return std::int64_t(views_.size()); }
  [[nodiscard]] std::int64_t num_u() const { return num_u_; }
  [[nodiscard]] std::int64_t num_v() const { return num_v_; }
  [[nodiscard]] std::vector<view_vectors> const& views() const { return views_; }
  /// Returns whether every v_step is exactly along z.
  [[nodiscard]] bool v_parallel_to_z() const { return v_parallel_to_z_; }
  /// Returns views [first, first + count).
  /// \throws iso::invalid_argument  not all of them are there, or none is asked for
  [[nodiscard]] geometry subset(std::int64_t first, std::int64_t count) const;

 private:
  beam kind_;
  std::int64_t num_u_;
  std::int64_t num_v_;
  bool v_parallel_to_z_;
  std::vector<view_vectors> views_;
};

/// A flat detector whose middle is where the central ray meets it, but for the offsets.
struct flat_detector {
  std::int64_t num_u = 0;
  std::int64_t num_v = 0;
  double pitch_u = 1;   ///< mm
  double pitch_v = 1;   ///< mm
  double offset_u = 0;  ///< mm along +u, of the detector's middle
  double offset_v = 0;  ///< mm along +v
};

/// Returns a circle of cone-beam views about the z axis: at angle 0 the source stands on +x, u runs
/// along +y and v along +z; angles turn from x to y. An arc or several turns are a matter of
/// `angles`, and a fan beam is a detector of one row. Determinism: backend_to_backend; sines and
/// cosines are iso::math's.
///
/// \param[in] source_axis      distance of the source from the z axis, mm
/// \param[in] source_detector  distance of the source from the detector's plane, mm
/// \param[in] angles           rad, at most 1e5 either way
/// \throws iso::invalid_argument  a distance or pitch that is not finite and positive, an offset
///                                that is not finite, an empty detector, no angles, one too large
geometry circular_cone(flat_detector const& detector, double source_axis, double source_detector,
                       std::vector<double> const& angles);

/// Gives the same circle with parallel rays: at angle 0 they run along -x, u along +y, v along +z.
/// Determinism: backend_to_backend; sines and cosines are iso::math's.
/// \throws iso::invalid_argument  as circular_cone
geometry circular_parallel(flat_detector const& detector, std::vector<double> const& angles);

/// Returns `count` angles, evenly from `first` over `range` (rad), the end left out. A range of
/// less than 2 pi makes an arc, one of 2 pi n makes n turns.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  `count` is below 1 or above 10^8; an angle that is not finite or
///                                above 1e5 either way
std::vector<double> even_angles(std::int64_t count, double range, double first = 0);

/// Returns a helix: source and detector of every view of `circle` moved along z, by `pitch` (mm)
/// for each turn of `angles`, such that the angle midway between the first and the last lies at
/// z = 0. Determinism: backend_to_backend; made on the host.
///
/// \param[in] angles  rad, those that `circle` was made of
/// \throws iso::invalid_argument  another number of angles than views, one that is not finite or
///                                above 1e5 either way, a pitch that is not finite
geometry helix(geometry const& circle, std::vector<double> const& angles, double pitch);

/// Returns laminography: the central ray leaves the plane of rotation by `tilt` (rad), as if the
/// axis were tilted by as much towards the source. Source and detector of every view turn together
/// about the line through the origin along u, which lifts the source along v. Of a circle, before
/// its detector is turned. Determinism: backend_to_backend; made on the host from iso::math.
/// \throws iso::invalid_argument  a tilt that is not below pi / 2 either way
geometry laminography(geometry const& circle, double tilt);

/// The angles by which a detector is turned, in rad: right-handed about its axes v, then u, then
/// the normal u x v, each as the turns before have left it.
struct detector_turn {
  double yaw = 0;    ///< about v
  double pitch = 0;  ///< about u
  double roll = 0;   ///< about the normal, in the detector's plane

  friend bool operator==(detector_turn const&, detector_turn const&) = default;
};

/// Returns `g` with the detector of every view turned about its middle.
/// Determinism: backend_to_backend; made on the host from iso::math.
/// \throws iso::invalid_argument  an angle that is not finite or above 1e5 either way, a detector
///                                whose plane then runs along the ray to its middle to 1e-4 rad
geometry turn_detector(geometry const& g, detector_turn const& by);

/// Returns `g` with the detector of view i shifted by `shifts[i]`: mm along its u and its v.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  another number of shifts than views, one that is not finite
geometry shift_detector(geometry const& g, std::vector<std::array<double, 2>> const& shifts);

/// Returns `g` with the source of view i shifted by `shifts[i]`: mm along its detector's u, v and
/// normal u x v, as a focal spot moves. Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  parallel rays, another number of shifts than views, one that is
///                                not finite, or that takes the source to the detector or behind it
geometry shift_source(geometry const& g, std::vector<std::array<double, 3>> const& shifts);

/// Returns `g` with the detector of every view moved along its rays: from d to source + factor (d -
/// source), the steps times `factor`. Its pixels have the same rays, which end farther from the
/// source. Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  parallel rays, a factor that is not finite or below 1e-4
geometry move_detector(geometry const& g, double factor);

/// The detectors that stand in the way of their own rays.
struct detectors_within_volume {
  std::int64_t views = 0;  ///< whose pixels lie within a volume, or between it and the source
  double factor = 1;       ///< by which move_detector takes these out of it
};

/// Finds views whose detector stands within `volume`, or before it: cone rays end at their pixels,
/// so that projections and adjoints leave out what lies behind. Scanners have none; descriptions
/// have that give pixels at the axis of rotation. Filtered backprojection, which goes by voxels,
/// does not mind. Determinism: backend_to_backend; made on the host.
detectors_within_volume find_detectors_within(geometry const& g, iso::grid const& volume);

}  // namespace iso::ct
