// SPDX-License-Identifier: BSD-3-Clause
//! Declares a backprojection of few views that changes a volume at once, as blocks of ordered
//! subsets do.
#pragma once

#include <iso/ct/back_project.hpp>
#include <iso/ct/detail/voxel_step.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Returns whether backprojection is by gather. Its bits depend on this, so that no backend may
/// differ.
bool gathers(geometry const& g, iso::grid const& volume, std::int64_t value_bytes,
             back_project_options const& options);

/// Returns whether a call's sums of voxels are whole before they are stored, so that
/// back_project_step takes so many views.
bool steps_at_once(std::int64_t views, back_project_options const& options);

/// Makes every voxel of `x` what `by` makes of it and its sum c, which is back_project's onto zero:
/// the same bits, without a volume for c that is written and read again. The rest is as
/// back_project. Determinism: backend_to_backend.
/// \throws iso::invalid_argument  more views than steps_at_once takes; as back_project
template <execution_space Exec, real T>
void back_project_step(
    Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    volume_view<T, typename Exec::memory_space> const& x,
    workspace<typename Exec::memory_space> const& scratch, back_project_options const& options,
    voxel_step<std::type_identity_t<T>> const& by, job const& control);

}  // namespace iso::ct::detail
