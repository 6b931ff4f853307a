// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels of test_lane_group.cpp, for every instruction set.
#ifndef ISO_SET
#ifndef TESTS_BACKENDS_LANE_GROUP_KERNELS_HPP
#define TESTS_BACKENDS_LANE_GROUP_KERNELS_HPP

#include <iso/backend/lane_group.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER "lane_group_kernels.hpp"
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace lane_group_kernels::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);
using iso::backend::lanes;

template <class T>
struct row_sum {
  ISO_KERNEL(row_sum<T>);

  std::int64_t const* begin;
  T const* a;
  T const* b;
  T* sum;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t row) const {
    typename Group::template lane_array<T> mine(T(0));
    group.strided(begin[row], begin[row + 1], [&](int lane, std::int64_t i) {
      mine[lane] = Kokkos::fma(a[i], b[i], mine[lane]);
    });
    T const total = group.sum(mine);
    group.each([&](int lane) {
      if (lane == 0) {
        sum[row] = total;
      }
    });
  }
};

/// Which lane saw which index: out[i] = lane + 32 visits.
struct strided_kernel {
  ISO_KERNEL(strided_kernel);

  std::int64_t length;
  double* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template lane_array<int> visits(0);
    std::int64_t const begin = index * length;
    group.strided(begin, begin + length, [&](int lane, std::int64_t i) {
      out[i] = lane + 32 * visits[lane];
      ++visits[lane];
    });
  }
};

/// Group g < 32: only lane g says yes; 32: none; 33: all.
struct any_kernel {
  ISO_KERNEL(any_kernel);

  double* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template lane_array<bool> yes(false);
    group.each([&](int lane) { yes[lane] = lane == int(index) || index == 33; });
    double const found = group.any(yes) ? 1 : 0;
    group.each([&](int lane) { out[32 * index + lane] = found; });
  }
};

/// Lane l writes its number where lane 31 - l reads it; a second round, that a late reader would
/// see what the next writes.
struct shared_kernel {
  ISO_KERNEL(shared_kernel);

  float* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template shared_array<float, 32> shared(group);
    typename Group::template lane_array<float> seen(0.0F);
    for (int round = 0; round < 3; ++round) {
      group.each([&](int lane) { shared[lane] = float(index + 100 * round + lane); });
      group.sync();
      group.each([&](int lane) { seen[lane] += shared[31 - lane]; });
      group.sync();
    }
    typename Group::template lane_array<bool> odd;
    group.each([&](int lane) { odd[lane] = (int(seen[lane]) & 1) != 0; });
    std::uint32_t const bits = group.uniform(group.mask(odd));
    std::int32_t const same = group.uniform(-std::int32_t(index));
    group.each([&](int lane) {
      out[32 * index + lane] = seen[lane] + float((bits >> lane) & 1U) + float(same);
    });
  }
};

}  // namespace lane_group_kernels::ISO_SET

#endif
