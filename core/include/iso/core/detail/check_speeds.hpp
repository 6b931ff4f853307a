// SPDX-License-Identifier: BSD-3-Clause
//! Checks how fast those are among whom something is divided.
#pragma once

#include <vector>

namespace iso::detail {

/// Returns what speeds of `parts` add up to, 0 where none are given: all are alike. `what` names
/// the parts in messages.
/// \throws iso::invalid_argument  naming `function`: no part, as many speeds as there are no parts,
///                                a speed that is negative or not finite, no speed above 0
double sum_of_speeds(std::vector<double> const& speeds, int parts, char const* what,
                     char const* function);

}  // namespace iso::detail
