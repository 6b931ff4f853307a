// SPDX-License-Identifier: BSD-3-Clause
//! Does the third step of FDK: where views see voxels, and the sum over views.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_WEIGHTED_BACKPROJECTION_KERNEL_HPP
#define ISO_CT_DETAIL_WEIGHTED_BACKPROJECTION_KERNEL_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/detail/column_pair.hpp>
#include <iso/ct/detail/entry_table.hpp>
#include <iso/ct/detail/padded_images.hpp>
#include <iso/ct/detail/ray_weight.hpp>
#include <iso/ct/detail/tilted_windows.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/view_projection.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// The number of views of one block of a voxel's sum. Blocks are counted from view 0.
inline constexpr std::int32_t block_views = 16;

/// A linear function of a voxel's index (i, j, k).
template <class T>
struct index_function {
  T x;
  T y;
  T z;
  T one;

  /// Returns the value at k = 0.
  KOKKOS_FORCEINLINE_FUNCTION T at(T i, T j) const {
    return Kokkos::fma(i, x, Kokkos::fma(j, y, one));
  }
};

/// The place where a view sees a voxel: at u = u(X) / depth(X), v likewise, counted in padded
/// pixels, with the weight scale / depth(X)^2. The depth is the distance from the source along the
/// detector's normal, over that of the z axis; 1 in a parallel beam.
template <class T>
struct view_map {
  index_function<T> u;
  index_function<T> v;
  index_function<T> depth;
  T scale;
};

/// Makes them, in double until the last rounding.
template <class T>
struct view_map_kernel {
  Kokkos::View<view_vectors const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> views;
  Kokkos::View<double const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> weights;
  view_map<T>* maps;
  grid g;
  beam kind;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    view_vectors const w = views(index);
    vec3<double> const n = normal_of(w);
    double const axis = -dot(n, w.source);
    // Pixels are counted from the border.
    view_projection const p = projection_of(kind, w, 1, axis);
    double scale;
    if (kind == beam::cone) {
      double const magnification = dot(n, w.detector_origin - w.source) / axis;
      scale = 0.5 * weights(index) * magnification / Kokkos::sqrt(dot(w.u_step, w.u_step));
    } else {
      scale = weights(index) * norm(p.u.of) * column_spread(w, p.u.of);
    }
    maps[index] = {function(p.u), function(p.v), function(p.depth), T(scale)};
  }

 private:
  /// Returns `f` as a function of the voxel's index.
  KOKKOS_FUNCTION index_function<T> function(linear_function const& f) const {
    vec3<double> const a = f.of;
    return {T(a.x * g.spacing.x), T(a.y * g.spacing.y), T(a.z * g.spacing.z),
            T(f.constant + dot(a, g.origin))};
  }
};

/// A view's map for a column of voxels, at k = 0.
template <class T>
struct column_of_view {
  T depth;
  T u;
  T v;

  KOKKOS_FORCEINLINE_FUNCTION column_of_view(view_map<T> const& m, T i, T j)
      : depth(m.depth.at(i, j)), u(m.u.at(i, j)), v(m.v.at(i, j)) {}
};

/// A column of voxels in a view whose v runs along it: two columns of pixels with one weight for
/// all heights.
template <class T>
struct upright_column {
  std::int64_t first;  ///< pixel (k, -1), in images
  T across;            ///< weight of the upper of the two columns of pixels
  T slope;             ///< of the padded v
  T base;
  T weight;
};

/// Puts columns of pixels u and u + 1 side by side.
template <class T>
struct join_columns_kernel {
  T const* images;
  T* joined;
  std::int64_t pitch;
  std::int64_t count;
  padded_rows rows;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const column = index / rows.count;
    std::int64_t const at = column * pitch + rows.first + index - column * rows.count;
    joined[2 * at] = images[at];
    joined[2 * at + 1] = at + pitch < count ? images[at + pitch] : T(0);
  }
};

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/weighted_backprojection_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Backprojects filtered views with weights: a group is `Rows` x 32 heights of one column of
/// voxels. `Upright`: v runs along z in every view, so that u and depth are the same for a column.
/// `Joined`: images are what join_columns_kernel makes of them, which halves a GPU's loads.
template <class T, int Rows, bool Upright, bool Joined>
struct weighted_backprojection_kernel {
  ISO_KERNEL(weighted_backprojection_kernel<T, Rows, Upright, Joined>);

