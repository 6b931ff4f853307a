// SPDX-License-Identifier: BSD-3-Clause
//! Backprojects by gather on a processor: sums in a tile of its cache.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_BACK_PROJECT_TILE_KERNEL_HPP
#define ISO_CT_DETAIL_BACK_PROJECT_TILE_KERNEL_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/ct/detail/back_project_sums.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER <iso/ct/detail/back_project_tile_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Backprojects by gather where a thread has a cache of its own: a group keeps the sums of a tile
/// of columns there. For each view, u and plane it blends the rays along z once, in lane values,
/// and adds that to the one or two columns that the u touches in the plane.
template <class T, int Edge, int Rows>
struct back_project_tile_kernel {
  ISO_KERNEL(back_project_tile_kernel<T, Edge, Rows>);

  static constexpr std::int32_t edge = Edge;         ///< columns of a tile each way
  static constexpr std::int32_t height = 32 * Rows;  ///< of a tile
  /// Spaces columns' sums; columns whose distance is a power of two crowd into few of a cache's
  /// sets.
  static constexpr std::int32_t pitch = height + 64 / std::int32_t(sizeof(T));
  static_assert(Edge % candidate_planes == 0);

  back_project_tables<T> t;
  back_project_volume<T> out;
  std::int64_t first_tile = 0;  ///< of this launch

  KOKKOS_FUNCTION std::int64_t num_groups() const {
    return std::int64_t(t.tiles_x) * t.tiles_y * out.layers(height);
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t place) const {
    std::int64_t const index = first_tile + place;
    std::int64_t const per_layer = std::int64_t(t.tiles_x) * t.tiles_y;
    tile s;
    s.z = out.first_of(std::int32_t(index / per_layer), height);
    s.x = std::int32_t(index % per_layer / t.tiles_y) * edge;
    s.y = std::int32_t(index % t.tiles_y) * edge;
    std::int64_t const left = out.planes.last - s.z;
    s.rows = std::int32_t(left < height ? (left + 31) / 32 : Rows);
    for (std::int32_t k = 0; k < height; ++k) {
      s.heights[k] = T(s.z + k);
    }
    for (T& sum : s.sums) {
      sum = T(0);
    }
    if (out.care_for(s.z, height, *t.unsafe != 0) == care::full) {
      add_views<care::full>(group, s);
    } else {
      add_views<care::low>(group, s);
    }
  }

 private:
  struct tile {
    alignas(64) T sums[Edge * Edge * pitch];  ///< [x][y][height]
    alignas(64) T heights[height];
    std::int32_t x;
    std::int32_t y;
    std::int32_t z;
    std::int32_t rows;  ///< of 32 heights
  };

  /// A plane that a column of rays passes between two columns, of which the tile has one or two.
  struct touched_plane {
    T i;
    std::int32_t count;
    T* columns[2];
    T weights[2];
  };
  /// Planes of a group, and the rays whose candidates they share.
  struct ray_column_part {
    ray_candidates<T> found;
    T const* slopes;
    T const* bases;
    T const* values;
    std::int32_t count;
    touched_plane planes[candidate_planes];
  };

  template <care Care, class Group>
  KOKKOS_FORCEINLINE_FUNCTION void add_views(Group const& group, tile& s) const {
    for (std::int32_t view = 0; view < t.num_views; ++view) {
      plane_range const range =
          t.u_ranges[(std::int64_t(view) * t.tiles_x + s.x / edge) * t.tiles_y + s.y / edge];
      for (std::int32_t u = range.first; u < range.last; ++u) {
        add_ray_column<Care>(group, s, std::int64_t(view) * t.num_u + u);
      }
      if (view % block_views == block_views - 1 || view == t.num_views - 1) {
        end_block(s, view < block_views);
      }
    }
  }

