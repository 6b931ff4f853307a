// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/ct/geometry.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Filtered views as backprojection reads them: pixel (u, v) at [view][u + 1][v + 1], zeros about
/// them, so that no pixel beyond the detector's edge needs a test.
struct padded_images {
  std::int32_t num_u;
  std::int32_t num_v;

  KOKKOS_FUNCTION std::int32_t columns() const { return num_u + 2; }
  /// Pixels from one u to the next: whole groups of lanes.
  KOKKOS_FUNCTION std::int32_t pitch() const { return (num_v + 2 + 31) / 32 * 32; }
  KOKKOS_FUNCTION std::int64_t image_size() const { return std::int64_t(columns()) * pitch(); }
};

/// Across the detector, world coordinates (mm), of no certain length.
KOKKOS_INLINE_FUNCTION vec3<double> normal_of(view_vectors const& w) {
  return cross(w.u_step, w.v_step);
}

}  // namespace iso::ct::detail
