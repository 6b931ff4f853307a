// SPDX-License-Identifier: BSD-3-Clause
// The ordered Joseph projector in float as one would write it in CUDA alone: the twin that
// forward_project is measured by. A cone whose v runs along z, with no ray that z would drive.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/ct/detail/joseph_fast_kernel.hpp>

#include <cstdint>

namespace iso::perf {

struct raw_joseph_arrays {
  ct::view_vectors const* views;
  float const* volume;
  float* projections;
  ct::detail::joseph_ray_column<float>* ray_columns;  ///< scratch: num_views num_u of them
  ct::detail::joseph_range* row_ranges;  ///< scratch: num_views num_u rows(num_v) of them
  grid g;
  std::int32_t num_views;
  std::int32_t num_u;
  std::int32_t num_v;

  /// Counts rows of 32 pixels, whole pairs of them.
  KOKKOS_FUNCTION static constexpr std::int32_t rows(std::int64_t num_v) {
    return std::int32_t((num_v + 63) / 64 * 2);
  }
};

#if ISO_HAS_CUDA
/// Enqueues on `exec`, a launch for each `slab_planes` driving planes.
void raw_joseph(Kokkos::Cuda const& exec, raw_joseph_arrays const& arrays,
                std::int32_t slab_planes);
#endif

}  // namespace iso::perf
