// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels of iso/dvh/dose_volume.hpp.
#pragma once

#include <iso/backend/integer_atomics.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/reproducible.hpp>
#include <iso/core/vec3.hpp>
#include <iso/dvh/detail/structure_cells.hpp>
#include <iso/dvh/detail/tetrahedra.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::dvh::detail {

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

/// Rounds a share of a voxel to an integer: volumes are sums of these.
KOKKOS_INLINE_FUNCTION std::uint64_t rounded(reproducible_scale<double> const& scale,
                                             double share) {
  return scale.without_rounder(scale.round(share), 1);
}

/// Finds what bounds the voxels of each brick, and counts fractions that are not from 0 to 1.
template <class T>
struct brick_kernel {
  using value_type = std::int64_t;
  structure_cells<T> cells;
  reproducible_scale<double> scale;  ///< of shares
  brick* bricks;

  KOKKOS_FUNCTION void operator()(std::int64_t n, std::int64_t& bad_fractions) const {
    brick b{0, 0, 0, false, false};
    bool const is_given = cells.fractions != nullptr;
    cells.for_each(cells.box_of(n, false),
                   [&](std::int64_t x, std::int64_t y, std::int64_t z, double share) {
                     if (is_given && !(share >= 0 && share <= 1)) {
                       ++bad_fractions;
                     } else if (share > 0 && cells.is_held(x, y, z)) {
                       b.has_dose = true;
                       b.shares += rounded(scale, share);
                       b.has_whole = b.has_whole || share == 1;
                     }
                   });
    if (b.has_dose) {
      bound(cells.box_of(n, true), b);
    }
    bricks[n] = b;
  }

 private:
  /// Takes in all of the dose's voxels that corners of the box lie between.
  KOKKOS_FUNCTION void bound(voxel_box const& box, brick& b) const {
    std::int64_t low[3];
    std::int64_t high[3];
    for (int axis = 0; axis < 3; ++axis) {
      auto const& last = cells.corners[axis][box.to[axis]];
      low[axis] = cells.corners[axis][box.from[axis]].below;
      high[axis] = last.below + (last.fraction > 0 ? 1 : 0);
    }
    double const infinity = Kokkos::Experimental::infinity_v<double>;
    b.least = infinity;
    b.largest = -infinity;
    bool finite = true;
    auto const& dose = cells.dose;
    for (std::int64_t x = low[0]; x <= high[0]; ++x) {
      for (std::int64_t y = low[1]; y <= high[1]; ++y) {
        for (std::int64_t z = low[2]; z <= high[2]; ++z) {
          auto const d = double(dose.dose[(x * dose.extent[1] + y) * dose.row + z]);
          finite = finite && is_finite(d);
          b.least = d < b.least ? d : b.least;
          b.largest = d > b.largest ? d : b.largest;
        }
      }
    }
    if (!finite) {
      b.least = -infinity;
      b.largest = infinity;
    }
  }
};

/// Ranges, joined, and counts of what is refused.
struct region_facts {
  dose_range touched;
  dose_range whole;
  std::int64_t not_finite;  ///< voxels with a share, some corner's dose
};

/// Finds the facts, brick by brick.
template <class T>
struct region_facts_kernel {
  using value_type = region_facts;
  structure_cells<T> cells;
  brick const* bricks;

  KOKKOS_FUNCTION void init(region_facts& f) const {
    double const infinity = Kokkos::Experimental::infinity_v<double>;
    f = {{infinity, -infinity}, {infinity, -infinity}, 0};
  }
  KOKKOS_FUNCTION static void join(dose_range& r, dose_range const& other) {
    r.least = other.least < r.least ? other.least : r.least;
    r.largest = other.largest > r.largest ? other.largest : r.largest;
  }
  KOKKOS_FUNCTION void join(region_facts& f, region_facts const& other) const {
    join(f.touched, other.touched);
    join(f.whole, other.whole);
    f.not_finite += other.not_finite;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t n, region_facts& f) const {
    brick const& b = bricks[n];
    auto const holds = [&](dose_range const& r) {
      return r.least <= b.least && b.largest <= r.largest;
    };
    if (!b.has_dose || (holds(f.touched) && (!b.has_whole || holds(f.whole)))) {
      return;  // it would change nothing
    }
    cells.for_each_dosed(n, [&](std::int64_t x, std::int64_t y, std::int64_t z, double share,
                                cell_corners const& doses) {
      bool finite = true;
      for (double const d : doses.value) {
        finite = finite && is_finite(d);
      }
      if (!finite) {
        ++f.not_finite;
        return;
      }
      auto const r = range_of(cells.part(x, y, z, share, doses));
      join(f.touched, r);
      if (share == 1) {
        join(f.whole, r);
      }
    });
  }
};

/// Finds the range of the dose at points that lie in its voxels, of those that lie between planes
/// of which the lower one is owned.
template <class T>
struct surface_range_kernel {
  using value_type = dose_range;
  dose_reader<T> dose;
  vec3<double> const* points;  ///< mm
  vec3<double> origin;
  vec3<double> spacing;
  slab own;  ///< planes of the dose

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
    if (dose.holds(at) && own.holds(axis_place_of(at.z, dose.extent[2]).below)) {
      double const d = dose.at(at);
      join(r, {d, d});
    }
  }
};

/// Finds the planes of the dose next to or below points.
struct surface_planes_kernel {
  using value_type = dose_range;
  vec3<double> const* points;  ///< mm
  double origin;
  double spacing;
  std::int64_t extent;

