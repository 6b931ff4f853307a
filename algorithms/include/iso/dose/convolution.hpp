// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/convolution.hpp
//! Computes dose from TERMA by collapsed-cone convolution with a point kernel.
//! An execution space that this build of the library does not have needs
//! detail/convolution_impl.hpp too.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/onto.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/dose/convolution_plan.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::dose {

/// Returns the bytes of scratch memory that convolve needs in the memory of `Exec`. Enqueues
/// nothing.
/// Determinism: backend_to_backend. Backends need different amounts; on processors the amount
/// depends on the number of threads.
template <real T, execution_space Exec>
std::int64_t convolve_bytes_needed(Exec const& exec,
                                   convolution_plan<T, typename Exec::memory_space> const& plan);

/// Computes the dose that a TERMA gives. Along every direction of the plan's cones, energy is
/// released as TERMA and travels in a straight line. In each step 1 - exp(-rate density length) of
/// the energy under way is absorbed, for each term of the kernel.
///
/// The engines differ in the lines (convolution_options::engine):
///
/// - lattice: the lines of a direction lie on a sheared lattice. In every plane of voxels across
///   the grid's axis that is nearest to the direction, a line takes the one voxel that is nearest
///   to it. Slopes are multiples of 2^-14. The lines of a direction together visit every voxel
///   exactly once. A voxel's dose is that at the middle of the line's step.
/// - voxel_lines: each voxel has a line of its own through its middle. It takes what the voxels
///   upstream release, with exact chord lengths and with the tilt of each of them. This takes N
///   times as long, N being the number of voxels along a line.
/// - voxel_samples: the same with trilinear samples of TERMA and density at equal steps.
/// - non_voxel: for each direction, TERMA and density are sampled along parallel rays, and the
///   samples of each ray are stored side by side. Every sample takes what the samples upstream
///   release. The dose of a voxel is interpolated between the samples.
///
/// A tabulated kernel has no recursion from step to step. On the lattice, every plane of a line
/// then takes from all planes upstream, by the differences of their radiological depths.
///
/// The work is enqueued on `exec`; the function does not fence and does not allocate. It overwrites
/// the region's voxels of `dose`, or adds to them (`to`).
///
/// Determinism: backend_to_backend. The dose of each direction is rounded to a multiple of a common
/// unit and added as an integer, so that the sum does not depend on the order of the directions;
/// the unit is 2^-21 in float and 2^-50 in double of the largest dose that one direction can give,
/// or coarser where the sum of many directions exceeds 2^9 or 2^11 times that dose. The sum is
/// added to `dose` once. Where patient, beam and grid are rotated or mirrored by their axes, the
/// lattice gives the same bits in permuted voxels.
///
/// \param[in]  terma    on the plan's region, Gy; not negative
/// \param[in]  density  g/cm3; its grid has the region's voxels, and may have more around them
/// \param[in,out] dose  Gy; on a grid as that of the density. Where a density or a TERMA of the
///                      region is negative or not finite, the whole region becomes NaN
///                      (iso::dose::validate tells where)
/// \param      scratch  at least convolve_bytes_needed; free again after the next fence
/// \param[in]  to       whether the dose is overwritten or added to
/// \param[in]  control  progress and cancellation, asked between launches
/// \throws iso::invalid_argument  a terma that is not on the region; voxels that do not coincide;
///                                volumes with gaps or without memory; arrays that overlap; too
///                                little scratch; an unknown `to`
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