  static constexpr int registers = 2;
  /// Those of a part whose lanes pick out of windows: no more than the machine's registers hold.
  template <class Group>
  static constexpr int window_registers = Group::isa::num_registers == 32 ? 2 : 1;

  T const* images;          ///< padded, of the batch
  view_map<T> const* maps;  ///< of the batch
  T* volume;
  grid g;
  slab planes;  ///< that `volume` holds
  padded_images shape;
  std::int32_t num_views;        ///< of the batch
  bool begins;                   ///< the first batch: voxels begin at +0
  std::int64_t first_group = 0;  ///< of the launch

  /// Sizes squares: neighbouring groups take squares of columns, which see a few columns of pixels
  /// in every view: caches keep them.
  static constexpr std::int32_t square = 32;

  /// The heights of a slab so thin that a processor's lanes are neighbours along y: along z most
  /// would be idle. A fan beam takes a fifth of the time, 16 heights more than by lanes along z.
  static constexpr std::int32_t few_heights = 8;

  KOKKOS_FUNCTION std::int64_t tiles_along_z() const {
    return (planes.count() + 32 * Rows - 1) / (32 * Rows);
  }
  KOKKOS_FUNCTION std::int64_t squares_along(int axis) const {
    return (g.extent[std::size_t(axis)] + square - 1) / square;
  }
  /// Counts groups, some of which may lie outside the volume.
  KOKKOS_FUNCTION std::int64_t num_groups() const {
    return squares_along(0) * squares_along(1) * tiles_along_z() * (square * square);
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t of_launch) const {
    std::int64_t const index = first_group + of_launch;
    std::int64_t const in_square = index % (square * square * tiles_along_z());
    std::int64_t const square_at = index / (square * square * tiles_along_z());
    auto const tile_z = std::int32_t(in_square % tiles_along_z());
    auto const place = std::int32_t(in_square / tiles_along_z());
    std::int64_t const x = square_at / squares_along(1) * square + place / square;
    std::int64_t const y = square_at % squares_along(1) * square + place % square;
    if (x >= g.extent[0] || y >= g.extent[1]) {
      return;
    }
    if constexpr (Group::has_windows && Upright && !Joined) {
      if (planes.count() <= few_heights) {
        if (place % square == 0) {
          add_row(group, std::int32_t(x), std::int32_t(y));
        }
        return;
      }
    }
    std::int64_t const column = x * g.extent[1] + y;
    std::int32_t const held = tile_z * (32 * Rows);
    std::int32_t const first = std::int32_t(planes.first) + held;
    std::int64_t const left = (planes.count() - held + 31) / 32;
    T* const voxels = volume + column * planes.count() + held;
    auto const height = std::int32_t(planes.count() - held);
    heights<Group> s;
    s.rows = std::int32_t(left < Rows ? left : Rows);
    s.lowest = T(first);
    // A GPU's lanes take all rows.
    s.highest = T(first + 32 * (Group::has_windows ? s.rows : Rows) - 1);
    for (int row = 0; row < Rows; ++row) {
      group.each([&](int lane) {
        std::int32_t const k = 32 * row + lane;
        s.z(row, lane) = T(first + k);
        s.total(row, lane) = !begins && k < height ? voxels[k] : T(0);
      });
    }
    T const i = T(x);
    T const j = T(y);
    for (std::int32_t from = 0; from < num_views; from += block_views) {
      std::int32_t const count = num_views - from < block_views ? num_views - from : block_views;
      if constexpr (Upright) {
        add_upright(group, i, j, from, count, s);
      } else {
        add_tilted(group, i, j, from, count, s);
      }
    }
    for (int row = 0; row < Rows; ++row) {
      group.each([&](int lane) {
        if (32 * row + lane < height) {
          voxels[32 * row + lane] = canonical(s.total(row, lane));
        }
      });
    }
  }

