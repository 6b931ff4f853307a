// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels of dose_engine::lattice for a tabulated kernel.
#ifndef ISO_SET
#ifndef ISO_DOSE_DETAIL_TABLE_KERNELS_HPP
#define ISO_DOSE_DETAIL_TABLE_KERNELS_HPP

#include <iso/backend/integer_atomics.hpp>
#include <iso/backend/lane_group.hpp>
#include <iso/backend/loads.hpp>
#include <iso/backend/pack.hpp>
#include <iso/dose/detail/carried_voxel.hpp>
#include <iso/dose/detail/cone_step.hpp>
#include <iso/dose/detail/lattice.hpp>
#include <iso/dose/detail/table/bins.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::dose::detail {

/// The lattice's lines with a table, which has no recursion: every plane of a line takes from all
/// planes before it. Rays go in tiles of 32 side by side.
///
/// A plane absorbs of what another releases, R, the table's difference C(b) - C(e) between the
/// distances to where that one begins and to where it ends. Of two planes in succession one ends
/// where the other begins, so that the sum over planes is that of (R - R of the plane before) C(b).
template <class T>
struct table_rays {
  lattice_item const* tiles;  ///< of a batch
  lattice_line<T> const* lines;
  lattice_plane<T> const* planes;
  std::int32_t max_planes;  ///< of a tile
  T* change;                ///< [tiles, max_planes, 32], of what is released, against the
                            ///< plane before
  T* depth;                 ///< [tiles, max_planes + 1, 32], g/cm2 before each plane

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T* change_in(std::int64_t tile) const {
    return change + tile * max_planes * 32;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T* depth_in(std::int64_t tile) const {
    return depth + tile * (max_planes + 1) * 32;
  }

  /// The place of a tile's first ray in a plane.
  struct place {
    std::int32_t lane;
    std::int32_t row;
    std::int64_t element;
  };
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION place at(lattice_item const& tile,
                                                     lattice_path const& line, std::int32_t plane,
                                                     lattice_plane<T> const& p) const {
    std::int32_t const lane = tile.lane + p.lane_shift;
    std::int32_t const row = tile.row + p.row_shift();
    std::int32_t const k = line.way > 0 ? plane : line.planes - 1 - plane;
    return {lane, row,
            std::int64_t(k) * line.plane_stride + std::int64_t(row) * line.row_stride + lane};
  }
};

}  // namespace iso::dose::detail

#define ISO_SET_HEADER <iso/dose/detail/table/kernels.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::dose::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Returns radius_bins::at of every lane.
template <class Part, class T>
KOKKOS_FORCEINLINE_FUNCTION auto absorbed_at(Part const&, T const* bins,
                                             typename Part::template per_lane<T> const& place) {
  using value = typename Part::template per_lane<T>;
  using table = radius_bins<T>;
  if constexpr (Part::shape::width > 1 && sizeof(T) == 4) {
    using index = typename Part::index;
    // The upper bits as a number: exact, since no more than its mantissa's are left.
    index const kept = bit_cast<std::int32_t>(place) & index(-(std::int32_t(1) << table::shift));
    index const bin =
        truncate(convert<T>(kept) * value(T(1) / T(std::int32_t(1) << table::shift))) -
        index(table::first);
    // Neighbours have come about as far: their bins fit into two registers, from which a permute
    // picks faster than a processor gathers.
    constexpr int width = Part::shape::width;
    alignas(64) std::int32_t numbers[Part::shape::count];
    Part const from_zero(0);
    from_zero.store(numbers, bin);
    std::int32_t lows[Part::shape::registers];
    ISO_EACH_REGISTER(int i = 0; i < Part::shape::registers; ++i) {
      std::int32_t const least = numbers[i * width] - width;
      lows[i] = least > 0 ? least : 0;
    }
    index low;
    ISO_EACH_REGISTER(int i = 0; i < Part::shape::registers; ++i) {
      low.set(i, typename index::piece(lows[i]));
    }
    if (all_of((low <= bin) & (bin < low + index(2 * width)))) {
      auto const constant = [&](auto const& at) { return at.load(bins); };
      auto const slope = [&](auto const& at) { return at.load(bins + table::pitch); };
      return fma(Part::template window<T>(lows, 1, slope).pick(bin), place,
                 Part::template window<T>(lows, 1, constant).pick(bin));
    }
    return fma(gather(bins + table::pitch, bin), place, gather(bins, bin));
  } else if constexpr (Part::shape::width > 1) {
    alignas(64) T numbers[Part::shape::count];
    Part const from_zero(0);
    from_zero.store(numbers, place);
    for (T& x : numbers) {
      x = table::at(bins, x);
    }
    return from_zero.load(static_cast<T const*>(numbers));
  } else {
    value out;
    ISO_EACH_REGISTER(int i = 0; i < Part::shape::registers; ++i) {
      out.r[i] = table::at(bins, place.r[i]);
    }
    return out;
  }
}

