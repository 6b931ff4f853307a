// SPDX-License-Identifier: BSD-3-Clause
//! Holds a structure's voxels in a dose: the dose at their corners, what a plane leaves of them,
//! and bricks of them, which bound the dose of many at once.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/core/math.hpp>
#include <iso/core/vec3.hpp>
#include <iso/dvh/detail/tetrahedra.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::dvh::detail {

/// The slope of a cut, as a part of all, that is taken for none.
constexpr double min_slope = 1e-5;
/// The distance by which rounding may move a coordinate, in voxels of the dose. A coordinate that
/// is nearer to a voxel's middle is there, and one that is no farther beyond a voxel's face is in
/// the voxel.
constexpr double coordinate_slack = 1e-9;

/// The two middles of the dose's voxels between which a coordinate lies.
struct axis_place {
  std::int64_t below;
  double fraction;  ///< of the way to the next middle, 0 to 1
};

/// Returns the place of `p`, in voxels; outside of the middles that of the nearest one.
KOKKOS_INLINE_FUNCTION axis_place axis_place_of(double p, std::int64_t extent) {
  double const last = double(extent - 1);
  double const nearest = Kokkos::floor(p + 0.5);
  double const there = Kokkos::fabs(p - nearest) < coordinate_slack ? nearest : p;
  double const inside = there > 0 ? (there < last ? there : last) : 0.0;
  std::int64_t const top = extent > 1 ? extent - 2 : 0;
  std::int64_t const below = std::int64_t(inside) < top ? std::int64_t(inside) : top;
  return {below, inside - double(below)};
}

/// A dose between voxels, of which some planes are held.
template <class T>
struct dose_reader {
  T const* dose;  ///< voxel (0, 0, 0), be it held or not
  std::int64_t extent[3];
  std::int64_t row;  ///< planes that are held

  /// Returns the dose at a place. It lies between the least and the largest of the voxels that it
  /// is made of, as the interpolant does: rounding would take it beyond, and a dose below 0.
  [[nodiscard]] KOKKOS_FUNCTION double at(axis_place const& x, axis_place const& y,
                                          axis_place const& z) const {
    std::int64_t step[3] = {extent[1] * row, row, 1};
    std::int64_t place = x.below * step[0] + y.below * step[1] + z.below;
    // The tetrahedron is where the coordinates have one order: upwards along the largest first.
    double fraction[3] = {x.fraction, y.fraction, z.fraction};
    auto const order = [&](int a, int b) {
      bool const rises = fraction[a] < fraction[b];
      double const less = rises ? fraction[a] : fraction[b];
      std::int64_t const other = rises ? step[a] : step[b];
      fraction[a] = rises ? fraction[b] : fraction[a];
      step[a] = rises ? step[b] : step[a];
      fraction[b] = less;
      step[b] = other;
    };
    order(0, 1);
    order(1, 2);
    order(0, 1);
    // By differences a uniform dose is exact. Voxels without weight are not read.
    double below = double(dose[place]);
    double sum = below;
    double least = below;
    double largest = below;
    for (int n = 0; n < 3; ++n) {
      place += fraction[n] > 0 ? step[n] : 0;
      double const above = double(dose[place]);
      sum = Kokkos::fma(fraction[n], above - below, sum);
      least = above < least ? above : least;
      largest = above > largest ? above : largest;
      below = above;
    }
    return sum < least ? least : (sum > largest ? largest : sum);
  }
  /// Returns the dose at `p`, in voxels; outside of the middles' box, of the nearest point there.
  [[nodiscard]] KOKKOS_FUNCTION double at(vec3<double> const& p) const {
    return at(axis_place_of(p.x, extent[0]), axis_place_of(p.y, extent[1]),
              axis_place_of(p.z, extent[2]));
  }
  /// Returns whether a coordinate lies in a voxel.
  [[nodiscard]] KOKKOS_FUNCTION bool holds(double p, int axis) const {
    return p >= -0.5 - coordinate_slack && p <= double(extent[axis]) - 0.5 + coordinate_slack;
  }
  /// Returns whether `p` lies in a voxel.
  [[nodiscard]] KOKKOS_FUNCTION bool holds(vec3<double> const& p) const {
    return holds(p.x, 0) && holds(p.y, 1) && holds(p.z, 2);
  }
};

/// A box of voxels.
struct voxel_box {
  std::int64_t from[3];
  std::int64_t to[3];  ///< one beyond the last
};

