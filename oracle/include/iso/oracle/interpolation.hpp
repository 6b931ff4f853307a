// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/oracle/interpolation.hpp
//! Reads a volume between its voxels.
#pragma once

#include <iso/core/volume_view.hpp>

#include <algorithm>
#include <cstdint>

namespace iso::oracle {

/// Returns the value at `index`, in voxels: trilinear between their middles, and that of the
/// nearest point between them beyond the outermost.
/// \param v  [nx, ny, nz]
template <class T>
double trilinear(volume_view<T, Kokkos::HostSpace> const& v, vec3<double> const& index) {
  std::int64_t low[3];
  double share[3];
  for (int axis = 0; axis < 3; ++axis) {
    auto const last = v.grid.extent[std::size_t(axis)] - 1;
    double const kept = std::clamp(index[axis], 0.0, double(last));
    low[axis] = std::min(std::int64_t(kept), std::max<std::int64_t>(last - 1, 0));
    share[axis] = kept - double(low[axis]);
  }
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::int64_t n[3];
    for (int axis = 0; axis < 3; ++axis) {
      bool const upper = (corner >> axis & 1) != 0;
      weight *= upper ? share[axis] : 1 - share[axis];
      n[axis] = low[axis] + (upper ? 1 : 0);
    }
    sum += weight > 0 ? weight * double(v.data(n[0], n[1], n[2])) : 0;
  }
  return sum;
}

}  // namespace iso::oracle
