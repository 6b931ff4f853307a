// SPDX-License-Identifier: BSD-3-Clause
//! Interpolates values between two neighbouring columns of voxels or pixels, for lane values.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_COLUMN_PAIR_HPP
#define ISO_CT_DETAIL_COLUMN_PAIR_HPP

#include <iso/backend/lane_value.hpp>
#include <iso/core/interpolation.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER <iso/ct/detail/column_pair.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Returns the weight of the upper of two neighbours, of a fraction a lane: linear_weight and
/// spline_weight of iso/core/interpolation.hpp.
template <class Weight, class V>
KOKKOS_FORCEINLINE_FUNCTION V weight_of(V const& d) {
  if constexpr (std::is_same_v<Weight, linear_weight>) {
    return d;
  } else {
    static_assert(std::is_same_v<Weight, spline_weight>);
    return (d * d) * fma(V(-2), d, V(3));
  }
}

/// Two neighbouring columns, of voxels or of pixels, and the weight of the upper one: what stands
/// at a place between them.
template <class T, class Address>
struct column_pair {
  Address lower;
  std::uint32_t stride;  ///< bytes from the lower to the upper
  T weight;

  template <class Place>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(Place const& place) const {
    auto const below = place.load(lower);
    return blend(std::decay_t<decltype(below)>(weight), below, place.load(lower, stride));
  }
};

/// The same of columns whose numbers lie side by side, those of a place together.
template <class T, class Address>
struct joined_columns {
  Address both;
  T weight;

  template <class Place>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(Place const& place) const {
    typename Place::template per_lane<T> below;
    typename Place::template per_lane<T> above;
    place.load_two(both, below, above);
    return blend(std::decay_t<decltype(below)>(weight), below, above);
  }
};

/// The same with a weight for each lane.
template <class Address, class Value>
struct joined_pixels {
  Address both;
  Value weight;

  template <class Place>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(Place const& place) const {
    Value below;
    Value above;
    place.load_two(both, below, above);
    return blend(weight, below, above);
  }
};

/// Returns, the other way round, what a sample at `p` gives column (or height) k, a whole number.
/// With f = floor(p) and w = p - f it is w for f + 1, 1 - w for f and zero elsewhere, each to the
/// bit the weight of `blend`. 1 - |p - k| is not: for k = 1 and p < 1, p - 1 rounds.
template <class T>
  requires std::is_floating_point_v<T>
KOKKOS_FORCEINLINE_FUNCTION T share_of(T p, T k) {
  T const lower = T(1) - (p - k);
  T const upper = p - (k - T(1));
  T const least = lower < upper ? lower : upper;
  return least > T(0) ? least : T(0);
}
/// Does the same; `below` is k - 1.
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION backend::lane_value<T, S> share_of(
    backend::lane_value<T, S> const& p, backend::lane_value<T, S> const& k,
    backend::lane_value<T, S> const& below) {
  using value = backend::lane_value<T, S>;
  return max(min(value(T(1)) - (p - k), p - below), value(T(0)));
}

}  // namespace iso::ct::detail::ISO_SET

#endif
