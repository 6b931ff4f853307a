// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/divide_planes.hpp
//! Divides the planes of a grid into slabs, one for each of those who share it.
#pragma once

#include <iso/core/grid.hpp>

#include <vector>

namespace iso {

/// Returns a slab of a grid's planes for each of `parts`, in ascending order, one where the other
/// ends: as many planes as its share of the speeds, rounded. Where there are more parts than
/// planes, or a speed is small, some slabs are empty: slab::count() is then 0. Determinism:
/// backend_to_backend; computed on the host.
/// \param speeds  of each part, in any unit; empty: all are alike
/// \throws iso::invalid_argument  no part, as many speeds as there are no parts, a speed that is
///                                negative or not finite, no speed above 0, an invalid grid
std::vector<slab> divide_planes(grid const& whole, int parts,
                                std::vector<double> const& speeds = {});

/// Checks that slabs are the planes of a grid, each in one of them, in ascending order; some may be
/// empty.
/// Determinism: backend_to_backend; a check made on the host.
/// \throws iso::invalid_argument  naming `function`: they are not, an invalid grid, no slab
void validate(std::vector<slab> const& slabs, grid const& whole, char const* function);

}  // namespace iso
