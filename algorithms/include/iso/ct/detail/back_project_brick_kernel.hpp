// SPDX-License-Identifier: BSD-3-Clause
//! Backprojects by scatter: a team owns a brick of voxels and adds whole numbers to it.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_BACK_PROJECT_BRICK_KERNEL_HPP
#define ISO_CT_DETAIL_BACK_PROJECT_BRICK_KERNEL_HPP

#include <iso/backend/team.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/detail/back_project_brick_lanes.hpp>
#include <iso/ct/detail/back_project_bricks.hpp>
#include <iso/ct/detail/back_project_chord_lanes.hpp>
#include <iso/ct/detail/voxel_step.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ct::detail {

/// The layout of a brick of at most X x Y x Z voxels in a team's words, `Words` a voxel: with two
/// voxels of room all around, so that rays need not be clipped to it exactly, and pitches that
/// spread neighbours along any axis over the banks of a GPU's shared memory. Distances in bytes.
template <int X, int Y, int Z, int Words, unsigned Threads = 1024, unsigned Teams = 1>
struct brick_shape {
  static constexpr std::int32_t most[3] = {X, Y, Z};
  static constexpr int words = Words;
  static constexpr unsigned threads = Threads;  ///< of a GPU's team
  static constexpr unsigned teams = Teams;      ///< of a GPU's multiprocessor
  static constexpr int room = 2;
  static constexpr int pitch_z = 4;
  static constexpr int pitch_y = 4 * ((Z + 2 * room) | 1);
  static constexpr int pitch_x = 4 * ((pitch_y / 4 * (Y + 2 * room)) | 1);
  static constexpr int next_word = pitch_x * (X + 2 * room);
  static constexpr int team_words = Words * next_word / 4;

  KOKKOS_FORCEINLINE_FUNCTION static constexpr int pitch(int axis) {
    return axis == 0 ? pitch_x : axis == 1 ? pitch_y : pitch_z;
  }
};

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/back_project_brick_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Adds the rays of a block of views to a volume, a team a brick. `Samples` is the weight of
/// Joseph's blends, or exact_chords. Each product of weight and reading is rounded to a whole
/// number of the grid's units; these add exactly, in any order, and the block's sum is added to the
/// voxel.
///
/// With one word a voxel the four parts that a sample of value s gives to voxels are whole numbers
/// that add up to s: with u, u' and l nearest to wq s, wp wq s and wp (1 - wq) s they are s - u - l
/// and u - u' below along p, l and u' above.
template <class T, class Samples, class Shape>
struct brick_kernel {
  ISO_KERNEL(brick_kernel<T, Samples, Shape>);
  static constexpr int team_words = Shape::team_words;

