// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/dose/detail/voxel_lines_kernel.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::dose::detail {

/// radius_bins::absorbed of every lane.
template <class Part, class T>
KOKKOS_FORCEINLINE_FUNCTION auto absorbed_within_bins(
    Part const&, T const* bins, typename Part::template per_lane<T> const& distance) {
  using value = typename Part::template per_lane<T>;
  using table = radius_bins<T>;
  if constexpr (Part::shape::width > 1 && sizeof(T) == 4) {
    using index = typename Part::index;
    // The upper bits as a number: exact, since no more than its mantissa's are left.
    auto const bits = bit_cast<std::int32_t>(distance + value(table::offset));
    index const kept = bits & index(-(std::int32_t(1) << table::shift));
    value const place = convert<T>(kept) * value(T(1) / T(std::int32_t(1) << table::shift));
    index const bin =
        clamp(truncate(place) - index(table::first), index(0), index(table::count - 1));
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
      auto const constant = [&](auto const& at) ISO_INLINE_LAMBDA { return at.load(bins); };
      auto const slope = [&](auto const& at)
                             ISO_INLINE_LAMBDA { return at.load(bins + table::pitch); };
      return fma(Part::template window<T>(lows, 1, slope).pick(bin), distance,
                 Part::template window<T>(lows, 1, constant).pick(bin));
    }
    return fma(gather(bins + table::pitch, bin), distance, gather(bins, bin));
  } else if constexpr (Part::shape::width > 1) {
    alignas(64) T numbers[Part::shape::count];
    Part const from_zero(0);
    from_zero.store(numbers, distance);
    for (T& x : numbers) {
      x = table::absorbed(bins, x);
    }
    return from_zero.load(static_cast<T const*>(numbers));
  } else {
    value out;
    ISO_EACH_REGISTER(int i = 0; i < Part::shape::registers; ++i) {
      out.r[i] = table::absorbed(bins, distance.r[i]);
    }
    return out;
  }
}

/// The lattice's lines with a table: it has no recursion, so that every voxel follows each line
/// back to where it enters. 32 neighbours along the fastest axis of a copy, whose lines they follow
/// side by side: those that march along another axis.
template <class T>
struct table_lattice_kernel {
  using word = typename fixed_point<T>::word;
  using signed_word = std::make_signed_t<word>;

  lattice_layout layout;
  int copy;
  cone_line<T> const* directions;
  lattice_line<T> const* lines;
  lattice_plane<T> const* planes;
  T const* bins;            ///< [cones, 2, radius_bins::pitch]
  std::int32_t first_line;  ///< of the copy
  std::int32_t last_line;
  T const* terma;  ///< of the region's first voxel in the copy, as density and sums
  T const* density;
  word* sums;

  KOKKOS_FUNCTION std::int64_t blocks() const {
    return (layout.extent[copy == 0 ? 2 : 0] + 31) / 32;
  }
  KOKKOS_FUNCTION std::int64_t num_groups() const {
    return layout.extent[copy == 0 ? 0 : 2] * layout.extent[1] * blocks();
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t const row = index / blocks();
    auto const first = std::int32_t(index - row * blocks()) * 32;
    auto const i = std::int32_t(row / layout.extent[1]);
    auto const j = std::int32_t(row - std::int64_t(i) * layout.extent[1]);
    group.template parts<T, 2>([&](auto const& part) ISO_INLINE_LAMBDA {
      using word_value = typename std::decay_t<decltype(part)>::template per_lane<signed_word>;
      word_value sum(signed_word(0));
      for (std::int32_t n = first_line; n < last_line; ++n) {
        sum = sum + follow(part, n, i, j, first);
      }
      word* const to = sums + (i * layout.rows() + j) * layout.pitch[copy] + first;
      part.store(reinterpret_cast<signed_word*>(to), sum);
    });
  }

 private:
  /// What one direction gives to the lanes, with fixed_point::magic's bits.
  template <class Part>
  KOKKOS_FORCEINLINE_FUNCTION auto follow(Part const& part, std::int32_t line, std::int32_t i,
                                          std::int32_t j, std::int32_t first) const {
    using value = typename Part::template per_lane<T>;
    using index = typename Part::index;
    cone_path const& c = directions[line].path;
    lattice_path const& l = lines[line].path;
    line_terms<T> const& terms = lines[line].terms;
    // Lines march along the slowest axis, or along y, which is in the middle of both copies.
    bool const along_slow = c.axes[2] != 1;
    std::int32_t const place = along_slow ? i : j;
    std::int32_t const row = along_slow ? j : i;
    std::int32_t const k = l.way > 0 ? place : l.planes - 1 - place;
    std::int32_t const lane_from = first - displacement(c.slopes[0], k);
    std::int32_t const row_from = row - displacement(c.slopes[1], k);
    T const half_lanes = T(0.5) * T(l.lanes - 1);
    T const half_rows = T(0.5) * T(l.rows - 1);
    value const half_path(terms.rate[0]);
    T const* const table = bins + std::int64_t(2) * c.cone * radius_bins<T>::pitch;
    value distance(T(0));
    value before = absorbed_within_bins(part, table, distance);
    value dose(T(0));
    ISO_DEVICE_NO_UNROLL
    for (std::int32_t plane = k; plane >= 0; --plane) {
      std::int32_t const n = lane_from + displacement(c.slopes[0], plane);
      std::int32_t const m = row_from + displacement(c.slopes[1], plane);
      if (m < 0 || m >= l.rows || n + 32 <= 0 || n >= l.lanes) {
        break;
      }
      std::int64_t const at =
          std::int64_t(l.way > 0 ? plane : l.planes - 1 - plane) * l.plane_stride +
          std::int64_t(m) * l.row_stride + n;
      lattice_plane<T> const p = backend::vector_load(planes + (l.table + plane));
      index const number = part.lane() + index(n);
      value const u = convert<T>(number) - value(half_lanes);
      T const v = T(m) - half_rows;
      value const of_lane = u * fma(value(p.lane_lane), u, value(p.lane));
      value const delta = fma(value(p.lane_row), u * value(v),
                              value(p.constant) + (of_lane + value(tilt_of_row(p, v))));
      // Lanes that have left the region have no more behind them.
      value const here = part.load(terma + at);
      value const t = select((index(-1) < number) & (number < index(l.lanes)), here, value(T(0)));
      value const released =
          fma(t * fma(value(terms.tilt_second[0]), delta, value(terms.tilt_first[0])), delta, t);
      value const path = part.load(density + at) * half_path;
      distance = fma(plane == k ? path : path + path, value(T(0.1)), distance);
      value const now = absorbed_within_bins(part, table, distance);
      dose = dose + released * (now - before);
      before = now;
    }
    return bit_cast<signed_word>(dose + value(fixed_point<T>::magic));
  }
};

}  // namespace iso::dose::detail
