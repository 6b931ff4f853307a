// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernel of density_from_hounsfield.
#pragma once

#include <iso/core/numerics.hpp>
#include <iso/dose/density.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::dose::detail {

template <class T>
struct density_kernel {
  density_segment const* segments;
  std::int32_t count;
  T const* hounsfield;
  T* density;

  KOKKOS_FUNCTION void operator()(std::int64_t voxel) const {
    auto const hu = double(hounsfield[voxel]);
    // How many points do not lie above; of a NaN it is none.
    std::int32_t below = 0;
    for (std::int32_t size = count; size > 0;) {
      std::int32_t const half = size / 2;
      bool const right = segments[below + half].hounsfield <= hu;
      below = right ? below + half + 1 : below;
      size = right ? size - half - 1 : half;
    }
    density_segment const s = segments[below > 0 ? below - 1 : 0];
    // Beyond the ends the distance may be infinite.
    double const slope = below > 0 ? s.slope : 0;
    double const along = slope != 0 ? hu - s.hounsfield : 0.0;
    double const found = Kokkos::fma(slope, along, s.density);
    density[voxel] = hu == hu ? T(found) : Kokkos::bit_cast<T>(float_bits<T>::canonical_nan);
  }
};

}  // namespace iso::dose::detail