  template <care Care, class Group>
  KOKKOS_FORCEINLINE_FUNCTION void add_ray_column(Group const& group, tile& s,
                                                  std::int64_t row) const {
    ray_column_walk<T> const f = t.columns[row];
    std::int32_t const first = f.axis() == 0 ? s.x : s.y;
    ray_column_part part;
    part.slopes = t.rays.slopes + row * t.rays.pitch;
    part.bases = t.rays.bases + row * t.rays.pitch;
    part.values = t.rays.values + row * t.rays.pitch;
    for (std::int32_t i = first; i < first + edge; i += candidate_planes) {
      plane_range const planes = plane_range{f.first, f.last()}.clipped(i, i + candidate_planes);
      part.count = 0;
      for (touched_plane& plane : part.planes) {
        plane.i = T(0);
      }
      for (std::int32_t plane = planes.first; plane < planes.last; ++plane) {
        touched_plane& found = part.planes[part.count];
        find_columns(s, f, plane, found);
        part.count += found.count > 0 ? 1 : 0;
      }
      if (part.count > 0) {
        part.found = t.candidates[row * t.groups + i / candidate_planes];
        add_planes<Care>(group, s, part);
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void find_columns(tile& s, ray_column_walk<T> const& f,
                                                std::int32_t i, touched_plane& found) const {
    bool const x_drives = f.axis() == 0;
    std::int32_t const j0 = x_drives ? s.y : s.x;
    T const p = out.kept(f.across(i), x_drives ? 1 : 0);
    found.i = T(i);
    found.count = 0;
    if (!(p > T(j0 - 1) && p < T(j0 + edge))) {
      return;
    }
    auto const below = std::int32_t(Kokkos::floor(p));
    for (std::int32_t j = below; j < below + 2; ++j) {
      if (j < j0 || j >= j0 + edge) {
        continue;
      }
      T const weight = share_of(p, T(j));
      if (weight != T(0)) {
        std::int32_t const across = j - j0;
        std::int32_t const along = i - (x_drives ? s.x : s.y);
        found.columns[found.count] =
            s.sums + (x_drives ? along * edge + across : across * edge + along) * pitch;
        found.weights[found.count] = weight;
        ++found.count;
      }
    }
  }

  template <care Care, class Group>
  KOKKOS_FORCEINLINE_FUNCTION void add_planes(Group const& group, tile& s,
                                              ray_column_part const& f) const {
    // The more candidates, the more registers they are picked from.
    if (f.found.count == 3) {
      group.template parts<T, 2, Rows>(
          s.rows, [&](auto const& part) { add_part<Care, 3>(part, s.heights, f); });
    } else if (f.found.count == 2) {
      group.template parts<T, 2, Rows>(
          s.rows, [&](auto const& part) { add_part<Care, 2>(part, s.heights, f); });
    } else {
      group.template parts<T, 1, Rows>(
          s.rows, [&](auto const& part) { add_part<Care, 0>(part, s.heights, f); });
    }
  }

  /// Adds some heights; `Count` candidates, or as many as there are.
  template <care Care, int Count, class Part>
  KOKKOS_FORCEINLINE_FUNCTION void add_part(Part const& part, T const* heights,
                                            ray_column_part const& f) const {
    constexpr int width = Part::shape::width;
    if constexpr (width > 1) {
      std::int32_t lows[Part::shape::registers];
      std::int32_t most = 0;
      for (int n = 0; n < Part::shape::registers; ++n) {
        int const lane = part.first_of_register(n);
        // Monotone in the height, its rounding included.
        std::int32_t const one = f.found.first(heights[lane]);
        std::int32_t const other = f.found.first(heights[lane + width - 1]);
        lows[n] = one < other ? one : other;
        std::int32_t const rays = (one < other ? other - one : one - other) + f.found.count;
        most = most < rays ? rays : most;
      }
      if (most <= 2 * width) {
        add_picked<Care, Count>(part, heights, f, [&](auto const& function) {
          return Part::template window<T>(lows, 1, function);
        });
        return;
      }
      if (Count == 0 && most <= 4 * width) {
        add_picked<Care, Count>(part, heights, f, [&](auto const& function) {
          return Part::template window<T, 4>(lows, 1, function);
        });
        return;
      }
      if (Count == 0 && most <= ray_window_registers * width) {
        add_picked<Care, Count>(part, heights, f, [&](auto const& function) {
          return Part::template window<T, ray_window_registers>(lows, 1, function);
        });
        return;
      }
    }
    add_picked<Care, Count>(part, heights, f, [&](auto const& function) {
      return Part::template scattered<T>(function);
    });
  }

  template <care Care, int Count, class Part, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void add_picked(Part const& part, T const* heights,
                                              ray_column_part const& f,
                                              Columns const& pixels_of) const {
    static_assert(candidate_planes == 4);
    if (f.count > 2) {
      add_to_planes<Care, Count, 4>(part, heights, f, pixels_of);
    } else {
      add_to_planes<Care, Count, 2>(part, heights, f, pixels_of);
    }
  }

  /// Adds to the columns of at most `Planes` planes. What a candidate is, is picked once for all of
  /// them; planes beyond f.count cost their arithmetic.
  template <care Care, int Count, int Planes, class Part, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void add_to_planes(Part const& part, T const* heights,
                                                 ray_column_part const& f,
                                                 Columns const& pixels_of) const {
    using value = typename Part::template per_lane<T>;
    using index = typename Part::index;
    value const k = part.load(heights);
    value const below = k - value(T(1));
    index const first = truncate(
        clamp(fma(k, value(f.found.slope), value(f.found.base)), value(T(0)), value(f.found.most)));
    auto const slope_at = [&](auto const& place) { return place.load(f.slopes); };
    auto const base_at = [&](auto const& place) { return place.load(f.bases); };
    auto const value_at = [&](auto const& place) { return place.load(f.values); };
    auto const slopes = pixels_of(slope_at);
    auto const bases = pixels_of(base_at);
    auto const values = pixels_of(value_at);
    value blended[Planes];
    ISO_EACH_REGISTER(int n = 0; n < Planes; ++n) { blended[n] = value(T(0)); }
    auto const add = [&](index const& v) {
      value const slope = slopes.pick(v);
      value const base = bases.pick(v);
      value const pixel = values.pick(v);
      ISO_EACH_REGISTER(int n = 0; n < Planes; ++n) {
        value const share = height_share<Care>(fma(value(f.planes[n].i), slope, base), k, below);
        blended[n] = Care == care::full ? fma_where(value(T(0)) < share, share, pixel, blended[n])
                                        : fma(share, pixel, blended[n]);
      }
    };
    if constexpr (Count > 0) {
      backend::unrolled<Count>([&](auto c) { add(first + index(int(c))); });
    } else {
      for (std::int32_t c = 0; c < f.found.count; ++c) {
        add(first + index(c));
      }
    }
    ISO_EACH_REGISTER(int n = 0; n < Planes; ++n) {
      if (n < f.count) {
        touched_plane const& plane = f.planes[n];
        for (std::int32_t c = 0; c < plane.count; ++c) {
          part.store(plane.columns[c],
                     fma(value(plane.weights[c]), blended[n], part.load(plane.columns[c])));
        }
      }
    }
  }

  template <care Care, class Value>
  KOKKOS_FORCEINLINE_FUNCTION Value height_share(Value const& z, Value const& k,
                                                 Value const& below) const {
    if constexpr (Care == care::full) {
      Value const kept =
          select(z < Value(out.field.lowest), Value(T(-2)),
                 select(Value(out.field.highest[2]) < z, Value(T(out.g.extent[2])), z));
      return share_of(kept, k, below);
    } else {
      return share_of(z, k, below);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void end_block(tile& s, bool is_first) const {
    for (std::int32_t x = 0; x < edge; ++x) {
      for (std::int32_t y = 0; y < edge; ++y) {
        T* const sums = s.sums + (x * edge + y) * pitch;
        for (std::int32_t k = 0; k < 32 * s.rows; ++k) {
          if (out.by.weights != nullptr) {
            out.step(out.before_step(s.x + x, s.y + y, s.z + k), s.x + x, s.y + y, s.z + k,
                     sums[k]);
          } else {
            out.add(s.x + x, s.y + y, s.z + k, is_first, sums[k]);
          }
          sums[k] = T(0);
        }
      }
    }
  }
};

}  // namespace iso::ct::detail::ISO_SET

#endif
