// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_TEST_RETURNED_REGISTER_KERNELS_HPP
#define ISO_TEST_RETURNED_REGISTER_KERNELS_HPP

#include <iso/backend/lane_group.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER "returned_register_kernels.hpp"
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace returned::ISO_SET {

/// Takes floors by an operation that is not inlined.
template <class T>
struct floors {
  ISO_KERNEL(floors<T>);

  T const* x;
  T* y;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.template parts<T, 1>([&](auto const& part) {
      using shape = typename std::decay_t<decltype(part)>::shape;
      using value = typename std::decay_t<decltype(part)>::template per_lane<T>;
      value here = part.load(x + 32 * index);
      if constexpr (shape::width > 1) {
        using reg = typename value::reg;
        reg (*volatile floor_of)(reg const&) = &shape::isa::template floor<reg>;
        here.r[0] = floor_of(here.r[0]);
      } else {
        here = floor(here);
      }
      part.store(y + 32 * index, here);
    });
  }
};

}  // namespace returned::ISO_SET

#endif
