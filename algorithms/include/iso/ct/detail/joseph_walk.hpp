// SPDX-License-Identifier: BSD-3-Clause
//! Describes how joseph_fast_kernel and backprojection step from plane to plane in lane values.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_JOSEPH_WALK_HPP
#define ISO_CT_DETAIL_JOSEPH_WALK_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/core/interpolation.hpp>
#include <iso/ct/detail/column_pair.hpp>
#include <iso/ct/detail/ray_column.hpp>
#include <iso/ct/detail/ray_sum.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <utility>

namespace iso::ct::detail {

/// The range of a sample's coordinates that belong to the field: lowest <= p <= highest[axis].
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
  /// Returns p where it lies in [lowest, most]; else -2 or, above, n: their neighbours are no
  /// voxels, and neighbouring lanes stay in order.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T keep(T p, T most, std::int32_t n) const {
    return p < lowest ? T(-2) : p > most ? T(n) : p;
  }
};

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/joseph_walk.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// The walk of the rays of one column of rays through the volume when v runs along z: up to `Rows`
/// rows of 32 pixels, plane by plane of the axis that drives. Two neighbouring columns of voxels
/// are blended once for all heights of a plane; see joseph_path.hpp for the numbers and ray_sum.hpp
/// for the order of the sum. `Weight` is that of the upper of two neighbours
/// (iso/core/interpolation.hpp).
template <class T, class Sum, int Rows, class Weight = linear_weight>
struct joseph_walk {
  /// The number of registers of rays in a part: two hide each other's waits.
  static constexpr int registers = 2;
  /// The number of planes whose columns a processor looks up at once, for all rows of a column of
  /// rays.
  static constexpr std::int32_t few_planes = 16;

  T const* volume;  ///< voxel (0, 0, 0), which may lie before the planes that are held
  grid g;
  field_range<T> field;
  plane_range held;  ///< planes along z in memory

  /// A column's rays: what the lanes keep for `Rows` rows of pixels, and where those go.
  template <class Group>
  struct ray_column_state {
    template <class U>
    using lanes = typename Group::template lane_array<U, Rows>;
    joseph_ray_column<T> const* ray_column;
    std::int32_t count;  ///< of rows
    joseph_range range[Rows];
    lanes<T> slope;  ///< of the coordinate along z
    lanes<T> base;
    typename Sum::template state<Group, Rows> sum;

    KOKKOS_FORCEINLINE_FUNCTION T z(int row, int lane, std::int32_t i) const {
      return coordinate<T>{slope(row, lane), base(row, lane)}(i);
    }
  };

  /// Adds the samples of `planes`; where the group has windows, of at most `few_planes`. Before
  /// each row it calls before_row(row).
  template <class Group, class BeforeRow>
  KOKKOS_FORCEINLINE_FUNCTION void walk(Group const& group, Sum const& sum,
                                        ray_column_state<Group>& s, plane_range planes,
                                        BeforeRow const& before_row) const {
    if constexpr (Group::has_windows) {
      found_columns<Group> const found(*this, *s.ray_column, planes);
      group.template parts<T, registers, Rows>(s.count, [&](auto const& part) {
        if (part.first % 32 == 0) {
          before_row(part.first_row());
        }
        walk_windows(part, sum, s, planes, found);
      });
    } else {
      group.template parts<T, registers, Rows>(
          s.count, [&](auto const& part) { walk_scattered<Group>(group, part, sum, s, planes); });
    }
  }

  /// Returns column k of plane i.
  KOKKOS_FORCEINLINE_FUNCTION T const* column_at(joseph_ray_column<T> const& ray_column,
                                                 std::int32_t i, std::int32_t k) const {
    return volume + (i * std::int64_t(stride_along(ray_column.axis)) +
                     k * std::int64_t(stride_along(1 - ray_column.axis)));
  }
  KOKKOS_FUNCTION std::uint32_t stride_along(int axis) const {
    auto const height = std::int64_t(held.last - held.first);
    return std::uint32_t(axis == 0 ? g.extent[1] * height : height);
  }

 private:
  /// The two columns between which a column of rays passes a plane: where both are voxels.
  template <class Address>
  using inner_columns = column_pair<T, Address>;
  /// The same where they may lie outside the volume.
  template <class Address>
  struct edge_columns {
    Address lower;
    Address upper;
    T weight;
    bool has_lower;
    bool has_upper;

    template <class Place>
    KOKKOS_FORCEINLINE_FUNCTION auto operator()(Place const& place) const {
      auto const below = place.load_if(has_lower, lower);
      return blend(std::decay_t<decltype(below)>(weight), below, place.load_if(has_upper, upper));
    }
  };

