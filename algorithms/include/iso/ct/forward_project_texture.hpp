// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/forward_project_texture.hpp
//! A Kokkos space that the build has not needs detail/forward_project_texture_impl.hpp too.
#pragma once

#include <iso/backend/texture_volume.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/ct/projector_options.hpp>
#include <iso/ct/staged_geometry.hpp>

namespace iso::ct {

/// Computes line integrals of `volume` by linear Joseph, its samples blended by a GPU's texture
/// units: the rays, planes and weights of forward_project with boundary::zero, but for the weights,
/// which the hardware rounds to multiples of 1/256. An error of about 1e-3 of a voxel's difference
/// to its neighbours in every sample; docs/algorithms/projection.md has the figures.
///
/// Enqueued on `exec`; does not fence and does not allocate. Overwrites `projections`. Any geometry
/// and any driving axis take one time.
///
/// Determinism: not_guaranteed (texture units of other GPUs may round weights otherwise).
///
/// \param[in]  g            views, u, v; lengths in mm
/// \param[in]  volume       made beforehand on `exec`'s device; on backends other than CUDA there
/// is
///                          none, and its constructor says so
/// \param[out] projections  [views, u, v], dimensionless
/// \throws iso::invalid_argument  shape mismatch, `projections` with gaps or without memory, an
///                                option out of its range
/// \par Method  J. Graetz, arXiv:1609.00958 (equation 6; GJPhwlin of table I)
template <execution_space Exec>
void forward_project_texture(Exec const& exec,
                             staged_geometry<typename Exec::memory_space> const& g,
                             backend::texture_volume const& volume,
                             projection_view<float, typename Exec::memory_space> const& projections,
                             texture_projection_options const& options = {});

}  // namespace iso::ct
