// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dvh/structure.hpp
//! Turns contours into the share of each voxel that lies inside. Made on the host, in double.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/wrap.hpp>
#include <iso/dvh/contours.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iso::dvh {

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
/// Contours whose z differ by at most 0.01 mm lie in one plane, at the least of their z.
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
/// Threads of Kokkos' default host space share the work where Kokkos is initialised, and are waited
/// for: not to be called within a kernel.
///
/// Determinism: backend_to_backend; made on the host.
/// \param[out] report   may be null
/// \param      control  asked after each plane, once while contours are sorted and once while they
///                      are rasterised, and within a plane of many points
/// \throws iso::invalid_argument  an invalid grid; no contours, or none with an area; contours with
///           points that are not finite, not in one axial plane (within 0.01 mm), or that occur
///           twice; contours that cross, of which more than 1 % of the area is disputed
///           (structure_report); a single plane without slice_thickness; structures without volume,
///           or partly outside of the grid unless off_grid::cut; structures of more than 2^28
///           pixels a plane
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

/// Returns the bytes that rasterise takes on the host: the shares in double, and rounded.
/// Determinism: backend_to_backend.
template <real T, execution_space Exec>
std::int64_t rasterise_bytes_needed(Exec const&, grid const& fractions) {
  constexpr double a_voxel = sizeof(double) + sizeof(T);
  return std::int64_t(std::min(a_voxel * double(fractions.size()), 0x1p60));
}

/// Writes voxel_fractions into `fractions`, where Exec computes, rounded to T. Allocates on the
/// host alone, and waits for `exec`. Determinism: backend_to_backend; made on the host.
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
