// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/fdk.hpp
//! Reconstructs by filtered backprojection: cone beams by Feldkamp, Davis and Kress (FDK), parallel
//! beams by FBP. A Kokkos space that the build has not needs detail/fdk_impl.hpp too.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/onto.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/detail/ray_shares.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/scan_weights.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace iso::ct {

/// Specifies by what the ramp |f| is multiplied, f being the frequency over the cut-off.
enum class ramp_window {
  ram_lak,      ///< 1
  shepp_logan,  ///< sin(pi f / 2) / (pi f / 2)
  cosine,       ///< cos(pi f / 2)
  hamming,      ///< 0.54 + 0.46 cos(pi f)
  hann,         ///< 0.5 + 0.5 cos(pi f)
};

struct fdk_options {
  ramp_window window = ramp_window::ram_lak;
  double cutoff = 1;       ///< of the detector's Nyquist frequency, in (0, 1]
  scan_options scan = {};  ///< which readings count how much
};

/// Returns taps n = 0 .. count - 1 of the ramp filter for pixels at distance 1, the window
/// included; tap -n is tap n. The filter for a distance a is 1 / a^2 times this one.
/// Determinism: backend_to_backend; made on the host from iso::math.
/// \throws iso::invalid_argument  `count` below 1, an unknown window, a cut-off outside (0, 1]
std::vector<double> ramp_taps(std::int64_t count, fdk_options const& options = {});

/// Holds a geometry with all that filtered backprojection derives from it, in `Space`.
template <class Space>
class fdk_plan {
 public:
  using numbers = Kokkos::View<double*, Space>;

  /// Waits for `exec`: no other instance is fenced.
  /// \throws iso::invalid_argument  as ramp_taps, weigh_scan and fdk_bytes_needed
  /// \throws iso::out_of_memory     as iso::allocate
  template <execution_space Exec>
  fdk_plan(Exec const& exec, iso::ct::geometry const& g, fdk_options const& options = {});

  /// Returns views [first, first + count) with the weights that they have in the whole scan, for
  /// fdk: the first subset onto zero, the others onto what is stored. Shares the memory of this
  /// plan; enqueues nothing.
  /// \throws iso::invalid_argument  not all of them are there, or none is asked for
  [[nodiscard]] fdk_plan subset(std::int64_t first, std::int64_t count) const {
    fdk_plan part(*this);
    part.views_ = views_.subset(first, count);
    auto const some = [](numbers const& all, std::int64_t from, std::int64_t number) {
      return numbers(all, Kokkos::make_pair(from, from + number));
    };
    part.weights_ = some(weights_, first, count);
    std::int64_t const columns = views_.host().num_u();
    if (std::int64_t(redundancy_weights_.size()) == views_.host().num_views() * columns &&
        std::int64_t(redundancy_weights_.size()) > columns) {
      part.redundancy_weights_ = some(redundancy_weights_, first * columns, count * columns);
    }
    if (begins_.size() > 0) {
      part.begins_ = some(begins_, first, count);
    }
    return part;
  }

  /// Returns the scan, its rows of u extended by what the filter adds to them.
  [[nodiscard]] staged_geometry<Space> const& geometry() const { return views_; }
  [[nodiscard]] std::int64_t num_u() const { return num_u_; }        ///< columns of the detector
  [[nodiscard]] std::int64_t before() const { return before_; }      ///< columns added before them
  [[nodiscard]] numbers const& taps() const { return taps_; }        ///< [extended u]
  [[nodiscard]] numbers const& weights() const { return weights_; }  ///< [views], rad
  /// Returns whether taps at even distances but 0 are zero, and left out of the convolution.
  [[nodiscard]] bool odd_taps_only() const { return odd_taps_only_; }
  /// Gives [views, extended u] or, the same for all views, [extended u], with the fall of the
  /// truncation correction beyond the detector; empty: all are 1.
  [[nodiscard]] numbers const& redundancy_weights() const { return redundancy_weights_; }
  /// Returns the redundancy weights of rays where columns say nothing about them (scan_weights).
  [[nodiscard]] detail::ray_shares shares() const {
    return {overlaps_.size() > 0 ? overlaps_.data() : nullptr,
            begins_.size() > 0 ? begins_.data() : nullptr, spare_};
  }
  /// Returns what was chosen from the scan: whether it is short, where the detector lies.
  [[nodiscard]] scan_arc arc() const { return arc_; }
  [[nodiscard]] detector_placement detector() const { return detector_; }

