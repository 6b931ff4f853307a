// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/oracle/dose.hpp
//! Computes TERMA and collapsed-cone dose in double by the plainest loops, from definitions alone.
#pragma once

#include <iso/core/volume_view.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/cones.hpp>
#include <iso/dose/spectrum.hpp>

#include <cstdint>
#include <vector>

namespace iso::oracle {

using host_density = volume_view<double const, Kokkos::HostSpace>;

/// Returns what iso::dose::terma is to give on `region`; only every `stride`-th voxel, the others
/// are NaN. The exposed part of a voxel's face is that of a box along the field's axes.
std::vector<double> exact_terma(dose::beam const& b, dose::spectrum const& s,
                                dose::terma_options const& options, host_density const& density,
                                grid const& region, std::int64_t stride = 1);

/// The rule for the voxels that a line takes, and its length in each.
enum class transport {
  lines,    ///< through the middle of a voxel, exact chords
  lattice,  ///< those of dose_engine::lattice
};

/// Returns the dose of lines of each direction through every `stride`-th voxel of `terma`, the
/// others NaN; tilted as the cones say, or not at all.
/// \param density  on the grid of `terma`
std::vector<double> exact_dose(dose::beam const& b, dose::cone_set const& cones, bool tilt,
                               host_density const& terma, host_density const& density,
                               std::int64_t stride = 1, transport by = transport::lines);

}  // namespace iso::oracle
