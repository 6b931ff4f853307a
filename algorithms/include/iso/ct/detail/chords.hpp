// SPDX-License-Identifier: BSD-3-Clause
//! Bounds and counts the chords of rays, and says where a walk along a ray stands.
#pragma once

#include <iso/core/grid.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace iso::ct::detail {

/// Bounds a step and a chord, mm: neither is longer than a voxel's diagonal, but for rounding. A
/// chord is the difference of two places on a ray, each rounded to T.
template <class T>
double longest_step(iso::grid const& g) {
  double const planes = double(std::max({g.extent[0], g.extent[1], g.extent[2]}));
  double const rounding = 0x1p-20 + 4 * double(std::numeric_limits<T>::epsilon()) * planes;
  return norm(g.spacing) * (1 + rounding);
}

/// The length in which reproducible sums count chords: a power of two of mm above all of a grid's.
/// So their products with scaled voxels are finite, and no chord is rounded by it.
struct chord_unit {
  double mm;
  double longest;  ///< chord, in this unit: in [0.5, 1)

  template <class T>
  static chord_unit of(iso::grid const& g) {
    double const most = longest_step<T>(g);
    int exponent = 0;
    std::frexp(most, &exponent);
    constexpr int range = sizeof(T) == 4 ? 126 : 1022;  // of the normal numbers of T
    double const mm = std::ldexp(1.0, std::clamp(exponent, -range, range));
    return {mm, most / mm};
  }
};

/// Bounds the number of chords in the sum of a pixel, which n x n rays have.
inline double chords_of_pixel(iso::grid const& g, std::int32_t n) {
  return double(n) * double(n) * double(g.extent[0] + g.extent[1] + g.extent[2] + 3);
}

/// Returns 1 / x but for a few units in the last place, which differ from backend to backend: for
/// estimates on which no bit depends.
KOKKOS_FORCEINLINE_FUNCTION float inverse_about(float x) {
  KOKKOS_IF_ON_DEVICE((return __fdividef(1.0F, x);))
  KOKKOS_IF_ON_HOST((return 1.0F / x;))
}
KOKKOS_FORCEINLINE_FUNCTION double inverse_about(double x) { return 1.0 / x; }

/// Returns how many planes of an axis a walk has crossed at `from`, from `least` to `most`: it
/// crosses plane n at fma(n, step, first).
template <class T>
KOKKOS_FORCEINLINE_FUNCTION std::int32_t planes_crossed(T from, T first, T step, std::int32_t least,
                                                        std::int32_t most) {
  // An estimate, put right.
  T const guess = (from - first) * inverse_about(step);
  T const bounded = guess < T(most) ? guess : T(most);
  std::int32_t count = bounded > T(least) ? std::int32_t(bounded) : least;
  while (count < most && Kokkos::fma(T(count), step, first) <= from) {
    ++count;
  }
  while (count > least && Kokkos::fma(T(count - 1), step, first) > from) {
    --count;
  }
  return count;
}

}  // namespace iso::ct::detail
