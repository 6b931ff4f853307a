// SPDX-License-Identifier: BSD-3-Clause
//! Holds how backprojection by scatter adds: in whole numbers, on a grid that is coarse enough
//! never to overflow and fine enough for its error.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/ct/detail/chords.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// The bounds of what the rays of one view, one a pixel, do to one voxel.
struct ray_bound {
  double rays;     ///< most rays that give a voxel a weight
  double weights;  ///< most that their weights add up to; exact methods: in voxel diagonals
};

/// Returns a bound for every voxel and view. Joseph's weights of a view's rays in a plane across
/// the driving axis are those of a lattice of points under two tents: along a row of points that
/// lie at least d apart, a function that rises and falls once adds up to at most its largest value
/// and its integral over d.
ray_bound bound_rays(geometry const& g, iso::grid const& volume, projector method);

/// The words that sum a block's products for one voxel: digits of `low_bits` bits, the last word
/// with the rest and the sign.
struct sum_words {
  std::int32_t count;     ///< 1 to 3
  std::int32_t low_bits;  ///< of every word but the last
  /// What a grid's scale times the largest product may be: no sum of a block overflows.
  double capacity;
  /// No voxel is off by more, of the bound on its weights times the largest product.
  double error;
};

/// Returns what `count` words make of rays so bounded.
sum_words make_words(ray_bound bound, std::int32_t count);

/// Returns the fewest words, of at least `least`, by which voxels of T are as exact as back_project
/// promises, or three.
template <class T>
sum_words choose_words(ray_bound bound, std::int32_t least) {
  std::int32_t count = sizeof(T) == 4 ? 1 : 2;
  count = count < least ? least : count;
  while (count < 3 && !(make_words(bound, count).error <= (sizeof(T) == 4 ? 1e-6 : 1e-13))) {
    ++count;
  }
  return make_words(bound, count);
}

/// The grid of a call's products.
struct product_grid {
  double scale;        ///< a power of two: products times it are rounded to whole numbers
  double unit;         ///< its inverse
  double max_reading;  ///< readings beyond it count as not finite
};

/// Makes the grid for readings of at most `*found`, or `given` where that is null.
struct product_grid_kernel {
  double const* found;
  double given;
  double longest;  ///< no step and no chord is longer, mm
  double share;    ///< of a reading that a ray carries
  double capacity;
  product_grid* grid;

  KOKKOS_FUNCTION void operator()(int) const {
    double const beyond = Kokkos::Experimental::finite_max_v<double> / longest;
    double const reading = found != nullptr ? *found : given;
    double const most = reading < beyond ? reading : beyond;
    double const product = most * longest * share;
    double const ratio = product > 0 ? capacity / product : 1.0;
    double const bounded = ratio < 0x1p1022 ? ratio : 0x1p1022;
    // Its power of two alone.
    double const scale =
        Kokkos::bit_cast<double>(Kokkos::bit_cast<std::uint64_t>(bounded) & 0x7ff0000000000000ULL);
    *grid = {scale, 1 / scale, most};
  }
};

/// Returns x rounded to the nearest whole number, of two the even one; |x| < 2^31.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t nearest(float x) {
  KOKKOS_IF_ON_DEVICE((return std::uint32_t(__float2int_rn(x));))
  KOKKOS_IF_ON_HOST((return std::uint32_t(Kokkos::bit_cast<std::uint64_t>(double(x) + 0x1.8p52));))
}
/// Does the same of a product, rounded once; |a b| <= 2^51.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t nearest_product(double a, double b) {
  return std::int64_t(Kokkos::bit_cast<std::uint64_t>(Kokkos::fma(a, b, 0x1.8p52)) -
                      Kokkos::bit_cast<std::uint64_t>(0x1.8p52));
}

}  // namespace iso::ct::detail