 private:
  /// The values that the lanes keep: their heights, and their voxels.
  template <class Group>
  struct heights {
    static constexpr bool has_windows = Group::has_windows;
    typename Group::template lane_array<T, Rows> z;
    typename Group::template lane_array<T, Rows> total;
    std::int32_t rows;
    T lowest;
    T highest;
  };

  /// Adds a block of views, looked up once for all heights.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void add_upright(Group const& group, T i, T j, std::int32_t from,
                                               std::int32_t count, heights<Group>& s) const {
    entry_table<Group, upright_column<T>, block_views> columns(group);
    typename Group::template lane_array<bool> beyond(false);
    int const seen = columns.fill(count, [&](int n, upright_column<T>& found) {
      if (!find(from + n, i, j, found)) {
        return false;
      }
      // v is monotone along the column, its rounding included.
      T const one = Kokkos::fma(s.lowest, found.slope, found.base);
      T const other = Kokkos::fma(s.highest, found.slope, found.base);
      beyond[n] = !is_within(one) || !is_within(other);
      return true;
    });
    T const* const last = images + (Joined ? 2 : 1) * shape.size(num_views);
    if (group.any(beyond) || !Group::near(images, last)) {
      add_columns<false>(group, columns, seen, s);
    } else {
      add_columns<true>(group, columns, seen, s);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_within(T v) const {
    return v >= T(0) && v <= T(shape.num_v + 1);
  }

  /// Returns whether the view sees the column.
  KOKKOS_FORCEINLINE_FUNCTION bool find(std::int32_t view, T i, T j,
                                        upright_column<T>& found) const {
    view_map<T> const& m = maps[view];
    column_of_view<T> const c(m, i, j);
    T const r = T(1) / c.depth;
    T const u = c.u * r;
    if (!(u > T(0) && u < T(shape.num_u + 1))) {
      return false;
    }
    auto const k = std::int32_t(u);
    found.first = shape.at(view, k);
    found.across = u - T(k);
    found.slope = m.v.z * r;
    found.base = c.v * r;
    found.weight = (m.scale * r) * r;
    return true;
  }

  /// Adds columns; `Inside`: all heights are seen within the detector's border of zeros, and the
  /// images lie near each other.
  template <bool Inside, class Group, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void add_columns(Group const& group, Columns const& columns, int seen,
                                               heights<Group>& s) const {
    group.template parts<T, registers, Rows>(s.rows, [&](auto const& part) {
      using value = typename std::decay_t<decltype(part)>::template per_lane<T>;
      value const z = part.load(s.z);
      value sum(T(0));
      for (int n = 0; n < seen; ++n) {
        add<Inside, Group>(part, columns[n], s, z, sum);
      }
      part.store(s.total, part.load(s.total) + sum);
    });
  }

  template <bool Inside, class Group, class Part, class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add(Part const& part, upright_column<T> const& at,
                                       heights<Group> const& s, Value const& z, Value& sum) const {
    std::int64_t const first = at.first - std::int64_t(Group::template index_bias<T>);
    auto const lower = Group::moved_by(typename Group::template address<T>(images),
                                       std::uint64_t(first) * (Joined ? 2 * sizeof(T) : sizeof(T)));
    auto const pixels = [&] {
      if constexpr (Inside) {
        return Group::near_to(lower, images);
      } else {
        return lower;
      }
    }();
    using address = std::decay_t<decltype(pixels)>;
    if constexpr (Joined) {
      add_pair<Inside>(part, joined_columns<T, address>{pixels, at.across}, at, s, z, sum);
    } else {
      std::uint32_t const stride = std::uint32_t(shape.pitch()) * std::uint32_t(sizeof(T));
      add_pair<Inside>(part, column_pair<T, address>{pixels, stride, at.across}, at, s, z, sum);
    }
  }

  template <bool Inside, class Part, class Pair, class Heights, class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add_pair(Part const& part, Pair const& pair,
                                            upright_column<T> const& at, Heights const& s,
                                            Value const& z, Value& sum) const {
    Value v = fma(z, Value(at.slope), Value(at.base));
    if constexpr (!Inside) {
      v = clamp(v, Value(T(0)), Value(T(shape.num_v + 1)));
    }
    typename Part::index k;
    Value rest;
    Value below;
    Value above;
    part.split(v, k, rest);
    if constexpr (Heights::has_windows) {
      // Neighbours are picked from windows where each register's heights fall into one.
      constexpr int width = Part::shape::width;
      if (Kokkos::fabs(at.slope) * T(width - 1) < T(2 * width - 3)) {
        std::int32_t low[Part::shape::registers];
        for (int i = 0; i < Part::shape::registers; ++i) {
          int const lane = part.first_of_register(i) + (at.slope < T(0) ? width - 1 : 0);
          T const lowest = Kokkos::fma(s.z.data()[lane], at.slope, at.base);
          T const most = T(shape.num_v + 1);
          low[i] = std::int32_t(Inside || lowest < most ? (Inside || lowest > T(0) ? lowest : T(0))
                                                        : most);
        }
        part.template window<T>(low, 1, pair).pair(k, below, above);
      } else {
        Value lower[2];
        Value upper[2];
        gather_pairs(pair.lower, k, lower[0], lower[1]);
        gather_pairs(pair.lower + shape.pitch(), k, upper[0], upper[1]);
        below = blend(Value(at.across), lower[0], upper[0]);
        above = blend(Value(at.across), lower[1], upper[1]);
      }
    } else {
      part.template scattered<T>(pair).pair(k, below, above);
    }
    sum = fma(Value(at.weight), blend(rest, below, above), sum);
  }

  /// Adds all views to a row of voxels along y at each height, a column a lane.
  template <class Group>
  KOKKOS_FUNCTION void add_row(Group const& group, std::int32_t x, std::int32_t y) const {
    auto const left = std::int32_t(g.extent[1]) - y;
    std::int32_t const count = left < square ? left : square;
    auto const heights = std::int32_t(planes.count());
    for (std::int32_t k = 0; k < heights; ++k) {
      T* const voxels = volume + (x * g.extent[1] + y) * heights + k;
      typename Group::template lane_array<T> totals;
      group.each([&](int lane) {
        totals[lane] = !begins && lane < count ? voxels[lane * heights] : T(0);
      });
      group.template parts<T, registers>([&](auto const& part) {
        if (part.first < count) {
          add_to_row(group, part, T(x), y, T(std::int32_t(planes.first) + k), totals);
        }
      });
      group.each([&](int lane) {
        if (lane < count) {
          voxels[lane * heights] = canonical(totals[lane]);
        }
      });
    }
  }
  template <class Group, class Part, class Totals>
  KOKKOS_FORCEINLINE_FUNCTION void add_to_row(Group const& group, Part const& part, T x,
                                              std::int32_t y, T z, Totals& totals) const {
    using value = typename Part::template per_lane<T>;
    value const i(x);
    value const j = convert<T>(part.lane() + typename Part::index(y));
    value total = part.load(totals);
    for (std::int32_t from = 0; from < num_views; from += block_views) {
      std::int32_t const end = num_views - from < block_views ? num_views : from + block_views;
      value sum(T(0));
      for (std::int32_t view = from; view < end; ++view) {
        // As find() has it.
        view_map<T> const& m = maps[view];
        auto const at = [&](index_function<T> const& f) {
          return fma(i, value(f.x), fma(j, value(f.y), value(f.one)));
        };
        value const r = value(T(1)) / at(m.depth);
        value const u = at(m.u) * r;
        auto const seen = (value(T(0)) < u) & (u < value(T(shape.num_u + 1)));
        value const v = fma(value(z), value(m.v.z) * r, at(m.v) * r);
        add_seen(group, part, view,
                 seen_pixel<value>{u, select(seen, v, value(T(0))), (value(m.scale) * r) * r}, sum);
      }
      total = total + sum;
    }
    part.store(totals, total);
  }

  /// Adds a block of views whose depth or u changes along the column.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void add_tilted(Group const& group, T i, T j, std::int32_t from,
                                              std::int32_t count, heights<Group>& s) const {
    entry_table<Group, tilted_column<T>, block_views> columns(group);
    typename Group::template lane_array<bool> beyond(false);
    typename Group::template lane_array<bool> leaning(false);
    int const seen = columns.fill(count, [&](int n, tilted_column<T>& found) {
      bool leans = false;
      bool inside = false;
      bool const sees = find_tilted(from + n, i, j, s, found, leans, inside);
      beyond[n] = sees && !inside;
      leaning[n] = sees && leans;
      return sees;
    });
    bool const leans = group.any(leaning);
    if constexpr (Group::has_windows) {
      if (leans) {
        add_by_windows<false>(group, columns, seen, s);
      } else {
        add_by_windows<true>(group, columns, seen, s);
      }
    } else {
      T const* const last = images + (Joined ? 2 : 1) * shape.size(num_views);
      if (group.any(beyond) || !Group::near(images, last)) {
        add_apart<false, false>(group, columns, seen, s);
      } else if (leans) {
        add_apart<false, true>(group, columns, seen, s);
      } else {
        add_apart<true, true>(group, columns, seen, s);
      }
    }
  }

  /// Returns false where the view sees no voxel of the column. `inside`: it sees all within the
  /// border of zeros.
  template <class Heights>
  KOKKOS_FORCEINLINE_FUNCTION bool find_tilted(std::int32_t view, T i, T j, Heights const& s,
                                               tilted_column<T>& found, bool& leans,
                                               bool& inside) const {
    view_map<T> const& m = maps[view];
    column_of_view<T> const c(m, i, j);
    found = {c.depth, c.u, c.v, m.scale, m.depth.z, m.u.z, m.v.z, std::int16_t(view), false};
    auto const at = [&](T z) {
      T const r = T(1) / Kokkos::fma(z, found.depth_z, found.depth);
      return seen_place<T>{r, Kokkos::fma(z, found.u_z * r, found.u * r),
                           Kokkos::fma(z, found.v_z * r, found.v * r)};
    };
    seen_place<T> const one = at(s.lowest);
    // One height more, for windows.
    T const end_of_heights = s.highest + T(1);
    seen_place<T> const other = at(end_of_heights);
    T const most = one.r > other.r ? one.r : other.r;
    T const least = one.r > other.r ? other.r : one.r;
    // With float's rounding u and v are known to column_slack, and in this range the quotient needs
    // no care for numbers that are no normal ones.
    T const large = T(1 << 14);
    found.is_tame = least > T(1) / large && most < large && Kokkos::fabs(c.u) * most < large &&
                    Kokkos::fabs(c.v) * most < large && shape.num_u < (1 << 13) &&
                    shape.num_v < (1 << 13);
    // The depth is monotone along the column, its rounding included.
    leans = !(Kokkos::fma(s.lowest, found.depth_z, found.depth) ==
              Kokkos::fma(end_of_heights, found.depth_z, found.depth));
    if (!leans) {
      T const r = one.r;
      found = {T(1),         c.u * r,   c.v * r,   (m.scale * r) * r,
               T(0),         m.u.z * r, m.v.z * r, std::int16_t(view),
               found.is_tame};
    }
    // So are u and v, but for rounding.
    auto const between = [&](T a, T b, std::int32_t count) {
      return a >= T(1) && b >= T(1) && a <= T(count) && b <= T(count);
    };
    inside = found.is_tame && between(one.u, other.u, shape.num_u) &&
             between(one.v, other.v, shape.num_v);
    T const end = T(shape.num_u + 2);
    return !found.is_tame ||
           !((one.u < T(-1) && other.u < T(-1)) || (one.u > end && other.u > end));
  }

  /// Where lanes see the detector, and with which weight.
  template <class Value>
  struct seen_pixel {
    Value u;
    Value v;
    Value weight;
  };
  /// `Level`: the depth is 1. `Tame`: the columns are.
  template <bool Level, bool Tame, class Value>
  KOKKOS_FORCEINLINE_FUNCTION static seen_pixel<Value> pixel_at(tilted_column<T> const& at,
                                                                Value const& z) {
    if constexpr (Level) {
      return {fma(z, Value(at.u_z), Value(at.u)), fma(z, Value(at.v_z), Value(at.v)),
              Value(at.scale)};
    } else {
      Value const depth = fma(z, Value(at.depth_z), Value(at.depth));
      Value r;
      if constexpr (Tame) {
        r = reciprocal(depth);
      } else {
        r = Value(T(1)) / depth;
      }
      return {fma(z, Value(at.u_z) * r, Value(at.u) * r),
              fma(z, Value(at.v_z) * r, Value(at.v) * r), (Value(at.scale) * r) * r};
    }
  }

  /// Adds columns whose lanes pick pixels out of registers, and those where they cannot.
  template <bool Level, class Group, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void add_by_windows(Group const& group, Columns const& columns,
                                                  int seen, heights<Group>& s) const {
    using isa = typename Group::isa;
    constexpr int of_row = 32 / isa::template width<T>;
    constexpr int most = window_registers<Group>;
    constexpr int count = most < of_row ? most : of_row;
    std::int32_t const pitch = shape.pitch();
    tilted_windows<T, isa, count, block_views> windows(columns, seen, images, shape, s.lowest);
    group.template parts<T, count, Rows>(s.rows, [&](auto const& part) {
      using value = typename std::decay_t<decltype(part)>::template per_lane<T>;
      value const z = part.load(s.z);
      windows.advance(s.z.data()[part.first]);
      value sum(T(0));
      for (int n = 0; n < seen; ++n) {
        tilted_column<T> const& at = columns[n];
        if (windows.columns(n) == 2) {
          add_window<Level, 2>(part, at, windows, n, pitch, z, sum);
        } else if (windows.columns(n) == 3) {
          add_window<Level, 3>(part, at, windows, n, pitch, z, sum);
        } else if (windows.columns(n) == 0) {
          add_lanes<Level, false>(group, part, at, z, sum);
        }
      }
      part.store(s.total, part.load(s.total) + sum);
    });
  }
  template <bool Level, int Count, class Part, class Windows, class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add_window(Part const& part, tilted_column<T> const& at,
                                              Windows const& windows, int n, std::int32_t pitch,
                                              Value const& z, Value& sum) const {
    seen_pixel<Value> const seen = pixel_at<Level, true>(at, z);
    typename Part::index kv;
    Value along;
    part.split(seen.v, kv, along);
    Value below;
    Value above;
    pick_pixels<Count>(windows.image(n), pitch, windows.places(n), windows.first(n),
                       windows.heights(n), block_views, seen.u, kv, below, above);
    sum = fma(seen.weight, blend(along, below, above), sum);
  }

  /// Adds columns, each voxel for itself. `Inside`: all heights are seen within the detector's
  /// border of zeros, and the images lie near each other.
  template <bool Level, bool Inside, class Group, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void add_apart(Group const& group, Columns const& columns, int seen,
                                             heights<Group>& s) const {
    group.template parts<T, registers, Rows>(s.rows, [&](auto const& part) {
      using value = typename std::decay_t<decltype(part)>::template per_lane<T>;
      value const z = part.load(s.z);
      value sum(T(0));
      for (int n = 0; n < seen; ++n) {
        add_lanes<Level, Inside>(group, part, columns[n], z, sum);
      }
      part.store(s.total, part.load(s.total) + sum);
    });
  }
  template <bool Level, bool Inside, class Group, class Part, class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add_lanes(Group const& group, Part const& part,
                                             tilted_column<T> const& at, Value const& z,
                                             Value& sum) const {
    using index = typename Part::index;
    seen_pixel<Value> const found = pixel_at<Level, Inside>(at, z);
    index ku;
    index kv;
    Value across;
    Value along;
    Value below;
    Value above;
    if constexpr (Inside) {
      part.split(found.u, ku, across);
      part.split(found.v, kv, along);
      look_up<Inside>(group, part, at.view, ku, kv, across, below, above);
      sum = fma(found.weight, blend(along, below, above), sum);
    } else {
      add_seen(group, part, at.view, found, sum);
    }
  }
  /// Adds pixels where lanes see the detector, or its border of zeros along v.
  template <class Group, class Part, class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add_seen(Group const& group, Part const& part, std::int32_t view,
                                            seen_pixel<Value> const& found, Value& sum) const {
    using index = typename Part::index;
    auto const seen = (Value(T(0)) < found.u) & (found.u < Value(T(shape.num_u + 1)));
    Value const u = select(seen, found.u, Value(T(0)));
    Value const v = clamp(found.v, Value(T(0)), Value(T(shape.num_v + 1)));
    index const ku = truncate(u);
    index const kv = truncate(v);
    Value below;
    Value above;
    look_up<false>(group, part, view, ku, kv, u - convert<T>(ku), below, above);
    sum = select(seen, fma(found.weight, blend(v - convert<T>(kv), below, above), sum), sum);
  }
  /// Blends two columns of pixels at every lane's height and at the next, each lane on its own.
  /// `Biased`: split has found the numbers of columns and heights, and the images lie near.
  template <bool Biased, class Group, class Part, class Index, class Value>
  KOKKOS_FORCEINLINE_FUNCTION void look_up(Group const&, Part const& part, std::int32_t view,
                                           Index const& ku, Index const& kv, Value const& across,
                                           Value& below, Value& above) const {
    if constexpr (Joined) {
      // What split adds is taken off modulo 2^32.
      auto const pitch = std::uint32_t(shape.pitch());
      std::uint32_t const bias = Biased ? Group::template index_bias<T> * (pitch + 1U) : 0U;
      Index at;
      ISO_EACH_REGISTER(int row = 0; row < Part::shape::registers; ++row) {
        at.r[row] = std::int32_t(std::uint32_t(ku.r[row]) * pitch + std::uint32_t(kv.r[row]));
      }
      std::int64_t const first = shape.at(view, 0) - std::int64_t(bias);
      auto const image = Group::moved_by(typename Group::template address<T>(images),
                                         std::uint64_t(first) * (2 * sizeof(T)));
      if constexpr (Biased) {
        auto const near = Group::near_to(image, images);
        part.template scattered<T>(joined_pixels{near, across}).pair(at, below, above);
      } else {
        part.template scattered<T>(joined_pixels{image, across}).pair(at, below, above);
      }
    } else {
      gather_pixels(images + shape.at(view, 0), ku, kv, across, below, above);
    }
  }
  /// Blends two columns of pixels at every lane's height and at the next.
  template <class Index, class Value>
  KOKKOS_FORCEINLINE_FUNCTION void gather_pixels(T const* image, Index const& ku, Index const& kv,
                                                 Value const& across, Value& below,
                                                 Value& above) const {
    Index const at = ku * Index(shape.pitch()) + kv;
    Value lower[2];
    Value upper[2];
    gather_pairs(image, at, lower[0], lower[1]);
    gather_pairs(image + shape.pitch(), at, upper[0], upper[1]);
    below = blend(across, lower[0], upper[0]);
    above = blend(across, lower[1], upper[1]);
  }
};

}  // namespace iso::ct::detail::ISO_SET

#endif
