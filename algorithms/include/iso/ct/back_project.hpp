// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/back_project.hpp
//! Declares the exact adjoint of forward_project.
//! A Kokkos space that the build has not needs detail/back_project_impl.hpp too.
#pragma once

#include <iso/backend/launch_shape.hpp>
#include <iso/core/interpolation.hpp>
#include <iso/core/job.hpp>
#include <iso/core/onto.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/region.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ct {

struct back_project_options {
  projector method = projector::joseph_linear;  ///< of the forward_project whose adjoint it is
  boundary edge = boundary::zero;
  region within = region::box;
  joseph_path path = joseph_path::automatic;  ///< general: by scatter, whose sums round otherwise
  std::int32_t oversampling = 1;              ///< exact methods: rays per pixel each way
  iso::onto onto = iso::onto::zero;
  std::int64_t first_view = 0;  ///< of the scan's, which the first projection is; a multiple of 16
  backend::launch_shape shape = {};
};

/// Returns the bytes of scratch that back_project wants in `Exec`'s memory. Enqueues nothing.
/// Determinism: backend_to_backend; backends want different amounts.
/// \throws iso::invalid_argument  an extent of `volume` outside 1..2^24 - 1, or bytes beyond 63
/// bits
template <real T, execution_space Exec>
std::int64_t back_project_bytes_needed(Exec const&, geometry const& g, iso::grid const& volume,
                                       back_project_options const& options = {});

/// Computes the adjoint of forward_project: every voxel gets the sum, over the rays that the
/// projection of the same method, edge and region takes through it, of the pixel times the voxel's
/// weight in that ray and the length of a step. So <forward_project(x), y> = <x, back_project(y)>
/// but for the rounding of sums.
///
/// Enqueued on `exec`; does not fence and does not allocate. Overwrites `volume`, or adds to it
/// (`options.onto`). `volume` and `projections` must not overlap. A scan may come in batches of
/// views, one after the other, each at its `first_view`: the first onto zero, the others onto what
/// is stored. They change no bit.
///
/// Determinism: backend_to_backend; `shape` and batches change no bit. Views are summed in blocks
/// of 16, counted from view 0 of the scan: each block's sum begins at +0 and is added to the voxel
/// at the block's end. Within a block:
/// - Linear Joseph where v runs along z and no ray is steep (forward_project's fast path) is a
///   gather in floating point, one fma for each u and, within it, each v, in ascending order
///   (docs/algorithms/projection.md). Both weights of a pair of neighbours are those of
///   forward_project, to the bit.
/// - Every other method, and `joseph_path::general`, is a scatter into integers: products of weight
///   and pixel are rounded to a grid of 2^-50 of the largest |pixel| of the block times two voxel
///   diagonals, coarser by N / 2^13 where a block has N > 2^13 rays. Each product is off by at most
///   half of that, and whole numbers add exactly, in any order. In double, what is rounded off is
///   added up in a second word, so that only the products' own rounding is left. The weights are
///   forward_project's; all exact methods have the same. Takes 8 bytes of scratch a voxel (double:
///   16).
///
/// A pixel that is not finite makes the voxels NaN or infinite (scatter: NaN) to which its ray
/// gives a weight that is not zero, and no others. So does a pixel whose product with the length of
/// a step overflows. The canonical NaN is the only one that leaves.
///
/// \param[in]  g            views, u, v; lengths in mm; all views of the scan
/// \param[in]  projections  [views, u, v], dimensionless; views from `options.first_view` on
/// \param[in,out] volume    [nx, ny, nz], mm (times the unit of the projections)
/// \param      scratch      at least back_project_bytes_needed; free again after the next fence
/// \param[in]  control      progress and cancellation, asked between batches of views
/// \throws iso::invalid_argument  shape mismatch, views that the scan has not, a `first_view` that
///                                begins no block, volume extent above 2^24 - 1, data with gaps or
///                                without memory, arrays that overlap, too little scratch, an
///                                option out of its range
/// \throws iso::cancelled         `volume` is then incomplete
/// \par Method  The transpose of J. Graetz, arXiv:1609.00958 (algorithm 1), as forward_project has
///              it; exact lengths: iso/ray/traverse.hpp.
template <execution_space Exec, real T>
void back_project(
    Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    volume_view<T, typename Exec::memory_space> const& volume,
    workspace<typename Exec::memory_space> const& scratch, back_project_options const& options = {},
    job const& control = {});

}  // namespace iso::ct
