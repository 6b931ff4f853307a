// SPDX-License-Identifier: BSD-3-Clause
//! Finds the least squared gamma within a cell of trilinear dose.
#pragma once

#include <iso/gamma/detail/gamma_search.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::gamma::detail {

/// A cell is left when no point of it can be below best - (relative best + absolute), of squared
/// gamma.
inline constexpr double relative_slack = 2e-7;
inline constexpr double absolute_slack = 1e-14;

/// Is written so that a processor has an instruction for either half.
KOKKOS_FORCEINLINE_FUNCTION double clamped(double x, double low, double high) {
  double const raised = low > x ? low : x;
  return high < raised ? high : raised;
}

KOKKOS_FORCEINLINE_FUNCTION double larger_size(double a, double b) {
  double const x = Kokkos::fabs(a);
  double const y = Kokkos::fabs(b);
  return x > y ? x : y;
}

/// A trilinear function on the unit cube, as a polynomial.
struct trilinear {
  double one;
  double x, y, z;
  double xy, xz, yz;
  double xyz;

  /// \param e  values at the corners, x slowest
  KOKKOS_FORCEINLINE_FUNCTION explicit trilinear(double const (&e)[8])
      : one(e[0]),
        x(e[4] - e[0]),
        y(e[2] - e[0]),
        z(e[1] - e[0]),
        xy((e[6] - e[4]) - y),
        xz((e[5] - e[4]) - z),
        yz((e[3] - e[2]) - z),
        xyz(((e[7] - e[6]) - (e[5] - e[4])) - yz) {}

  /// Returns its value at `u` and sets its gradient there.
  KOKKOS_FORCEINLINE_FUNCTION double at(triple u, triple& gradient) const {
    using Kokkos::fma;
    double const x_of_y = fma(xy, u[1], x);
    double const xz_of_y = fma(xyz, u[1], xz);
    gradient[0] = fma(xz_of_y, u[2], x_of_y);
    gradient[1] = fma(fma(xyz, u[0], yz), u[2], fma(xy, u[0], y));
    gradient[2] = fma(xz_of_y, u[0], fma(yz, u[1], z));
    return fma(gradient[2], u[2], fma(x_of_y, u[0], fma(y, u[1], one)));
  }
};

/// The likely case in a cell, which is tried first.
enum class likely { minimum, nothing };

/// The minimum of F(u) = sum of weight_k (u_k - point_k)^2 + E(u)^2 over a cell, E trilinear.
///
/// A step of Gauss and Newton: with E(u) about e + g (u - x), F has one minimum over a box, at
/// u_k(s) = point_k - s g_k / weight_k, cut to the box, where s is the linear E there.
///
/// Its bound: E^2 >= 2 s E - s^2 for every s. With E = e + g (u - x) + what is not linear, and
/// |what is not linear| <= sum of bend_k (u_k - x_k)^2 / 2, F is at least a sum of one parabola an
/// axis, whose minima have closed forms. Once x is a minimum and |s| bend_k <= weight_k, the bound
/// is F(x): it then is the least of the whole box.
///
/// Another bound: where the sum of parabolas + 2 s E - s^2 is convex, it is above its tangent at x.
/// It holds with the mixed derivatives' signs, so that minima along a curve are proved at once.
///
/// Where steps do not get there, the box is halved. Boxes of 2^-20 of a cell along each axis are
/// left after their steps, proved or not.
class trilinear_minimum {
 public:
  KOKKOS_FORCEINLINE_FUNCTION trilinear_minimum(trilinear const& dose, triple const& ratio,
                                                triple const& inverse_ratio, triple const& weight,
                                                triple const& inverse, triple const& point)
      : dose_(dose),
        ratio_(ratio),
        inverse_ratio_(inverse_ratio),
        weight_(weight),
        inverse_(inverse),
        point_(point) {}

