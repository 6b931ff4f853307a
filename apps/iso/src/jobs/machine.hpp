// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/ceilings/ceilings.hpp>
#include <iso/jobs/report.hpp>

#include <vector>

namespace iso::jobs {

/// Returns the measured ceilings as named figures.
std::vector<fact> list_ceilings(ceilings::rates const& c);

}  // namespace iso::jobs
