// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/info.hpp
#pragma once

#include <iso/jobs/report.hpp>
#include <iso/jobs/session.hpp>

namespace iso::jobs {

/// Returns the revision of the source that the program was built from; needs no Kokkos.
std::string source_revision();

enum class ceilings_wanted { yes, no };

/// Returns facts, and on request measured ceilings, of the named backends.
std::vector<backend_facts> info(std::vector<std::string> const& backends, ceilings_wanted ceilings,
                                observer const& watch);

}  // namespace iso::jobs
