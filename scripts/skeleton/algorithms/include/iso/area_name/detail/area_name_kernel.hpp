// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernel of iso/area_name/area_name.hpp.
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstdint>

namespace iso::area_name::detail {

template <class T>
struct scale_kernel {
  T const* in;
  T* out;
  T factor;

  KOKKOS_FUNCTION void operator()(std::int64_t voxel) const { out[voxel] = factor * in[voxel]; }
};

}  // namespace iso::area_name::detail
