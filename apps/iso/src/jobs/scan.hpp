// SPDX-License-Identifier: BSD-3-Clause
//! Turns what files say into what the library takes.
#pragma once

#include <iso/cases/memory.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/files/volume_view.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace iso::jobs {

using namespace cases;

/// Counts the views whose detector stands in the volume or before it, and returns the geometry with
/// these moved along their rays to behind it where `extend_rays` says so: `views_within` is 0 then.
ct::geometry behind_volume(ct::geometry g, grid const& volume, bool extend_rays,
                           std::int64_t& views_within);

}  // namespace iso::jobs
