// SPDX-License-Identifier: BSD-3-Clause
//! Projects forward by Joseph where v runs along z.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_JOSEPH_FAST_KERNEL_HPP
#define ISO_CT_DETAIL_JOSEPH_FAST_KERNEL_HPP

#include <iso/ct/detail/joseph_walk.hpp>

namespace iso::ct::detail {

/// The arrays that the fast path's kernels read and write beside the volume.
template <class T>
struct joseph_images {
  T* pixels;                                ///< [image][view][u][v]
  joseph_ray_column<T> const* ray_columns;  ///< [view][u]
  joseph_range const* row_ranges;           ///< [view][u][row of 32 v]
  ray_sum_scale<T> const* scale;            ///< reproducible sums only
  std::uint32_t* flags;  ///< reproducible sums only: [image][view][u][row], a bit a pixel
  std::int32_t num_views;
  std::int32_t num_u;
  std::int32_t num_v;
  std::int32_t rows;  ///< of 32 v, whole tiles of them

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t num_ray_columns() const {
    return std::int64_t(num_views) * num_u;
  }
  /// Writes pixel v of a column of rays from its whole sum.
  KOKKOS_FORCEINLINE_FUNCTION void finish(grid const& g, std::int64_t ray_column_index,
                                          std::int32_t v, T sum, bool flagged) const {
    joseph_ray_column<T> const& ray_column = ray_columns[ray_column_index];
    int const m = ray_column.axis;
    T const step = T(step_length(g.spacing[m], ray_column.slope_across, g.spacing[1 - m],
                                 ray_column.z(v).slope, g.spacing.z));
    T const total = flagged ? Kokkos::bit_cast<T>(float_bits<T>::canonical_nan) : sum;
    pixels[ray_column_index * num_v + v] = canonical(total * step);
  }
};

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/joseph_fast_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Projects by Joseph where v runs along z and x or y drives: a tile of `RayColumns` neighbouring u
/// by up to `Rows` x 32 pixels along v. Several columns of rays walk plane by plane together, so
/// that the columns they share are read once: a processor's caches need that, a GPU's do not. And a
/// processor wants many rows: pieces of columns whose distance is a power of two crowd into few of
/// a cache's sets. No tile changes a bit.
template <class T, class AnySum, int RayColumns, int Rows, class Weight = linear_weight>
struct joseph_fast_kernel : joseph_walk<T, ISO_OF_SET(AnySum), Rows, Weight> {
  ISO_KERNEL(joseph_fast_kernel<T, AnySum, RayColumns, Rows, Weight>);
  using Sum = ISO_OF_SET(AnySum);

  joseph_images<T> images;
  plane_range tiles;  ///< along v
  plane_range slab;
  slab_place place;

  using base = joseph_walk<T, Sum, Rows, Weight>;
  template <class Group>
  using ray_column_state = typename base::template ray_column_state<Group>;

  KOKKOS_FUNCTION std::int32_t tiles_along_u() const {
    return (images.num_u + RayColumns - 1) / RayColumns;
  }
  KOKKOS_FUNCTION std::int64_t groups_per_image() const {
    return std::int64_t(images.num_views) * tiles_along_u() * (tiles.last - tiles.first);
  }
  KOKKOS_FUNCTION std::int64_t num_groups() const {
    return groups_per_image() *
           (place == slab_place::split ? (slab.last + block_planes - 1) / block_planes : 1);
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    tile_position const at = locate(index);
    if (place == slab_place::middle && passes_by(at)) {
      return;
    }
    Sum const sum(images.scale);
    ray_column_state<Group> tile[RayColumns];
    for (int f = 0; f < at.count; ++f) {
      start(group, at, f, sum, tile[f]);
    }
    // RayColumns that walk along one axis, together.
    std::int32_t const together = RayColumns > 1 && one_axis(tile, at.count) ? at.count : 1;
    for (std::int32_t b = at.planes.first; b < at.planes.last; b += block_planes) {
      plane_range const block = at.planes.clipped(b, b + block_planes);
      for (int f = 0; f < at.count; f += together) {
        walk_ray_columns(group, sum, tile + f, together, block);
      }
      for (int f = 0; f < at.count; ++f) {
        for (int r = 0; r < present(tile[f]); ++r) {
          group.each([&](int lane) { sum.end_block(tile[f].sum, r, lane); });
        }
      }
    }
    for (int f = 0; f < at.count; ++f) {
      store(group, at, f, sum, tile[f]);
    }
  }

