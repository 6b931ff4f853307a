// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/oracle/reconstruction.hpp
//! Does filtered backprojection in double by the plainest loops, from the definition alone.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/ct/fdk.hpp>

#include <cstdint>
#include <vector>

namespace iso::oracle {

/// Returns what iso::ct::fdk is to give, its weights before the ramp and of the distance from the
/// formula of a fan beam in the plane of rotation (not from the cosine that the function has), [nx,
/// ny, nz]; only every `stride`-th voxel, the others are NaN.
template <class T>
std::vector<double> exact_fdk(ct::geometry const& g,
                              projection_view<T const, Kokkos::HostSpace> const& projections,
                              grid const& volume, ct::fdk_options const& options = {},
                              std::int64_t stride = 1);

}  // namespace iso::oracle
