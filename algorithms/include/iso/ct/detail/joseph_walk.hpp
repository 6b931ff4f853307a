// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/core/sampler.hpp>
#include <iso/ct/detail/joseph_fan.hpp>
#include <iso/ct/detail/ray_sum.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <utility>

namespace iso::ct::detail {

/// Which coordinates of a sample belong to the field: lowest <= p <= highest[axis].
template <class T>
struct field_range {
  T lowest;
  T highest[3];

  field_range(grid const& g, boundary edge)
      : lowest(edge == boundary::zero ? std::nextafter(T(-1), T(0)) : T(0)) {
    for (int a = 0; a < 3; ++a) {
      auto const n = T(g.extent[std::size_t(a)]);
      highest[a] = edge == boundary::zero ? std::nextafter(n, T(0)) : n - 1;
    }
  }
  /// p where it lies in [lowest, most]; else -2 or, above, n: their neighbours are no voxels, and
  /// neighbouring lanes stay in order.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T keep(T p, T most, std::int32_t n) const {
    return p < lowest ? T(-2) : p > most ? T(n) : p;
  }
};

/// How the rays of one fan walk through the volume when v runs along z: up to `Rows` rows of 32
/// pixels, plane by plane of the axis that drives. A column of voxels is blended with its neighbour
/// once for all heights; see joseph_path.hpp for the numbers and ray_sum.hpp for the order of the
/// sum.
template <class T, class Sum, int Rows>
struct joseph_walk {
  /// So few rows that each is code of its own, whose state stays in registers: then all of them are
  /// there.
  static constexpr bool is_unrolled = Rows <= 2;

  /// How many of `Count` rows there are. No variable where each is code of its own.
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::int32_t present(std::int32_t count) {
    return is_unrolled ? Count : count;
  }

  T const* volume;
  grid g;
  field_range<T> field;

  template <class Group>
  using lane_index = typename Group::template per_lane<std::int32_t>;
  template <class Group>
  using lane_value = typename Group::template per_lane<T>;

  /// What the lanes keep for one row of pixels, and where they go.
  template <class Group>
  struct row_state {
    lane_value<Group> slope;  ///< of the coordinate along z
    lane_value<Group> base;
    typename Sum::template state<Group> sum;
    joseph_reach reach;

    KOKKOS_FORCEINLINE_FUNCTION T z(int lane, std::int32_t i) const {
      return coordinate<T>{slope[lane], base[lane]}(i);
    }
  };

  template <class Group>
  struct fan_state {
    joseph_fan<T> const* fan;
    plane_range inner;   ///< where every lane of every row has four voxels about its point
    std::int32_t count;  ///< of rows
    row_state<Group> rows[Rows];
  };

