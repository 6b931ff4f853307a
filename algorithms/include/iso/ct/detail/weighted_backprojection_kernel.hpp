// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/core/grid.hpp>
#include <iso/ct/detail/column_pair.hpp>
#include <iso/ct/detail/padded_images.hpp>
#include <iso/ct/geometry.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Views of one block of a voxel's sum. Blocks are counted from view 0.
inline constexpr std::int32_t block_views = 16;

/// A linear function of a voxel's index (i, j, k).
template <class T>
struct index_function {
  T x;
  T y;
  T z;
  T one;

  /// At k = 0.
  KOKKOS_FORCEINLINE_FUNCTION T at(T i, T j) const {
    return Kokkos::fma(i, x, Kokkos::fma(j, y, one));
  }
};

/// Where a view sees a voxel: at u = u(X) / depth(X), v likewise, counted in padded pixels, with
/// the weight scale / depth(X)^2. The depth is the distance from the source along the detector's
/// normal, over that of the z axis; 1 in a parallel beam.
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
    double const nn = dot(n, n);
    // Dual to the steps: their products with u_step and v_step are 1 and 0, 0 and 1.
    vec3<double> const along_u = (1 / nn) * cross(w.v_step, n);
    vec3<double> const along_v = (1 / nn) * cross(n, w.u_step);
    view_map<T> m;
    if (kind == beam::cone) {
      // With X from the source s: u(X) / depth(X) = (o - s) . n ((X - s) . u*) / ((X - s) . n) less
      // the origin's own u.
      vec3<double> const to_origin = w.detector_origin - w.source;
      double const distance = dot(n, to_origin);
      double const axis = -dot(n, w.source);
      double const magnification = distance / axis;
      vec3<double> const depth = (1 / axis) * n;
      vec3<double> const u = magnification * along_u - (dot(along_u, to_origin) - 1) * depth;
      vec3<double> const v = magnification * along_v - (dot(along_v, to_origin) - 1) * depth;
      m.u = function(u, -dot(u, w.source));
      m.v = function(v, -dot(v, w.source));
      m.depth = function(depth, -dot(depth, w.source));
      m.scale = T(0.5 * weights(index) * magnification / Kokkos::sqrt(dot(w.u_step, w.u_step)));
    } else {
      // Along the rays to the detector's plane.
      double const slope = 1 / dot(n, w.source);
      auto const flat = [&](vec3<double> a) { return a - (dot(a, w.source) * slope) * n; };
      vec3<double> const u = flat(along_u);
      vec3<double> const v = flat(along_v);
      m.u = function(u, 1 - dot(u, w.detector_origin));
      m.v = function(v, 1 - dot(v, w.detector_origin));
      m.depth = {T(0), T(0), T(0), T(1)};
      m.scale = T(weights(index) * Kokkos::sqrt(dot(u, u)));
    }
    maps[index] = m;
  }

 private:
  /// a . X + b as a function of the voxel's index.
  KOKKOS_FUNCTION index_function<T> function(vec3<double> a, double b) const {
    return {T(a.x * g.spacing.x), T(a.y * g.spacing.y), T(a.z * g.spacing.z),
            T(b + dot(a, g.origin))};
  }
};

/// Where one view sees a column of voxels.
template <class T>
struct column_of_view {
  T depth;    ///< at k = 0
  T depth_z;  ///< a step further along z
  T u;
  T u_z;
  T v;
  T v_z;

  KOKKOS_FORCEINLINE_FUNCTION column_of_view(view_map<T> const& m, T i, T j)
      : depth(m.depth.at(i, j)),
        depth_z(m.depth.z),
        u(m.u.at(i, j)),
        u_z(m.u.z),
        v(m.v.at(i, j)),
        v_z(m.v.z) {}
  /// u and depth are the same at all heights.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool is_upright() const {
    return depth_z == T(0) && u_z == T(0);
  }
};

/// Weighted backprojection of filtered views: a group is `Rows` x 32 heights of one column of
/// voxels.
template <class T, int Rows>
struct weighted_backprojection_kernel {
  static constexpr int registers = 2;

  T const* images;          ///< padded, of the batch
  view_map<T> const* maps;  ///< of the batch
  T* volume;
  grid g;
  padded_images shape;
  std::int32_t num_views;  ///< of the batch
  bool begins;             ///< the first batch: voxels begin at +0