/// Does step 1: what is released along the rays, and how deep it lies. A tile a group.
template <class T, bool Joined>
struct table_trace_kernel {
  ISO_KERNEL(table_trace_kernel<T, Joined>);

  table_rays<T> rays;
  voxel_code<T> code;
  /// Points to the region's first voxel in each copy: these, or three arrays.
  backend::pack<T, 2> const* joined[2];
  T const* terma[2];
  T const* density[2];
  T const* near[2];

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.template parts<T, 2>([&](auto const& part) { trace(part, index); });
  }

 private:
  template <class Part>
  KOKKOS_FORCEINLINE_FUNCTION void trace(Part const& part, std::int64_t index) const {
    using value = typename Part::template per_lane<T>;
    using index_value = typename Part::index;
    lattice_item const tile = rays.tiles[index];
    // A copy, which what is stored below cannot change.
    lattice_line<T> const line = rays.lines[tile.line];
    lattice_path const& l = line.path;
    auto const tilt = line.terms.tilt.template first<1>();
    value const step(line.terms.rate[0] + line.terms.rate[0]);
    T* const change = rays.change_in(index);
    T* const depth = rays.depth_in(index);
    value reached(T(0));
    value before(T(0));
    part.store(depth, reached);
    // Some planes are asked for together.
    constexpr int together = Part::shape::count == 1 ? 8 : 2;
    for (std::int32_t k = tile.first; k < tile.last; k += together) {
      value t[together];
      value rho[together];
      value delta[together];
      ISO_EACH_REGISTER(int r = 0; r < together; ++r) {
        std::int32_t const plane = k + r < tile.last ? k + r : k;
        lattice_plane<T> const p = backend::vector_load(rays.planes + (l.table + plane));
        auto const at = rays.at(tile, l, plane, p);
        index_value const number = part.lane() + index_value(at.lane);
        auto const inside = (index_value(-1) < number) & (number < index_value(l.lanes));
        value const none(T(0));
        value seen;
        if constexpr (Joined) {
          auto const here = code.read(joined[l.copy], at.element + part.lane().r[0]);
          t[r] = value(here.terma);
          rho[r] = value(here.density);
          seen = value(here.nearness);
        } else {
          t[r] = part.load(terma[l.copy] + at.element);
          rho[r] = part.load(density[l.copy] + at.element);
          seen = part.load(near[l.copy] + at.element);
        }
        t[r] = select(inside, t[r], none);
        rho[r] = select(inside, rho[r], none);
        value const toward = fma(convert<T>(part.lane()), value(line.toward_lane),
                                 value(line.toward(p.toward, at.lane, at.row)));
        delta[r] = (tilt_of)(line, toward, seen);
      }
      ISO_EACH_REGISTER(int r = 0; r < together; ++r) {
        if (k + r < tile.last) {
          value const kept = (kept_delta)(tilt, delta[r]);
          value const sent = (sent_by)(tilt, 0, t[r], kept, t[r] * kept);
          // Depths rise and stay within the table, whatever the densities are.
          value const max_depth(radius_bins<T>::max_distance);
          value const deeper = fma(rho[r] * step, value(T(0.1)), reached);
          reached =
              select(reached < deeper, select(deeper < max_depth, deeper, max_depth), reached);
          std::int64_t const row = std::int64_t(k + r - tile.first) * 32;
          part.store(change + row, sent - before);
          part.store(depth + row + 32, reached);
          before = sent;
        }
      }
    }
  }
};

/// Does step 2: the dose at the middle of some planes of a tile.
///
/// `Planes` are taken together. `Together`: lines of a batch add to the same voxels at a time.
template <class T, int Planes, bool Together>
struct table_dose_kernel {
  ISO_KERNEL(table_dose_kernel<T, Planes, Together>);

  using word = typename fixed_point<T>::word;
  using signed_word = std::make_signed_t<word>;

  table_rays<T> rays;
  cone_line<T> const* directions;
  T const* bins;  ///< [cones, radius_bins::of_cone]
  word* sums[2];  ///< of the region's first voxel in each copy

