// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dvh/structure.hpp
//! Turns contours into the share of each voxel that lies inside. Made on the host, in double.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/wrap.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iso::dvh {

/// A closed polygon in an axial plane: z is the same at all points. The last point is joined to the
/// first, which may be given again at the end. It may run in either direction. One of fewer than 3
/// points, or of points on a line, bounds nothing and is left out.
struct contour {
  std::vector<vec3<double>> points;  ///< mm
};

/// The contours of one organ or target, in any order.
///
/// A hole is a contour inside another (islands in holes inside that, and so on: even-odd), or part
/// of one polygon that goes to the hole and back along one line (keyhole).
struct structure {
  std::string name;
  std::vector<contour> contours;
};

/// The shape between neighbouring planes.
enum class between_planes {
  /// The surface runs straight from a contour to the next: (1 - t) d_1 + t d_2 = 0, where d_1 and
  /// d_2 are the signed distances from the contours of both planes. Circles about one axis give the
  /// frustum of their cone.
  frusta,
  prisms,  ///< each plane's contours go half-way to the next
};

/// The end of the shape at a contour that is joined to no other on one side.
enum class end_cap {
  none,
  half_slice,  ///< the contour, half-way to where its next plane would be
  rounded,     ///< to the same height, shrunk as the radius of an ellipsoid
};

/// The treatment of parts that lie outside of the grid.
enum class off_grid {
  refuse,
  cut,  ///< left out and told in structure_report
};

struct structure_options {
  between_planes between = between_planes::frusta;
  end_cap caps = end_cap::half_slice;
  off_grid beyond = off_grid::refuse;
  /// The thickness, mm, of contours of a structure in which none are joined. It must be given for a
  /// structure of one plane.
  double slice_thickness = 0;
};

/// What was found in the contours.
struct structure_report {
  double volume = 0;   ///< mm3, inside the grid
  double outside = 0;  ///< mm3, outside of the grid
  std::int64_t planes = 0;
  std::int64_t contours = 0;
  std::int64_t left_out = 0;  ///< contours that bound nothing: fewer than 3 points, or a line
  /// Contours that cross themselves or another, and were split into loops that do not.
  std::int64_t crossing_contours = 0;
  std::int64_t crossing_planes = 0;  ///< that have such
  /// The share of the area of all planes that crossing contours go around more than once, or that
  /// two of them have inside: an even number of times is outside, as of contours in contours. At
  /// most 0.01.
  double disputed = 0;
  std::int64_t holes = 0;      ///< contours that bound a hole from outside
  std::int64_t parts = 0;      ///< that no contours join
  double min_spacing = 0;      ///< mm, between joined planes; 0 where none are
  double largest_spacing = 0;  ///< mm
  /// Pairs of joined planes (mm) that are farther apart than 1.5 times the median spacing of their
  /// part. The shape goes on between them.
  std::vector<std::pair<double, double>> missing_slices;
  /// Pairs of planes (mm) whose contours overlap but are not joined: they are farther apart than 4
  /// times that spacing, and end in caps.
  std::vector<std::pair<double, double>> separations;
};

/// A structure's contours, sorted into planes and joined: what the functions below begin with, made
/// once for all of them. Copies share it.
class structure_plan {
 public:
  /// Sorts and joins the contours.
  /// Determinism: backend_to_backend; made on the host.
  /// \param control  asked after each plane, and within one of many points; no progress is told
  /// \throws iso::invalid_argument  as voxel_fractions, for contours and options
  /// \throws iso::cancelled         as job::step
  explicit structure_plan(structure const& s, structure_options const& options = {},
                          job const& control = {});
  // No moves: a plan stays whole.
  structure_plan(structure_plan const&) = default;
  structure_plan& operator=(structure_plan const&) = default;
  ~structure_plan() = default;

  struct contents;
  /// Returns what the library's own functions read.
  [[nodiscard]] contents const& held() const { return *held_; }

 private:
  std::shared_ptr<contents const> held_;
};

/// Returns the share of each voxel of `g` that lies inside, [nx, ny, nz], z fastest.
///
/// In a contour's plane the area of polygon within pixel is exact to 1e-9 pixels (coordinates are
/// rounded to 2^-32 pixels). Between planes, for between_planes::frusta: distances are taken at the
/// corners of pixels that the surface meets, and are linear on the six tetrahedra of a voxel's part
/// between two planes; what that leaves of the exact areas of both planes is added, linear in z.
/// The error is about (pixel size)^2 / (30 radius of the contour) of distance, 0 where two contours
/// are alike.
///
/// Contours that cross themselves or another of their plane are split into loops where they cross,
/// their points rounded to 2^-27 of the extent of those that cross each other. What an even number
/// of the loops goes around is outside. All other contours are taken as they are.
///
/// Contours whose z differ by at most 0.01 mm, or 1e-6 of the largest contour's extent if that is
/// more, lie in one plane, at the least of their z.
///
/// A contour is joined to those that overlap it, as seen along z, in the nearest plane that has
/// such, if that plane is the nearest to these too. Several may join one. Contours that joints hold
/// together are a part of the structure, and what a slice is is judged by each part's own planes: a
/// joint longer than 1.5 times the median of its part bridges missing slices, and one longer than 4
/// times that is none, so that the structure falls into two parts there. A cap of half a slice has
/// half the height of the joint on its other side, or of that median where the joint bridges
/// missing slices. A contour without joints has half the median height of all joints above and
/// below, and in a structure without joints half of slice_thickness, or of the median distance of
/// planes.
///
/// Threads of Kokkos' default host space share the work where Kokkos is initialised: not to be
/// called within a kernel.
///
/// Determinism: backend_to_backend; made on the host.
/// \param[out] report   may be null
/// \param      control  asked after each plane, once while contours are sorted and once while they
///                      are rasterised, and within a plane of many points
/// \throws iso::invalid_argument  an invalid grid; no contours, or none with an area; contours with
///           points that are not finite, not in one axial plane (within 0.01 mm, or 1e-6 of their
///           extent if that is more), or that occur twice; contours that cross, of which more than
///           1 % of the area is disputed (structure_report); a single plane without
///           slice_thickness; structures without volume, or partly outside of the grid unless
///           off_grid::cut; structures of more than 2^28 pixels a plane
/// \throws iso::cancelled         as job::step
std::vector<double> voxel_fractions(structure const& s, grid const& g,
                                    structure_options const& options = {},
                                    structure_report* report = nullptr, job const& control = {});

