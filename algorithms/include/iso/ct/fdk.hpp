// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/fdk.hpp
//! Reconstructs by filtered backprojection: cone beams by the method of Feldkamp, Davis and Kress
//! (FDK), parallel beams by FBP.
//!
//! fdk does the whole reconstruction. filter_projections and weighted_back_project are its two
//! halves, for a program that does something of its own between them. A scan of many views can be
//! reconstructed in subsets of its views (fdk_plan::subset).
//!
//! An execution space that this build of the library does not have needs detail/fdk_impl.hpp too.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/onto.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/detail/ray_shares.hpp>
#include <iso/ct/fdk_options.hpp>
#include <iso/ct/scan_weights.hpp>
#include <iso/ct/staged_geometry.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace iso::ct {

/// Returns the taps n = 0, ..., count - 1 of the ramp filter for pixels at distance 1, with its
/// window. The filter is symmetric: tap -n is tap n. The filter for pixels at a distance a has
/// these taps divided by a^2.
/// Determinism: backend_to_backend; computed on the host with iso::math.
/// \throws iso::invalid_argument  a `count` below 1, an unknown window, a cut-off outside (0, 1]
std::vector<double> ramp_taps(std::int64_t count, fdk_options const& options = {});

/// The plan of a filtered backprojection: a geometry, the taps of the filter, and the weights of
/// the readings, in the memory `Space`.
template <class Space>
class fdk_plan {
 public:
  using numbers = Kokkos::View<double*, Space>;

  // No moves: a Kokkos::View that is moved from would dangle, and a copy shares its memory.
  fdk_plan(fdk_plan const&) = default;
  fdk_plan& operator=(fdk_plan const&) = default;
  ~fdk_plan() = default;

  /// Computes the plan of a scan. It allocates the plan's arrays and waits for `exec`, and fences
  /// no other instance.
  /// \throws iso::invalid_argument  as ramp_taps, weigh_scan and fdk_bytes_needed
  /// \throws iso::out_of_memory     as iso::allocate
  template <execution_space Exec>
  fdk_plan(Exec const& exec, iso::ct::geometry const& g, fdk_options const& options = {});

  /// Returns the plan of the views [first, first + count). Their weights are those that they have
  /// in the whole scan: the sum of the reconstructions of all subsets is that of the scan. Call fdk
  /// with onto::zero for the first subset and onto::stored for the others. The result shares the
  /// memory of this plan, and nothing is enqueued.
  /// \throws iso::invalid_argument  a range that is empty, or not within the views of this plan
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

  /// Returns the geometry of the scan. Its rows of u are extended by the columns that the filter
  /// adds.
  [[nodiscard]] staged_geometry<Space> const& geometry() const { return views_; }
  [[nodiscard]] std::int64_t num_u() const { return num_u_; }        ///< columns of the detector
  [[nodiscard]] std::int64_t before() const { return before_; }      ///< columns added before them
  [[nodiscard]] numbers const& taps() const { return taps_; }        ///< [extended u]
  [[nodiscard]] numbers const& weights() const { return weights_; }  ///< [views], rad
  /// Returns whether the taps at even distances other than 0 are zero. The convolution then leaves
  /// them out.
  [[nodiscard]] bool odd_taps_only() const { return odd_taps_only_; }
  /// Returns the redundancy weights, [views, extended u], or [extended u] where they are the same
  /// in all views. Beyond the detector they contain the fall of the truncation correction. Empty:
  /// all are 1.
  [[nodiscard]] numbers const& redundancy_weights() const { return redundancy_weights_; }
  /// Returns the redundancy weights of rays, where they are not the same in a column
  /// (scan_weights).
  [[nodiscard]] detail::ray_shares shares() const {
    return {overlaps_.size() > 0 ? overlaps_.data() : nullptr,
            begins_.size() > 0 ? begins_.data() : nullptr, spare_};
  }
  /// Returns the arc that the scan was found to cover. detector() returns the placement of its
  /// detector.
  [[nodiscard]] scan_arc arc() const { return arc_; }
  [[nodiscard]] detector_placement detector() const { return detector_; }

