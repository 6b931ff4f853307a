// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/area_name/area_name.hpp
//! A Kokkos space that the build has not needs detail/area_name_impl.hpp too.
#pragma once

#include <iso/area_name/area_name_options.hpp>
#include <iso/core/volume_view.hpp>

#include <type_traits>

namespace iso::area_name {

/// Multiplies every voxel by a factor. Enqueued on `exec`; does not fence and does not allocate.
/// Determinism: backend_to_backend; one rounding a voxel.
///
/// \param[in]  in       [nx, ny, nz], any unit
/// \param[out] out      [nx, ny, nz]; may be `in`
/// \throws iso::invalid_argument  a factor that is not in its range, other shapes, volumes without
///                                memory or with gaps
template <execution_space Exec, real T>
void scale(Exec const& exec,
           volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& in,
           volume_view<T, typename Exec::memory_space> const& out,
           area_name_options const& options = {});

}  // namespace iso::area_name