/// Does the same for contours that are sorted already.
std::vector<double> voxel_fractions(structure_plan const& plan, grid const& g,
                                    structure_report* report = nullptr, job const& control = {});

namespace detail {

/// Copies shares of voxels, rounded to T. Waits for `exec`.
template <class Exec, class T>
void put_shares(Exec const& exec, std::vector<double> const& shares,
                volume_view<T, typename Exec::memory_space> const& fractions) {
  std::vector<T> const rounded(shares.begin(), shares.end());
  Kokkos::deep_copy(exec, fractions.data,
                    wrap_volume<Kokkos::HostSpace>(rounded.data(), fractions.grid).data);
  exec.fence("iso::dvh::rasterise: the host copy may go");
}

}  // namespace detail

/// Writes voxel_fractions into `fractions`, where Exec computes, rounded to T. Waits for `exec`.
/// Determinism: backend_to_backend; made on the host.
/// \param[out] fractions  [nx, ny, nz], 0 to 1
/// \throws iso::invalid_argument  as voxel_fractions, and a volume without memory or with gaps
/// \throws iso::cancelled         as voxel_fractions
template <execution_space Exec, real T>
structure_report rasterise(Exec const& exec, structure const& s,
                           volume_view<T, typename Exec::memory_space> const& fractions,
                           structure_options const& options = {}, job const& control = {}) {
  validate(fractions, "iso::dvh::rasterise");
  validate_contiguous(fractions.data, "fractions", "iso::dvh::rasterise");
  structure_report report;
  detail::put_shares(exec, voxel_fractions(s, fractions.grid, options, &report, control),
                     fractions);
  return report;
}

/// Does the same for contours that are sorted already.
template <execution_space Exec, real T>
structure_report rasterise(Exec const& exec, structure_plan const& plan,
                           volume_view<T, typename Exec::memory_space> const& fractions,
                           job const& control = {}) {
  validate(fractions, "iso::dvh::rasterise");
  validate_contiguous(fractions.data, "fractions", "iso::dvh::rasterise");
  structure_report report;
  detail::put_shares(exec, voxel_fractions(plan, fractions.grid, &report, control), fractions);
  return report;
}

/// Returns the structure of that name.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  none or two of that name
structure const& structure_named(std::vector<structure> const& all, std::string_view name);

/// Returns the part that `s` needs of the grid whose voxels divide each cell between the middles of
/// `dose`'s voxels into `subdivision`^3. Where these are a structure's voxels, the dose is linear
/// on the six tetrahedra of each, which lie in those of the cell.
/// Determinism: backend_to_backend; made on the host.
/// \param subdivision  1 to 64; 0: the least that makes voxels of at most 1 mm and at most a 45th
///                     of the structure's extent along each axis, or 64. If that makes more than
///                     2^24 voxels, the largest that does not, but at least what the axis needs
///                     that needs least. Of a structure that goes on beyond the dose's voxels it is
///                     even, unless that is too many, so that voxels end at the dose's faces
/// \throws iso::invalid_argument  an invalid grid, no contours or points that are not finite, a
///                                subdivision out of range, a structure without overlap with the
///                                dose's voxels
/// \throws iso::cancelled         as job::step
grid structure_grid(structure const& s, grid const& dose, structure_options const& options = {},
                    std::int64_t subdivision = 0, job const& control = {});

/// Does the same for contours that are sorted already.
grid structure_grid(structure_plan const& plan, grid const& dose, std::int64_t subdivision = 0);

/// Returns points of the surface, mm: on the contours, no farther apart than `distance`, and on the
/// ends of half-slice caps. For the extremes of a dose.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  contours as voxel_fractions refuses them; a distance that is not
///                                finite and positive, or gives more than 2^24 points
/// \throws iso::cancelled         as job::step
std::vector<vec3<double>> surface_points(structure const& s, double distance,
                                         structure_options const& options = {},
                                         job const& control = {});

/// Does the same for contours that are sorted already.
std::vector<vec3<double>> surface_points(structure_plan const& plan, double distance);

}  // namespace iso::dvh
