// SPDX-License-Identifier: BSD-3-Clause
//! Finds the least squared gamma within a cell of trilinear dose.
#pragma once

#include <iso/core/vec3.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::gamma::detail {

/// A cell is left when no point of it can be below best - (relative best + absolute), of squared
/// gamma.
inline constexpr double relative_slack = 2e-7;
inline constexpr double absolute_slack = 1e-14;

KOKKOS_FORCEINLINE_FUNCTION double clamped(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

KOKKOS_FORCEINLINE_FUNCTION double larger_size(double a, double b) {
  double const x = Kokkos::fabs(a);
  double const y = Kokkos::fabs(b);
  return x > y ? x : y;
}

/// Is a trilinear function on the unit cube, as a polynomial.
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
  KOKKOS_FORCEINLINE_FUNCTION double at(vec3<double> u, vec3<double>& gradient) const {
    using Kokkos::fma;
    double const x_of_y = fma(xy, u.y, x);
    gradient.z = fma(fma(xyz, u.y, xz), u.x, fma(yz, u.y, z));
    gradient.x = fma(fma(xyz, u.y, xz), u.z, x_of_y);
    gradient.y = fma(fma(xyz, u.x, yz), u.z, fma(xy, u.x, y));
    return fma(gradient.z, u.z, fma(x_of_y, u.x, fma(y, u.y, one)));
  }
};

/// Is the best point of a search so far.
struct least_found {
  double squared;     ///< of gamma
  vec3<double> at;    ///< in spacings
  double difference;  ///< of the doses there, over the criterion's
};

/// Minimises F(u) = sum of weight_k (u_k - point_k)^2 + E(u)^2 over a cell, E trilinear.
///
/// A step of Gauss and Newton: with E(u) about e + g (u - x), F has one minimum over a box, at
/// u_k(s) = point_k - s g_k / weight_k, cut to the box, where s is the linear E there.
///
/// Its bound: E^2 >= 2 s E - s^2 for every s. With E = e + g (u - x) + what is not linear, and
/// |what is not linear| <= sum of bend_k (u_k - x_k)^2 / 2, F is at least a sum of one parabola an
/// axis, whose minima have closed forms. Once x is a minimum and |s| bend_k <= weight_k, the bound
/// is F(x): it then is the least of the whole box. Where steps do not get there, the box is halved.
class trilinear_minimum {
 public:
  KOKKOS_FORCEINLINE_FUNCTION trilinear_minimum(trilinear const& dose, vec3<double> const& ratio,
                                                vec3<double> const& inverse_ratio,
                                                vec3<double> const& weight,
                                                vec3<double> const& inverse,
                                                vec3<double> const& point)
      : dose_(dose),
        ratio_(ratio),
        inverse_ratio_(inverse_ratio),
        weight_(weight),
        inverse_(inverse),
        point_(point) {}

  /// Lowers `best`, whose point is in the cell's coordinates, to the least of it and F.
  /// \param top  1 or 0 an axis: where the cell ends
  KOKKOS_FUNCTION void lower(std::int32_t const (&top)[3], least_found& best) const {
    vec3<double> const end{double(top[0]), double(top[1]), double(top[2])};
    if (leaves({0, 0, 0}, end, best)) {
      return;
    }
    // Boxes by halving, depth first: `path` has a bit a halving.
    int const max_depth = max_halvings * (top[0] + top[1] + top[2]);
    std::uint64_t path = 0;
    for (int depth = max_depth > 0 ? 1 : 0; depth > 0;) {
      vec3<double> low{0, 0, 0};
      vec3<double> high = end;
      halve(path, depth, low, high);
      if (!leaves(low, high, best) && depth < max_depth) {
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
  KOKKOS_FUNCTION static void halve(std::uint64_t path, int depth, vec3<double>& low,
                                    vec3<double>& high) {
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
  KOKKOS_FORCEINLINE_FUNCTION vec3<double> bend_in(vec3<double> const& low,
                                                   vec3<double> const& high) const {
    using Kokkos::fma;
    double const c = dose_.xyz;
    double const xy = larger_size(fma(c, low.z, dose_.xy), fma(c, high.z, dose_.xy));
    double const xz = larger_size(fma(c, low.y, dose_.xz), fma(c, high.y, dose_.xz));
    double const yz = larger_size(fma(c, low.x, dose_.yz), fma(c, high.x, dose_.yz));
    return {fma(xy, ratio_.x, xz * ratio_.y), fma(xy, inverse_ratio_.x, yz * ratio_.z),
            fma(xz, inverse_ratio_.y, yz * inverse_ratio_.z)};
  }

  /// Returns what F is not below in the box, from the value `e` and the gradient `g` at `x`.
  KOKKOS_FORCEINLINE_FUNCTION double bound(vec3<double> const& low, vec3<double> const& high,
                                           vec3<double> const& bend, vec3<double> const& x,
                                           double e, vec3<double> const& g, double s) const {
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

  /// Lowers `best` by points of the box. Returns whether no other is below it.
  KOKKOS_FUNCTION bool leaves(vec3<double> const& low, vec3<double> const& high,
                              least_found& best) const {
    using Kokkos::fma;
    vec3<double> const bend = bend_in(low, high);
    vec3<double> x{clamped(best.at.x, low.x, high.x), clamped(best.at.y, low.y, high.y),
                   clamped(best.at.z, low.z, high.z)};
    vec3<double> g;
    double e = dose_.at(x, g);
    // Most cells have nothing, which the difference at the best point shows.
    if (bound(low, high, bend, x, e, g, best.difference) >= enough(best.squared)) {
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
      vec3<double> u;
      double const s = linear_minimum(low, high, x, g, e, u);
      if (bound(low, high, bend, x, e, g, s) >= enough(best.squared)) {
        return true;
      }
      if (u == x) {
        return false;
      }
      x = u;
      e = dose_.at(x, g);
    }
    return false;
  }
  KOKKOS_FORCEINLINE_FUNCTION static double enough(double best) {
    return Kokkos::fma(-relative_slack, best, best) - absolute_slack;
  }

  /// Sets `u` to the minimum for a linear E; returns E there. Any s gives a valid bound, so that
  /// four rounds are enough to find which coordinates are at the box's faces.
  KOKKOS_FORCEINLINE_FUNCTION double linear_minimum(vec3<double> const& low,
                                                    vec3<double> const& high, vec3<double> const& x,
                                                    vec3<double> const& g, double e,
                                                    vec3<double>& u) const {
    double s = 0;
    bool cut[3] = {false, false, false};
    for (int round = 0; round < 4; ++round) {
      double sum = e;
      double slope = 1;
      for (int k = 0; k < 3; ++k) {
        sum = Kokkos::fma(g[k], (cut[k] ? u[k] : point_[k]) - x[k], sum);
        slope += cut[k] ? 0.0 : g[k] * g[k] * inverse_[k];
      }
      s = sum / slope;
      bool changed = false;
      for (int k = 0; k < 3; ++k) {
        double const free = Kokkos::fma(-s * inverse_[k], g[k], point_[k]);
        u[k] = clamped(free, low[k], high[k]);
        bool const is_cut = u[k] != free;
        changed = changed || is_cut != cut[k];
        cut[k] = is_cut;
      }
      if (!changed) {
        break;
      }
    }
    return s;
  }

  trilinear dose_;
  vec3<double> ratio_;
  vec3<double> inverse_ratio_;
  vec3<double> weight_;
  vec3<double> inverse_;
  vec3<double> point_;
};

}  // namespace iso::gamma::detail
