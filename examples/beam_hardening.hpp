// SPDX-License-Identifier: BSD-3-Clause
// A kernel of one's own on lane groups: for_each_set.hpp compiles it for every instruction set of
// the processor, and a launch takes the widest that the processor has.
#ifndef ISO_SET
#ifndef BEAM_HARDENING_HPP
#define BEAM_HARDENING_HPP

#include <iso/backend/lane_group.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER "beam_hardening.hpp"
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace example::ISO_SET {

// Reading p becomes p (c0 + (p - p0) (c1 + (p - p1) c2)): what a beam of one energy would read.
struct beam_hardening {
  ISO_KERNEL(beam_hardening);

  float* readings;  // 32 for each index
  float p0, p1;
  float c0, c1, c2;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    float* const mine = readings + 32 * index;
    group.template parts<float, 2>([&](auto const& part) {
      using value = typename std::decay_t<decltype(part)>::template per_lane<float>;
      value const p = part.load(mine);
      value const slope = fma(p - value(p1), value(c2), value(c1));
      part.store(mine, p * fma(p - value(p0), slope, value(c0)));
    });
  }
};

}  // namespace example::ISO_SET

#endif
