// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/slab_phantom.hpp
//! Describes the phantom of plane layers that dose engines are shown on.
#pragma once

#include <iso/core/grid.hpp>

#include <vector>

namespace iso::dose {

/// The side of the phantom's cube, mm.
inline constexpr double slab_phantom_width = 256;

struct slab {
  double thickness;  ///< mm
  double density;    ///< g/cm3
};

/// Returns adipose, muscle, bone and lung in eleven layers, from the surface inwards.
/// model/data/slab_phantom.csv tells where the numbers are from.
/// Determinism: backend_to_backend; made on the host, constants.
std::vector<slab> slab_phantom();

/// Returns the voxels of the phantom's cube. Its surface is the plane y = 0, its layers follow
/// along +y, and x = z = 0 runs through its middle: a beam from gantry angle 0 with its isocentre
/// at x = z = 0 enters the first layer along its normal.
/// \param voxel  side of a voxel, mm
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  a voxel of which no whole number makes up the cube
iso::grid slab_phantom_grid(double voxel);

/// Gives the mean density from `near` to `far` mm behind the surface, g/cm3; nothing lies outside.
/// Determinism: backend_to_backend; made on the host in double, slabs in order.
double mean_density(std::vector<slab> const& slabs, double near, double far);

}  // namespace iso::dose