  /// The columns of planes from one on, in turn: `take` must be asked for every plane.
  /// Byte distances fit 32 bits (checked by fast_path_applies), addresses take 64, and volumes may
  /// be as large as memory. A bias that the group's integer parts carry is taken off once.
  template <class Group, class Address>
  struct column_cursor {
    joseph_ray_column<T> const& ray_column;
    Address at;
    std::uint32_t plane;   ///< bytes from a plane to the next
    std::uint32_t column;  ///< from a column to the next

    KOKKOS_FORCEINLINE_FUNCTION column_cursor started() const { return *this; }
    /// Takes them where both columns are voxels.
    KOKKOS_FORCEINLINE_FUNCTION inner_columns<Address> take_inner(std::int32_t i) {
      std::uint32_t k;
      T weight;
      Group::split(ray_column.across(i), k, weight);
      Address const lower = Group::moved(at, k, column);
      at = Group::moved(at, 1U, plane);
      return {lower, column, Weight{}(weight)};
    }
    /// Takes them where some may not be.
    KOKKOS_FORCEINLINE_FUNCTION edge_columns<Address> take_edge(std::int32_t i,
                                                                joseph_walk const& walk) {
      auto const columns = std::int32_t(walk.g.extent[1 - ray_column.axis]);
      T const highest = walk.field.highest[1 - ray_column.axis];
      std::int32_t k;
      T weight;
      Group::split_signed(walk.field.keep(ray_column.across(i), highest, columns), k, weight);
      bool const has_lower = std::uint32_t(k) < std::uint32_t(columns);
      bool const has_upper = std::uint32_t(k + 1) < std::uint32_t(columns);
      Address const start = at;
      at = Group::moved(at, 1U, plane);
      return {Group::moved(start, has_lower ? std::uint32_t(k) : 0U, column),
              Group::moved(start, has_upper ? std::uint32_t(k + 1) : 0U, column), Weight{}(weight),
              has_lower, has_upper};
    }
  };

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION auto cursor(joseph_ray_column<T> const& ray_column,
                                          std::int32_t first, std::uint32_t bias) const {
    using address = typename Group::template address<T>;
    std::uint32_t const plane = stride_along(ray_column.axis) * std::uint32_t(sizeof(T));
    std::uint32_t const next = stride_along(1 - ray_column.axis);
    address const origin =
        Group::moved_by(address(volume), 0 - bias * (1 + std::uint64_t(next)) * sizeof(T));
    return column_cursor<Group, address>{ray_column,
                                         Group::moved(origin, std::uint32_t(first), plane), plane,
                                         next * std::uint32_t(sizeof(T))};
  }

  /// The columns of a few planes, looked up for all rows of a column of rays.
  template <class Group>
  struct found_columns {
    edge_columns<T const*> at[few_planes];
    std::int32_t first;
    std::uint32_t stride;

    KOKKOS_FORCEINLINE_FUNCTION found_columns(joseph_walk const& walk,
                                              joseph_ray_column<T> const& ray_column,
                                              plane_range planes)
        : first(planes.first),
          stride(walk.stride_along(1 - ray_column.axis) * std::uint32_t(sizeof(T))) {
      auto cursor = walk.template cursor<Group>(ray_column, first, 0);
      for (std::int32_t i = planes.first; i < planes.last; ++i) {
        at[i - first] = cursor.take_edge(i, walk);
      }
    }
    KOKKOS_FORCEINLINE_FUNCTION found_columns const& started() const { return *this; }
    KOKKOS_FORCEINLINE_FUNCTION inner_columns<T const*> take_inner(std::int32_t i) const {
      return {at[i - first].lower, stride, at[i - first].weight};
    }
    KOKKOS_FORCEINLINE_FUNCTION edge_columns<T const*> const& take_edge(std::int32_t i,
                                                                        joseph_walk const&) const {
      return at[i - first];
    }
  };

  /// The places where the windows begin that hold, in each of a few planes, the values that a
  /// part's rays need: `Count` registers of values for each register of rays.
  template <class Part, int Count>
  struct lane_windows {
    static constexpr int width = Part::shape::width;
    static constexpr std::int32_t size = Count * width;
    alignas(64) std::int32_t low[Part::shape::registers][few_planes];

