// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/core/sampler.hpp>
#include <iso/ct/detail/joseph_fan.hpp>
#include <iso/ct/detail/ray_sum.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Joseph projection where v runs along z and x or y drives: a tile of `Fans` neighbouring u by
/// `Rows` x 32 pixels along v. A column of voxels is blended with its neighbour once for all
/// heights; see joseph_path.hpp for the numbers and ray_sum.hpp for the order of the sum, which no
/// shape of tile changes. Several fans walk plane by plane together, so that the columns they share
/// are read once: a processor's caches need that, a GPU's do not.
template <class T, class Sum, int Fans, int Rows>
struct joseph_fast_kernel {
  T const* volume;
  T* projections;
  joseph_fan<T> const* fans;
  order_free_scale<T> const* scale;  ///< order-free sums only
  std::uint32_t* flags;              ///< order-free sums only: a bit a pixel
  grid g;
  boundary edge;
  std::int32_t num_views;
  std::int32_t num_u;
  std::int32_t num_v;
  plane_range slab;
  bool first_slab;
  bool last_slab;

  static constexpr std::int32_t band = 32 * Rows;

  KOKKOS_FUNCTION std::int32_t num_bands() const { return (num_v + band - 1) / band; }
  KOKKOS_FUNCTION std::int64_t num_groups() const {
    return std::int64_t(num_views) * tiles_across() * num_bands();
  }
  KOKKOS_FUNCTION std::int32_t tiles_across() const { return (num_u + Fans - 1) / Fans; }

  template <class Group>
  using lane_index = typename Group::template per_lane<std::int32_t>;
  template <class Group>
  using lane_value = typename Group::template per_lane<T>;

  /// What the lanes keep for one row of pixels.
  template <class Group>
  struct row_state {
    lane_value<Group> slope;  ///< of the coordinate along z
    lane_value<Group> base;
    typename Sum::template state<Group> sum;

    KOKKOS_FORCEINLINE_FUNCTION T z(int lane, std::int32_t i) const {
      return coordinate<T>{slope[lane], base[lane]}(i);
    }
  };

