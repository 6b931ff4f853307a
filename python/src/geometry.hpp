// SPDX-License-Identifier: BSD-3-Clause
//! \file  geometry.hpp
//! Holds grids and scans for Python's classes Grid and Geometry.
#pragma once

#include "arrays.hpp"

#include <iso/core/grid.hpp>
#include <iso/ct/geometry.hpp>

#include <array>
#include <memory>

namespace iso::python {

/// A scan that objects of Python share.
struct scan {
  std::shared_ptr<ct::geometry const> geometry;

  [[nodiscard]] std::array<std::int64_t, 3> extents() const {
    return {geometry->num_views(), geometry->num_u(), geometry->num_v()};
  }
};

/// Returns the voxels along x, y, z.
inline std::array<std::int64_t, 3> extents_of(grid const& g) {
  return {g.extent[0], g.extent[1], g.extent[2]};
}

void bind_geometry(nb::module_& m);

}  // namespace iso::python
