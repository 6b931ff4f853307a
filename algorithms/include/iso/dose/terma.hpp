// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/terma.hpp
//! Computes the total energy released per mass (TERMA).
//! A Kokkos space that the build has not needs detail/terma_impl.hpp too.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/detail/copied.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/spectrum.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>

namespace iso::dose {

/// A beam, with the numbers that its TERMA needs, in `Space`.
template <class Space>
class terma_plan {
 public:
  using numbers = Kokkos::View<double*, Space>;

  // No moves: a Kokkos::View that is moved from would dangle, and a copy shares its memory.
  terma_plan(terma_plan const&) = default;
  terma_plan& operator=(terma_plan const&) = default;
  ~terma_plan() = default;

  /// Allocates the plan's arrays, and waits for `exec`: no other instance is fenced.
  /// \throws iso::invalid_argument  as frame_of; a spectrum as iso::dose::validate refuses it, or
  ///                                one of so low an energy that the depth curve is off by 1e-6
  /// \throws iso::out_of_memory     as iso::allocate
  template <execution_space Exec>
  terma_plan(Exec const& exec, beam const& b, spectrum const& s, terma_options const& options = {});

  /// Takes what follows from spectrum and options from the plan of another beam, and shares it.
  /// Allocates and waits likewise.
  /// \param memory  for the fluence, which is lost with the next plan there; given this, it
  /// enqueues
  ///                the copy and does not wait
  /// \throws iso::invalid_argument  as frame_of
  /// \throws iso::out_of_memory     as iso::allocate
  template <execution_space Exec>
  terma_plan(Exec const& exec, beam const& b, terma_plan const& of_same_spectrum,
             iso::detail::reused_copy<Exec>* memory = nullptr);

  [[nodiscard]] beam const& field() const { return beam_; }
  [[nodiscard]] beam_frame const& frame() const { return frame_; }
  /// Returns the fluence map's values, [columns, rows], rows fastest.
  [[nodiscard]] numbers const& fluence() const { return fluence_; }
  /// Returns TERMA against the radiological depth as cubic polynomials, [intervals, 4], in Gy.
  [[nodiscard]] numbers const& curve() const { return curve_; }

 private:
  beam beam_;
  beam_frame frame_;
  numbers fluence_;
  numbers curve_;
};
template <execution_space Exec>
terma_plan(Exec const&, beam const&, spectrum const&, terma_options const& = {})
    -> terma_plan<typename Exec::memory_space>;

/// Computes TERMA at the middle of every voxel of `terma`: what terma_at gives behind the exact
/// path of the ray from the source through `density`, times the inverse square of the distance over
/// that of the isocentre, times the mean fluence over the voxel as the source sees it (so that the
/// edges of a field cover a part of a voxel, by the product of its shares along the field's axes).
/// Depth is held by cubic polynomials over 0.25 g/cm2, within 1e-6 of terma_at, and within 1e-8 for
/// the library's spectra; beyond 1000 g/cm2 the TERMA is 0.
///
/// Enqueued on `exec`; does not fence and does not allocate. With a job that has callbacks it waits
/// for batches of voxels, after each of which the job is asked. Overwrites `terma`, which must not
/// overlap `density`. Its grid may be another, as that of region_around.
///
/// Determinism: backend_to_backend, from the plan's numbers; the job changes no bit.
///
/// \param[in]  plan     fluence of one photon/cm2 in air at the isocentre, times the beam's weight
/// \param[in]  density  [nx, ny, nz], g/cm3; nothing lies outside of it
/// \param[out] terma    [mx, my, mz], Gy; NaN where the path is NaN or negative
/// \throws iso::invalid_argument  invalid grids, volumes with gaps or without memory, arrays that
///                                overlap, more than 2^24 voxels along an axis in float, a source
///                                within the density's volume
/// \throws iso::cancelled         as job::step
/// \par Method  J. Neylon et al., Med. Phys. 41, 2014, doi:10.1118/1.4895822, equations 1 to 3
template <execution_space Exec, real T>
void terma(Exec const& exec, terma_plan<typename Exec::memory_space> const& plan,
           volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& density,
           volume_view<T, typename Exec::memory_space> const& terma, job const& control = {});

}  // namespace iso::dose
