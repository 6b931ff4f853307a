// SPDX-License-Identifier: BSD-3-Clause
//! Adds neighbouring rays to a brick of voxels side by side, in the vector registers of a
//! processor.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_BACK_PROJECT_BRICK_LANES_HPP
#define ISO_CT_DETAIL_BACK_PROJECT_BRICK_LANES_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/backend/team.hpp>
#include <iso/ct/detail/back_project_bricks.hpp>
#include <iso/ct/detail/column_pair.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER <iso/ct/detail/back_project_brick_lanes.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Thirty-two of Joseph's rays on their way into a brick with one word a voxel, a lane a ray. Each
/// lane walks from the plane on in which its own ray enters. The samples and their parts are
/// brick_kernel's, to the bit; the two words of neighbours along z are added to at once.
template <class Samples, class Shape>
class brick_lanes {
 public:
  /// True where the groups of a team add rays so.
  template <class Group>
  static constexpr bool apply = Group::has_windows && Shape::words == 1;

  KOKKOS_FORCEINLINE_FUNCTION explicit brick_lanes(brick_place const& brick) : brick_(brick) {}

  /// The most sets of 32 rays that are chosen before the first is added.
  static constexpr int max_sets = 4;

  /// Lanes of a register that are so many voxels apart seldom add to a word that the lane before
  /// has not stored yet: two voxels keep all apart. At 1.7 laminography of 29 degrees, whose lanes
  /// lie a little more than that apart, keeps one set: two took it a few per cent longer.
  static constexpr float voxels_apart = 1.7F;

