// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels of gamma_plan and gamma_index.
#pragma once

#include <iso/backend/integer_atomics.hpp>
#include <iso/core/numerics.hpp>
#include <iso/gamma/detail/simplex_minimum.hpp>
#include <iso/gamma/detail/trilinear_minimum.hpp>
#include <iso/gamma/gamma_index.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::gamma::detail {

/// Reads the corners of a cell, x slowest.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void read_corners(dose_search<T> const& s, std::int64_t first,
                                              T (&corner)[8]) {
  std::int64_t const x = s.top[0] * s.stride[0];
  std::int64_t const y = s.top[1] * s.stride[1];
  std::int64_t const z = s.top[2];
  T const* const p = s.evaluated + first;
  corner[0] = p[0];
  corner[1] = p[z];
  corner[2] = p[y];
  corner[3] = p[y + z];
  corner[4] = p[x];
  corner[5] = p[x + z];
  corner[6] = p[x + y];
  corner[7] = p[x + y + z];
}

template <class T>
struct dose_range_kernel {
  dose_search<T> search;
  std::int64_t first_plane;
  dose_range<T>* ranges;  ///< of the cells that are held

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    std::int64_t const row = cell / search.row;
    std::int64_t const z = cell - row * search.row + first_plane;
    std::int64_t const x = row / search.sites[1];
    std::int64_t const y = row - x * search.sites[1];
    T c[8];
    read_corners(search, x * search.stride[0] + y * search.stride[1] + z, c);
    dose_range<T>& range = ranges[cell];
    T low = 0;
    T high = 0;
    set_range(c[0], c[1], c[2], c[3], range.low, range.high);
    set_range(c[4], c[5], c[6], c[7], low, high);
    range.low = low < range.low ? low : range.low;
    range.high = high > range.high ? high : range.high;
    set_steps(c[4] - c[0], c[5] - c[1], c[6] - c[2], c[7] - c[3], range, 0);
    set_steps(c[2] - c[0], c[3] - c[1], c[6] - c[4], c[7] - c[5], range, 1);
    set_steps(c[1] - c[0], c[3] - c[2], c[5] - c[4], c[7] - c[6], range, 2);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static void set_range(T a, T b, T c, T d, T& low, T& high) {
    T const low_ab = a < b ? a : b;
    T const low_cd = c < d ? c : d;
    T const high_ab = a > b ? a : b;
    T const high_cd = c > d ? c : d;
    low = low_ab < low_cd ? low_ab : low_cd;
    high = high_ab > high_cd ? high_ab : high_cd;
  }
  KOKKOS_FORCEINLINE_FUNCTION static void set_steps(T a, T b, T c, T d, dose_range<T>& range,
                                                    int axis) {
    T const rounding = Kokkos::Experimental::epsilon_v<T>;
    T least = 0;
    T largest = 0;
    set_range(a, b, c, d, least, largest);
    range.min_step[axis] = least - Kokkos::fabs(least) * rounding;
    range.largest_step[axis] = largest + Kokkos::fabs(largest) * rounding;
  }
};

/// A search for the least squared gamma of one reference point.
template <class T, interpolation Between>
struct point_search {
  dose_search<T> const& s;
  reference_place const (&place)[3];
  double dose;

  KOKKOS_FUNCTION double least(criterion_terms const& c) const {
    double const inverse = 1 / (s.local ? c.difference * dose : c.difference);
    // The voxel at or below the point, exactly: equal doses have gamma 0.
    triple const off = {place[0].fraction, place[1].fraction, place[2].fraction};
    double const e_there = (double(s.evaluated[voxel_index()]) - dose) * inverse;
    double const f_there = Kokkos::fma(e_there, e_there, squared(c, off));
    min_found best{f_there < s.most ? f_there : s.most, {{0, 0, 0}}, e_there};
    site_offset const nearest = downhill(e_there);
    if constexpr (Between != interpolation::grid_points) {
      // Where it has the minimum, the others need no more than a bound.
      lower_by_cell(c, nearest, inverse, likely::minimum, best);
    }
    // Offsets have the distance of the nearest point of the grid.
    double const aside = squared(c, outside());
    for (std::int32_t n = 0; n < s.num_offsets; ++n) {
      site_offset const o = s.offsets[n];
      double const near = Kokkos::fma(double(o.distance), c.scale, aside);
      if (!(near < best.squared)) {
        break;
      }
      std::int32_t const x = place[0].voxel + o.x;
      std::int32_t const y = place[1].voxel + o.y;
      std::int32_t const z = place[2].voxel + o.z;
      // As unsigned numbers, those below zero are large.
      if (std::uint32_t(x) >= std::uint32_t(s.sites[0]) ||
          std::uint32_t(y) >= std::uint32_t(s.sites[1]) ||
          std::uint32_t(z) >= std::uint32_t(s.sites[2])) {
        continue;
      }
      triple const point = {place[0].fraction - double(o.x), place[1].fraction - double(o.y),
                            place[2].fraction - double(o.z)};
      if constexpr (Between == interpolation::grid_points) {
        std::int64_t const first = x * s.stride[0] + y * s.stride[1] + z;
        double const e = (double(s.evaluated[first]) - dose) * inverse;
        double const f = Kokkos::fma(e, e, squared(c, point));
        best.squared = f < best.squared ? f : best.squared;
      } else {
        auto const& range = s.ranges[(std::int64_t(x) * s.sites[1] + y) * s.row + z];
        double const gap = clamped(dose, double(range.low), double(range.high)) - dose;
        double const e = gap * inverse;
        if (Kokkos::fma(e, e, near) >= best.squared ||
            Kokkos::fma(e, e, squared(c, beyond(point))) >= best.squared) {
          continue;
        }
        bool const searched = o.x == nearest.x && o.y == nearest.y && o.z == nearest.z;
        if (!searched && !is_above(c, range, o, point, inverse, best)) {
          lower_by_cell(c, o, inverse, likely::nothing, best);
        }
      }
    }
    return best.squared;
  }