  KOKKOS_FUNCTION std::int64_t tiles_along_z() const {
    return (g.extent[2] + 32 * Rows - 1) / (32 * Rows);
  }
  KOKKOS_FUNCTION std::int64_t num_groups() const {
    return g.extent[0] * g.extent[1] * tiles_along_z();
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    using lanes = typename Group::template lane_array<T, Rows>;
    std::int64_t const column = index / tiles_along_z();
    auto const first = std::int32_t(index - column * tiles_along_z()) * (32 * Rows);
    std::int64_t const left = (g.extent[2] - first + 31) / 32;
    auto const rows = std::int32_t(left < Rows ? left : Rows);
    T const i = T(column / g.extent[1]);
    T const j = T(column % g.extent[1]);
    T* const voxels = volume + column * g.extent[2] + first;
    auto const height = std::int32_t(g.extent[2] - first);
    lanes z;
    lanes total;
    for (int row = 0; row < Rows; ++row) {
      group.each([&](int lane) {
        std::int32_t const k = 32 * row + lane;
        z(row, lane) = T(first + k);
        total(row, lane) = !begins && k < height ? voxels[k] : T(0);
      });
    }
    for (std::int32_t from = 0; from < num_views; from += block_views) {
      std::int32_t const end = num_views - from < block_views ? num_views : from + block_views;
      add_block(group, i, j, from, end, rows, z, total);
    }
    for (int row = 0; row < Rows; ++row) {
      group.each([&](int lane) {
        if (32 * row + lane < height) {
          voxels[32 * row + lane] = total(row, lane);
        }
      });
    }
  }

 private:
  template <class Group, class Lanes>
  KOKKOS_FORCEINLINE_FUNCTION void add_block(Group const& group, T i, T j, std::int32_t from,
                                             std::int32_t end, std::int32_t rows, Lanes const& z,
                                             Lanes& total) const {
    if constexpr (Group::has_windows) {
      // Looked up once for all heights.
      upright_column<T const*> columns[block_views];
      bool upright = true;
      std::int32_t seen = 0;
      for (std::int32_t view = from; view < end; ++view) {
        column_of_view<T> const c(maps[view], i, j);
        upright = upright && c.is_upright();
        seen += find<Group>(c, view, columns[seen]) ? 1 : 0;
      }
      group.template parts<T, registers, Rows>(rows, [&](auto const& part) {
        using value = typename std::decay_t<decltype(part)>::template per_lane<T>;
        value const heights = part.load(z);
        value sum(T(0));
        if (upright) {
          for (std::int32_t n = 0; n < seen; ++n) {
            sum = add_windows(part, columns[n], z, heights, sum);
          }
        } else {
          sum = add_tilted<Group>(part, i, j, from, end, heights, sum);
        }
        part.store(total, part.load(total) + sum);
      });
    } else {
      group.template parts<T, registers, Rows>(rows, [&](auto const& part) {
        using value = typename std::decay_t<decltype(part)>::template per_lane<T>;
        value const heights = part.load(z);
        value sum(T(0));
        for (std::int32_t view = from; view < end; ++view) {
          column_of_view<T> const c(maps[view], i, j);
          if (!c.is_upright()) {
            sum = add_tilted<Group>(part, i, j, view, view + 1, heights, sum);
            continue;
          }
          using address = typename Group::template address<T>;
          upright_column<address> at{{address(nullptr), 0, T(0)}, T(0), T(0), T(0)};
          if (find<Group>(c, view, at)) {
            sum = add(at, heights, sum, part, part.template scattered<T>(at.pair));
          }
        }
        part.store(total, part.load(total) + sum);
      });
    }
  }

  /// A column of voxels in a view whose v runs along it: two columns of pixels for all heights.
  template <class Address>
  struct upright_column {
    column_pair<T, Address> pair;
    T slope;  ///< of v, padded
    T base;
    T weight;
  };

  /// Whether the view sees the column.
  template <class Group, class Address>
  KOKKOS_FORCEINLINE_FUNCTION bool find(column_of_view<T> const& c, std::int32_t view,
                                        upright_column<Address>& found) const {
    T const r = T(1) / c.depth;
    T const u = c.u * r;
    if (!(u > T(0) && u < T(shape.num_u + 1))) {
      return false;
    }
    auto const k = std::int32_t(u);
    std::int64_t const first = view * shape.image_size() + std::int64_t(k) * shape.pitch() -
                               std::int64_t(Group::template index_bias<T>);
    found.pair = {Group::moved_by(Address(images), std::uint64_t(first) * sizeof(T)),
                  std::uint32_t(shape.pitch()) * std::uint32_t(sizeof(T)), u - T(k)};
    found.slope = c.v_z * r;
    found.base = c.v * r;
    found.weight = (maps[view].scale * r) * r;
    return true;
  }