  /// One fan of a tile.
  template <class Group>
  struct fan_state {
    joseph_fan<T> const* fan;
    plane_range outer;  ///< where some lane may meet a voxel
    plane_range inner;  ///< where every lane of every row has four voxels about its point
    row_state<Group> rows[Rows];
  };

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    tile_position const at = locate(index);
    Sum const sum(scale);
    fan_state<Group> tile[Fans];
    for (int f = 0; f < at.count; ++f) {
      start(group, at, f, sum, tile[f]);
    }
    bool const together = Fans > 1 && one_axis(tile, at.count);
    for (std::int32_t b = slab.first; b < slab.last; b += block_planes) {
      std::int32_t const end = b + block_planes < slab.last ? b + block_planes : slab.last;
      if (together) {
        walk_together(group, sum, tile, at.count, {b, end});
      } else {
        for (int f = 0; f < at.count; ++f) {
          walk(group, sum, tile[f], {b, end});
        }
      }
      for (int f = 0; f < at.count; ++f) {
        for (int r = 0; r < Rows; ++r) {
          group.each([&](int lane) { sum.end_block(tile[f].rows[r].sum, lane); });
        }
      }
    }
    for (int f = 0; f < at.count; ++f) {
      store(group, at, f, sum, tile[f]);
    }
  }

 private:
  /// Fans first_fan, first_fan + 1, ... of one view, pixels from band * 32 Rows on.
  struct tile_position {
    std::int64_t first_fan;
    std::int32_t count;
    std::int32_t band;
  };

  /// Bands of v slowest, so that what all views read of one band stays in a cache while they pass:
  /// on a GPU, whose thousands of groups spread over u and views, next to views and u; on the host,
  /// whose few threads follow one tile from view to view, next to u and views.
  KOKKOS_FUNCTION tile_position locate(std::int64_t index) const {
    auto const i = std::uint32_t(index);
    auto const across = std::uint32_t(tiles_across());
    auto const views = std::uint32_t(num_views);
    std::uint32_t const band_index = i / (views * across);
    std::uint32_t const rest = i - band_index * (views * across);
    std::uint32_t const view = Fans == 1 ? rest / across : rest % views;
    std::uint32_t const tile = Fans == 1 ? rest % across : rest / views;
    std::int32_t const u = std::int32_t(tile) * Fans;
    // A tile of one is whole; knowing so at compile time keeps its state in registers.
    std::int32_t const count = Fans > 1 && num_u - u < Fans ? num_u - u : Fans;
    return {std::int64_t(view) * num_u + u, count, std::int32_t(band_index)};
  }

  template <class Group>
  KOKKOS_FUNCTION bool one_axis(fan_state<Group> const (&tile)[Fans], std::int32_t count) const {
    bool same = true;
    for (int f = 1; f < count; ++f) {
      same = same && tile[f].fan->axis == tile[0].fan->axis;
    }
    return same;
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void walk(Group const& group, Sum const& sum, fan_state<Group>& s,
                                        plane_range planes) const {
    plane_range const block = s.outer.clipped(planes.first, planes.last);
    plane_range const fast = s.inner.clipped(block.first, block.last);
    if (fast.empty()) {
      edge_planes(group, sum, s, block);
    } else {
      edge_planes(group, sum, s, {block.first, fast.first});
      inner_planes(group, sum, s, fast);
      edge_planes(group, sum, s, {fast.last, block.last});
    }
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void walk_together(Group const& group, Sum const& sum,
                                                 fan_state<Group> (&tile)[Fans], std::int32_t count,
                                                 plane_range planes) const {
    for (std::int32_t i = planes.first; i < planes.last; ++i) {
      for (int f = 0; f < count; ++f) {
        fan_state<Group>& s = tile[f];
        prefetch(group, s, i + 2);
        if (i >= s.inner.first && i < s.inner.last) {
          inner_planes(group, sum, s, {i, i + 1});
        } else if (i >= s.outer.first && i < s.outer.last) {
          edge_planes(group, sum, s, {i, i + 1});
        }
      }
    }
  }

  /// Asks for the columns of a plane to come: their distances follow no pattern that hardware would
  /// guess. The tile's next fan asks for the upper neighbour.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(Group const& group, fan_state<Group> const& s,
                                            std::int32_t i) const {
    if (i >= s.inner.first && i < s.inner.last) {
      T const top = s.rows[0].z(0, i);
      T const bottom = s.rows[Rows - 1].z(31, i);
      auto const z = std::int32_t(top < bottom ? top : bottom);
      auto const k = std::int32_t(s.fan->across(i));
      group.template prefetch<band>(volume + i * std::int64_t(stride_along(s.fan->axis)) +
                                    k * std::int64_t(stride_along(1 - s.fan->axis)) + z);
    }
  }

  KOKKOS_FUNCTION std::int32_t row(std::int32_t band_index, int r, int lane) const {
    return band_index * band + r * 32 + lane;
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void start(Group const& group, tile_position at, int f,
                                         Sum const& sum, fan_state<Group>& s) const {
    s.fan = fans + at.first_fan + f;
    joseph_fan<T> const& fan = *s.fan;
    T const* const pixels = projections + (at.first_fan + f) * num_v;
    lane_index<Group> first;
    lane_index<Group> last;
    s.outer = {fan.planes.last, fan.planes.first};
    s.inner = fan.inside;
    for (int r = 0; r < Rows; ++r) {
      row_state<Group>& state = s.rows[r];
      group.each([&](int lane) {
        std::int32_t const v = row(at.band, r, lane);
        auto const z = fan.z(v < num_v ? v : num_v - 1).template rounded<T>();
        state.slope[lane] = z.slope;
        state.base[lane] = z.base;
        sum.start(state.sum, lane, !first_slab && v < num_v ? pixels[v] : T(0));
        plane_range const about = planes_about(z, T(-1), T(g.extent[2]), fan.planes);
        first[lane] = about.empty() ? fan.planes.last : about.first;
        last[lane] = about.empty() ? fan.planes.first : about.last;
      });
      s.outer = {Kokkos::min(s.outer.first, group.lowest(first)),
                 Kokkos::max(s.outer.last, group.highest(last))};
      group.each([&](int lane) {
        coordinate<T> const z{state.slope[lane], state.base[lane]};
        plane_range const inside = planes_inside(z, g.extent[2], fan.inside);
        first[lane] = inside.empty() ? fan.planes.last : inside.first;
        last[lane] = inside.empty() ? fan.planes.first : inside.last;
      });
      s.inner = s.inner.clipped(group.highest(first), group.lowest(last));
    }
  }

  KOKKOS_FUNCTION std::uint32_t stride_along(int axis) const {
    return std::uint32_t(axis == 0 ? g.extent[1] * g.extent[2] : g.extent[2]);
  }

  /// One plane between reading its voxels and adding its samples.
  template <class Group>
  struct plane_state {
    typename Group::template columns<T> voxels[Rows];
    lane_value<Group> fraction[Rows];
    T weight;
  };

  /// How to find a plane's columns. Byte distances fit 32 bits (checked by fast_path_applies),
  /// addresses take 64: one wide multiply-add each, and volumes may be as large as memory. A bias
  /// that the group's integer parts carry is taken off once.
  template <class Group>
  struct column_map {
    char const* origin;
    std::uint32_t stride;
    std::uint32_t column;

    KOKKOS_FORCEINLINE_FUNCTION column_map(T const* volume, std::uint32_t plane, std::uint32_t next)
        : stride(plane * std::uint32_t(sizeof(T))), column(next * std::uint32_t(sizeof(T))) {
      constexpr std::uint64_t bias = Group::template index_bias<T>;
      origin = reinterpret_cast<char const*>(volume) - bias * (sizeof(T) + std::uint64_t(column));
    }
    KOKKOS_FORCEINLINE_FUNCTION T const* lower(std::int32_t i, std::uint32_t k) const {
      return reinterpret_cast<T const*>(
          origin + (std::uint64_t(std::uint32_t(i)) * stride + std::uint64_t(k) * column));
    }
    KOKKOS_FORCEINLINE_FUNCTION T const* upper(T const* lower) const {
      return reinterpret_cast<T const*>(reinterpret_cast<char const*>(lower) + column);
    }
  };

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void read_plane(Group const& group, column_map<Group> const& map,
                                              fan_state<Group> const& s, std::int32_t i,
                                              plane_state<Group>& plane) const {
    std::uint32_t k;
    group.split(s.fan->across(i), k, plane.weight);
    T const* const lower = map.lower(i, k);
    T const* const upper = map.upper(lower);
    for (int r = 0; r < Rows; ++r) {
      typename Group::template per_lane<std::uint32_t> z;
      group.each(
          [&](int lane) { group.split(s.rows[r].z(lane, i), z[lane], plane.fraction[r][lane]); });
      plane.voxels[r] = group.read_columns(lower, upper, std::int32_t(g.extent[2]), z);
    }
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void add_plane(Group const& group, Sum const& sum,
                                             fan_state<Group>& s,
                                             plane_state<Group> const& plane) const {
    for (int r = 0; r < Rows; ++r) {
      lane_value<Group> sample;
      group.blend_columns(plane.voxels[r], plane.weight, plane.fraction[r], sample,
                          [](T w, T a, T b) { return blend(w, a, b); });
      group.each([&](int lane) { sum.add(s.rows[r].sum, lane, sample[lane]); });
    }
  }

  /// Planes where every lane has four voxels about its point: no test in the loop.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void inner_planes(Group const& group, Sum const& sum,
                                                fan_state<Group>& s, plane_range planes) const {
    column_map<Group> const map(volume, stride_along(s.fan->axis), stride_along(1 - s.fan->axis));
    plane_state<Group> plane;
    read_plane(group, map, s, planes.first, plane);
    ISO_DEVICE_UNROLL
    for (std::int32_t i = planes.first + 1; i < planes.last; ++i) {
      if constexpr (Group::reads_ahead) {
        plane_state<Group> next;
        read_plane(group, map, s, i, next);
        add_plane(group, sum, s, plane);
        plane = next;
      } else {
        add_plane(group, sum, s, plane);
        read_plane(group, map, s, i, plane);
      }
    }
    add_plane(group, sum, s, plane);
  }

  /// Planes where some lane's point lies at the border of the volume or beyond it: where only z
  /// does, in a loop without branches; where the columns end too, one by one.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void edge_planes(Group const& group, Sum const& sum,
                                               fan_state<Group>& s, plane_range planes) const {
    plane_range const both = s.fan->inside.clipped(planes.first, planes.last);
    if (both.empty()) {
      side_planes(group, sum, s, planes);
      return;
    }
    side_planes(group, sum, s, {planes.first, both.first});
    joseph_fan<T> const& fan = *s.fan;
    std::int64_t const stride = stride_along(fan.axis);
    std::int64_t const column = stride_along(1 - fan.axis);
    ISO_DEVICE_UNROLL
    for (std::int32_t i = both.first; i < both.last; ++i) {
      std::int32_t k;
      T w;
      group.split_signed(fan.across(i), k, w);
      T const* const lower = volume + (i * stride + k * column);
      edge_rows(group, sum, s, i, lower, lower + column, {true, true}, w);
    }
    side_planes(group, sum, s, {both.last, planes.last});
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void side_planes(Group const& group, Sum const& sum,
                                               fan_state<Group>& s, plane_range planes) const {
    joseph_fan<T> const& fan = *s.fan;
    std::int64_t const stride = stride_along(fan.axis);
    std::int64_t const column = stride_along(1 - fan.axis);
    auto const columns = std::int32_t(g.extent[1 - fan.axis]);
    for (std::int32_t i = planes.first; i < planes.last; ++i) {
      T const across = fan.across(i);
      if (counts(across, columns)) {
        std::int32_t k;
        T w;
        group.split_signed(across, k, w);
        T const* const plane = volume + i * stride;
        backend::columns_present const present{k >= 0, k + 1 < columns};
        edge_rows(group, sum, s, i, plane + (present.lower ? k * column : 0),
                  plane + (present.upper ? (k + 1) * column : 0), present, w);
      }
    }
  }

  /// Whether a point at `p` along an axis of n voxels belongs to the field at all.
  KOKKOS_FORCEINLINE_FUNCTION bool counts(T p, std::int32_t n) const {
    return edge == boundary::zero ? p > T(-1) && p < T(n) : p >= T(0) && p <= T(n - 1);
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void edge_rows(Group const& group, Sum const& sum,
                                             fan_state<Group>& s, std::int32_t i, T const* lower,
                                             T const* upper, backend::columns_present present,
                                             T w) const {
    auto const height = std::int32_t(g.extent[2]);
    auto const mix = [](T weight, T a, T b) { return blend(weight, a, b); };
    for (int r = 0; r < Rows; ++r) {
      row_state<Group>& state = s.rows[r];
      lane_index<Group> z;
      lane_value<Group> fraction;
      lane_value<Group> sample;
      group.each([&](int lane) {
        T const point = state.z(lane, i);
        T const within = point < T(-2) ? T(-2) : point > T(height) ? T(height) : point;
        group.split_signed(within, z[lane], fraction[lane]);
      });
      group.blend_columns_at_edge(lower, upper, present, height, w, z, fraction, sample, mix);
      group.each([&](int lane) {
        sum.add(state.sum, lane, counts(state.z(lane, i), height) ? sample[lane] : T(0));
      });
    }
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void store(Group const& group, tile_position at, int f,
                                         Sum const& sum, fan_state<Group> const& s) const {
    joseph_fan<T> const& fan = *s.fan;
    T* const pixels = projections + (at.first_fan + f) * num_v;
    for (int r = 0; r < Rows; ++r) {
      std::uint32_t bad = 0;
      if constexpr (!std::is_same_v<Sum, ordered_sum<T>>) {
        typename Group::template per_lane<bool> is_bad;
        group.each([&](int lane) { is_bad[lane] = sum.flagged(s.rows[r].sum, lane); });
        bad = group.mask(is_bad);
        std::uint32_t& kept = flags[((at.first_fan + f) * num_bands() + at.band) * Rows + r];
        bad |= first_slab ? 0U : kept;
        if (!last_slab) {
          group.once([&] { kept = bad; });
        }
      }
      group.each([&](int lane) {
        std::int32_t const v = row(at.band, r, lane);
        if (v >= num_v) {
          return;
        }
        if (!last_slab) {
          pixels[v] = sum.carried(s.rows[r].sum, lane);
          return;
        }
        int const m = fan.axis;
        T const step = T(step_length(g.spacing[m], fan.slope_across, g.spacing[1 - m],
                                     fan.z(v).slope, g.spacing.z));
        T const total = ((bad >> lane) & 1U) != 0
                            ? Kokkos::bit_cast<T>(float_bits<T>::canonical_nan)
                            : sum.value(s.rows[r].sum, lane);
        pixels[v] = canonical(total * step);
      });
    }
  }
};

}  // namespace iso::ct::detail
