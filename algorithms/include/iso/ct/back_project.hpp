// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/back_project.hpp
//! Declares the exact adjoint of forward_project.
//! A Kokkos space that the build has not needs detail/back_project_impl.hpp too.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/onto.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/projector_options.hpp>
#include <iso/ct/staged_geometry.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>

namespace iso::ct {

/// Returns the bytes of scratch that back_project wants in `Exec`'s memory. Enqueues nothing.
/// Determinism: backend_to_backend; backends want different amounts.
/// \throws iso::invalid_argument  an extent of `volume` outside 1..2^24 - 1, or bytes beyond 63
/// bits
template <real T, execution_space Exec>
std::int64_t back_project_bytes_needed(Exec const&, geometry const& g, iso::grid const& volume,
                                       back_project_options const& options = {});

/// Returns the same for the voxels of a slab.
/// \throws iso::invalid_argument  besides: planes that the grid has not
template <real T, execution_space Exec>
std::int64_t back_project_bytes_needed(Exec const&, geometry const& g, iso::grid const& volume,
                                       slab const& planes,
                                       back_project_options const& options = {});

/// Computes the adjoint of forward_project: every voxel gets the sum, over the rays that the
/// projection of the same method, edge and region takes through it, of the pixel times the voxel's
/// weight in that ray and the length of a step. So <forward_project(x), y> = <x, back_project(y)>
/// but for the rounding of sums.
///
/// `volume` may be a slab: its voxels are then the whole's, to the bit. A grid of its own that is a
/// piece of another has that one's voxels but for rounding: docs/algorithms/projection.md bounds
/// how far they are apart.
///
/// Enqueued on `exec`; does not fence and does not allocate, save that a scatter on a processor
/// waits for batches of rays where the job may cancel. Overwrites `volume`, or adds to it
/// (`to`). `volume` and `projections` must not overlap. A scan may come in batches of
/// views, one after the other, each at its `first_view`: the first onto zero, the others onto what
/// is stored. They change no bit, where scatters are given the scan's `max_abs`.
///
/// Determinism: backend_to_backend; `shape` changes no bit. Views are summed in blocks of 16,
/// counted from view 0 of the scan: each block's sum begins at +0 and is added to the voxel at the
/// block's end, so that batches change no bit either, if scatters are given the scan's `max_abs`.
/// Within a block:
/// - Linear Joseph where v runs along z and no ray is steep (forward_project's fast path) is a
///   gather in floating point, one fma for each u and, within it, each v, in ascending order
///   (docs/algorithms/projection.md). Both weights of a pair of neighbours are those of
///   forward_project, to the bit.
/// - Every other method and scan, and `joseph_path::general`, is a scatter into integers:
///   products of weight and pixel are rounded to a grid so fine and so coarse that the block's sum
///   fits the words of a voxel, and whole numbers add exactly, in any order. Let M be the largest
///   |pixel| times a voxel's diagonal, and S a bound on the sum of a voxel's weights in a view,
///   both of all views. Then no voxel is off by more than 1e-6 S M (float) or 1e-13 S M (double) a
///   view, beside the rounding of its weights and, once a block, that of the volume, which is
///   stored in T: at most 2^-24 (float) or 2^-53 of the voxel's largest value. One word is enough
///   in float, and two in double, where no more than about 40 rays of a view meet a voxel, which is
///   so down to pixels of 0.4 voxels; else a voxel takes two or three words. Three are all there
///   are: they keep the promise up to some 2^11 rays (double) or 2^20 (float), and no further. A
///   volume whose box reaches the plane of the source counts as met by all rays of the view. The
///   chords of all exact methods are the same.
///
/// A pixel that is not finite makes the voxels NaN or infinite (scatter: NaN) to which its ray
/// gives a weight that is not zero, and no others. So does, by gather, a pixel whose product with
/// the length of a step overflows, and by scatter one beyond the `max_abs` given. The canonical NaN
/// is the only one that leaves.
///
/// \param[in]  g            views, u, v; lengths in mm; all views of the scan
/// \param[in]  projections  [views, u, v], dimensionless; views from `options.first_view` on
/// \param[in,out] volume    [nx, ny, nz], or a slab of it; mm (times the unit of the projections)
/// \param      scratch      at least back_project_bytes_needed; free again after the next fence
/// \param[in]  to           whether the volume is overwritten or added to
/// \param[in]  control      progress and cancellation, asked between batches of views
/// \throws iso::invalid_argument  shape mismatch, views that the scan has not, a `first_view` that
///                                begins no block, volume extent above 2^24 - 1, data with gaps or
///                                without memory, arrays that overlap, too little scratch, an
///                                option out of its range, an unknown `to`
/// \throws iso::cancelled         `volume` is then incomplete
/// \par Method  The transpose of J. Graetz, arXiv:1609.00958 (algorithm 1), as forward_project has
///              it; exact lengths: iso/ray/traverse.hpp.
template <execution_space Exec, real T>
void back_project(
    Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    volume_view<T, typename Exec::memory_space> const& volume,
    workspace<typename Exec::memory_space> const& scratch, back_project_options const& options = {},
    onto to = onto::zero, job const& control = {});

}  // namespace iso::ct