  /// Returns the bytes of its arrays in the memory of `Space`.
  [[nodiscard]] std::int64_t bytes_held() const {
    std::size_t const doubles = taps_.size() + weights_.size() + redundancy_weights_.size() +
                                overlaps_.size() + begins_.size();
    return geometry().host().num_views() * std::int64_t(sizeof(view_vectors)) +
           std::int64_t(sizeof(double) * doubles);
  }

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
template <execution_space Exec>
fdk_plan(Exec const&, geometry const&, fdk_options const& = {})
    -> fdk_plan<typename Exec::memory_space>;

/// Returns the bytes of scratch memory that fdk needs in the memory of `Exec`. Enqueues nothing.
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  a number of bytes beyond 63 bits; a detector of 2^22 or more
///                                pixels along u or v, as the filter extends it; a displaced
///                                detector that weigh_scan refuses
template <real T, execution_space Exec>
std::int64_t fdk_bytes_needed(Exec const&, geometry const& g, fdk_options const& options = {});

/// Reconstructs a volume from projections.
///
/// The steps are:
///
/// - Each pixel is multiplied by the weight of its ray's direction and by its redundancy weight
///   (weigh_scan). Across the central ray, the weight of the direction is the cosine of the angle
///   between the ray and the detector's normal.
/// - Each row of u gets the plan's truncation correction and is convolved with the ramp filter.
/// - Each voxel takes from every view the value where its ray meets the detector, by bilinear
///   interpolation. For a cone beam the value is multiplied by the square of (distance of the z
///   axis from the source) / (distance of the voxel from the source), both measured along the
///   detector's normal.
///
/// The detector may be turned in any way that leaves its rows in the plane of rotation. Source and
/// detector may stand aside of the axis. A reading whose weight is zero does not count, even if it
/// is not finite; others that are not finite reach the voxels that take from their rows, and those
/// of the first row the voxels seen below the detector too.
///
/// The work is enqueued on `exec`; fdk does not fence and does not allocate. It overwrites
/// `volume`, or adds to it (`to`). No two of `volume`, `projections` and `scratch` may overlap.
///
/// Determinism: backend_to_backend. A row is convolved by fma with u ascending, without the taps at
/// even distances that are zero for the plain ramp; a voxel adds its views by fma in ascending
/// order, in blocks of 16 views whose sums are added to the voxel one after the other. A NaN that
/// leaves is the canonical one. Subsets give the bits of the whole plan if each begins at a
/// multiple of 16 views, they are taken in ascending order, the first with onto::zero and the
/// others with onto::stored.
///
/// \param[in]  plan         views, u, v; lengths in mm; a subset gives its part of the sum
/// \param[in]  projections  [views, u, v], line integrals, dimensionless
/// \param[in,out] volume    [nx, ny, nz], 1/mm; of a slab, its voxels have the whole's bits
/// \param      scratch      at least fdk_bytes_needed; free again after the next fence
/// \param[in]  to           whether the volume is overwritten or added to
/// \param[in]  control      progress and cancellation, asked between batches of views
/// \throws iso::invalid_argument  arrays of other shapes, with gaps, without memory, or that
///                                overlap; too little scratch; a detector of 2^22 or more pixels
///                                along v; a voxel at or behind a source; an unknown `to`
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

/// Returns the bytes of scratch memory that filter_projections needs in the memory of `Exec`.
/// Enqueues nothing.
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  as fdk_bytes_needed
template <real T, execution_space Exec>
std::int64_t filter_projections_bytes_needed(Exec const&, geometry const& g,
                                             fdk_options const& options = {});

/// Weights and filters projections: the first half of fdk.
///
/// Pixels are multiplied by the weight of their ray's direction and by their redundancy weight.
/// Rows of u get the plan's truncation correction and are convolved with the ramp filter for pixels
/// at distance 1 (ramp_taps). weighted_back_project is the second half. Between the two a program
/// may change `filtered`, for instance by another filter or a mask.
///
/// The work is enqueued on `exec`; the function does not fence and does not allocate. It overwrites
/// `filtered`. No two of `filtered`, `projections` and `scratch` may overlap.
///
/// Determinism: backend_to_backend, but for the sign and the payload of a NaN, which are the
/// processor's. A row is convolved as in fdk.
///
/// \param[in]  plan         views, u, v; a subset filters its views
/// \param[in]  projections  [views, u, v], line integrals, dimensionless
/// \param[out] filtered     [views, extended u, v], dimensionless: the extents of plan.geometry();
///                          pixel u of the detector is u + plan.before()
/// \param      scratch      at least filter_projections_bytes_needed; free again after the next
///                          fence
/// \param[in]  control      progress and cancellation, asked between batches of views
/// \throws iso::invalid_argument  arrays of other shapes, with gaps, without memory, or that
///                                overlap; too little scratch
/// \throws iso::cancelled         `filtered` is then incomplete
/// \par Method  as fdk
template <execution_space Exec, real T>
void filter_projections(
    Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    projection_view<T, typename Exec::memory_space> const& filtered,
    workspace<typename Exec::memory_space> const& scratch, job const& control = {});

/// Returns the bytes of scratch memory that weighted_back_project needs in the memory of `Exec`.
/// Enqueues nothing.
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  as fdk_bytes_needed
template <real T, execution_space Exec>
std::int64_t weighted_back_project_bytes_needed(Exec const&, geometry const& g,
                                                fdk_options const& options = {});

/// Backprojects filtered projections with FDK's weights: the second half of fdk.
///
/// Each voxel takes from every view the value where its ray meets the detector, by bilinear
/// interpolation, and zero beyond the detector. The value is multiplied by
///
/// - the angle that the view stands for; half of it for a cone beam, which measures each ray twice;
/// - 1 / (the distance of neighbouring pixels, as seen at the z axis);
/// - for a cone beam, the square of (distance of the z axis from the source) / (distance of the
///   voxel from the source), both measured along the detector's normal.
///
/// It is not the adjoint of forward_project: back_project is.
///
/// The work is enqueued on `exec`; the function does not fence and does not allocate. It overwrites
/// `volume`, or adds to it (`to`). No two of `volume`, `filtered` and `scratch` may overlap.
///
/// Determinism: backend_to_backend. A voxel adds its views as in fdk: the two halves give the bits
/// of fdk. A NaN that leaves is the canonical one.
///
/// \param[in]  plan      views, u, v; lengths in mm; a subset gives its part of the sum
/// \param[in]  filtered  [views, extended u, v], as filter_projections writes them, dimensionless
/// \param[in,out] volume [nx, ny, nz], 1/mm; of a slab, its voxels have the whole's bits
/// \param      scratch   at least weighted_back_project_bytes_needed; free again after the next
///                       fence
/// \param[in]  to        whether the volume is overwritten or added to
/// \param[in]  control   progress and cancellation, asked between batches of views
/// \throws iso::invalid_argument  arrays of other shapes, with gaps, without memory, or that
///                                overlap; too little scratch; a voxel at or behind a source; an
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
