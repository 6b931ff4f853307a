// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels of iso/dvh/dose_volume.hpp.
#pragma once

#include <iso/backend/integer_atomics.hpp>
#include <iso/core/math.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/reproducible.hpp>
#include <iso/core/vec3.hpp>
#include <iso/dvh/detail/tetrahedra.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::dvh::detail {

/// Is the slope of a cut, as a part of all, that is taken for none.
constexpr double least_slope = 1e-5;
/// Is how near to a voxel's middle, in voxels, is taken for there.
constexpr double on_middle = 1e-9;

/// Reads a dose between voxels.
template <class T>
struct dose_reader {
  T const* dose;
  std::int64_t extent[3];

  /// Returns the dose at `p`, in voxels; outside of the middles' box, of the nearest point there.
  [[nodiscard]] KOKKOS_FUNCTION double at(vec3<double> const& p) const {
    double fraction[3];
    std::int64_t first = 0;
    std::int64_t step[3] = {extent[1] * extent[2], extent[2], 1};
    for (int axis = 0; axis < 3; ++axis) {
      std::int64_t const last = extent[axis] - 1;
      double const nearest = Kokkos::floor(p[axis] + 0.5);
      double const there = Kokkos::fabs(p[axis] - nearest) < on_middle ? nearest : p[axis];
      double const inside = there > 0 ? (there < double(last) ? there : double(last)) : 0.0;
      std::int64_t const top = last > 0 ? last - 1 : 0;
      std::int64_t const below = std::int64_t(inside) < top ? std::int64_t(inside) : top;
      fraction[axis] = inside - double(below);
      first += below * step[axis];
      step[axis] = last > 0 ? step[axis] : 0;
    }
    // The tetrahedron is where the coordinates have one order: upwards along the largest first.
    // By differences a uniform dose is exact; voxels without weight are not read.
    double below = double(dose[first]);
    double sum = below;
    for (int n = 0; n < 3; ++n) {
      int const a = fraction[0] >= fraction[1] ? (fraction[0] >= fraction[2] ? 0 : 2)
                                               : (fraction[1] >= fraction[2] ? 1 : 2);
      if (!(fraction[a] > 0)) {
        break;
      }
      first += step[a];
      double const above = double(dose[first]);
      sum = Kokkos::fma(fraction[a], above - below, sum);
      below = above;
      fraction[a] = -1;
    }
    return sum;
  }
  /// Returns whether `p` lies in a voxel.
  [[nodiscard]] KOKKOS_FUNCTION bool holds(vec3<double> const& p) const {
    bool inside = true;
    for (int axis = 0; axis < 3; ++axis) {
      inside = inside && p[axis] >= -0.5 && p[axis] <= double(extent[axis]) - 0.5;
    }
    return inside;
  }
};

/// A structure's voxels in a dose.
template <class T>
struct structure_cells {
  dose_reader<T> dose;
  T const* fractions;  ///< null: all voxels are wholly inside
  std::int64_t extent[3];
  vec3<double> first;  ///< lower corner of voxel (0, 0, 0), in voxels of the dose
  vec3<double> step;

  [[nodiscard]] KOKKOS_FUNCTION double fraction(std::int64_t cell) const {
    return fractions == nullptr ? 1.0 : double(fractions[cell]);
  }
  /// Returns a corner, x slowest.
  [[nodiscard]] KOKKOS_FUNCTION vec3<double> corner(std::int64_t cell, double i, double j,
                                                    double k) const {
    std::int64_t const row = cell / extent[2];
    std::int64_t const x = row / extent[1];
    return {Kokkos::fma(double(x) + i, step.x, first.x),
            Kokkos::fma(double(row - x * extent[1]) + j, step.y, first.y),
            Kokkos::fma(double(cell - row * extent[2]) + k, step.z, first.z)};
  }
  /// Returns whether the voxel has a share and a dose.
  [[nodiscard]] KOKKOS_FUNCTION bool counts(std::int64_t cell) const {
    return fraction(cell) > 0 && dose.holds(corner(cell, 0.5, 0.5, 0.5));
  }
  /// Returns the dose at a voxel's corners.
  [[nodiscard]] KOKKOS_FUNCTION cell_corners doses(std::int64_t cell) const {
    cell_corners c{};
    for (int n = 0; n < 8; ++n) {
      c.value[n] = dose.at(corner(cell, (n >> 2) & 1, (n >> 1) & 1, n & 1));
    }
    return c;
  }
  /// Returns the part inside of a voxel with these doses.
  [[nodiscard]] KOKKOS_FUNCTION cut_cell part(std::int64_t cell, cell_corners const& doses) const {
    cut_cell c{doses, {}, false};
    c.whole = !(fraction(cell) < 1) || !cut(cell, c.depth);
    return c;
  }

