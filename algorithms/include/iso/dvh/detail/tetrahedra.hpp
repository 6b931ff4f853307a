// SPDX-License-Identifier: BSD-3-Clause
//! Holds closed forms of a function that is linear on tetrahedra: a cell's six, which share its
//! diagonal (0,0,0)-(1,1,1), as iso::gamma::interpolation::tetrahedra cuts it; and cuts them by a
//! plane.
#pragma once

#include <Kokkos_Core.hpp>

namespace iso::dvh::detail {

/// The corners of a cell, x slowest: corner 4 i + 2 j + k.
struct cell_corners {
  double value[8];
};

/// Puts two numbers in order.
KOKKOS_INLINE_FUNCTION void sort_two(double& a, double& b) {
  double const low = a < b ? a : b;
  b = a < b ? b : a;
  a = low;
}

/// A linear function's values at the corners of a tetrahedron, ascending.
struct sorted_corners {
  double a;
  double b;
  double c;
  double d;
};

KOKKOS_INLINE_FUNCTION sorted_corners sorted(double a, double b, double c, double d) {
  sort_two(a, b);
  sort_two(c, d);
  sort_two(a, c);
  sort_two(b, d);
  sort_two(b, c);
  return {a, b, c, d};
}

/// Returns the share of a tetrahedron where the function is `level` or more.
KOKKOS_INLINE_FUNCTION double share_at_least(sorted_corners const& corners, double level) {
  double const a = corners.a;
  double const b = corners.b;
  double const c = corners.c;
  double const d = corners.d;
  if (level <= a) {
    return 1;
  }
  if (level > d) {
    return 0;
  }
  // Products of ratios of at most 1: no difference underflows in a product.
  if (level <= b) {
    double const x = level - a;
    return 1 - (x / (b - a)) * (x / (c - a)) * (x / (d - a));
  }
  if (level <= c) {
    double const ab = b - a;
    double const x = level - b;
    double const first = (ab / (c - a)) * (ab / (d - a));
    double const second = 3 * (ab / (c - a)) * (x / (d - a));
    double const third = 3 * (x / (c - a)) * (x / (d - a));
    double const fourth = (x / (c - b)) * (x / (d - a)) * (x / (d - b) + x / (c - a));
    return 1 - (first + second + third - fourth);
  }
  double const x = d - level;
  return (x / (d - a)) * (x / (d - b)) * (x / (d - c));
}

/// The six tetrahedra of a cell.
class sorted_cell {
 public:
  KOKKOS_FUNCTION explicit sorted_cell(cell_corners const& c) {
    double const* const v = c.value;
    // Along x, y, z in each of their orders.
    part_[0] = sorted(v[0], v[4], v[6], v[7]);
    part_[1] = sorted(v[0], v[4], v[5], v[7]);
    part_[2] = sorted(v[0], v[2], v[6], v[7]);
    part_[3] = sorted(v[0], v[2], v[3], v[7]);
    part_[4] = sorted(v[0], v[1], v[5], v[7]);
    part_[5] = sorted(v[0], v[1], v[3], v[7]);
  }
  /// Returns the share of the cell where the function is `level` or more.
  [[nodiscard]] KOKKOS_FUNCTION double share_at_least(double level) const {
    double sum = 0;
    for (auto const& corners : part_) {
      sum += detail::share_at_least(corners, level);
    }
    return sum / 6;
  }

