// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/oracle/gamma.hpp
//! Finds gamma by sampling the interpolated dose and refining about the best samples.
#pragma once

#include <iso/core/volume_view.hpp>
#include <iso/gamma/gamma_index.hpp>

#include <cstdint>
#include <vector>

namespace iso::oracle {

using host_dose = volume_view<double const, Kokkos::HostSpace>;

/// Returns the dose at a point within the box of the voxels' middles.
/// \param at  in voxels
double dose_at(host_dose const& dose, gamma::interpolation between, vec3<double> const& at);

/// Returns gamma at every `stride`th reference voxel that is compared, NaN at the others.
/// Within each cell that can matter one coordinate is eliminated by the minimum of a parabola, the
/// other two are sampled, and the grid of samples about the best is refined until it is 1e-9 of a
/// cell: for each of the three choices.
std::vector<double> exact_gamma(host_dose const& reference, host_dose const& evaluated,
                                gamma::criterion const& limits, gamma::gamma_options const& options,
                                std::int64_t stride = 1);

}  // namespace iso::oracle
