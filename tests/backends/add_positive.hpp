// SPDX-License-Identifier: BSD-3-Clause
//! The kernel of docs/algorithms/lane_group.md.
#ifndef ISO_SET
#ifndef ADD_POSITIVE_HPP
#define ADD_POSITIVE_HPP

#include <iso/backend/lane_group.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER "add_positive.hpp"
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace page::ISO_SET {

/// Adds a x to y where x is positive.
struct add_positive {
  ISO_KERNEL(add_positive);

  float a;
  float const* x;
  float* y;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.template parts<float, 2>([&](auto const& part) {
      using value = typename std::decay_t<decltype(part)>::template per_lane<float>;
      value const here = part.load(x + 32 * index);
      value const sum = fma(value(a), here, part.load(y + 32 * index));
      part.store(y + 32 * index, select(value(0) < here, sum, part.load(y + 32 * index)));
    });
  }
};

}  // namespace page::ISO_SET

#endif
