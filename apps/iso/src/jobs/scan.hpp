// SPDX-License-Identifier: BSD-3-Clause
//! Turns what files say into what the library takes.
#pragma once

#include <iso/cases/memory.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/files/volume_view.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace iso::jobs {

using namespace cases;

/// Throws iso::invalid_argument.
ct::geometry make_geometry(files::geometry_description const& g);

/// Throws iso::invalid_argument naming the choices.
ct::projector projector_named(std::string_view name);
iso::summation summation_named(std::string_view name);

}  // namespace iso::jobs
