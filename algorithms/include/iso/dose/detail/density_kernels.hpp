// SPDX-License-Identifier: BSD-3-Clause
//! Holds kernels of density_from_hounsfield and of validate for densities.
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

/// The number of voxels that have each fault, and the first of them.
struct density_counts {
  static constexpr int kinds = 3;  ///< not finite, negative, absurd
  std::int64_t count[kinds];
  std::int64_t first[kinds];
};

template <class T>
struct density_counts_kernel {
  using value_type = density_counts;
  T const* density;
  T most;

  KOKKOS_FUNCTION void init(density_counts& c) const {
    for (int kind = 0; kind < density_counts::kinds; ++kind) {
      c.count[kind] = 0;
      c.first[kind] = Kokkos::Experimental::finite_max_v<std::int64_t>;
    }
  }
  KOKKOS_FUNCTION void join(density_counts& c, density_counts const& other) const {
    for (int kind = 0; kind < density_counts::kinds; ++kind) {
      c.count[kind] += other.count[kind];
      c.first[kind] = other.first[kind] < c.first[kind] ? other.first[kind] : c.first[kind];
    }
  }
  KOKKOS_FUNCTION void operator()(std::int64_t voxel, density_counts& c) const {
    T const x = density[voxel];
    bool const finite = is_finite(x);
    bool const faults[] = {!finite, finite && x < T(0), finite && x > most};
    for (int kind = 0; kind < density_counts::kinds; ++kind) {
      c.count[kind] += faults[kind] ? 1 : 0;
      c.first[kind] = faults[kind] && voxel < c.first[kind] ? voxel : c.first[kind];
    }
  }
};

}  // namespace iso::dose::detail