    /// Returns whether there are such windows in `planes`, the first of which is `first`. Rays
    /// between a register's outer two may fall short of them by rounding: one voxel of room.
    template <class State>
    KOKKOS_FORCEINLINE_FUNCTION bool find(joseph_walk const& walk, Part const& part, State const& s,
                                          std::int32_t first, plane_range planes) {
      using lanes = backend::lane_part<typename Part::shape::isa, few_planes, width>;
      using value = typename lanes::template per_lane<T>;
      using index = typename lanes::index;
      lanes const all{0};  // a plane a lane
      plane_range const held = walk.held;
      if (held.last - held.first < size) {
        return false;
      }
      value const i = convert<T>(all.lane() + index(first));
      auto const wanted = (index(planes.first - first - 1) < all.lane()) &
                          (all.lane() < index(planes.last - first));
      bool fits = true;
      for (int n = 0; n < Part::shape::registers; ++n) {
        auto const place = [&](int lane) {
          value const z = fma(i, value(s.slope.data()[lane]), value(s.base.data()[lane]));
          return clamp(truncate(floor(walk.kept(z))), index(held.first), index(held.last - 1));
        };
        index const one = place(part.first_of_register(n));
        index const other = place(part.first_of_register(n) + width - 1);
        index const from =
            max(min(min(one, other) - index(1), index(held.last - size)), index(held.first));
        // Above the column's end nothing is wanted.
        index const last = min(max(one, other) + index(2), index(held.last - 1));
        all.store(low[n], from);
        fits = fits && !any_of(wanted & !(last < from + index(size)));
      }
      return fits;
    }
  };

  /// The way in which lanes find f(place) in plane i: picked from windows, or each on its own.
  template <class Part, int Count>
  struct by_windows {
    lane_windows<Part, Count> const& windows;
    std::int32_t first;

    template <class F>
    KOKKOS_FORCEINLINE_FUNCTION auto operator()(std::int32_t i, F const& f) const {
      return Part::template window<T, Count>(&windows.low[0][i - first], few_planes, f);
    }
  };
  template <class Part>
  struct by_lanes {
    template <class F>
    KOKKOS_FORCEINLINE_FUNCTION auto operator()(std::int32_t, F const& f) const {
      return Part::template scattered<T>(f);
    }
  };

  /// Sends coordinates along z outside the field to where no voxel is, as field_range::keep does.
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION Value kept(Value const& z) const {
    return select(z < Value(field.lowest), Value(T(-2)),
                  select(Value(field.highest[2]) < z, Value(T(g.extent[2])), z));
  }

  /// Planes that some ray of a part may meet, and those where every ray has four voxels about its
  /// point.
  struct ranges {
    plane_range outer;
    plane_range inner;
  };
  template <class Part, class State>
  KOKKOS_FORCEINLINE_FUNCTION ranges ranges_of(Part const& part, State const& s,
                                               plane_range planes) const {
    // Rows that walk together have their samples in the same planes.
    static_assert(Part::num_rows <= joint_rows);
    int const row = part.first_row();
    ranges r{s.range[row].outer, s.range[row].inner};
    for (int n = 1; n < Part::num_rows; ++n) {
      r.outer = r.outer.joined(s.range[row + n].outer);
      r.inner = r.inner.clipped(s.range[row + n].inner);
    }
    r.outer = r.outer.clipped(planes);
    r.inner = r.inner.clipped(r.outer);
    if (r.inner.empty()) {
      r.inner = {r.outer.last, r.outer.last};
    }
    return r;
  }

  /// The rays of a part at work.
  template <class Part>
  struct part_state {
    using value = typename Part::template per_lane<T>;
    value slope;
    value base;
    typename Sum::template running<Part> sum;
  };

  template <class Part, class State, class Found>
  KOKKOS_FORCEINLINE_FUNCTION void walk_windows(Part const& part, Sum const& sum, State& s,
                                                plane_range planes, Found const& found) const {
    ranges const r = ranges_of(part, s, planes);
    if (r.outer.empty()) {
      return;
    }
    part_state<Part> rays{part.load(s.slope), part.load(s.base), {sum, part, s.sum}};
    // Two registers hold the lanes of pixels of less than two voxels, four those of less than four.
    if (!walk_by_windows<2>(part, rays, s, r, found) &&
        !walk_by_windows<4>(part, rays, s, r, found)) {
      walk_ranges(part, rays, r, found, by_lanes<Part>());
    }
    rays.sum.store(part, s.sum, r.outer.last - r.outer.first);
  }
  /// Walks them where windows of `Count` registers hold what every register needs; returns whether
  /// they do.
  template <int Count, class Part, class State, class Found>
  KOKKOS_FORCEINLINE_FUNCTION bool walk_by_windows(Part const& part, part_state<Part>& rays,
                                                   State const& s, ranges const& r,
                                                   Found const& found) const {
    lane_windows<Part, Count> windows;
    if (!windows.find(*this, part, s, found.first, r.outer)) {
      return false;
    }
    walk_ranges(part, rays, r, found, by_windows<Part, Count>{windows, found.first});
    return true;
  }
  template <class Part, class Found, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void walk_ranges(Part const& part, part_state<Part>& rays,
                                               ranges const& r, Found const& found,
                                               Columns const& columns_of) const {
    for (plane_range edge = {r.outer.first, r.inner.first};; edge = {r.inner.last, r.outer.last}) {
      edge_planes(part, rays, edge, found, columns_of);
      if (edge.last == r.outer.last) {
        return;
      }
      inner_planes<false>(part, rays, r.inner, found, columns_of);
    }
  }