/// The corners of a brick along an axis, at most, where a processor has it.
constexpr int max_corners = 6;

/// Bounds of what the voxels of a brick hold.
struct brick {
  double least;          ///< of their corners' dose; minus infinity where a dose is not finite
  double largest;        ///< infinite there
  std::uint64_t shares;  ///< sum of those of voxels that have a dose, each rounded
  bool has_dose;         ///< some voxel has a share and a dose
  bool has_whole;        ///< and some of these a share of 1
};

/// A structure's voxels in a dose.
template <class T>
struct structure_cells {
  dose_reader<T> dose;
  /// Of voxel (0, 0, 0), be it held or not. Null: all voxels are wholly inside, and as wide as
  /// end_width says.
  T const* fractions;
  std::int64_t row;  ///< planes of fractions that are held
  std::int64_t extent[3];
  axis_place const* corners[3];  ///< extent + 1 each
  slab own;                      ///< planes whose voxels belong to these bricks
  voxel_box held;                ///< of them, voxels whose middle lies in the dose's voxels
  double end_width[3][2] = {};   ///< of first and last voxel, voxels of the dose; others have 1
  std::int64_t brick_size[3] = {};
  std::int64_t brick_shift[3] = {};  ///< what the first brick lacks
  std::int64_t brick_count[3] = {};

