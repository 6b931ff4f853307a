// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_RAY_DETAIL_RADIOLOGICAL_PATH_KERNEL_HPP
#define ISO_RAY_DETAIL_RADIOLOGICAL_PATH_KERNEL_HPP

#include <iso/core/numerics.hpp>
#include <iso/ray/detail/trace_group.hpp>

#include <cstdint>

#define ISO_SET_HEADER <iso/ray/detail/radiological_path_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ray::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Takes thirty-two rays a group, one a lane.
template <class Method, class Index, class T>
struct radiological_path_kernel {
  ISO_KERNEL(radiological_path_kernel<Method, Index, T>);

  traversal_grid grid;
  ray<T> const* rays;
  T const* values;
  T* paths;
  std::int64_t count;
  std::int64_t first_block;  ///< of the launch

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Group const& group, std::int64_t of_launch) const {
    std::int64_t const block = first_block + of_launch;
    typename Group::template lane_array<ray<T>> mine;
    typename Group::template lane_array<T> sums;
    group.each([&](int lane) {
      std::int64_t const r = block * 32 + lane;
      mine[lane] = r < count ? rays[r] : ray<T>{};
    });
    trace_group<Method, Index, T, Group, T>(group, grid, values, mine, sums);
    group.each([&](int lane) {
      std::int64_t const r = block * 32 + lane;
      if (r < count) {
        paths[r] = canonical(sums[lane]);
      }
    });
  }
};

}  // namespace iso::ray::detail::ISO_SET

#endif
