// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/support/volume_of.hpp
#pragma once

#include <iso/core/volume_view.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::test {

/// A volume in host memory whose voxel (i, j, k) is f(i, j, k).
template <class T, class F>
volume_view<T, Kokkos::HostSpace> volume_of(grid const& g, F const& f) {
  auto const v = make_volume<T, Kokkos::HostSpace>("volume", g);
  for (std::int64_t i = 0; i < g.extent[0]; ++i) {
    for (std::int64_t j = 0; j < g.extent[1]; ++j) {
      for (std::int64_t k = 0; k < g.extent[2]; ++k) {
        v.data(i, j, k) = T(f(i, j, k));
      }
    }
  }
  return v;
}

}  // namespace iso::test
