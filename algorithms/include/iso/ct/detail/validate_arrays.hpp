// SPDX-License-Identifier: BSD-3-Clause
//! Checks of volume, projections and scratch that CT operations share.
#pragma once

#include <iso/core/projection_view.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/geometry.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ct::detail {

/// Throws, naming `function`, where a voxel lies at or behind a source, or on the wrong side of it.
void validate_depths(geometry const& g, iso::grid const& volume, char const* function);

/// Checks what projection, backprojection and reconstruction check of their arrays: `scan` is the
/// extents of the projections, and the array whose values are not const is written. The size of
/// `scratch` is not checked: how much is needed depends on checks that follow. Slabs pass.
template <class Voxel, class Pixel, class Space>
void validate_arrays(volume_view<Voxel, Space> const& volume,
                     projection_view<Pixel, Space> const& projections,
                     Kokkos::Array<std::int64_t, 3> const& scan, workspace<Space> const& scratch,
                     char const* function) {
  static_assert(std::is_const_v<Voxel> != std::is_const_v<Pixel>, "one of them is written");
  validate_slab(volume, function);
  validate(projections, scan, function);
  validate_contiguous(volume.data, "volume data", function);
  validate_contiguous(projections.data, "projections", function);
  memory_range const voxels = memory_of(volume.data, "volume data");
  memory_range const pixels = memory_of(projections.data, "projections");
  memory_range const work{scratch.data(), std::uint64_t(scratch.size()), "scratch"};
  memory_range const& written = std::is_const_v<Voxel> ? pixels : voxels;
  memory_range const& read = std::is_const_v<Voxel> ? voxels : pixels;
  validate_apart(written, {read, work}, function);
  validate_apart(work, {read}, function);
}

}  // namespace iso::ct::detail