 private:
  template <execution_space Exec>
  fdk_plan(Exec const& exec, iso::ct::geometry const& g, fdk_options const& options,
           scan_weights const& weights);

  staged_geometry<Space> views_;
  std::int64_t num_u_;
  std::int64_t before_;
  numbers taps_;
  numbers weights_;
  bool odd_taps_only_;
  numbers redundancy_weights_;
  numbers overlaps_;
  numbers begins_;
  double spare_;
  scan_arc arc_;
  detector_placement detector_;
};

/// Returns the bytes of scratch that fdk wants in `Exec`'s memory. Enqueues nothing.
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  bytes beyond 63 bits; a detector of 2^22 or more pixels along u
/// or
///                                v, as the filter extends it, or a displaced one as in weigh_scan
template <real T, execution_space Exec>
std::int64_t fdk_bytes_needed(Exec const&, geometry const& g, fdk_options const& options = {});

/// Reconstructs `volume` from `projections`.
///
/// Pixels are weighted by the direction of their ray and by its redundancy weight (weigh_scan),
/// every row of u, with the plan's truncation correction, is convolved with the ramp filter, and
/// every voxel takes from every view the bilinearly interpolated value where its ray meets the
/// detector, weighted by the square of (distance of the z axis from the source) /
/// (distance of the voxel), both along the detector's normal. The detector may be turned any way
/// that leaves its rows in the plane of rotation, and source and detector may stand aside of the
/// axis; across the central ray the weight is the cosine of the ray's angle to the detector's
/// normal. A reading whose weight is zero does not count, even if it is not finite.
///
/// Enqueued on `exec`; does not fence and does not allocate. Overwrites `volume`, or adds to it
/// (`to`). No two of `volume`, `projections` and `scratch` may overlap.
///
/// Determinism: backend_to_backend. A row of u is convolved with u ascending, by fma, without the
/// taps that the plain ramp has zero (even distances but 0); a voxel adds
/// its views by fma, ascending, in blocks of 16 views whose sums are added to the voxel one after
/// the other. Subsets that begin at multiples of 16 views, in ascending order, the first one onto
/// zero and the others onto what is stored, give the very bits of the whole plan.
///
/// \param[in]  plan         views, u, v; lengths in mm; a subset gives its part of the sum
/// \param[in]  projections  [views, u, v], line integrals, dimensionless
/// \param[in,out] volume    [nx, ny, nz], 1/mm
/// \param      scratch      at least fdk_bytes_needed; free again after the next fence
/// \param[in]  to           whether the volume is overwritten
/// \param[in]  control      progress and cancellation, asked between batches of views
/// \throws iso::invalid_argument  shape mismatch, data with gaps or without memory, arrays that
///                                overlap, too little scratch, a detector of 2^22 or more pixels
///                                along v, a voxel at or behind a source, an unknown `to`
/// \throws iso::cancelled         `volume` is then incomplete
/// \par Method  L. A. Feldkamp, L. C. Davis, J. W. Kress, JOSA A 1(6), 1984,
///              doi:10.1364/JOSAA.1.000612; the taps: A. C. Kak, M. Slaney, Principles of
///              Computerized Tomographic Imaging, 1988, equation 3.61, windowed in closed form
///              (docs/algorithms/reconstruction.md).
template <execution_space Exec, real T>
void fdk(
    Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    volume_view<T, typename Exec::memory_space> const& volume,
    workspace<typename Exec::memory_space> const& scratch, onto to = onto::zero,
    job const& control = {});