  KOKKOS_FUNCTION std::int32_t groups_per_tile() const {
    return (rays.max_planes + Planes - 1) / Planes;
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t const number = index / groups_per_tile();
    lattice_item const tile = rays.tiles[number];
    std::int32_t const first = std::int32_t(index - number * groups_per_tile()) * Planes;
    if (first < tile.last - tile.first) {
      group.template parts<T, 2>([&](auto const& part) { add(part, tile, number, first); });
    }
  }

 private:
  template <class Part>
  KOKKOS_FORCEINLINE_FUNCTION void add(Part const& part, lattice_item const& tile,
                                       std::int64_t number, std::int32_t first) const {
    using value = typename Part::template per_lane<T>;
    T const* const table =
        bins + std::int64_t(directions[tile.line].path.cone) * radius_bins<T>::of_cone;
    T const* const change = rays.change_in(number);
    T const* const depth = rays.depth_in(number);
    std::int32_t const planes = tile.last - tile.first;
    value middle[Planes];
    value dose[Planes];
    ISO_EACH_REGISTER(int j = 0; j < Planes; ++j) {
      // Past the last plane, that one again.
      std::int32_t const k = first + j < planes ? first + j : planes - 1;
      middle[j] = fma(value(T(0.5)), part.load(depth + k * 32) + part.load(depth + k * 32 + 32),
                      value(radius_bins<T>::offset));
      dose[j] = value(T(0));
    }
    auto const take = [&](value const& more, value const& begin) {
      // All look-ups first: they wait for memory together.
      value found[Planes];
      ISO_EACH_REGISTER(int j = 0; j < Planes; ++j) {
        found[j] = absorbed_at(part, table, middle[j] - begin);
      }
      ISO_EACH_REGISTER(int j = 0; j < Planes; ++j) { dose[j] = fma(more, found[j], dose[j]); }
    };
    // Planes before all of these, and the first of them. The next plane is on its way meanwhile.
    value more = part.load(change);
    value begin = part.load(depth);
    ISO_DEVICE_NO_UNROLL
    for (std::int32_t m = 0; m <= first; ++m) {
      std::int32_t const next = m < first ? m + 1 : m;
      value const next_more = part.load(change + next * 32);
      value const next_begin = part.load(depth + next * 32);
      if (!all_of(more == value(T(0)))) {
        take(more, begin);
      }
      more = next_more;
      begin = next_begin;
    }
    ISO_EACH_REGISTER(int i = 1; i < Planes; ++i) {
      if (first + i < planes) {
        value const own = part.load(change + (first + i) * 32);
        value const own_begin = part.load(depth + (first + i) * 32);
        ISO_EACH_REGISTER(int j = i; j < Planes; ++j) {
          dose[j] = fma(own, absorbed_at(part, table, middle[j] - own_begin), dose[j]);
        }
      }
    }
    ISO_EACH_REGISTER(int j = 0; j < Planes; ++j) {
      if (first + j < planes) {
        give(part, tile, tile.first + first + j, dose[j]);
      }
    }
  }

  template <class Part, class Value>
  KOKKOS_FORCEINLINE_FUNCTION void give(Part const& part, lattice_item const& tile,
                                        std::int32_t plane, Value const& dose) const {
    lattice_path const& l = rays.lines[tile.line].path;
    auto const at = rays.at(tile, l, plane, rays.planes[l.table + plane]);
    word* const to = sums[l.copy] + at.element;
    auto const units = bit_cast<signed_word>(dose + Value(fixed_point<T>::magic));
    if constexpr (!Together) {
      if (at.lane >= 0 && at.lane + 32 <= l.lanes) {
        auto* const sum = reinterpret_cast<signed_word*>(to);
        part.store(sum, part.load(sum) + units);
        return;
      }
    }
    auto const one = [&](int lane, signed_word mine) {
      if (at.lane + lane >= 0 && at.lane + lane < l.lanes) {
        if constexpr (Together) {
          backend::atomic_sum(to + lane, word(mine));
        } else {
          to[lane] += word(mine);
        }
      }
    };
    if constexpr (Part::shape::count == 1) {
      one(part.lane().r[0], units.r[0]);
    } else {
      alignas(64) signed_word of_lanes[32];
      part.store(of_lanes, units);
      for (int lane = part.first; lane < part.first + Part::shape::count; ++lane) {
        one(lane, of_lanes[lane]);
      }
    }
  }
};

}  // namespace iso::dose::detail::ISO_SET

#endif
