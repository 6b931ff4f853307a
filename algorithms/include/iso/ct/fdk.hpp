// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/fdk.hpp
//! Filtered backprojection: cone beams by Feldkamp, Davis and Kress (FDK), parallel beams by FBP.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/core/job.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/geometry.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace iso::ct {

/// By what the ramp |f| is multiplied, f being the frequency over the cut-off.
enum class ramp_window {
  ram_lak,      ///< 1
  shepp_logan,  ///< sin(pi f / 2) / (pi f / 2)
  cosine,       ///< cos(pi f / 2)
  hamming,      ///< 0.54 + 0.46 cos(pi f)
  hann,         ///< 0.5 + 0.5 cos(pi f)
};

struct fdk_options {
  ramp_window window = ramp_window::ram_lak;
  double cutoff = 1;  ///< of the detector's Nyquist frequency, in (0, 1]
};

/// Taps n = 0 .. count - 1 of the ramp filter for pixels at distance 1, the window included; tap -n
/// is tap n. The filter for a distance a is 1 / a^2 times this one.
/// Determinism: backend_to_backend; made on the host from iso::math.
/// \throws iso::invalid_argument  `count` below 1, an unknown window, a cut-off outside (0, 1]
std::vector<double> ramp_taps(std::int64_t count, fdk_options const& options = {});

/// The angle that each view of a full circle stands for (rad): half the way to its neighbours on
/// either side. Views may be in any order and need not be evenly spaced.
/// Determinism: backend_to_backend; made on the host from iso::math.
/// \throws iso::invalid_argument  sources that do not lie on a circle about the z axis; a gap of
///                                more than three times the mean one, as of a scan over less than a
///                                circle (cone) or half a circle (parallel)
std::vector<double> angular_weights(geometry const& g);

/// A geometry with all that filtered backprojection derives from it, in `Space`.
template <class Space>
class fdk_plan {
 public:
  using numbers = Kokkos::View<double*, Space>;

  /// Waits for `exec`: no other instance is fenced.
  /// \throws iso::invalid_argument  as ramp_taps and angular_weights
  /// \throws iso::out_of_memory     as iso::allocate
  template <execution_space Exec>
  fdk_plan(Exec const& exec, iso::ct::geometry const& g, fdk_options const& options = {})
      : views_(exec, g),
        taps_(staged(exec, ramp_taps(g.num_u(), options))),
        weights_(staged(exec, angular_weights(g))),
        odd_taps_only_(options.window == ramp_window::ram_lak && options.cutoff == 1) {}

  [[nodiscard]] staged_geometry<Space> const& geometry() const { return views_; }
  [[nodiscard]] numbers const& taps() const { return taps_; }        ///< [u]
  [[nodiscard]] numbers const& weights() const { return weights_; }  ///< [views], rad
  /// Taps at even distances but 0 are zero, and left out of the convolution.
  [[nodiscard]] bool odd_taps_only() const { return odd_taps_only_; }

 private:
  template <execution_space Exec>
  static numbers staged(Exec const& exec, std::vector<double> const& values) {
    auto const copy = allocate<numbers>("iso::ct::fdk_plan", {std::int64_t(values.size())}, exec,
                                        Kokkos::WithoutInitializing);
    Kokkos::deep_copy(exec, copy,
                      Kokkos::View<double const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          values.data(), values.size()));
    exec.fence("iso::ct::fdk_plan: the host copy may go");
    return copy;
  }

  staged_geometry<Space> views_;
  numbers taps_;
  numbers weights_;
  bool odd_taps_only_;
};

/// Bytes of scratch that fdk wants in `Exec`'s memory. Enqueues nothing.
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  bytes beyond 63 bits
template <execution_space Exec, real T>
std::int64_t fdk_bytes_needed(geometry const& g);

/// Reconstructs `volume` from `projections`.
///
/// Pixels are weighted by the cosine of their ray's angle to the detector's normal, every row of u
/// is convolved with the ramp filter, and every voxel takes from every view the bilinearly
/// interpolated value where its ray meets the detector, weighted by the square of (distance of the
/// z axis from the source) / (distance of the voxel), both along the detector's normal. Readings
/// beyond the detector count as zero.
///
/// Enqueued on `exec`; does not fence and does not allocate. Overwrites `volume`, which must not
/// overlap `projections`.
///
/// Determinism: backend_to_backend. A row of u is convolved with u ascending, by fma, without the
/// taps that the plain ramp has zero (even distances but 0); a voxel adds
/// its views by fma, ascending, in blocks of 16 views whose sums are added to the voxel one after
/// the other.
///
/// \param[in]  plan         views, u, v; lengths in mm
/// \param[in]  projections  [views, u, v], line integrals, dimensionless
/// \param[out] volume       [nx, ny, nz], 1/mm
/// \param      scratch      at least fdk_bytes_needed; free again after the next fence
/// \param[in]  control      progress and cancellation, asked between batches of views
/// \throws iso::invalid_argument  shape mismatch, data with gaps or without memory, arrays that
///                                overlap, too little scratch, a detector of 2^22 or more pixels
///                                along v, a voxel at or behind a source
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
    workspace<typename Exec::memory_space> const& scratch, job const& control = {});

}  // namespace iso::ct

#include <iso/ct/detail/fdk_impl.hpp>