  /// Lowers `best`, whose point is in the cell's coordinates, to the least of it and F.
  /// \param top  1 or 0 an axis: where the cell ends
  KOKKOS_FUNCTION void lower(std::int32_t const (&top)[3], likely what, min_found& best) const {
    triple const end = {double(top[0]), double(top[1]), double(top[2])};
    triple const begin = {0, 0, 0};
    if (leaves(begin, end, what, best)) {
      return;
    }
    // Boxes by halving, depth first: `path` has a bit a halving.
    int const max_depth = max_halvings * (top[0] + top[1] + top[2]);
    std::uint64_t path = 0;
    for (int depth = max_depth > 0 ? 1 : 0; depth > 0;) {
      triple low = {0, 0, 0};
      triple high = end;
      halve(path, depth, low, high);
      if (!is_far(low, high, best) && !leaves(low, high, likely::nothing, best) &&
          depth < max_depth) {
        path <<= 1;
        ++depth;
        continue;
      }
      while (depth > 0 && (path & 1) != 0) {
        path >>= 1;
        --depth;
      }
      path |= 1;
    }
  }

 private:
  static constexpr int max_halvings = 20;  ///< of each axis
  static constexpr int max_steps = 8;

  /// Makes the cell the box at the end of `path`. Axes take turns, those of no width left out.
  KOKKOS_FUNCTION static void halve(std::uint64_t path, int depth, triple& low, triple& high) {
    int axis = 2;
    for (int bit = depth - 1; bit >= 0; --bit) {
      do {
        axis = axis == 2 ? 0 : axis + 1;
      } while (!(high[axis] > low[axis]));
      double const middle = 0.5 * (low[axis] + high[axis]);
      bool const upper = (path >> bit & 1) != 0;
      low[axis] = upper ? middle : low[axis];
      high[axis] = upper ? high[axis] : middle;
    }
  }

  /// Bounds the mixed derivatives in a box, each of which is linear along the third axis, by
  /// |t u| <= (t^2 a + u^2 / a) / 2 with the ratio a of the spacings.
  KOKKOS_FORCEINLINE_FUNCTION triple bend_in(triple const& low, triple const& high) const {
    using Kokkos::fma;
    double const c = dose_.xyz;
    double const xy = larger_size(fma(c, low[2], dose_.xy), fma(c, high[2], dose_.xy));
    double const xz = larger_size(fma(c, low[1], dose_.xz), fma(c, high[1], dose_.xz));
    double const yz = larger_size(fma(c, low[0], dose_.yz), fma(c, high[0], dose_.yz));
    return {fma(xy, ratio_[0], xz * ratio_[1]), fma(xy, inverse_ratio_[0], yz * ratio_[2]),
            fma(xz, inverse_ratio_[1], yz * inverse_ratio_[2])};
  }

  /// Returns what F is not below in the box, from the value `e` and the gradient `g` at `x`.
  KOKKOS_FORCEINLINE_FUNCTION double bound(triple const& low, triple const& high,
                                           triple const& bend, triple const& x, double e,
                                           triple const& g, double s) const {
    using Kokkos::fma;
    double sum = s * (2 * e - s);
    double const size = Kokkos::fabs(s);
    for (int k = 0; k < 3; ++k) {
      double const w = weight_[k];
      double const slope = s * g[k];
      double const bent = size * bend[k];
      double u = clamped(fma(-slope, inverse_[k], point_[k]), low[k], high[k]);
      // The least of W (y - u)^2 - B (y - x)^2 over all y is -B W / (W - B) (u - x)^2.
      double part = 2;
      if (bent > 0.5 * w) {
        part = 1;
        u = bent < w ? clamped((w * point_[k] - slope - bent * x[k]) / (w - bent), low[k], high[k])
            : parabola(k, low[k], slope, bent, x[k]) < parabola(k, high[k], slope, bent, x[k])
                ? low[k]
                : high[k];
      }
      sum += parabola(k, u, slope, part * bent, x[k]);
    }
    return sum;
  }
  KOKKOS_FORCEINLINE_FUNCTION double parabola(int k, double u, double slope, double bent,
                                              double x) const {
    double const off = u - point_[k];
    double const by = u - x;
    return Kokkos::fma(weight_[k] * off, off, by * Kokkos::fma(-bent, by, 2 * slope));
  }

