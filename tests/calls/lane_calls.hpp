// SPDX-License-Identifier: BSD-3-Clause
//! Kernels that call the functions of lane values, as those of a newcomer do: by their arguments.
#ifndef ISO_SET
#ifndef LANE_CALLS_HPP
#define LANE_CALLS_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/backend/lane_value.hpp>
#include <iso/backend/team.hpp>
#include <iso/backend/unroll.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

#define ISO_SET_HEADER "lane_calls.hpp"
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace lane_calls::ISO_SET {

/// Gives back 32 whole numbers above zero by every operation.
struct every_operation {
  ISO_KERNEL(every_operation);

  float const* x;
  float* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.template parts<float, 2>([&](auto const& part) {
      using part_type = std::decay_t<decltype(part)>;
      using value = typename part_type::template per_lane<float>;
      using whole = typename part_type::index;
      value const here = part.load(x + 32 * index);
      whole const k = min(truncate(floor(here)), nearest(here));
      value const back = bit_cast<float>(bit_cast<std::int32_t>(convert<float>(k)));
      value const same = gather(x, clamp(part.lane(), whole(0), whole(31)));
      value const mean = blend(value(0.5F), fma(back, reciprocal(value(1)), value(0)), same);
      value low;
      value next;
      gather_pairs(x, clamp(part.lane(), whole(0), whole(30)), low, next);
      bool const right = all_of(value(0) < here) && !any_of(mean < value(1));
      value const chosen = select((here == same) & (min(low, next) <= low), mean, value(-1));
      part.store(out + 32 * index,
                 fma_where(value(0) < chosen, chosen, value(1), value(right ? 0 : -1)));
    });
  }
};

/// Counts its lanes in the words that a team shares.
struct lane_count {
  ISO_KERNEL(lane_count);

  static constexpr int team_words = 1;
  std::uint32_t* out;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team, std::int64_t index) const {
    auto const words = team.words();
    team.each(1, [&](int) { words.set(words.first(), 0); });
    team.sync();
    team.each(32, [&](int) { words.template add<0>(words.first(), 1); });
    team.sync();
    team.each(1, [&](int) { out[index] = words.get(words.first()); });
  }
};

}  // namespace lane_calls::ISO_SET

#endif
