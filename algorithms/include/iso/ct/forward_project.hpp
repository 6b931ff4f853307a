// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/forward_project.hpp
//! A Kokkos space that the build has not needs detail/forward_project_impl.hpp too.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/summation.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/projector_options.hpp>
#include <iso/ct/staged_geometry.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>

namespace iso::ct {

/// Returns the bytes of scratch that forward_project wants in `Exec`'s memory. Enqueues nothing.
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  a Joseph projector and an extent of `volume` outside 1..2^24 - 1,
///                                or bytes beyond 63 bits
template <real T, execution_space Exec>
std::int64_t forward_project_bytes_needed(Exec const&, geometry const& g, iso::grid const& volume,
                                          forward_project_options const& options = {});

/// Computes line integrals of `volume` along the ray of every detector pixel.
///
/// A cone ray runs from the source to its pixel and not beyond; a parallel ray is a whole line.
/// With region::cylinder a Joseph ray takes the samples of those planes in which its point lies in
/// the cylinder, and an exact method's chords end at it; where a ray enters and leaves it is found
/// in double, for both paths alike.
/// Enqueued on `exec`; does not fence and does not allocate. Overwrites `projections`. `volume` and
/// `projections` must not overlap.
///
/// Determinism: backend_to_backend, both sums. `ordered` depends on nothing but the ray;
/// neither `slab_planes`, `shape` nor `path` changes a bit.
///
/// A NaN voxel makes those rays NaN that blend or cross it, and no others; an infinite one makes
/// them infinite or NaN, reproducible sums NaN. A Joseph ray blends the voxel at the floor of its
/// coordinate with the next one up, also where that one's weight is zero: a ray through centres
/// takes the NaN of the upper neighbour and not of the lower. The canonical NaN is the only one
/// that leaves. A cone ray without length, its pixel at the source, counts as zero. Reproducible
/// sums are off by at most half a step a sample or chord, the step being about 2^-21 (float) or
/// 2^-50 (double) of the largest that may be. Joseph's coordinates are rounded to T: in float they
/// are off by a few 2^-24 of the volume's extent in voxels, so use double for tens of thousands of
/// planes (docs/algorithms/projection.md).
///
/// \param[in]  g            views, u, v; lengths in mm
/// \param[in]  volume       [nx, ny, nz], 1/mm
/// \param[out] projections  [views, u, v], dimensionless
/// \param      scratch      at least forward_project_bytes_needed; free again after the next fence
/// \param[in]  control      progress and cancellation, asked between launches
/// \throws iso::invalid_argument  shape mismatch, volume extent above 2^24 - 1, data with gaps or
///                                without memory, volume and projections that overlap, too little
///                                scratch, an option out of its range
/// \throws iso::cancelled         `projections` is then incomplete
/// \par Method  J. Graetz, arXiv:1609.00958 (algorithm 1, equations 3 to 14), after P. M. Joseph,
///              IEEE TMI 1(3), 1982, doi:10.1109/TMI.1982.4307572; exact lengths:
///              iso/ray/traverse.hpp. Deviations: equal components go to the lower axis; by default
///              samples blend with zero beyond the outermost centres (boundary::truncate is the
///              paper's way); the step's length is applied once, to the sum.
template <execution_space Exec, real T>
void forward_project(
    Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& volume,
    projection_view<T, typename Exec::memory_space> const& projections,
    workspace<typename Exec::memory_space> const& scratch,
    forward_project_options const& options = {}, job const& control = {});

}  // namespace iso::ct
