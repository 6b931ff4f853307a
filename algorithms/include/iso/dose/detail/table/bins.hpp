// SPDX-License-Identifier: BSD-3-Clause
//! Describes a cone's table as kernels look it up: straight lines in bins of the distance.
#pragma once

#include <iso/backend/loads.hpp>
#include <iso/backend/pack.hpp>
#include <iso/core/numerics.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

namespace iso::dose::detail {

/// A cone's table against the radiological distance: straight lines within 32 bins an
/// octave of the distance and 1/16 cm. Beyond 64 cm nothing more is absorbed.
template <class T>
struct radius_bins {
  using word = bits_of<T>;
  static constexpr T offset = T(0.0625);
  static constexpr int shift = sizeof(T) == 4 ? 18 : 47;
  /// One before that of the distance 0, for places that rounding makes less.
  static constexpr std::int32_t first =
      (sizeof(T) == 4 ? std::int32_t(0x3D800000 >> 18) : std::int32_t(0x3FB0000000000000 >> 47)) -
      1;
  /// Reaches up to a distance of 2^13 cm.
  static constexpr std::int32_t count = 1 + 17 * 32;
  static constexpr T max_distance = T(8000);
  /// A cone has its constants, its slopes, and both in pairs, which are one load. Room for two
  /// registers behind the last.
  static constexpr std::int32_t pitch = 608;
  static constexpr std::int32_t of_cone = 4 * pitch;

  /// Returns what is absorbed at a place, which is a distance, at most max_distance, and `offset`.
  static KOKKOS_FORCEINLINE_FUNCTION T at(T const* bins, T place) {
    auto const pairs = reinterpret_cast<backend::pack<T, 2> const*>(bins + 2 * pitch) - first;
    auto const bin = backend::vector_load(pairs + (Kokkos::bit_cast<word>(place) >> shift));
    return Kokkos::fma(bin[1], place, bin[0]);
  }
  /// Returns what is absorbed within any distance, cm of water; refused densities may give any.
  static KOKKOS_FORCEINLINE_FUNCTION T absorbed(T const* bins, T distance) {
    T const kept = distance < max_distance ? distance : max_distance;
    return at(bins, (kept > T(0) ? kept : T(0)) + offset);
  }
};

/// Appends a cone's bins to `out`, in double.
/// \param absorbed  within each of `radii`, cm
/// \param unit      that the bins count in
void add_bins(std::vector<double> const& radii, std::vector<double> const& absorbed, double unit,
              std::vector<double>& out);

}  // namespace iso::dose::detail