  /// Returns how many sets share neighbours, of which two are given: so many that lanes of a
  /// register lie voxels_apart in the brick.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION int sets_for(brick_line<float> const& ray,
                                           brick_line<float> const& next) const {
    std::int32_t const plane = (brick_.low[ray.axis] + brick_.high[ray.axis]) / 2;
    float const p = Kokkos::fabs(next.across[0](plane) - ray.across[0](plane));
    float const q = Kokkos::fabs(next.across[1](plane) - ray.across[1](plane));
    float const apart = float(registers<Group>) * (p < q ? q : p);
    int sets = 1;
    while (sets < max_sets && float(sets) * apart < voxels_apart) {
      ++sets;
    }
    return sets;
  }

  /// Makes the n-th ray of a set that one, which must stay where it is. Neighbours in a set go to
  /// different registers.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void set(int set, int n, brick_line<float> const& ray) {
    constexpr int width = Group::isa::template width<float>;
    records_[32 * set + n % registers<Group> * width + n / registers<Group>] = &ray;
  }

  /// Adds a set to the words of the brick, which begin at 2^31.
  template <class Group, class Words>
  KOKKOS_FORCEINLINE_FUNCTION void add(Group const& group, Words const& words, int set) {
    for (int n = 0; n < 32; n += 8) {
      Group::isa::store_words(&values_[0][n], records_ + 32 * set + n);
    }
    std::int32_t axes = 0;
    for (std::uint32_t const axis : values_[axis_at]) {
      axes |= 1 << axis;
    }
    if ((axes & 1) != 0) {
      add_driven_by<0>(group, words);
    }
    if ((axes & 2) != 0) {
      add_driven_by<1>(group, words);
    }
    if ((axes & 4) != 0) {
      add_driven_by<2>(group, words);
    }
  }

 private:
  // The words of a brick_line, those of slopes and bases twice. No array: nvcc has none in code
  // that it compiles for GPUs too.
  static constexpr int slope_at = 0;
  static constexpr int base_at = 1;
  static constexpr int value_at = 4;
  static constexpr int first_at = 5;
  static constexpr int last_at = 6;
  static constexpr int axis_at = 7;
  static_assert(sizeof(brick_line<float>) == 32);

  template <class Group>
  static constexpr int registers = 32 / Group::isa::template width<float>;

  template <class T, class Part>
  KOKKOS_FORCEINLINE_FUNCTION auto load(Part const& part, int word) const {
    return part.load(reinterpret_cast<T const*>(values_[word]));
  }

  /// A register or more of rays at work, which walk through planes of one axis.
  template <class Part>
  struct walk {
    using value = typename Part::template per_lane<float>;
    value slope[2];
    value base[2];
    value i;     ///< the plane
    value last;  ///< below the first where none is walked through
  };

  /// Adds the rays that axis M drives.
  template <int M, class Group, class Words>
  KOKKOS_FORCEINLINE_FUNCTION void add_driven_by(Group const& group, Words const& words) const {
    constexpr int p_axis = M == 0 ? 1 : 0;
    constexpr int q_axis = M == 2 ? 1 : 2;
    constexpr int p_pitch = Shape::pitch(p_axis);
    constexpr int q_pitch = Shape::pitch(q_axis);
    group.template parts<float, 2>([&](auto const& part) {
      using part_type = std::decay_t<decltype(part)>;
      using value = typename part_type::template per_lane<float>;
      using index = typename part_type::index;
      walk<part_type> rays = begin<M>(part);
      // Places in bytes from the brick's first word: whole numbers that a float holds.
      value const p_low(float(brick_.low[p_axis]));
      value const q_low(float(brick_.low[q_axis]));
      constexpr int origin = Shape::room * (Shape::pitch_x + Shape::pitch_y + Shape::pitch_z);
      value at_plane = fma(rays.i - value(float(brick_.low[M])), value(float(Shape::pitch(M))),
                           value(float(origin)));
      // Words of the room, a pair for each lane, where lanes that are done add what nobody reads.
      index const aside = (part.lane() & index(part_type::shape::width - 1)) * index(8);
      value const reading = load<float>(part, value_at);
      value const negative = value(0.0F) - reading;
      index const whole = nearest(reading);
      for (auto runs = rays.i <= rays.last; any_of(runs); runs = rays.i <= rays.last) {
        value const p = fma(rays.i, rays.slope[0], rays.base[0]);
        value const q = fma(rays.i, rays.slope[1], rays.base[1]);
        value const p_floor = floor(p);
        value const q_floor = floor(q);
        value const wp = weight_of<Samples>(p - p_floor);
        value const wq = weight_of<Samples>(q - q_floor);
        value const above = q_floor - q_low;
        value const place = fma(p_floor - p_low, value(float(p_pitch)),
                                fma(above, value(float(q_pitch)), at_plane));
        index const at = select(runs, truncate(place), aside);
        value const upper = wq * reading;
        value const lower = fma(wq, negative, reading);
        index const u = nearest(upper);
        index const upper_p = nearest(wp * upper);
        index const lower_p = nearest(wp * lower);
        index const rest = (whole - u) - lower_p;
        index const upper_rest = u - upper_p;
        if constexpr (q_axis == 2) {
          // Nothing to words below the brick. They may be no voxel's, so that no bound on a voxel's
          // sum keeps a carry from the word above.
          auto const outside = above < value(0.0F);
          words.template add_pairs<p_pitch>(at, select(outside, index(0), rest), upper_rest,
                                            select(outside, index(0), lower_p), upper_p);
        } else {
          words.template add_corners<q_pitch, p_pitch>(at, rest, upper_rest, lower_p, upper_p);
        }
        rays.i = rays.i + value(1.0F);
        at_plane = at_plane + value(float(Shape::pitch(M)));
      }
    });
  }

  /// Finds the planes of axis M in which rays pass the brick: exactly those, or a few more that
  /// stay in its room.
  template <int M, class Part>
  KOKKOS_FORCEINLINE_FUNCTION walk<Part> begin(Part const& part) const {
    using value = typename Part::template per_lane<float>;
    using index = typename Part::index;
    constexpr int across[2] = {M == 0 ? 1 : 0, M == 2 ? 1 : 2};
    walk<Part> rays;
    auto const driven = load<std::int32_t>(part, axis_at) == index(M);
    index const first = max(load<std::int32_t>(part, first_at), index(brick_.low[M]));
    index const end = min(load<std::int32_t>(part, last_at), index(brick_.high[M]));
    value low = convert<float>(first);
    value high = convert<float>(select(driven, end, first) - index(1));
    for (int c = 0; c < 2; ++c) {
      rays.slope[c] = load<float>(part, slope_at + 2 * c);
      rays.base[c] = load<float>(part, base_at + 2 * c);
      // A sixteenth of a voxel outside is far more than what quotients round, and within the room.
      value const from(float(brick_.low[across[c]]) - 1.0625F);
      value const to(float(brick_.high[across[c]]) + 0.0625F);
      // A slope of zero makes the quotients infinite, or a NaN that bounds nothing.
      value const inverse = value(1.0F) / rays.slope[c];
      value const a = (from - rays.base[c]) * inverse;
      value const b = (to - rays.base[c]) * inverse;
      low = max(min(a, b), low);
      high = min(max(b, a), high);
    }
    // A ray without length has a NaN for its reading, and for its places.
    value const reading = load<float>(part, value_at);
    auto const enters = (low <= high) & (reading - reading == value(0.0F));
    rays.i = select(enters, value(0.0F) - floor(value(0.0F) - low), value(0.0F));
    rays.last = select(enters, floor(high), value(-1.0F));
    return rays;
  }

  brick_place brick_;
  brick_line<float> const* records_[32 * max_sets];
  alignas(64) std::uint32_t values_[8][32];
};

}  // namespace iso::ct::detail::ISO_SET

#endif