  brick_layout bricks;
  pixel_rectangle const* rectangles;  ///< [brick][view]
  brick_ray<T, Samples> const* rays;  ///< [view][u][v]
  product_grid const* products;
  T* volume;
  std::int64_t num_u;
  std::int64_t num_v;
  std::int32_t num_views;
  std::int32_t low_bits;
  bool far;               ///< three words: coordinates round by too much for clipping by division
  bool begins;            ///< the voxels begin at zero
  voxel_step<T> by = {};  ///< with weights: how a voxel steps by its sum, the only one
  std::int64_t first_brick = 0;  ///< of this launch

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team, std::int64_t place) const {
    std::int64_t const index = first_brick + place;
    brick_place const brick(bricks, index);
    auto const words = team.words();
    team.each(team_words,
              [&](int n) { words.set(words.first() + 4 * std::uint32_t(n), zero_of<Team>); });
    team.sync();
    team.groups([&](auto const& group, int number, int count) {
      if constexpr (by_lanes<Team>) {
        add_by_lanes(group, words, brick, rectangles + index * num_views);
      } else {
        add_rays(group, words, brick, rectangles + index * num_views, number, count);
      }
    });
    team.sync();
    finish(team, words, brick);
  }

 private:
  using lanes = brick_lanes<Samples, Shape>;
  template <class Team>
  static constexpr bool by_lanes = lanes::template apply<typename Team::group>;
  /// The word that stands for zero. Lanes add to two words at once: with this one all sums are
  /// numbers without a sign, which carry nothing.
  template <class Team>
  static constexpr std::uint32_t zero_of = by_lanes<Team> ? std::uint32_t(1) << 31 : 0U;

  /// Adds every count-th chunk of 32 pixels, from the number-th on, of all views' rectangles.
  template <class Group, class Words>
  KOKKOS_FORCEINLINE_FUNCTION void add_rays(Group const& group, Words const& words,
                                            brick_place const& brick, pixel_rectangle const* views,
                                            int number, int count) const {
    std::int32_t before = 0;
    std::int32_t chunk = number;
    for (std::int32_t view = 0; view < num_views; ++view) {
      pixel_rectangle const pixels = views[view];
      std::int32_t const size = pixels.count_u * pixels.count_v;
      std::int32_t const chunks = (size + 31) / 32;
      float const rows = 1.0F / float(pixels.count_v);
      for (; chunk - before < chunks; chunk += count) {
        group.each_in_turn([&](int lane) {
          std::int32_t const n = (chunk - before) * 32 + lane;
          if (n < size) {
            // n / count_v, put right where the quotient was rounded across a whole number.
            auto u = std::int32_t(float(n) * rows);
            std::int32_t v = n - u * pixels.count_v;
            std::int32_t const more = v >= pixels.count_v ? 1 : v < 0 ? -1 : 0;
            u += more;
            v -= more * pixels.count_v;
            brick_ray<T, Samples> const ray =
                rays[(view * num_u + pixels.u + u) * num_v + pixels.v + v];
            add_ray<Group>(words, brick, ray);
          }
        });
      }
      before += chunks;
    }
  }

  /// Adds all views' rectangles, 32 rays side by side. Where `sets` sets share neighbours, each
  /// takes every `sets`-th of them.
  template <class Group, class Words>
  KOKKOS_FORCEINLINE_FUNCTION void add_by_lanes(Group const& group, Words const& words,
                                                brick_place const& brick,
                                                pixel_rectangle const* views) const {
    brick_ray<T, Samples> const none{};
    lanes side_by_side(brick);
    for (std::int32_t view = 0; view < num_views; ++view) {
      pixel_rectangle const pixels = views[view];
      brick_ray<T, Samples> const* ray = rays + (view * num_u + pixels.u) * num_v + pixels.v;
      brick_ray<T, Samples> const* const middle =
          ray + (pixels.count_u / 2) * num_v + pixels.count_v / 2;
      int const sets = pixels.count_u > 0 && pixels.count_v > 1
                           ? side_by_side.template sets_for<Group>(middle[-1], middle[0])
                           : 1;
      std::int32_t v = 0;
      std::int32_t left = pixels.count_u * pixels.count_v;
      auto const take = [&](int set, int n) {
        side_by_side.template set<Group>(set, n, left > 0 ? *ray : none);
        bool const row_ends = v + 1 == pixels.count_v;
        v = row_ends ? 0 : v + 1;
        if (--left > 0) {
          ray += row_ends ? num_v - pixels.count_v + 1 : 1;
        }
      };
      while (left > 0) {
        // The last rays fill as few sets as hold them.
        int const now = (left + 31) / 32 < sets ? (left + 31) / 32 : sets;
        if (now == 1) {  // the compiler knows each place
          for (int n = 0; n < 32; ++n) {
            take(0, n);
          }
        } else {
          for (int n = 0; n < 32; ++n) {
            for (int set = 0; set < now; ++set) {
              take(set, n);
            }
          }
        }
        for (int set = 0; set < now; ++set) {
          side_by_side.add(group, words, set);
        }
      }
    }
  }

  template <class Group, class Words>
  KOKKOS_FORCEINLINE_FUNCTION void add_ray(Words const& words, brick_place const& brick,
                                           brick_line<T> const& line) const {
    if (line.planes.empty()) {
      return;
    }
    if (line.axis == 0) {
      add_line<Group, 0>(words, brick, line);
    } else if (line.axis == 1) {
      add_line<Group, 1>(words, brick, line);
    } else {
      add_line<Group, 2>(words, brick, line);
    }
  }

  /// Returns the place of the voxel whose indices are zero, modulo 2^32.
  template <class Words>
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t origin(Words const& words,
                                                          brick_place const& brick) {
    std::uint32_t at = words.first();
    for (int a = 0; a < 3; ++a) {
      at -= std::uint32_t(brick.low[a] - Shape::room) * std::uint32_t(Shape::pitch(a));
    }
    return at;
  }

  /// Adds the samples of a line with driving axis M in the brick: exactly those, or a few more that
  /// stay in its room.
  template <class Group, int M, class Words>
  KOKKOS_FORCEINLINE_FUNCTION void add_line(Words const& words, brick_place const& brick,
                                            brick_line<T> const& line) const {
    constexpr int p_axis = M == 0 ? 1 : 0;
    constexpr int q_axis = M == 2 ? 1 : 2;
    plane_range planes = line.planes.clipped(brick.low[M], brick.high[M]);
    auto const& p = line.across[0];
    auto const& q = line.across[1];
    T const p_low = T(brick.low[p_axis] - 1);
    T const p_high = T(brick.high[p_axis]);
    T const q_low = T(brick.low[q_axis] - 1);
    T const q_high = T(brick.high[q_axis]);
    if (Shape::words == 3 && far) {
      planes = planes_about(q, q_low, q_high, planes_about(p, p_low, p_high, planes));
      for (std::int32_t i = planes.first; i < planes.last; ++i) {
        if (p(i) > p_low && p(i) < p_high && q(i) > q_low && q(i) < q_high) {
          T const p_floor = Kokkos::floor(p(i));
          T const q_floor = Kokkos::floor(q(i));
          add_sample<p_axis, q_axis>(
              words,
              origin(words, brick) + std::uint32_t(i) * std::uint32_t(Shape::pitch(M)) +
                  std::uint32_t(std::int32_t(p_floor)) * std::uint32_t(Shape::pitch(p_axis)) +
                  std::uint32_t(std::int32_t(q_floor)) * std::uint32_t(Shape::pitch(q_axis)),
              p(i) - p_floor, q(i) - q_floor, line.value);
        }
      }
      return;
    }
    // A sixteenth of a voxel outside is far more than what quotients round, and within the room.
    constexpr T margin = T(0.0625);
    T low = T(planes.first);
    T high = T(planes.last - 1);
    clip(p, p_low - margin, p_high + margin, low, high);
    clip(q, q_low - margin, q_high + margin, low, high);
    if (!(low <= high)) {
      return;
    }
    auto const first = std::int32_t(Kokkos::ceil(low));
    auto const last = std::int32_t(Kokkos::floor(high));
    constexpr std::uint32_t bias = Group::template index_bias<T>;
    std::uint32_t at = origin(words, brick) +
                       std::uint32_t(first) * std::uint32_t(Shape::pitch(M)) -
                       bias * std::uint32_t(Shape::pitch(p_axis) + Shape::pitch(q_axis));
    T i = T(first);
    ISO_DEVICE_UNROLL
    for (std::int32_t left = last - first + 1; left > 0; --left) {
      std::uint32_t p_whole;
      std::uint32_t q_whole;
      T wp;
      T wq;
      split<Group>(Kokkos::fma(i, p.slope, p.base), p_whole, wp);
      split<Group>(Kokkos::fma(i, q.slope, q.base), q_whole, wq);
      add_sample<p_axis, q_axis>(words,
                                 p_whole * std::uint32_t(Shape::pitch(p_axis)) +
                                     (q_whole * std::uint32_t(Shape::pitch(q_axis)) + at),
                                 wp, wq, line.value);
      i += T(1);
      at += std::uint32_t(Shape::pitch(M));
    }
  }

  /// Splits z, at least -2^31 and below 2^22, into its floor, biased by index_bias, and the rest.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION static void split(T z, std::uint32_t& whole, T& rest) {
    if constexpr (Group::template index_bias<T> != 0) {
      Group::split(z, whole, rest);  // of either sign
    } else {
      std::int32_t down;
      Group::split_signed(z, down, rest);
      whole = std::uint32_t(down);
    }
  }

  /// Clips planes low..high to where the coordinate lies in from..to, but for rounding. A slope of
  /// zero makes the quotients infinite, or a NaN that bounds nothing.
  KOKKOS_FORCEINLINE_FUNCTION static void clip(coordinate<T> const& along, T from, T to, T& low,
                                               T& high) {
    T const inverse = inverse_about(along.slope);
    T const a = (from - along.base) * inverse;
    T const b = (to - along.base) * inverse;
    T const less = a < b ? a : b;
    T const more = a < b ? b : a;
    low = less > low ? less : low;
    high = more < high ? more : high;
  }

  template <int P, int Q, class Words>
  KOKKOS_FORCEINLINE_FUNCTION void add_sample(Words const& words, std::uint32_t at, T p_rest,
                                              T q_rest, T value) const {
    constexpr int p_pitch = Shape::pitch(P);
    constexpr int q_pitch = Shape::pitch(Q);
    T const wp = Samples{}(p_rest);
    T const wq = Samples{}(q_rest);
    if constexpr (Shape::words == 1) {
      T const upper = wq * value;
      T const lower = Kokkos::fma(-wq, value, value);
      std::uint32_t const u = nearest(upper);
      std::uint32_t const upper_p = nearest(wp * upper);
      std::uint32_t const lower_p = nearest(wp * lower);
      words.template add<0>(at, nearest(value) - u - lower_p);
      words.template add<q_pitch>(at, u - upper_p);
      words.template add<p_pitch>(at, lower_p);
      words.template add<p_pitch + q_pitch>(at, upper_p);
    } else {
      // The weights of forward_project's blends.
      T const lower_p = blend(wp, T(1), T(0));
      add_product<0>(words, at, blend(wq, lower_p, T(0)), value);
      add_product<q_pitch>(words, at, blend(wq, T(0), lower_p), value);
      add_product<p_pitch>(words, at, blend(wq, wp, T(0)), value);
      add_product<p_pitch + q_pitch>(words, at, blend(wq, T(0), wp), value);
    }
  }

  /// Adds a product, rounded to the grid, as digits.
  template <int Offset, class Words>
  KOKKOS_FORCEINLINE_FUNCTION void add_product(Words const& words, std::uint32_t at, T weight,
                                               T value) const {
    if constexpr (Shape::words == 1) {
      words.template add<Offset>(at, nearest(weight * value));
    } else {
      std::int64_t rest = nearest_product(double(weight), double(value));
      std::uint32_t const digit = (std::uint32_t(1) << std::uint32_t(low_bits)) - 1;
      words.template add<Offset>(at, std::uint32_t(rest) & digit);
      rest >>= low_bits;
      if constexpr (Shape::words == 3) {
        words.template add<Offset + Shape::next_word>(at, std::uint32_t(rest) & digit);
        rest >>= low_bits;
      }
      words.template add<Offset + (Shape::words - 1) * Shape::next_word>(at, std::uint32_t(rest));
    }
  }

  /// Adds the chords of a ray in the brick. The n-th plane of an axis is crossed at fma(n, step,
  /// first), so that a walk may begin at any voxel and finds the same chords.
  template <class Group, class Words>
  KOKKOS_FORCEINLINE_FUNCTION void add_ray(Words const& words, brick_place const& brick,
                                           brick_chords<T> const& ray) const {
    auto const crossing = [&](int a, T n) { return Kokkos::fma(n, ray.step[a], ray.first[a]); };
    std::int32_t n[3];     // planes crossed
    std::int32_t most[3];  // while in the brick
    T from = T(0);
    T to = ray.end;
    ISO_EACH_REGISTER(int a = 0; a < 3; ++a) {
      bool const down = ((ray.downward >> a) & 1) != 0;
      std::int32_t const least =
          down ? ray.voxel[a] - (brick.high[a] - 1) : brick.low[a] - ray.voxel[a];
      most[a] = down ? ray.voxel[a] - brick.low[a] : brick.high[a] - 1 - ray.voxel[a];
      n[a] = least > 0 ? least : 0;
      T const enters = least > 0 ? crossing(a, T(least - 1)) : T(0);
      T const leaves = most[a] >= 0 ? crossing(a, T(most[a])) : T(0);
      from = enters > from ? enters : from;
      to = leaves < to ? leaves : to;
    }
    if (!(from < to)) {
      return;
    }
    std::uint32_t at = origin(words, brick);
    T crossed[3];
    T next[3];
    std::uint32_t stride[3];
    ISO_EACH_REGISTER(int a = 0; a < 3; ++a) {
      std::int32_t const count = planes_crossed(from, ray.first[a], ray.step[a], n[a], most[a]);
      crossed[a] = T(count);
      next[a] = crossing(a, crossed[a]);
      bool const down = ((ray.downward >> a) & 1) != 0;
      stride[a] = std::uint32_t(down ? -Shape::pitch(a) : Shape::pitch(a));
      at += std::uint32_t(ray.voxel[a]) * std::uint32_t(Shape::pitch(a)) +
            std::uint32_t(count) * stride[a];
    }
    // `from` <= the next planes, which never go back: no chord is negative, and one of zero adds
    // zero.
    T begin = from;
    for (;;) {
      T const nearer = next[0] < next[1] ? next[0] : next[1];
      T const nearest_plane = nearer < next[2] ? nearer : next[2];
      if (!(nearest_plane < to)) {
        break;
      }
      add_product<0>(words, at, nearest_plane - begin, ray.value);
      begin = nearest_plane;
      ISO_EACH_REGISTER(int a = 0; a < 3; ++a) {
        bool const crosses = next[a] <= nearest_plane;
        crossed[a] = crosses ? crossed[a] + T(1) : crossed[a];
        at += crosses ? stride[a] : 0U;
        next[a] = crossing(a, crossed[a]);
      }
    }
    add_product<0>(words, at, to - begin, ray.value);
  }

  /// Adds the brick's sums to the volume.
  template <class Team, class Words>
  KOKKOS_FORCEINLINE_FUNCTION void finish(Team const& team, Words const& words,
                                          brick_place const& brick) const {
    constexpr int y_size = Shape::most[1];
    constexpr int z_size = Shape::most[2];
    double const unit = products->unit;
    double const digit = double(std::int64_t(1) << low_bits);
    auto const finish_voxel = [&](std::int32_t x, std::int32_t y, std::int32_t z) {
      std::uint32_t const at = words.first() + std::uint32_t((x + Shape::room) * Shape::pitch_x +
                                                             (y + Shape::room) * Shape::pitch_y +
                                                             (z + Shape::room) * Shape::pitch_z);
      double sum = double(std::int32_t(
          words.get(at + std::uint32_t((Shape::words - 1) * Shape::next_word)) - zero_of<Team>));
      for (int word = Shape::words - 2; word >= 0; --word) {
        sum =
            Kokkos::fma(sum, digit, double(words.get(at + std::uint32_t(word * Shape::next_word))));
      }
      std::int64_t const index = bricks.index(brick.low[0] + x, brick.low[1] + y, brick.low[2] + z);
      if (by.weights != nullptr) {
        volume[index] = by.of(volume[index], by.weights[index], canonical(T(sum * unit)));
      } else {
        volume[index] = canonical(T(Kokkos::fma(sum, unit, begins ? 0.0 : double(volume[index]))));
      }
    };
    std::int32_t const size[3] = {brick.high[0] - brick.low[0], brick.high[1] - brick.low[1],
                                  brick.high[2] - brick.low[2]};
    if constexpr (Team::is_device) {
      team.each(Shape::most[0] * y_size * z_size, [&](int n) {
        std::int32_t const x = n / (y_size * z_size);
        std::int32_t const y = n / z_size % y_size;
        std::int32_t const z = n % z_size;
        if (x < size[0] && y < size[1] && z < size[2]) {
          finish_voxel(x, y, z);
        }
      });
    } else {
      for (std::int32_t x = 0; x < size[0]; ++x) {
        for (std::int32_t y = 0; y < size[1]; ++y) {
          for (std::int32_t z = 0; z < size[2]; ++z) {
            finish_voxel(x, y, z);
          }
        }
      }
    }
  }
};

}  // namespace iso::ct::detail::ISO_SET

#endif