  /// Returns the share of a voxel, which may lie off the grid.
  [[nodiscard]] KOKKOS_FUNCTION double share(std::int64_t x, std::int64_t y, std::int64_t z) const {
    if (x < 0 || x >= extent[0] || y < 0 || y >= extent[1] || z < 0 || z >= extent[2]) {
      return 0;
    }
    if (fractions == nullptr) {
      return width(x, 0) * width(y, 1) * width(z, 2);
    }
    return double(fractions[(x * extent[1] + y) * row + z]);
  }
  /// Returns whether a voxel's middle lies in the dose's voxels.
  [[nodiscard]] KOKKOS_FUNCTION bool is_held(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return x >= held.from[0] && x < held.to[0] && y >= held.from[1] && y < held.to[1] &&
           z >= held.from[2] && z < held.to[2];
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t num_bricks() const {
    return brick_count[0] * brick_count[1] * brick_count[2];
  }
  /// Returns the voxels of a brick that are owned, all of them or those that are held.
  [[nodiscard]] KOKKOS_FUNCTION voxel_box box_of(std::int64_t brick, bool only_held) const {
    std::int64_t const row = brick / brick_count[2];
    std::int64_t const first = row / brick_count[1];
    std::int64_t const at[3] = {first, row - first * brick_count[1], brick - row * brick_count[2]};
    voxel_box box{};
    for (int axis = 0; axis < 3; ++axis) {
      std::int64_t const low = only_held ? held.from[axis] : axis == 2 ? own.first : 0;
      std::int64_t const high = only_held ? held.to[axis] : axis == 2 ? own.last : extent[axis];
      std::int64_t const from = at[axis] * brick_size[axis] - brick_shift[axis];
      std::int64_t const to = from + brick_size[axis];
      box.from[axis] = from > low ? from : low;
      box.to[axis] = to < high ? to : high;
    }
    return box;
  }
  /// Calls f(x, y, z, share) for the voxels of a box.
  template <class F>
  KOKKOS_FUNCTION void for_each(voxel_box const& box, F const& f) const {
    for (std::int64_t x = box.from[0]; x < box.to[0]; ++x) {
      for (std::int64_t y = box.from[1]; y < box.to[1]; ++y) {
        std::int64_t const first = (x * extent[1] + y) * row;
        for (std::int64_t z = box.from[2]; z < box.to[2]; ++z) {
          f(x, y, z, fractions != nullptr ? double(fractions[first + z]) : share(x, y, z));
        }
      }
    }
  }
  /// Calls f(x, y, z, share, doses at the corners) for the voxels of a brick that have a share and
  /// a dose.
  template <class F>
  KOKKOS_FUNCTION void for_each_dosed(std::int64_t brick, F const& f) const {
    voxel_box const box = box_of(brick, true);
    // A device's bricks are rows, of which each corner belongs to one or two voxels.
    KOKKOS_IF_ON_DEVICE((for_each_dosed_of_row(box, f);))
    KOKKOS_IF_ON_HOST((for_each_dosed_of_block(box, f);))
  }
  /// Returns the part inside of a voxel with these doses.
  [[nodiscard]] KOKKOS_FUNCTION cut_cell part(std::int64_t x, std::int64_t y, std::int64_t z,
                                              double share, cell_corners const& doses) const {
    cut_cell c{doses, {}, false};
    c.whole = fractions == nullptr || !(share < 1) || !cut({x, y, z}, share, c.depth);
    return c;
  }

 private:
  template <class F>
  KOKKOS_FUNCTION void for_each_dosed_of_row(voxel_box const& box, F const& f) const {
    std::int64_t row[2] = {-1, -1};
    std::int64_t upper = -1;  // whose doses are those of the last voxel's upper corners
    cell_corners doses{};
    for_each(box, [&](std::int64_t x, std::int64_t y, std::int64_t z, double part) {
      if (!(part > 0)) {
        return;
      }
      bool const goes_on = upper == z && row[0] == x && row[1] == y;
      for (int n = 0; n < 4; ++n) {
        axis_place const& i = corners[0][x + (n >> 1)];
        axis_place const& j = corners[1][y + (n & 1)];
        doses.value[2 * n] = goes_on ? doses.value[2 * n + 1] : dose.at(i, j, corners[2][z]);
        doses.value[2 * n + 1] = dose.at(i, j, corners[2][z + 1]);
      }
      row[0] = x;
      row[1] = y;
      upper = z + 1;
      f(x, y, z, part, doses);
    });
  }
  /// Finds each corner's dose once, row by row.
  template <class F>
  void for_each_dosed_of_block(voxel_box const& box, F const& f) const {
    double known[max_corners][max_corners][max_corners];
    bool is_known[max_corners][max_corners] = {};
    auto const row_at = [&](std::int64_t x, std::int64_t y) {
      std::int64_t const i = x - box.from[0];
      std::int64_t const j = y - box.from[1];
      double* const row = known[i][j];
      if (!is_known[i][j]) {
        is_known[i][j] = true;
        for (std::int64_t z = box.from[2]; z <= box.to[2]; ++z) {
          row[z - box.from[2]] = dose.at(corners[0][x], corners[1][y], corners[2][z]);
        }
      }
      return row;
    };
    for_each(box, [&](std::int64_t x, std::int64_t y, std::int64_t z, double part) {
      if (!(part > 0)) {
        return;
      }
      cell_corners doses;
      for (int n = 0; n < 4; ++n) {
        double const* const row = row_at(x + (n >> 1), y + (n & 1)) + (z - box.from[2]);
        doses.value[2 * n] = row[0];
        doses.value[2 * n + 1] = row[1];
      }
      f(x, y, z, part, doses);
    });
  }
  [[nodiscard]] KOKKOS_FUNCTION double width(std::int64_t n, int axis) const {
    return n == 0 ? end_width[axis][0] : n == extent[axis] - 1 ? end_width[axis][1] : 1.0;
  }
  /// Finds the plane that cuts a voxel's share off it, with its inner side where the 26 voxels
  /// around have more: Youngs' gradient, weights 1, 2, 1 along both other axes.
  /// \return  false where no side has more
  KOKKOS_FUNCTION bool cut(std::int64_t const (&at)[3], double part, cell_corners& depth) const {
    double around[3][3][3];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        for (int k = 0; k < 3; ++k) {
          around[i][j][k] = share(at[0] + i - 1, at[1] + j - 1, at[2] + k - 1);
        }
      }
    }
    double rise[3] = {0, 0, 0};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        double const weight = (i == 1 ? 2 : 1) * (j == 1 ? 2 : 1);
        rise[0] += weight * (around[2][i][j] - around[0][i][j]);
        rise[1] += weight * (around[i][2][j] - around[i][0][j]);
        rise[2] += weight * (around[i][j][2] - around[i][j][0]);
      }
    }
    double const all = (Kokkos::fabs(rise[0]) + Kokkos::fabs(rise[1])) + Kokkos::fabs(rise[2]);
    if (!(all > 0)) {
      return false;
    }
    double sorted[3];
    for (int axis = 0; axis < 3; ++axis) {
      rise[axis] /= all;
      sorted[axis] = Kokkos::fabs(rise[axis]) < min_slope ? 0.0 : Kokkos::fabs(rise[axis]);
    }
    sort_two(sorted[0], sorted[1]);
    sort_two(sorted[1], sorted[2]);
    sort_two(sorted[0], sorted[1]);
    double const distance =
        part <= 0.5 ? distance_of_share(sorted, part) : 1 - distance_of_share(sorted, 1 - part);
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

}  // namespace iso::dvh::detail