 private:
  sorted_corners part_[6];
};

/// A cell of which a plane may leave a part.
struct cut_cell {
  cell_corners value;
  cell_corners depth;  ///< 0 or more in the part; linear over the cell
  bool whole;          ///< depth is not read
};

/// A corner of a tetrahedron.
struct cut_corner {
  double value;
  double depth;
};

/// Calls f(volume, a, b, c, d) for tetrahedra that make up the part of one with depth >= 0: their
/// volumes, as shares of the one, and the function at their corners.
template <class F>
KOKKOS_INLINE_FUNCTION void for_each_part(cut_corner const (&all)[4], F& f) {
  // Corners of the part first.
  cut_corner corner[4];
  int inside = 0;
  int outside = 3;
  for (int n = 0; n < 4; ++n) {
    corner[all[n].depth >= 0 ? inside++ : outside--] = all[n];
  }
  auto const [a, b, c, d] = corner;
  // Where along an edge the depth is 0, as a share of it, and the function there.
  auto const share = [](cut_corner const& p, cut_corner const& q) {
    return p.depth / (p.depth - q.depth);
  };
  // Between both, whatever is rounded: a part has no less and no more than the whole.
  auto const value = [](cut_corner const& p, cut_corner const& q, double t) {
    double least = p.value;
    double largest = q.value;
    sort_two(least, largest);
    double const there = Kokkos::fma(t, q.value - p.value, p.value);
    return there < least ? least : (there > largest ? largest : there);
  };
  if (inside == 4) {
    f(1.0, a.value, b.value, c.value, d.value);
  } else if (inside == 3) {
    double const ad = share(a, d);
    double const bd = share(b, d);
    double const cd = share(c, d);
    double const at_a = value(a, d, ad);
    double const at_b = value(b, d, bd);
    f(ad, a.value, b.value, c.value, at_a);
    f((1 - ad) * bd, b.value, c.value, at_a, at_b);
    f((1 - ad) * (1 - bd) * cd, c.value, at_a, at_b, value(c, d, cd));
  } else if (inside == 2) {
    double const ac = share(a, c);
    double const ad = share(a, d);
    double const bc = share(b, c);
    double const bd = share(b, d);
    double const at_ac = value(a, c, ac);
    double const at_ad = value(a, d, ad);
    double const at_bc = value(b, c, bc);
    f(ac * ad, a.value, b.value, at_ac, at_ad);
    f((1 - ac) * ad * bc, b.value, at_ac, at_ad, at_bc);
    f((1 - ad) * bc * bd, b.value, at_ad, at_bc, value(b, d, bd));
  } else if (inside == 1) {
    double const ab = share(a, b);
    double const ac = share(a, c);
    double const ad = share(a, d);
    f(ab * ac * ad, a.value, value(a, b, ab), value(a, c, ac), value(a, d, ad));
  }
}

/// The same for a cell; volumes are sixths of it.
template <class F>
KOKKOS_INLINE_FUNCTION void for_each_part(cut_cell const& cell, F& f) {
  // From corner 0 to 7 along x, y, z in each of their orders.
  constexpr int between[6][2] = {{4, 6}, {4, 5}, {2, 6}, {2, 3}, {1, 5}, {1, 3}};
  for (auto const& [n, m] : between) {
    double const* const v = cell.value.value;
    if (cell.whole) {
      f(1.0, v[0], v[n], v[m], v[7]);
    } else {
      double const* const d = cell.depth.value;
      for_each_part({{v[0], d[0]}, {v[n], d[n]}, {v[m], d[m]}, {v[7], d[7]}}, f);
    }
  }
}

/// Adds up the part and what of it gets `level` or more.
struct part_at_least {
  double level;
  double part = 0;
  double above = 0;

  KOKKOS_FUNCTION void operator()(double volume, double a, double b, double c, double d) {
    part += volume;
    above = Kokkos::fma(volume, share_at_least(sorted(a, b, c, d), level), above);
  }
};

/// Adds up the part and the function's integral over it.
struct part_integral {
  double part = 0;
  double sum = 0;

  KOKKOS_FUNCTION void operator()(double volume, double a, double b, double c, double d) {
    part += volume;
    sum = Kokkos::fma(volume, 0.25 * ((a + b) + (c + d)), sum);
  }
};

/// Finds the range of the function over the part.
struct part_range {
  double least = Kokkos::Experimental::infinity_v<double>;
  double largest = -Kokkos::Experimental::infinity_v<double>;

  KOKKOS_FUNCTION void take(double value) {
    least = value < least ? value : least;
    largest = value > largest ? value : largest;
  }
  KOKKOS_FUNCTION void operator()(double, double a, double b, double c, double d) {
    take(a);
    take(b);
    take(c);
    take(d);
  }
};

/// Returns the share of the unit cube with m . u <= distance, for m ascending, not negative, of sum
/// 1, with m[0] 0 or not tiny, and a distance from 0 to 1/2.
KOKKOS_INLINE_FUNCTION double share_of_cube(double const (&m)[3], double distance) {
  double const a = distance;
  double const ab = m[0] + m[1];
  if (a >= ab && ab <= m[2]) {
    return (a - 0.5 * ab) / m[2];
  }
  if (a < m[0]) {
    return a * a * a / (6 * m[0] * m[1] * m[2]);
  }
  if (a < m[1]) {
    return (a * (a - m[0]) + m[0] * m[0] * (1.0 / 3)) / (2 * m[1] * m[2]);
  }
  double sum = a * a * a;
  for (double const part : m) {
    double const beyond = a > part ? a - part : 0.0;
    sum -= beyond * beyond * beyond;
  }
  return sum / (6 * m[0] * m[1] * m[2]);
}

/// Returns the distance where share_of_cube is `share`, at most 1/2, to 2^-30.
KOKKOS_INLINE_FUNCTION double distance_of_share(double const (&m)[3], double share) {
  double low = 0;
  double high = 0.5;
  for (int n = 0; n < 29; ++n) {
    double const middle = 0.5 * (low + high);
    if (share_of_cube(m, middle) < share) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return 0.5 * (low + high);
}

}  // namespace iso::dvh::detail