/// Returns the bytes of scratch that filter_projections wants in `Exec`'s memory. Enqueues nothing.
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  as fdk_bytes_needed
template <real T, execution_space Exec>
std::int64_t filter_projections_bytes_needed(Exec const&, geometry const& g,
                                             fdk_options const& options = {});

/// Does the first half of fdk: pixels get the weight of their ray's direction and its redundancy
/// weight, rows of u get the plan's truncation correction and are convolved with the ramp filter
/// for pixels at distance 1 (ramp_taps). weighted_back_project is the other half; what is done to
/// `filtered` between them, as another filter or a mask, is the program's own.
///
/// Enqueued on `exec`; does not fence and does not allocate. Overwrites `filtered`. No two of
/// `filtered`, `projections` and `scratch` may overlap.
///
/// Determinism: backend_to_backend. A row of u is convolved as fdk does it.
///
/// \param[in]  plan         views, u, v; a subset filters its views
/// \param[in]  projections  [views, u, v], line integrals, dimensionless
/// \param[out] filtered     [views, extended u, v], dimensionless: the extents of plan.geometry();
///                          pixel u of the detector is u + plan.before()
/// \param      scratch      at least filter_projections_bytes_needed; free again after the next
///                          fence
/// \param[in]  control      progress and cancellation, asked between batches of views
/// \throws iso::invalid_argument  shape mismatch, data with gaps or without memory, arrays that
///                                overlap, too little scratch
/// \throws iso::cancelled         `filtered` is then incomplete
/// \par Method  as fdk
template <execution_space Exec, real T>
void filter_projections(
    Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    projection_view<T, typename Exec::memory_space> const& filtered,
    workspace<typename Exec::memory_space> const& scratch, job const& control = {});

/// Returns the scratch bytes that weighted_back_project wants in `Exec`'s memory. Enqueues nothing.
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  as fdk_bytes_needed
template <real T, execution_space Exec>
std::int64_t weighted_back_project_bytes_needed(Exec const&, geometry const& g,
                                                fdk_options const& options = {});

/// Does the second half of fdk: every voxel takes from every view the bilinearly interpolated value
/// where its ray meets the detector, zero beyond it, times the angle that the view stands for (a
/// cone beam's half, which measures each ray twice), over the distance of neighbouring pixels at
/// the z axis, and times the square of (distance of the z axis from the source) / (distance of the
/// voxel), both along the detector's normal. It is not the adjoint of forward_project: back_project
/// is.
///
/// Enqueued on `exec`; does not fence and does not allocate. Overwrites `volume`, or adds to it
/// (`to`). No two of `volume`, `filtered` and `scratch` may overlap.
///
/// Determinism: backend_to_backend. A voxel adds its views as fdk does it: the two halves give the
/// bits of fdk.
///
/// \param[in]  plan      views, u, v; lengths in mm; a subset gives its part of the sum
/// \param[in]  filtered  [views, extended u, v], as filter_projections gives them, dimensionless
/// \param[in,out] volume [nx, ny, nz], 1/mm
/// \param      scratch   at least weighted_back_project_bytes_needed; free again after the next
///                       fence
/// \param[in]  to        whether the volume is overwritten
/// \param[in]  control   progress and cancellation, asked between batches of views
/// \throws iso::invalid_argument  shape mismatch, data with gaps or without memory, arrays that
///                                overlap, too little scratch, a voxel at or behind a source, an
///                                unknown `to`
/// \throws iso::cancelled         `volume` is then incomplete
/// \par Method  as fdk
template <execution_space Exec, real T>
void weighted_back_project(
    Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& filtered,
    volume_view<T, typename Exec::memory_space> const& volume,
    workspace<typename Exec::memory_space> const& scratch, onto to = onto::zero,
    job const& control = {});

}  // namespace iso::ct