 private:
  /// Counts rows of a column of rays. All of them where a GPU walks two: so each is code of its
  /// own, in registers.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION static std::int32_t present(ray_column_state<Group> const& s) {
    return Rows <= 2 ? Rows : s.count;
  }

  /// Columns of rays first_ray_column, first_ray_column + 1, ... of one view, pixels from tile_v *
  /// 32 Rows on.
  struct tile_position {
    std::int64_t first_ray_column;
    std::int32_t count;
    std::int32_t tile_v;
    std::int32_t image;
    plane_range planes;
  };

  /// Takes tiles along v slowest, so that what all views read of one stays in a cache while they
  /// pass: on a GPU, whose thousands of groups spread over u and views, next to views and u; on the
  /// host, whose few threads follow one tile from view to view, next to u and views.
  KOKKOS_FUNCTION tile_position locate(std::int64_t index) const {
    std::int32_t image = 0;
    plane_range planes = slab;
    if (place == slab_place::split) {
      image = std::int32_t(index / groups_per_image());
      index -= image * groups_per_image();
      planes = slab.clipped(image * block_planes, (image + 1) * block_planes);
    }
    auto const i = std::uint32_t(index);
    auto const across = std::uint32_t(tiles_along_u());
    auto const views = std::uint32_t(images.num_views);
    std::uint32_t const tile_v = i / (views * across);
    std::uint32_t const rest = i - tile_v * (views * across);
    std::int32_t const along_v = tiles.first + std::int32_t(tile_v);
    if constexpr (RayColumns == 1) {
      // Knowing at compile time that the tile is whole keeps its state in registers.
      return {rest, 1, along_v, image, planes};
    }
    std::int32_t const u = std::int32_t(rest / views) * RayColumns;
    return {std::int64_t(rest % views) * images.num_u + u,
            images.num_u - u < RayColumns ? images.num_u - u : RayColumns, along_v, image, planes};
  }

  /// Returns whether no ray of a tile has samples in the planes of this launch: what the launches
  /// before left stays.
  KOKKOS_FUNCTION bool passes_by(tile_position const& at) const {
    std::int32_t const left = images.rows - at.tile_v * Rows;
    bool by = true;
    for (int f = 0; f < at.count; ++f) {
      for (int r = 0; r < Rows; ++r) {
        by = by &&
             (r >= left || images.row_ranges[row_index(at, f, r)].outer.clipped(at.planes).empty());
      }
    }
    return by;
  }

  template <class Group>
  KOKKOS_FUNCTION bool one_axis(ray_column_state<Group> const (&tile)[RayColumns],
                                std::int32_t count) const {
    bool same = true;
    for (int f = 1; f < count; ++f) {
      same = same && tile[f].ray_column->axis == tile[0].ray_column->axis;
    }
    return same;
  }