 private:
  /// Returns the share of a voxel beside `cell`, which may lie off the grid.
  [[nodiscard]] KOKKOS_FUNCTION double beside(std::int64_t const (&at)[3], int i, int j,
                                              int k) const {
    std::int64_t const x = at[0] + i;
    std::int64_t const y = at[1] + j;
    std::int64_t const z = at[2] + k;
    bool const inside =
        x >= 0 && x < extent[0] && y >= 0 && y < extent[1] && z >= 0 && z < extent[2];
    return inside ? fraction((x * extent[1] + y) * extent[2] + z) : 0.0;
  }
  /// Finds the plane that cuts a voxel's share off it, with its inner side where the 26 voxels
  /// around have more: Youngs' gradient, weights 1, 2, 1 along both other axes.
  /// \return  false where no side has more
  KOKKOS_FUNCTION bool cut(std::int64_t cell, cell_corners& depth) const {
    std::int64_t const row = cell / extent[2];
    std::int64_t const x = row / extent[1];
    std::int64_t const at[3] = {x, row - x * extent[1], cell - row * extent[2]};
    double rise[3] = {0, 0, 0};
    for (int i = -1; i <= 1; ++i) {
      for (int j = -1; j <= 1; ++j) {
        double const weight = (2 - i * i) * (2 - j * j);
        rise[0] += weight * (beside(at, 1, i, j) - beside(at, -1, i, j));
        rise[1] += weight * (beside(at, i, 1, j) - beside(at, i, -1, j));
        rise[2] += weight * (beside(at, i, j, 1) - beside(at, i, j, -1));
      }
    }
    double const all = (Kokkos::fabs(rise[0]) + Kokkos::fabs(rise[1])) + Kokkos::fabs(rise[2]);
    if (!(all > 0)) {
      return false;
    }
    double sorted[3];
    for (int axis = 0; axis < 3; ++axis) {
      rise[axis] /= all;
      sorted[axis] = Kokkos::fabs(rise[axis]) < least_slope ? 0.0 : Kokkos::fabs(rise[axis]);
    }
    sort_two(sorted[0], sorted[1]);
    sort_two(sorted[1], sorted[2]);
    sort_two(sorted[0], sorted[1]);
    double const share = fraction(cell);
    double const distance =
        share <= 0.5 ? distance_of_share(sorted, share) : 1 - distance_of_share(sorted, 1 - share);
    for (int n = 0; n < 8; ++n) {
      // The farthest corner along `rise` is the first to be inside.
      double along = 0;
      for (int axis = 0; axis < 3; ++axis) {
        bool const high = ((n >> (2 - axis)) & 1) != 0;
        along += high == (rise[axis] > 0) ? 0.0 : Kokkos::fabs(rise[axis]);
      }
      depth.value[n] = distance - along;
    }
    return true;
  }
};

struct dose_range {
  double least;
  double largest;
};

KOKKOS_INLINE_FUNCTION dose_range range_of(cell_corners const& c) {
  part_range r;
  for (double const value : c.value) {
    r.take(value);
  }
  return {r.least, r.largest};
}
KOKKOS_INLINE_FUNCTION dose_range range_of(cut_cell const& c) {
  part_range r;
  for_each_part(c, r);
  return {r.least, r.largest};
}

/// Joins ranges and counts of what is refused.
struct region_facts {
  dose_range touched;
  dose_range whole;
  std::int64_t not_finite;     ///< voxels with a share, some corner's dose
  std::int64_t bad_fractions;  ///< not from 0 to 1
};

template <class T>
struct region_facts_kernel {
  using value_type = region_facts;
  structure_cells<T> cells;

