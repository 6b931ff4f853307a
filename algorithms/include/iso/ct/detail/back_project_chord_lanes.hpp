// SPDX-License-Identifier: BSD-3-Clause
//! Adds neighbouring rays of exact lengths to a brick of voxels side by side, in the vector
//! registers of a processor.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_BACK_PROJECT_CHORD_LANES_HPP
#define ISO_CT_DETAIL_BACK_PROJECT_CHORD_LANES_HPP

#include <iso/ct/detail/back_project_brick_lanes.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

#define ISO_SET_HEADER <iso/ct/detail/back_project_chord_lanes.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Thirty-two rays on their way into a brick with one word a voxel, a lane a ray. The chords and
/// their products are brick_kernel's, to the bit.
template <class Shape>
class brick_lanes<exact_chords, Shape> {
 public:
  /// True where the groups of a team add rays so.
  template <class Group>
  static constexpr bool apply = Group::has_windows && Shape::words == 1;

  KOKKOS_FORCEINLINE_FUNCTION explicit brick_lanes(brick_place const& brick) : brick_(brick) {}

  /// Rays are taken as they come.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION int sets_for(brick_chords<float> const&,
                                           brick_chords<float> const&) const {
    return 1;
  }

  /// Makes the n-th ray of the set that one. Neighbours go to different registers, so that lanes
  /// seldom add to a word that the lane before has not stored yet.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void set(int /*set*/, int n, brick_chords<float> const& ray) {
    constexpr int width = Group::isa::template width<float>;
    constexpr int registers = 32 / width;
    int const lane = n % registers * width + n / registers;
    std::uint32_t words[count];
    __builtin_memcpy(words, &ray, sizeof words);
    ISO_EACH_REGISTER(int word = 0; word < count; ++word) { values_[word][lane] = words[word]; }
  }

  /// Adds the set to the words of the brick.
  template <class Group, class Words>
  KOKKOS_FORCEINLINE_FUNCTION void add(Group const& group, Words const& words, int /*set*/) const {
    group.template parts<float, 1>([&](auto const& part) { add_part(part, words); });
  }

 private:
  // The words of a brick_chords. No array: nvcc has none in code that it compiles for GPUs too.
  static constexpr int first_at = 0;
  static constexpr int step_at = 3;
  static constexpr int end_at = 6;
  static constexpr int value_at = 7;
  static constexpr int voxel_at = 8;
  static constexpr int downward_at = 11;
  static constexpr int count = 12;
  static_assert(sizeof(brick_chords<float>) == 4 * count);

  template <class T, class Part>
  KOKKOS_FORCEINLINE_FUNCTION auto load(Part const& part, int word) const {
    return part.load(reinterpret_cast<T const*>(values_[word]));
  }

  /// Of each axis, how a register of rays crosses its planes while they are in the brick.
  template <class Part>
  struct crossings {
    using value = typename Part::template per_lane<float>;
    using index = typename Part::index;
    value first;
    value step;
    value number;      ///< of planes crossed
    value next;        ///< crossing
    index stride;      ///< bytes
    value min_planes;  ///< planes crossed on entry
    value max_planes;

    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION value at(value const& n) const {
      return fma(n, step, first);
    }
  };

  template <class Part, class Words>
  KOKKOS_FORCEINLINE_FUNCTION void add_part(Part const& part, Words const& words) const {
    using value = typename Part::template per_lane<float>;
    using index = typename Part::index;
    crossings<Part> axes[3];
    value const zero(0.0F);
    value const one(1.0F);
    value begin = zero;
    value to = load<float>(part, end_at);
    index const downward = load<std::int32_t>(part, downward_at);
    index place(0);
    ISO_EACH_REGISTER(int a = 0; a < 3; ++a) {
      crossings<Part>& axis = axes[a];
      axis.first = load<float>(part, first_at + a);
      axis.step = load<float>(part, step_at + a);
      index const voxel = load<std::int32_t>(part, voxel_at + a);
      auto const down = (downward & index(1 << a)) == index(1 << a);
      index const low(brick_.low[a]);
      index const high(brick_.high[a] - 1);
      axis.min_planes = convert<float>(select(down, voxel - high, low - voxel));
      axis.max_planes = convert<float>(select(down, voxel - low, high - voxel));
      axis.stride = select(down, index(-Shape::pitch(a)), index(Shape::pitch(a)));
      value const enters = select(zero < axis.min_planes, axis.at(axis.min_planes - one), zero);
      value const leaves = select(zero <= axis.max_planes, axis.at(axis.max_planes), zero);
      axis.min_planes = max(axis.min_planes, zero);
      begin = select(begin < enters, enters, begin);
      to = select(leaves < to, leaves, to);
      place = place + (voxel - low + index(Shape::room)) * index(Shape::pitch(a));
    }
    auto const inside = begin < to;
    if (!any_of(inside)) {
      return;
    }
    ISO_EACH_REGISTER(int a = 0; a < 3; ++a) {
      crossings<Part>& axis = axes[a];
      axis.number = select(inside, planes_crossed(inside, begin, axis), zero);
      // Others stay in the room's first word, and add zero.
      axis.first = select(inside, axis.first, one);
      axis.step = select(inside, axis.step, zero);
      axis.next = axis.at(axis.number);
      place = place + truncate(axis.number) * axis.stride;
    }
    begin = select(inside, begin, zero);
    to = select(inside, to, zero);
    place = select(inside, place, index(0));
    walk(words, axes, begin, to, place, load<float>(part, value_at));
  }

  /// As chords.hpp's, for the rays inside.
  template <class Mask, class Value, class Axis>
  KOKKOS_FORCEINLINE_FUNCTION static Value planes_crossed(Mask const& inside, Value const& from,
                                                          Axis const& axis) {
    Value const one(1.0F);
    Value const guess = (from - axis.first) / axis.step;
    Value const bounded = select(guess < axis.max_planes, guess, axis.max_planes);
    Value number =
        select(axis.min_planes < bounded, convert<float>(truncate(bounded)), axis.min_planes);
    for (;;) {
      auto const more = inside & (number < axis.max_planes) & (axis.at(number) <= from);
      if (!any_of(more)) {
        break;
      }
      number = select(more, number + one, number);
    }
    for (;;) {
      auto const less = inside & (axis.min_planes < number) & (from < axis.at(number - one));
      if (!any_of(less)) {
        break;
      }
      number = select(less, number - one, number);
    }
    return number;
  }

  /// A chord of each ray a round. Rays that have arrived stay where they are, and add zero.
  template <class Words, class Axis, class Value, class Index>
  KOKKOS_FORCEINLINE_FUNCTION static void walk(Words const& words, Axis (&axes)[3], Value begin,
                                               Value const& to, Index place, Value const& reading) {
    Value const one(1.0F);
    for (;;) {
      Value const plane = min(min(axes[0].next, axes[1].next), axes[2].next);
      auto const goes_on = plane < to;
      Value const end = select(goes_on, plane, to);
      words.add_each(place, nearest((end - begin) * reading));
      if (!any_of(goes_on)) {
        return;
      }
      begin = end;
      ISO_EACH_REGISTER(int a = 0; a < 3; ++a) {
        auto const crosses = goes_on & (axes[a].next <= plane);
        axes[a].number = select(crosses, axes[a].number + one, axes[a].number);
        place = select(crosses, place + axes[a].stride, place);
        axes[a].next = axes[a].at(axes[a].number);
      }
    }
  }

  brick_place brick_;
  alignas(64) std::uint32_t values_[count][32];
};

}  // namespace iso::ct::detail::ISO_SET

#endif