  /// Padded v of some heights; those beyond the detector's edges go to its border of zeros.
  template <class Value, class Address>
  KOKKOS_FORCEINLINE_FUNCTION Value places(upright_column<Address> const& at,
                                           Value const& heights) const {
    Value const v = fma(heights, Value(at.slope), Value(at.base));
    return clamp(v, Value(T(0)), Value(T(shape.num_v + 1)));
  }

  template <class Address, class Value, class Part, class Pixels>
  KOKKOS_FORCEINLINE_FUNCTION Value add(upright_column<Address> const& at, Value const& heights,
                                        Value const& sum, Part const& part,
                                        Pixels const& pixels) const {
    typename Part::index k;
    Value rest;
    Value below;
    Value above;
    part.split(places(at, heights), k, rest);
    pixels.pair(k, below, above);
    return fma(Value(at.weight), blend(rest, below, above), sum);
  }

  /// Neighbours picked from windows where each register's heights fall into one.
  template <class Part, class Lanes, class Value>
  KOKKOS_FORCEINLINE_FUNCTION Value add_windows(Part const& part,
                                                upright_column<T const*> const& at, Lanes const& z,
                                                Value const& heights, Value const& sum) const {
    constexpr int width = Part::shape::width;
    std::int32_t low[Part::shape::registers];
    bool fits = shape.pitch() >= 2 * width;
    for (int n = 0; n < Part::shape::registers; ++n) {
      int const lane = part.first_of_register(n);
      auto const place = [&](int at_lane) {
        T const v = Kokkos::fma(z.data()[at_lane], at.slope, at.base);
        T const most = T(shape.num_v + 1);
        return std::int32_t(v > T(0) ? (v < most ? v : most) : T(0));
      };
      // v is monotone along the column, its rounding included.
      std::int32_t const one = place(lane);
      std::int32_t const other = place(lane + width - 1);
      std::int32_t const first = one < other ? one : other;
      std::int32_t const last = (one < other ? other : one) + 1;
      std::int32_t const end = shape.pitch() - 2 * width;
      low[n] = first < end ? first : end;
      fits = fits && last < low[n] + 2 * width;
    }
    return fits ? add(at, heights, sum, part, part.template window<T>(low, 1, at.pair))
                : add(at, heights, sum, part, part.template scattered<T>(at.pair));
  }

  /// Views whose depth or u changes along the column: each voxel for itself.
  template <class Group, class Part, class Value>
  KOKKOS_FORCEINLINE_FUNCTION Value add_tilted(Part const&, T i, T j, std::int32_t from,
                                               std::int32_t end, Value const& heights,
                                               Value sum) const {
    using index = typename Part::index;
    for (std::int32_t view = from; view < end; ++view) {
      column_of_view<T> const c(maps[view], i, j);
      Value const r = Value(T(1)) / fma(heights, Value(c.depth_z), Value(c.depth));
      Value const u = fma(heights, Value(c.u_z) * r, Value(c.u) * r);
      Value const v = clamp(fma(heights, Value(c.v_z) * r, Value(c.v) * r), Value(T(0)),
                            Value(T(shape.num_v + 1)));
      auto const seen = (Value(T(0)) < u) & (u < Value(T(shape.num_u + 1)));
      Value const inside = select(seen, u, Value(T(0)));
      index const ku = truncate(inside);
      index const kv = truncate(v);
      Value const across = inside - convert<T>(ku);
      Value const along = v - convert<T>(kv);
      T const* const image = images + view * shape.image_size();
      index const pitch(shape.pitch());
      index const lower = ku * pitch + kv;
      index const upper = lower + pitch;
      Value const below = blend(across, gather(image, lower), gather(image, upper));
      Value const above = blend(across, gather(image + 1, lower), gather(image + 1, upper));
      Value const weight = (Value(maps[view].scale) * r) * r;
      sum = select(seen, fma(weight, blend(along, below, above), sum), sum);
    }
    return sum;
  }
};

}  // namespace iso::ct::detail
