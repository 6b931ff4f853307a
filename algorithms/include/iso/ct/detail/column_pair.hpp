// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/core/interpolation.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ct::detail {

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

}  // namespace iso::ct::detail