  /// Returns the vector from the box of the evaluated voxels' middles to the point, in spacings.
  KOKKOS_FORCEINLINE_FUNCTION triple outside() const {
    triple beyond = {0, 0, 0};
    for (int axis = 0; axis < 3; ++axis) {
      double const fraction = place[axis].fraction;
      beyond[axis] = fraction < 0 || place[axis].voxel == s.last[axis] ? fraction : 0.0;
    }
    return beyond;
  }

 private:
  /// Returns the vector from the cell to the point, in spacings.
  KOKKOS_FORCEINLINE_FUNCTION triple beyond(triple const& point) const {
    return {point[0] - clamped(point[0], 0, double(s.top[0])),
            point[1] - clamped(point[1], 0, double(s.top[1])),
            point[2] - clamped(point[2], 0, double(s.top[2]))};
  }
  /// Returns the squared length of a vector in spacings, in squared distances to agreement.
  KOKKOS_FORCEINLINE_FUNCTION static double squared(criterion_terms const& c, triple const& v) {
    using Kokkos::fma;
    return fma(c.weight[2] * v[2], v[2], fma(c.weight[1] * v[1], v[1], c.weight[0] * v[0] * v[0]));
  }

  /// Returns the cell at the point to which the dose gets nearer to the reference's. Between two
  /// voxels there is no choice; at one the difference of its neighbours tells.
  KOKKOS_FORCEINLINE_FUNCTION site_offset downhill(double difference) const {
    std::int32_t o[3];
    for (int axis = 0; axis < 3; ++axis) {
      std::int32_t const voxel = place[axis].voxel;
      std::int32_t const last = s.last[axis];
      o[axis] = last > 0 && voxel == last ? -1 : 0;
      if (place[axis].fraction == 0 && voxel > 0 && voxel < last) {
        std::int64_t const step = axis == 2 ? 1 : s.stride[axis];
        T const* const p = s.evaluated + voxel_index();
        o[axis] = difference * (double(p[step]) - double(p[-step])) > 0 ? -1 : 0;
      }
    }
    return {0, o[0], o[1], o[2]};
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t voxel_index() const {
    return place[0].voxel * s.stride[0] + place[1].voxel * s.stride[1] + place[2].voxel;
  }

  /// Returns whether no point of a cell is below the best: F(u) >= 2 s E(u) - s^2 + |u - point|^2
  /// for s of the best point, and E(u) is no less than at the corner next to the point plus, along
  /// each axis, the way from there times the step that is worst.
  KOKKOS_FORCEINLINE_FUNCTION bool is_above(criterion_terms const& c, dose_range<T> const& range,
                                            site_offset const& o, triple const& point,
                                            double inverse, min_found const& best) const {
    using Kokkos::fma;
    double const by = best.difference;
    std::int64_t corner = voxel_index() + o.x * s.stride[0] + o.y * s.stride[1] + o.z;
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      bool const upper = point[k] > 0.5 && s.top[k] > 0;
      double const one = by * inverse * double(range.min_step[k]);
      double const other = by * inverse * double(range.largest_step[k]);
      double const slope = (one < other) == upper ? other : one;
      double const u = clamped(fma(-slope, c.inverse[k], point[k]), 0, double(s.top[k]));
      double const off = u - point[k];
      sum += fma(c.weight[k] * off, off, 2 * slope * (u - (upper ? 1.0 : 0.0)));
      corner += upper ? (k == 2 ? 1 : s.stride[k]) : 0;
    }
    double const e = (double(s.evaluated[corner]) - dose) * inverse;
    // Where numbers are too large for T it is no number, and not known.
    return sum + by * (2 * e - by) >= best.squared;
  }