  KOKKOS_FUNCTION void init(dose_range& r) const {
    double const infinity = Kokkos::Experimental::infinity_v<double>;
    r = {infinity, -infinity};
  }
  KOKKOS_FUNCTION void join(dose_range& r, dose_range const& other) const {
    r.least = other.least < r.least ? other.least : r.least;
    r.largest = other.largest > r.largest ? other.largest : r.largest;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t n, dose_range& r) const {
    double const z = (points[n].z - origin) / spacing;
    if (is_finite(z)) {
      auto const plane = double(axis_place_of(z, extent).below);
      join(r, {plane, plane});
    }
  }
};

/// Gives the shares of a brick's voxels to a sum: where there is a dose, or where there is none.
template <class T>
struct share_terms {
  structure_cells<T> cells;
  bool with_dose;

  template <class Add>
  KOKKOS_FUNCTION void operator()(std::int64_t brick, Add const& add) const {
    cells.for_each(cells.box_of(brick, with_dose),
                   [&](std::int64_t x, std::int64_t y, std::int64_t z, double share) {
                     if (share > 0 && (with_dose || !cells.is_held(x, y, z))) {
                       add(share);
                     }
                   });
  }
  [[nodiscard]] KOKKOS_FUNCTION double bound(std::int64_t /*brick*/) const { return 1; }
};

/// Gives the shares of a brick's voxels, times their mean doses, to a sum.
template <class T>
struct dose_terms {
  structure_cells<T> cells;
  brick const* bricks;

  template <class Add>
  KOKKOS_FUNCTION void operator()(std::int64_t n, Add const& add) const {
    if (!bricks[n].has_dose) {
      return;
    }
    cells.for_each_dosed(n, [&](std::int64_t x, std::int64_t y, std::int64_t z, double share,
                                cell_corners const& doses) {
      part_integral all;
      for_each_part(cells.part(x, y, z, share, doses), all);
      add(all.part > 0 ? share * (all.sum / all.part) : 0.0);
    });
  }
  [[nodiscard]] KOKKOS_FUNCTION double bound(std::int64_t n) const {
    // A mean of numbers within bounds, and what is rounded.
    constexpr double slack = 1 + 1e-12;
    double const low = Kokkos::fabs(bricks[n].least);
    double const high = Kokkos::fabs(bricks[n].largest);
    return slack * (low > high ? low : high);
  }
};

/// Adds to counts[n] what a run of bricks has between levels n and n + 1 (the last: above), as
/// integers. Bricks whose dose crosses no level are added as one.
template <class T>
struct volumes_kernel {
  structure_cells<T> cells;
  brick const* bricks;
  std::int64_t run;
  double const* levels;  ///< ascending
  std::int64_t num_levels;
  reproducible_scale<double> scale;  ///< of shares
  std::uint64_t* counts;

  /// What is to be added to a count; neighbours are added at once.
  struct pending_sum {
    std::uint64_t* counts;
    std::int64_t n = 0;
    std::uint64_t sum = 0;

    KOKKOS_FUNCTION void flush() {
      if (sum != 0) {
        backend::atomic_sum(counts + n, sum);
      }
    }
    KOKKOS_FUNCTION void add(std::int64_t to, std::uint64_t x) {
      if (to != n) {
        flush();
        n = to;
        sum = 0;
      }
      sum += x;
    }
  };

  /// Returns how many levels are at most `dose`, which is from `low` to `high`.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t levels_to(double dose, std::int64_t low,
                                                       std::int64_t high) const {
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
  KOKKOS_FUNCTION void operator()(std::int64_t first) const {
    pending_sum sum{counts};
    std::int64_t const last = (first + 1) * run;
    std::int64_t const end = last < cells.num_bricks() ? last : cells.num_bricks();
    for (std::int64_t n = first * run; n < end; ++n) {
      brick const& b = bricks[n];
      if (b.shares == 0) {
        continue;
      }
      std::int64_t const whole = levels_to(b.least, 0, num_levels);
      if (whole < num_levels && levels[whole] <= b.largest) {
        add_voxels(n, whole, levels_to(b.largest, whole, num_levels), sum);
      } else if (whole > 0) {
        sum.add(whole - 1, b.shares);
      }
    }
    sum.flush();
  }

 private:
  /// \param low, high  how many levels are at most the least and the largest dose in the brick
  KOKKOS_FUNCTION void add_voxels(std::int64_t brick, std::int64_t low, std::int64_t high,
                                  pending_sum& sum) const {
    cells.for_each_dosed(brick, [&](std::int64_t x, std::int64_t y, std::int64_t z, double share,
                                    cell_corners const& doses) {
      auto const r = range_of(doses);
      std::int64_t const whole = levels_to(r.least, low, high);
      std::int64_t const some = levels_to(r.largest, whole, high);
      std::uint64_t above = rounded(scale, share);
      auto const add = [&](std::int64_t n, double part) {
        std::uint64_t const next = rounded(scale, share * part);
        if (n > 0) {
          sum.add(n - 1, above - next);
        }
        above = next;
      };
      if (whole < some) {
        auto const part = cells.part(x, y, z, share, doses);
        if (part.whole) {
          sorted_cell const all(doses);
          for (std::int64_t n = whole; n < some; ++n) {
            add(n, all.share_at_least(levels[n]));
          }
        } else {
          for (std::int64_t n = whole; n < some; ++n) {
            part_at_least of{levels[n]};
            for_each_part(part, of);
            add(n, of.above / of.part);
          }
        }
      }
      if (some > 0) {
        sum.add(some - 1, above);
      }
    });
  }
};

}  // namespace iso::dvh::detail
