// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/area_name/area_name_options.hpp
#pragma once

#include <iso/model/describe.hpp>

namespace iso::area_name {

struct area_name_options {
  double factor = 2;  ///< of every voxel
};

constexpr void describe(auto&& visit, describes<area_name_options> auto& x) {
  visit(x.factor, field{.name = "factor", .says = "of every voxel", .low = -1e6, .high = 1e6});
}

}  // namespace iso::area_name