  /// Adds the samples of `planes`: all rows together where they can, row by row before and after.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void walk(Group const& group, Sum const& sum, fan_state<Group>& s,
                                        plane_range planes) const {
    if constexpr (Group::walks_columns) {
      for (std::int32_t i = planes.first; i < planes.last; i += few_planes) {
        walk_few(group, sum, s, planes.clipped(i, i + few_planes), [](int) {});
      }
    } else {
      rows_together(group, sum, s, planes);
    }
  }

  /// Planes that a group which walks columns by itself takes at once.
  static constexpr std::int32_t few_planes = backend::detail::column_planes<T>::most;

  /// `walk` through at most `few_planes`, for such a group; before row r, before_row(r).
  template <class Group, class BeforeRow>
  void walk_few(Group const& group, Sum const& sum, fan_state<Group>& s, plane_range planes,
                BeforeRow const& before_row) const {
    joseph_fan<T> const& fan = *s.fan;
    plane_range const inside = fan.inside.clipped(planes);
    backend::detail::column_planes<T> few;
    few.next = std::int64_t(stride_along(1 - fan.axis));
    few.first = planes.first;
    few.height = std::int32_t(g.extent[2]);
    few.lowest = field.lowest;
    few.highest = field.highest[2];
    for (std::int32_t i = inside.first; i < inside.last; ++i) {
      std::uint32_t k;
      group.split(fan.across(i), k, few.weight[i - planes.first]);
      few.lower[i - planes.first] = column_at(fan, i, std::int32_t(k));
    }
    for (int r = 0; r < s.count; ++r) {
      before_row(r);
      row_state<Group>& row = s.rows[r];
      plane_range const outer = row.reach.outer.clipped(planes);
      plane_range const by_columns = inside.clipped(outer);
      if (by_columns.empty()) {
        edge_planes(group, sum, fan, row, outer);
        continue;
      }
      plane_range const clipped = row.reach.inner.clipped(by_columns);
      plane_range const inner =
          clipped.empty() ? plane_range{by_columns.last, by_columns.last} : clipped;
      edge_planes(group, sum, fan, row, {outer.first, by_columns.first});
      if (backend::detail::walk_columns(
              few,
              {by_columns.first - planes.first, inner.first - planes.first,
               inner.last - planes.first, by_columns.last - planes.first},
              backend::detail::ray_lanes<T>{&row.slope[0], &row.base[0]}, sum.lanes(row.sum))) {
        group.each([&](int lane) { sum.added(row.sum, lane, by_columns.last - by_columns.first); });
      } else {
        walk_row(group, sum, fan, row, by_columns);
      }
      edge_planes(group, sum, fan, row, {by_columns.last, outer.last});
    }
  }

 private:
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void rows_together(Group const& group, Sum const& sum,
                                                 fan_state<Group>& s, plane_range planes) const {
    plane_range const clipped = s.inner.clipped(planes);
    plane_range const together = clipped.empty() ? plane_range{planes.last, planes.last} : clipped;
    for (plane_range part = {planes.first, together.first};; part = {together.last, planes.last}) {
      if (!part.empty()) {
        if constexpr (is_unrolled) {
          walk_rows(group, sum, s, part, std::make_integer_sequence<int, Rows>());
        } else {
          for (int r = 0; r < s.count; ++r) {
            walk_row(group, sum, *s.fan, s.rows[r], part);
          }
        }
      }
      if (part.last == planes.last) {
        return;
      }
      if (!planes_are_near(group, *s.fan, together)) {
        inner_planes<Rows, false, false>(group, sum, *s.fan, s.rows, s.count, together);
      } else if (sum.all_finite()) {
        inner_planes<Rows, true, true>(group, sum, *s.fan, s.rows, s.count, together);
      } else {
        inner_planes<Rows, true, false>(group, sum, *s.fan, s.rows, s.count, together);
      }
    }
  }

  // No lambda: GCC leaves one that holds the edges' code out of line, for narrow registers.
  template <class Group, int... R>
  KOKKOS_FORCEINLINE_FUNCTION void walk_rows(Group const& group, Sum const& sum,
                                             fan_state<Group>& s, plane_range planes,
                                             std::integer_sequence<int, R...>) const {
    (walk_row(group, sum, *s.fan, s.rows[R], planes), ...);
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void walk_row(Group const& group, Sum const& sum,
                                            joseph_fan<T> const& fan, row_state<Group>& row,
                                            plane_range planes) const {
    plane_range const outer = row.reach.outer.clipped(planes);
    if (outer.empty()) {
      return;
    }
    plane_range const clipped = row.reach.inner.clipped(outer);
    plane_range const inner = clipped.empty() ? plane_range{outer.last, outer.last} : clipped;
    for (plane_range part = {outer.first, inner.first};; part = {inner.last, outer.last}) {
      edge_planes(group, sum, fan, row, part);
      if (part.last == outer.last) {
        return;
      }
      inner_planes<1, false, false>(group, sum, fan, &row, 1, inner);
    }
  }

  /// Whether the fan's columns in these planes lie near each other, as a GPU's addresses go.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION bool planes_are_near(Group const& group, joseph_fan<T> const& fan,
                                                   plane_range planes) const {
    T const one_end = fan.across(planes.first);
    T const other_end = fan.across(planes.last - 1);
    bool const rises = one_end < other_end;
    // No column of these planes lies before the lowest of the first plane or beyond the highest of
    // the last; a sample reads two.
    return group.near(
        column_at(fan, planes.first, std::int32_t(rises ? one_end : other_end)),
        column_at(fan, planes.last - 1, std::int32_t(rises ? other_end : one_end) + 2));
  }

  /// One plane between reading its voxels and adding its samples.
  template <class Group, int Count>
  struct plane_state {
    typename Group::template columns<T> voxels[Count];
    lane_value<Group> fraction[Count];
    typename Group::template per_lane<std::uint32_t> z[Count];
    T weight;
  };

  /// How to find a plane's columns. Byte distances fit 32 bits (checked by fast_path_applies),
  /// addresses take 64, and volumes may be as large as memory. A bias that the group's integer
  /// parts carry is taken off once.
  template <class Group>
  struct column_map {
    using address = typename Group::template address<T>;
    address origin;
    std::uint32_t plane;   ///< bytes from a plane to the next
    std::uint32_t column;  ///< from a column to the next

    KOKKOS_FORCEINLINE_FUNCTION column_map(T const* start, std::uint32_t bias, std::uint32_t stride,
                                           std::uint32_t next)
        : origin(address(start).plus(0 - bias * (1 + std::uint64_t(next)) * sizeof(T))),
          plane(stride * std::uint32_t(sizeof(T))),
          column(next * std::uint32_t(sizeof(T))) {}
    KOKKOS_FORCEINLINE_FUNCTION address at_plane(std::int32_t i) const {
      return origin.plus(std::uint32_t(i), plane);
    }
  };

  template <int Count, class Group>
  KOKKOS_FORCEINLINE_FUNCTION void read_plane(Group const& group, column_map<Group> const& map,
                                              auto& at, joseph_fan<T> const& fan,
                                              row_state<Group> const* rows, std::int32_t count,
                                              std::int32_t i,
                                              plane_state<Group, Count>& plane) const {
    std::uint32_t k;
    group.split(fan.across(i), k, plane.weight);
    auto const lower = at.plus(k, map.column);
    at = at.plus(map.plane);
    for (int r = 0; r < present<Count>(count); ++r) {
      group.each([&](int lane) {
        group.split(rows[r].z(lane, i), plane.z[r][lane], plane.fraction[r][lane]);
      });
      plane.voxels[r] =
          group.read_columns(lower, map.column, std::int32_t(g.extent[2]), plane.z[r]);
    }
  }

  template <bool Finite, int Count, class Group>
  KOKKOS_FORCEINLINE_FUNCTION void add_plane(Group const& group, Sum const& sum,
                                             row_state<Group>* rows, std::int32_t count,
                                             plane_state<Group, Count> const& plane) const {
    for (int r = 0; r < present<Count>(count); ++r) {
      lane_value<Group> sample;
      group.blend_columns(plane.voxels[r], plane.weight, plane.fraction[r], sample,
                          [](T w, T a, T b) { return blend(w, a, b); });
      group.each([&](int lane) { sum.template add<Finite>(rows[r].sum, lane, sample[lane]); });
    }
  }

  /// Planes where every lane has four voxels about its point: no test in the loop. `Near` wants
  /// planes_are_near, `Finite` sum.all_finite().
  template <int Count, bool Near, bool Finite, class Group>
  KOKKOS_FORCEINLINE_FUNCTION void inner_planes(Group const& group, Sum const& sum,
                                                joseph_fan<T> const& fan, row_state<Group>* rows,
                                                std::int32_t count, plane_range planes) const {
    column_map<Group> const map(volume, Group::template index_bias<T>, stride_along(fan.axis),
                                stride_along(1 - fan.axis));
    auto at = [&] {
      if constexpr (Near) {
        return typename Group::template near_address<T>(
            map.at_plane(planes.first),
            column_at(fan, planes.first, std::int32_t(fan.across(planes.first))));
      } else {
        return map.at_plane(planes.first);
      }
    }();
    ISO_DEVICE_UNROLL_TWICE
    for (std::int32_t i = planes.first; i < planes.last; ++i) {
      plane_state<Group, Count> plane;
      read_plane<Count>(group, map, at, fan, rows, count, i, plane);
      add_plane<Finite, Count>(group, sum, rows, count, plane);
    }
    for (int r = 0; r < present<Count>(count); ++r) {
      group.each([&](int lane) { sum.added(rows[r].sum, lane, planes.last - planes.first); });
    }
  }

  /// Planes where some lane's point lies at the border of the volume or beyond it.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void edge_planes(Group const& group, Sum const& sum,
                                               joseph_fan<T> const& fan, row_state<Group>& row,
                                               plane_range planes) const {
    if (planes.empty()) {
      return;
    }
    column_map<Group> const map(volume, 0, stride_along(fan.axis), stride_along(1 - fan.axis));
    auto at = map.at_plane(planes.first);
    auto const columns = std::uint32_t(g.extent[1 - fan.axis]);
    auto const height = std::int32_t(g.extent[2]);
    T const highest = field.highest[1 - fan.axis];
    ISO_DEVICE_UNROLL_TWICE
    for (std::int32_t i = planes.first; i < planes.last; ++i) {
      std::int32_t k;
      T w;
      group.split_signed(field.keep(fan.across(i), highest, std::int32_t(columns)), k, w);
      bool const has_lower = std::uint32_t(k) < columns;
      bool const has_upper = std::uint32_t(k + 1) < columns;
      auto const lower = at.plus(has_lower ? std::uint32_t(k) : 0U, map.column);
      auto const upper = at.plus(has_upper ? std::uint32_t(k + 1) : 0U, map.column);
      at = at.plus(map.plane);
      lane_index<Group> z;
      lane_value<Group> fraction;
      lane_value<Group> sample;
      group.each([&](int lane) {
        group.split_signed(field.keep(row.z(lane, i), field.highest[2], height), z[lane],
                           fraction[lane]);
      });
      group.blend_columns_at_edge(lower, upper, has_lower ? height : 0, has_upper ? height : 0, w,
                                  z, fraction, sample,
                                  [](T weight, T a, T b) { return blend(weight, a, b); });
      group.each([&](int lane) { sum.add(row.sum, lane, sample[lane]); });
    }
    group.each([&](int lane) { sum.added(row.sum, lane, planes.last - planes.first); });
  }

 protected:
  /// Column k of plane i.
  KOKKOS_FORCEINLINE_FUNCTION T const* column_at(joseph_fan<T> const& fan, std::int32_t i,
                                                 std::int32_t k) const {
    return volume + (i * std::int64_t(stride_along(fan.axis)) +
                     k * std::int64_t(stride_along(1 - fan.axis)));
  }

  KOKKOS_FUNCTION std::uint32_t stride_along(int axis) const {
    return std::uint32_t(axis == 0 ? g.extent[1] * g.extent[2] : g.extent[2]);
  }
};

}  // namespace iso::ct::detail