  /// Walks a few planes of one column of rays, then of the next. A row asks for its share of the
  /// columns that the column of rays will read next.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void walk_ray_columns(Group const& group, Sum const& sum,
                                                    ray_column_state<Group>* ray_columns,
                                                    std::int32_t count, plane_range planes) const {
    constexpr std::int32_t step = Group::has_windows ? base::few_planes : block_planes;
    for (std::int32_t i = planes.first; i < planes.last; i += step) {
      plane_range const few = planes.clipped(i, i + step);
      for (int f = 0; f < count; ++f) {
        std::int32_t next = few.last;
        this->walk(group, sum, ray_columns[f], few, [&](int r) {
          std::int32_t const upto = few.last + (r + 1) * base::few_planes / ray_columns[f].count;
          for (; next < upto; ++next) {
            prefetch_plane(ray_columns[f], next);
          }
        });
      }
    }
  }

  /// Asks for the columns of a plane to come: their distances follow no pattern that hardware would
  /// guess. The tile's next column of rays asks for the upper neighbour.
  template <class State>
  KOKKOS_FORCEINLINE_FUNCTION void prefetch_plane(State const& s, std::int32_t i) const {
    if (i >= s.ray_column->inside.first && i < s.ray_column->inside.last) {
      auto const clamped = [&](T z) {
        T const least = T(this->held.first);
        T const most = T(this->held.last - 1);
        return std::int32_t(z < least ? least : z > most ? most : z);
      };
      std::int32_t const top = clamped(s.z(0, 0, i));
      std::int32_t const bottom = clamped(s.z(s.count - 1, 31, i));
      std::int32_t const z = top < bottom ? top : bottom;
      std::int32_t const count = (top < bottom ? bottom : top) - z + 2;
      auto const k = std::int32_t(s.ray_column->across(i));
      prefetch(this->column_at(*s.ray_column, i, k) + z, count);
    }
  }
  /// Asks a processor's caches for `count` voxels from `p` on; a GPU's other groups hide the wait.
  KOKKOS_FORCEINLINE_FUNCTION static void prefetch(T const* p, std::int32_t count) {
    KOKKOS_IF_ON_HOST((auto const* const from = reinterpret_cast<char const*>(p);
                       for (std::int32_t byte = 0; byte < count * std::int32_t(sizeof(T)) + 63;
                            byte += 64) { __builtin_prefetch(from + byte); }))
    KOKKOS_IF_ON_DEVICE((static_cast<void>(p); static_cast<void>(count);))
  }

  KOKKOS_FUNCTION std::int64_t row_index(tile_position const& at, int f, int r) const {
    return (at.first_ray_column + f) * images.rows + at.tile_v * Rows + r;
  }
  KOKKOS_FUNCTION T* image_row(tile_position const& at, int f) const {
    return images.pixels +
           (at.image * images.num_ray_columns() + at.first_ray_column + f) * images.num_v;
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void start(Group const& group, tile_position const& at, int f,
                                         Sum const& sum, ray_column_state<Group>& s) const {
    s.ray_column = images.ray_columns + at.first_ray_column + f;
    joseph_ray_column<T> const& ray_column = *s.ray_column;
    T const* const pixels = image_row(at, f);
    std::int32_t const left = images.rows - at.tile_v * Rows;
    s.count = left < Rows ? left : Rows;
    for (int r = 0; r < present(s); ++r) {
      s.range[r] = images.row_ranges[row_index(at, f, r)];
      std::int32_t const first = (at.tile_v * Rows + r) * 32;
      group.each([&](int lane) {
        std::int32_t const v = first + lane;
        auto const z = ray_column.z(v < images.num_v ? v : images.num_v - 1).template rounded<T>();
        s.slope(r, lane) = z.slope;
        s.base(r, lane) = z.base;
        sum.start(s.sum, r, lane, takes_up(place) && v < images.num_v ? pixels[v] : T(0));
      });
    }
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void store(Group const& group, tile_position const& at, int f,
                                         Sum const& sum, ray_column_state<Group> const& s) const {
    T* const pixels = image_row(at, f);
    bool const to_end = finishes(place);
    for (int r = 0; r < present(s); ++r) {
      std::uint32_t bad = 0;
      if constexpr (Sum::keeps_flags) {
        typename Group::template lane_array<bool> is_bad;
        group.each([&](int lane) { is_bad[lane] = sum.flagged(s.sum, r, lane); });
        bad = group.mask(is_bad);
        std::uint32_t& kept =
            images.flags[at.image * images.num_ray_columns() * images.rows + row_index(at, f, r)];
        bad |= takes_up(place) ? kept : 0U;
        if (!to_end) {
          group.once([&] { kept = bad; });
        }
      }
      std::int32_t const first = (at.tile_v * Rows + r) * 32;
      group.each([&](int lane) {
        std::int32_t const v = first + lane;
        if (v >= images.num_v) {
          return;
        }
        if (to_end) {
          images.finish(this->g, at.first_ray_column + f, v, sum.value(s.sum, r, lane),
                        ((bad >> lane) & 1U) != 0);
        } else {
          pixels[v] = sum.carried(s.sum, r, lane);
        }
      });
    }
  }
};

/// Joins the images of slab_place::split, block by block from low to high: the sums, and so the
/// bits, of a walk through all blocks.
template <class T, class Sum>
struct joseph_join_kernel {
  joseph_images<T> out;
  T const* parts;  ///< [block][view][u][v]
  grid g;
  std::int32_t blocks;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const ray_column = index / out.num_v;
    auto const v = std::int32_t(index - ray_column * out.num_v);
    Sum const sum(out.scale);
    typename Sum::template state<single_lane, 1> s;
    sum.start(s, 0, 0, T(0));
    bool flagged = false;
    for (std::int32_t b = 0; b < blocks; ++b) {
      sum.join(s, parts[b * out.num_ray_columns() * out.num_v + index]);
      if constexpr (Sum::keeps_flags) {
        std::uint32_t const row =
            out.flags[(b * out.num_ray_columns() + ray_column) * out.rows + v / 32];
        flagged = flagged || ((row >> (v % 32)) & 1U) != 0;
      }
    }
    out.finish(g, ray_column, v, sum.value(s, 0, 0), flagged);
  }
};

}  // namespace iso::ct::detail::ISO_SET

#endif
