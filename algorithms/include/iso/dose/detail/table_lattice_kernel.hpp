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

  std::int64_t slow;  ///< extents of the copy
  std::int64_t middle;
  std::int64_t fast;
  cone_line<T> const* directions;
  lattice_line<T> const* lines;
  lattice_plane<T> const* planes;
  T const* bins;            ///< [cones, 2, radius_bins::pitch]
  std::int32_t first_line;  ///< of the copy
  std::int32_t last_line;
  T const* terma;  ///< of the copy, with room for a line's displacement on either side
  T const* density;
  word* sums;  ///< [slow, middle, fast rounded up to 32]

  KOKKOS_FUNCTION std::int64_t blocks() const { return (fast + 31) / 32; }
  KOKKOS_FUNCTION std::int64_t num_groups() const { return slow * middle * blocks(); }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t const row = index / blocks();
    auto const first = std::int32_t(index - row * blocks()) * 32;
    auto const i = std::int32_t(row / middle);
    auto const j = std::int32_t(row - std::int64_t(i) * middle);
    group.template parts<T, 2>([&](auto const& part) ISO_INLINE_LAMBDA {
      using word_value = typename std::decay_t<decltype(part)>::template per_lane<signed_word>;
      word_value sum(signed_word(0));
      for (std::int32_t n = first_line; n < last_line; ++n) {
        sum = sum + follow(part, n, i, j, first);
      }
      part.store(reinterpret_cast<signed_word*>(sums + (row * blocks() * 32 + first)), sum);
    });
  }

 private:
  /// What one direction gives to the lanes, with fixed_point::magic's bits.
  template <class Part>
  KOKKOS_FORCEINLINE_FUNCTION auto follow(Part const& part, std::int32_t line, std::int32_t i,
                                          std::int32_t j, std::int32_t first) const {
    using value = typename Part::template per_lane<T>;
    using index = typename Part::index;
    cone_line<T> const& c = directions[line];
    lattice_line<T> const& l = lines[line];
    // Lines march along the slowest axis, or along y, which is in the middle of both copies.
    bool const along_slow = c.axes[2] != 1;
    std::int32_t const place = along_slow ? i : j;
    std::int32_t const row = along_slow ? j : i;
    std::int32_t const k = l.way > 0 ? place : l.planes - 1 - place;
    std::int32_t const lane_from = first - displacement(c.slopes[0], k);
    std::int32_t const row_from = row - displacement(c.slopes[1], k);
    std::int64_t const slow_stride = middle * fast;
    std::int64_t const march_stride = along_slow ? slow_stride : fast;
    std::int64_t const row_stride = along_slow ? fast : slow_stride;
    T const half_lanes = T(0.5) * T(l.lanes - 1);
    T const half_rows = T(0.5) * T(l.rows - 1);
    value const half_path(l.half_step[0]);  // the length, mm, of half a step
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
          (l.way > 0 ? plane : l.planes - 1 - plane) * march_stride + m * row_stride + n;
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
          fma(t * fma(value(l.tilt_second[0]), delta, value(l.tilt_first[0])), delta, t);
      value const path = part.load(density + at) * half_path;
      distance = fma(plane == k ? path : path + path, value(T(0.1)), distance);
      value const now = absorbed_within_bins(part, table, distance);
      dose = dose + released * (now - before);
      before = now;
    }
    return bit_cast<signed_word>(dose + value(fixed_point<T>::magic));
  }
};

/// Copies the region, z fastest, or turned: x fastest.
template <class T>
struct turn_kernel {
  std::int64_t extent[3];
  boxed_volume<T const> from;
  lattice_range const* range;
  bool scaled;
  bool turned;
  T* to;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const fast = extent[turned ? 0 : 2];
    std::int64_t const f = index % fast;
    std::int64_t const row = index / fast;
    std::int64_t const y = row % extent[1];
    std::int64_t const s = row / extent[1];
    T const x = from.row(turned ? f : s, y)[turned ? s : f];
    to[index] = scaled ? T(double(x) * power_of_two(-terma_exponent(*range))) : x;
  }
};

/// Adds the sums of both copies to the dose.
template <class T>
struct table_join_kernel {
  using word = typename fixed_point<T>::word;
  std::int64_t extent[3];
  word const* sums[2];
  word bias;  ///< what all lines have added to the bits
  double unit;
  lattice_range const* range;
  boxed_volume<T> dose;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const z = index % extent[2];
    std::int64_t const row = index / extent[2];
    std::int64_t const y = row % extent[1];
    std::int64_t const x = row / extent[1];
    auto const whole = [](std::int64_t n) { return (n + 31) / 32 * 32; };
    word const sum = sums[0][row * whole(extent[2]) + z] +
                     sums[1][(z * extent[1] + y) * whole(extent[0]) + x] - bias;
    add_to_dose<T>(*range, unit, sum, dose.row(x, y)[z]);
  }
};

}  // namespace iso::dose::detail
