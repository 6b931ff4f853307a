// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels of test_lane_group_launch.cpp, for every instruction set.
#ifndef ISO_SET
#ifndef TESTS_BACKENDS_LANE_GROUP_LAUNCH_KERNELS_HPP
#define TESTS_BACKENDS_LANE_GROUP_LAUNCH_KERNELS_HPP

#include <iso/backend/lane_group.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER "lane_group_launch_kernels.hpp"
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace lane_launch_kernels::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Lets the next launch begin, and only then, slowly where `steps` are many, writes what that
/// reads.
struct write_late {
  ISO_KERNEL(write_late);

  double const* from;
  double* to;
  std::int64_t groups;
  int steps;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.wait_for_previous_launch();
    group.trigger_dependent_launch();
    group.each([&](int lane) {
      // Other groups' numbers, in the other direction.
      double x = from[32 * (groups - 1 - index) + lane];
      for (int n = 0; n < steps; ++n) {
        x = Kokkos::fma(x, 1.25, -1.0);
      }
      to[32 * index + lane] = x;
    });
  }
};

struct index_kernel {
  ISO_KERNEL(index_kernel);

  double* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.each([&](int lane) { out[32 * index + lane] = double(32 * index + lane); });
  }
};

}  // namespace lane_launch_kernels::ISO_SET

#endif
