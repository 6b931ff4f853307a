// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/convolution.hpp
//! Convolves TERMA with a point kernel by collapsed cones.
//! A Kokkos space that the build has not needs detail/convolution_impl.hpp too.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/onto.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/dose/convolution_plan.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::dose {

/// Returns the bytes of scratch that convolve wants in `Exec`'s memory. Enqueues nothing.
/// Determinism: backend_to_backend; backends want different amounts, processors one for each number
/// of threads.
template <real T, execution_space Exec>
std::int64_t convolve_bytes_needed(Exec const& exec,
                                   convolution_plan<T, typename Exec::memory_space> const& plan);

/// Deposits `terma` as dose: along every direction of the plan's cones, energy is
/// released as TERMA, and absorbed by 1 - exp(-rate density length) in each step.
///
/// dose_engine::lattice: lines lie on a sheared lattice. Along the grid's axis that is nearest to
/// its direction, a line takes in every plane the voxel that it is nearest to, by slopes that are
/// whole multiples of 2^-14. Every line so visits every voxel exactly once. A voxel's dose is that
/// at the middle of its step.
///
/// dose_engine::voxel_lines: every voxel gets, along each direction, what the voxels before it
/// release, by their exact chords with the line through its middle and their own tilt. Takes N
/// times as long.
///
/// dose_engine::voxel_samples: the same by trilinear samples of TERMA and density at equal steps.
///
/// dose_engine::non_voxel: for each direction, TERMA and density are sampled along parallel rays,
/// the samples of a ray are laid side by side, every sample takes what those upstream of it
/// release, and voxels interpolate between the samples.
///
/// A tabulated kernel has no recursion: on the lattice, every plane of a line takes from all planes
/// before it, by the difference of their radiological depths.
///
/// Enqueued on `exec`; does not fence and does not allocate. Overwrites the region's voxels of
/// `dose`, or adds to them (`to`).
///
/// Determinism: backend_to_backend. The doses of all directions are rounded to a common grid (in
/// float of 2^-21, in double of 2^-50, of the most that one direction can give, or coarser where
/// many directions add up to 2^9, or 2^11, of it) and added as integers: in any order of directions
/// the sum is the same. It is then added to `dose`, once. Rotating or mirroring patient, beam and
/// grid by their axes permutes the bits.
///
/// \param[in]  terma    on the plan's region, Gy; not negative
/// \param[in]  density  g/cm3; its grid has the region's voxels, and may have more around them
/// \param[in,out] dose  Gy; likewise. Where a density or a TERMA of the region is negative or not
///                      finite, the whole region becomes NaN (iso::dose::validate tells where)
/// \param      scratch  at least convolve_bytes_needed; free again after the next fence
/// \param[in]  to       whether the dose is overwritten
/// \param[in]  control  progress and cancellation, asked between launches
/// \throws iso::invalid_argument  a terma that is not on the region, voxels that do not coincide,
///                                volumes with gaps or without memory, arrays that overlap, too
///                                little scratch, an unknown `to`
/// \throws iso::cancelled         `dose` is then incomplete
/// \par Method  A. Ahnesjo, Med. Phys. 16(4), 1989, doi:10.1118/1.596360, on a lattice of this
///              library (docs/algorithms/dose.md); non_voxel and voxel_samples: J. Neylon et al.,
///              Med. Phys. 41, 2014, doi:10.1118/1.4895822
template <execution_space Exec, real T>
void convolve(
    Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& terma,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& density,
    volume_view<std::type_identity_t<T>, typename Exec::memory_space> const& dose,
    workspace<typename Exec::memory_space> const& scratch, onto to = onto::zero,
    job const& control = {});

}  // namespace iso::dose