  KOKKOS_FUNCTION void init(region_facts& f) const {
    double const infinity = Kokkos::Experimental::infinity_v<double>;
    f = {{infinity, -infinity}, {infinity, -infinity}, 0, 0};
  }
  KOKKOS_FUNCTION static void join(dose_range& r, dose_range const& other) {
    r.least = other.least < r.least ? other.least : r.least;
    r.largest = other.largest > r.largest ? other.largest : r.largest;
  }
  KOKKOS_FUNCTION void join(region_facts& f, region_facts const& other) const {
    join(f.touched, other.touched);
    join(f.whole, other.whole);
    f.not_finite += other.not_finite;
    f.bad_fractions += other.bad_fractions;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t cell, region_facts& f) const {
    double const share = cells.fraction(cell);
    if (!(share >= 0 && share <= 1)) {
      ++f.bad_fractions;
      return;
    }
    if (!cells.counts(cell)) {
      return;
    }
    auto const doses = cells.doses(cell);
    bool finite = true;
    for (double const d : doses.value) {
      finite = finite && is_finite(d);
    }
    if (!finite) {
      ++f.not_finite;
      return;
    }
    auto const r = range_of(cells.part(cell, doses));
    join(f.touched, r);
    if (share == 1) {
      join(f.whole, r);
    }
  }
};

/// Finds the largest finite dose of all voxels.
template <class T>
struct largest_dose_kernel {
  T const* dose;

  KOKKOS_FUNCTION void operator()(std::int64_t n, double& largest) const {
    auto const d = double(dose[n]);
    largest = is_finite(d) && d > largest ? d : largest;
  }
};

/// Finds the range of the dose at points that lie in its voxels.
template <class T>
struct surface_range_kernel {
  using value_type = dose_range;
  dose_reader<T> dose;
  vec3<double> const* points;  ///< mm
  vec3<double> origin;
  vec3<double> spacing;

  KOKKOS_FUNCTION void init(dose_range& r) const {
    double const infinity = Kokkos::Experimental::infinity_v<double>;
    r = {infinity, -infinity};
  }
  KOKKOS_FUNCTION void join(dose_range& r, dose_range const& other) const {
    region_facts_kernel<T>::join(r, other);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t n, dose_range& r) const {
    vec3<double> const p = points[n];
    vec3<double> const at{(p.x - origin.x) / spacing.x, (p.y - origin.y) / spacing.y,
                          (p.z - origin.z) / spacing.z};
    if (dose.holds(at)) {
      double const d = dose.at(at);
      join(r, {d, d});
    }
  }
};

/// Is a voxel's share: where there is a dose, or where there is none.
template <class T>
struct share_term {
  structure_cells<T> cells;
  bool with_dose;

  KOKKOS_FUNCTION double operator()(std::int64_t cell) const {
    double const share = cells.fraction(cell);
    return share > 0 && cells.counts(cell) == with_dose ? share : 0.0;
  }
};

/// Is a voxel's share times its mean dose.
template <class T>
struct dose_term {
  structure_cells<T> cells;

  KOKKOS_FUNCTION double operator()(std::int64_t cell) const {
    if (!cells.counts(cell)) {
      return 0;
    }
    part_integral all;
    for_each_part(cells.part(cell, cells.doses(cell)), all);
    return all.part > 0 ? cells.fraction(cell) * (all.sum / all.part) : 0.0;
  }
};

/// Adds to counts[n] what a voxel has between levels n and n + 1 (the last: above), as integers.
template <class T>
struct volumes_kernel {
  structure_cells<T> cells;
  double const* levels;  ///< ascending
  std::int64_t num_levels;
  reproducible_scale<double> scale;  ///< of a voxel
  std::uint64_t* counts;

  /// Returns how many levels are at most `dose`.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t levels_to(double dose) const {
    std::int64_t low = 0;
    std::int64_t high = num_levels;
    while (low < high) {
      std::int64_t const middle = (low + high) / 2;
      if (levels[middle] <= dose) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t rounded(double volume) const {
    return scale.without_rounder(scale.round(volume), 1);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    if (!cells.counts(cell)) {
      return;
    }
    double const share = cells.fraction(cell);
    auto const doses = cells.doses(cell);
    auto const r = range_of(doses);
    std::int64_t const whole = levels_to(r.least);
    std::int64_t const some = levels_to(r.largest);
    std::uint64_t above = rounded(share);
    if (whole < some) {
      auto const part = cells.part(cell, doses);
      for (std::int64_t n = whole; n < some; ++n) {
        part_at_least of{levels[n]};
        for_each_part(part, of);
        std::uint64_t const next = rounded(share * (of.above / of.part));
        if (n > 0) {
          backend::atomic_sum(counts + n - 1, above - next);
        }
        above = next;
      }
    }
    if (some > 0) {
      backend::atomic_sum(counts + some - 1, above);
    }
  }
};

}  // namespace iso::dvh::detail
