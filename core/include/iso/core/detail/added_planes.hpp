// SPDX-License-Identifier: BSD-3-Clause
//! Keeps account of the planes of a grid whose terms were added to a sum.
#pragma once

#include <iso/core/grid.hpp>

#include <vector>

namespace iso::detail {

/// Adds `planes` to those that were added before, neighbours joined.
/// \throws iso::invalid_argument  naming `function`: some were added before
void join_planes(std::vector<slab>& added, std::vector<slab> const& planes, char const* function);

/// \throws iso::invalid_argument  naming `function`: planes of `whole` that were not added
void validate_complete(std::vector<slab> const& added, iso::grid const& whole,
                       char const* function);

}  // namespace iso::detail