  template <class Group, class Part, class State>
  KOKKOS_FORCEINLINE_FUNCTION void walk_scattered(Group const& group, Part const& part,
                                                  Sum const& sum, State& s,
                                                  plane_range planes) const {
    ranges const r = ranges_of(part, s, planes);
    if (r.outer.empty()) {
      return;
    }
    joseph_ray_column<T> const& ray_column = *s.ray_column;
    part_state<Part> rays{part.load(s.slope), part.load(s.base), {sum, part, s.sum}};
    by_lanes<Part> const columns_of;
    for (plane_range edge = {r.outer.first, r.inner.first};; edge = {r.inner.last, r.outer.last}) {
      edge_planes(part, rays, edge, cursor<Group>(ray_column, edge.first, 0), columns_of);
      if (edge.last == r.outer.last) {
        break;
      }
      auto const from = cursor<Group>(ray_column, r.inner.first, Group::template index_bias<T>);
      if (!planes_are_near(group, ray_column, r.inner)) {
        inner_planes<false>(part, rays, r.inner, from, columns_of);
        continue;
      }
      auto const near = near_cursor<Group>(from, r.inner.first);
      if (sum.all_finite()) {
        inner_planes<true>(part, rays, r.inner, near, columns_of);
      } else {
        inner_planes<false>(part, rays, r.inner, near, columns_of);
      }
    }
    rays.sum.store(part, s.sum, r.outer.last - r.outer.first);
  }

  /// Returns whether the column's columns in these planes lie near each other, as a GPU's addresses
  /// go.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION bool planes_are_near(Group const& group,
                                                   joseph_ray_column<T> const& ray_column,
                                                   plane_range planes) const {
    T const one_end = ray_column.across(planes.first);
    T const other_end = ray_column.across(planes.last - 1);
    bool const rises = one_end < other_end;
    // No column of these planes lies before the lowest of the first plane or beyond the highest of
    // the last; a sample reads two. Of a column the planes that are held are in memory.
    return group.near(
        column_at(ray_column, planes.first, std::int32_t(rises ? one_end : other_end)) + held.first,
        column_at(ray_column, planes.last - 1, std::int32_t(rises ? other_end : one_end) + 2) +
            held.first);
  }
  template <class Group, class Cursor>
  KOKKOS_FORCEINLINE_FUNCTION auto near_cursor(Cursor const& c, std::int32_t first) const {
    auto const at = Group::near_to(
        c.at,
        column_at(c.ray_column, first, std::int32_t(c.ray_column.across(first))) + held.first);
    return column_cursor<Group, std::decay_t<decltype(at)>>{c.ray_column, at, c.plane, c.column};
  }

  /// Walks planes where every ray has four voxels about its point: no test in the loop.
  template <bool Finite, class Part, class Cursor, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void inner_planes(Part const& part, part_state<Part>& rays,
                                                plane_range planes, Cursor const& from,
                                                Columns const& columns_of) const {
    using value = typename Part::template per_lane<T>;
    decltype(auto) cursor = from.started();
    ISO_DEVICE_UNROLL_TWICE
    for (std::int32_t i = planes.first; i < planes.last; ++i) {
      auto const& at = cursor.take_inner(i);
      typename Part::index k;
      value rest;
      value a;
      value b;
      part.split(fma(value(T(i)), rays.slope, rays.base), k, rest);
      columns_of(i, at).pair(k, a, b);
      rays.sum.template add<Finite>(blend(weight_of<Weight>(rest), a, b));
    }
  }

  /// Walks planes where some ray's point lies at the border of the volume or beyond it.
  template <class Part, class Cursor, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void edge_planes(Part const& part, part_state<Part>& rays,
                                               plane_range planes, Cursor const& from,
                                               Columns const& columns_of) const {
    using value = typename Part::template per_lane<T>;
    decltype(auto) cursor = from.started();
    ISO_DEVICE_UNROLL_TWICE
    for (std::int32_t i = planes.first; i < planes.last; ++i) {
      auto const& at = cursor.take_edge(i, *this);
      typename Part::index k;
      value rest;
      value a;
      value b;
      part.split_signed(kept(fma(value(T(i)), rays.slope, rays.base)), k, rest);
      columns_of(i, at).pair_within(k, held.first, held.last, a, b);
      rays.sum.template add<false>(blend(weight_of<Weight>(rest), a, b));
    }
  }
};

}  // namespace iso::ct::detail::ISO_SET

#endif