  /// Returns whether the distance of the box and the range of its dose show that it has nothing.
  KOKKOS_FUNCTION bool is_far(triple const& low, triple const& high, min_found const& best) const {
    triple unused = {0, 0, 0};
    double least = dose_.at(low, unused);
    double most = least;
    for (int n = 1; n < 8; ++n) {
      triple const corner = {(n & 4) != 0 ? high[0] : low[0], (n & 2) != 0 ? high[1] : low[1],
                             (n & 1) != 0 ? high[2] : low[2]};
      double const e = dose_.at(corner, unused);
      least = e < least ? e : least;
      most = e > most ? e : most;
    }
    double const gap = clamped(0, least, most);
    double f = gap * gap;
    for (int k = 0; k < 3; ++k) {
      double const off = point_[k] - clamped(point_[k], low[k], high[k]);
      f = Kokkos::fma(weight_[k] * off, off, f);
    }
    return !(f < enough(best.squared));
  }

  /// Returns whether sum of weight_k (1 + more) u_k^2 + 2 s E(u) is convex in the box, to 1e-7 of
  /// the weights: whether its second derivatives over the weights are positive semidefinite, by
  /// their minors. They are linear in the mixed derivatives, which have their extremes at corners.
  KOKKOS_FUNCTION bool is_convex(triple const& low, triple const& high, double s,
                                 double more) const {
    using Kokkos::fma;
    // Minors that are wrong by 1e-15 may hide an eigenvalue of -3e-8.
    double const one = 1 + (more - 1e-7);
    double const xy_weight = s * s * inverse_[0] * inverse_[1];
    double const xz_weight = s * s * inverse_[0] * inverse_[2];
    double const yz_weight = s * s * inverse_[1] * inverse_[2];
    double const all_weight = 2 * s * xy_weight * inverse_[2];
    for (int n = 0; n < 8; ++n) {
      double const xy = fma(dose_.xyz, (n & 1) != 0 ? high[2] : low[2], dose_.xy);
      double const xz = fma(dose_.xyz, (n & 2) != 0 ? high[1] : low[1], dose_.xz);
      double const yz = fma(dose_.xyz, (n & 4) != 0 ? high[0] : low[0], dose_.yz);
      double const a = xy * xy * xy_weight;
      double const b = xz * xz * xz_weight;
      double const c = yz * yz * yz_weight;
      double const square = one * one;
      double const all = fma(xy * xz * yz, all_weight, one * (square - (a + b + c)));
      if (!(one > 0 && a <= square && b <= square && c <= square && all >= 0)) {
        return false;
      }
    }
    return true;
  }

  /// Returns whether the tangent at `x` proves that no point of the box is below `best`. What the
  /// tangent leaves to spare may make good for what is not convex.
  KOKKOS_FUNCTION bool is_minimum(triple const& low, triple const& high, triple const& x, double e,
                                  triple const& g, double best) const {
    using Kokkos::fma;
    double tangent = e * e;
    double size = 0;
    for (int k = 0; k < 3; ++k) {
      double const off = x[k] - point_[k];
      double const slope = 2 * fma(weight_[k], off, e * g[k]);
      double const down = low[k] - x[k];
      double const up = high[k] - x[k];
      double const by = larger_size(down, up);
      tangent = fma(weight_[k] * off, off, fma(slope, slope > 0 ? down : up, tangent));
      size = fma(weight_[k] * by, by, size);
    }
    double const spare = tangent - enough(best);
    return spare >= 0 && (size == 0 || is_convex(low, high, e, spare / size));
  }