  KOKKOS_FUNCTION void lower_by_cell(criterion_terms const& c, site_offset const& o, double inverse,
                                     likely what, min_found& best) const {
    triple const cell = {double(o.x), double(o.y), double(o.z)};
    triple point = {0, 0, 0};
    for (int axis = 0; axis < 3; ++axis) {
      point[axis] = place[axis].fraction - cell[axis];
    }
    std::int64_t const first = voxel_index() + o.x * s.stride[0] + o.y * s.stride[1] + o.z;
    T corner[8];
    read_corners(s, first, corner);
    double e[8];
    for (int n = 0; n < 8; ++n) {
      e[n] = (double(corner[n]) - dose) * inverse;
    }
    if constexpr (Between == interpolation::trilinear) {
      for (int axis = 0; axis < 3; ++axis) {
        best.at[axis] -= cell[axis];
      }
      trilinear_minimum(trilinear(e), s.ratio, s.inverse_ratio, c.weight, c.inverse, point)
          .lower(s.top, what, best);
      for (int axis = 0; axis < 3; ++axis) {
        best.at[axis] += cell[axis];
      }
    } else {
      lower_by_tetrahedra(e, c.weight, c.inverse, s.top, point, best);
    }
  }
};

/// Computes gamma of one reference point, all criteria.
template <class T, interpolation Between>
struct gamma_kernel {
  dose_search<T> search;
  T const* reference;
  double cut_off;
  std::int64_t extent[3];  ///< of the reference, planes that are held
  T* gamma;
  point_status* status;

  KOKKOS_FUNCTION void operator()(std::int64_t voxel) const {
    std::int64_t const size = extent[0] * extent[1] * extent[2];
    auto const dose = double(reference[voxel]);
    if (!(dose >= cut_off)) {
      status[voxel] = point_status::below_cut_off;
      for (std::int32_t n = 0; n < search.num_criteria; ++n) {
        gamma[n * size + voxel] = Kokkos::bit_cast<T>(bits_of<T>(float_bits<T>::canonical_nan));
      }
      return;
    }
    std::int64_t const row = voxel / extent[2];
    std::int64_t const x = row / extent[1];
    reference_place const place[3] = {search.places[0][x], search.places[1][row - x * extent[1]],
                                      search.places[2][voxel - row * extent[2]]};
    point_search<T, Between> const one{search, place, dose};
    triple const beyond = one.outside();
    bool const outside = beyond[0] != 0 || beyond[1] != 0 || beyond[2] != 0;
    status[voxel] = outside ? point_status::outside : point_status::compared;
    for (std::int32_t n = 0; n < search.num_criteria; ++n) {
      gamma[n * size + voxel] = T(Kokkos::sqrt(one.least(search.criteria[n])));
    }
  }
};

/// Counts points, and adds them to the histogram.
template <class T>
struct gamma_counts_kernel {
  using value_type = gamma_counts;
  T const* gamma;
  point_status const* status;
  bool one_passes;
  double bin_width;
  std::int32_t bins;
  mean_scale scale;
  std::uint64_t* histogram;

  KOKKOS_FUNCTION void init(gamma_counts& c) const { c = {}; }
  KOKKOS_FUNCTION void join(gamma_counts& c, gamma_counts const& other) const { c.join(other); }
  KOKKOS_FUNCTION void operator()(std::int64_t voxel, gamma_counts& c) const {
    if (status[voxel] == point_status::below_cut_off) {
      ++c.below_cut_off;
      return;
    }
    auto const x = double(gamma[voxel]);
    bool const outside = status[voxel] == point_status::outside;
    bool const passes = one_passes ? x <= 1 : x < 1;
    c.passed += passes ? 1 : 0;
    c.outside += outside ? 1 : 0;
    c.outside_passed += outside && passes ? 1 : 0;
    c.largest = x > c.largest ? x : c.largest;
    if (x >= 0 && x <= scale.most) {
      scale.scale.add(x, c.sum);
    } else {
      ++c.no_gamma;
    }
    // The quotient may be rounded to the next number. What is no gamma goes to either end.
    double const place = x / bin_width;
    std::int32_t bin = place >= double(bins) ? bins - 1 : place > 0 ? std::int32_t(place) : 0;
    bin -= bin > 0 && x < double(bin) * bin_width ? 1 : 0;
    bin += bin < bins - 1 && x >= double(bin + 1) * bin_width ? 1 : 0;
    backend::atomic_sum(histogram + bin, std::uint64_t(1));
  }
};

}  // namespace iso::gamma::detail
