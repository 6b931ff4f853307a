// SPDX-License-Identifier: BSD-3-Clause
// A kernel of one's own on lane groups, for every instruction set.
#ifndef ISO_SET
#ifndef POLYNOMIAL_HPP
#define POLYNOMIAL_HPP

#include <iso/backend/lane_group.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER "polynomial.hpp"
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace speed::ISO_SET {

struct polynomial {
  ISO_KERNEL(polynomial);

  float* x;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.template parts<float, 4>([&](auto const& part) {
      using value = typename std::decay_t<decltype(part)>::template per_lane<float>;
      value const here = part.load(x + 32 * index);
      value sum = here;
      for (int step = 0; step < 500; ++step) {
        sum = fma(sum, here, value(0.25F));
      }
      part.store(x + 32 * index, select(value(0.5F) < sum, here, sum));
    });
  }
};

}  // namespace speed::ISO_SET

#endif