  /// Lowers `best` by points of the box. Returns whether no other is below it.
  KOKKOS_FUNCTION bool leaves(triple const& low, triple const& high, likely what,
                              min_found& best) const {
    using Kokkos::fma;
    triple const bend = bend_in(low, high);
    triple x = {clamped(best.at[0], low[0], high[0]), clamped(best.at[1], low[1], high[1]),
                clamped(best.at[2], low[2], high[2])};
    triple g = {0, 0, 0};
    double e = dose_.at(x, g);
    // Most cells have nothing, which the difference at the best point shows.
    if (what == likely::nothing &&
        !(bound(low, high, bend, x, e, g, best.difference) < enough(best.squared))) {
      return true;
    }
    for (int step = 0; step < max_steps; ++step) {
      double f = e * e;
      for (int k = 0; k < 3; ++k) {
        double const off = x[k] - point_[k];
        f = fma(weight_[k] * off, off, f);
      }
      if (f < best.squared) {
        best = {f, x, e};
      }
      // Behind a step, x is near a minimum if there is one, and E is what it is there.
      if (step > 0 && !(bound(low, high, bend, x, e, g, e) < enough(best.squared))) {
        return true;
      }
      triple u = x;
      double const s = linear_minimum(low, high, x, g, e, u);
      if (step == 0 && what == likely::nothing &&
          !(bound(low, high, bend, x, e, g, s) < enough(best.squared))) {
        return true;
      }
      if (u[0] == x[0] && u[1] == x[1] && u[2] == x[2]) {
        if (is_minimum(low, high, x, e, g, best.squared)) {
          return true;
        }
        if (step > 0) {
          return false;
        }
        // It may be a saddle, on which steps would stay.
        for (int k = 0; k < 3; ++k) {
          u[k] = 0.5 * (low[k] + high[k]);
        }
      }
      x = u;
      e = dose_.at(x, g);
    }
    return is_minimum(low, high, x, e, g, best.squared);
  }
  KOKKOS_FORCEINLINE_FUNCTION static double enough(double best) {
    return Kokkos::fma(-relative_slack, best, best) - absolute_slack;
  }

  /// Sets `u` to the minimum for a linear E; returns E there, s. What E is at u(s) less s falls
  /// with s, on straight lines between those s where a coordinate comes to a face of the box.
  KOKKOS_FUNCTION double linear_minimum(triple const& low, triple const& high, triple const& x,
                                        triple const& g, double e, triple& u) const {
    using Kokkos::fma;
    // Most often no coordinate comes to a face.
    double uncut = e;
    double steepness = 1;
    for (int k = 0; k < 3; ++k) {
      uncut = fma(g[k], point_[k] - x[k], uncut);
      steepness += g[k] * g[k] * inverse_[k];
    }
    double const s0 = uncut / steepness;
    bool inside = true;
    for (int k = 0; k < 3; ++k) {
      u[k] = free(k, s0, g);
      inside = inside && u[k] >= low[k] && u[k] <= high[k];
    }
    if (inside) {
      return s0;
    }
    // E is from below to above in the box.
    double below = e;
    double above = e;
    for (int k = 0; k < 3; ++k) {
      below = fma(g[k], (g[k] > 0 ? low[k] : high[k]) - x[k], below);
      above = fma(g[k], (g[k] > 0 ? high[k] : low[k]) - x[k], above);
    }
    for (int n = 0; n < 6; ++n) {
      int const k = n % 3;
      double const s = (point_[k] - (n < 3 ? low[k] : high[k])) * weight_[k] / g[k];
      if (s > below && s < above) {
        double rest = e - s;
        for (int m = 0; m < 3; ++m) {
          rest = fma(g[m], clamped(free(m, s, g), low[m], high[m]) - x[m], rest);
        }
        above = rest < 0 ? s : above;
        below = rest < 0 ? below : s;
      }
    }
    double const between = 0.5 * (below + above);
    double sum = e;
    double slope = 1;
    for (int k = 0; k < 3; ++k) {
      double const there = free(k, between, g);
      double const cut = clamped(there, low[k], high[k]);
      sum = fma(g[k], (cut != there ? cut : point_[k]) - x[k], sum);
      slope += cut != there ? 0.0 : g[k] * g[k] * inverse_[k];
    }
    double const s = sum / slope;
    for (int k = 0; k < 3; ++k) {
      u[k] = clamped(free(k, s, g), low[k], high[k]);
    }
    return s;
  }
  /// Returns where a coordinate is for E there of `s`, were there no faces.
  KOKKOS_FORCEINLINE_FUNCTION double free(int k, double s, triple const& g) const {
    return Kokkos::fma(-s * inverse_[k], g[k], point_[k]);
  }

  trilinear dose_;
  triple ratio_;
  triple inverse_ratio_;
  triple weight_;
  triple inverse_;
  triple point_;
};

}  // namespace iso::gamma::detail
