// SPDX-License-Identifier: BSD-3-Clause
// What the lattice's lines read of a voxel, and how little memory holds it: GPUs walk large regions
// at the speed of their memory.
//! Packs TERMA, density and nearness of a voxel into two numbers, which lattice lines carry.
#pragma once

#include <iso/backend/loads.hpp>
#include <iso/backend/pack.hpp>
#include <iso/core/grid.hpp>

#include <Kokkos_Core.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace iso::dose::detail {

template <class T>
struct carried_voxel {
  T terma;  ///< of the most that a voxel releases
  T density;
  T nearness;  ///< 1 / the distance from the source, 1/mm
};

/// The numbers of a carried voxel, alike on every backend, and two numbers of T in memory. The
/// nearness is one of 2^16 numbers (double: 2^32), and TERMA and density are the nearest numbers
/// whose last bits are those of that number. They differ by at most 2^-16 (2^-37) of themselves
/// from what they were. A voxel that releases nothing keeps its density, and whatever number its
/// bits make.
template <class T>
struct voxel_code {
  using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int half_bits = sizeof(T) == 4 ? 8 : 16;  ///< of a number
  static constexpr std::uint32_t half_mask = (std::uint32_t(1) << half_bits) - 1;

  word least;          ///< bits of the least nearness
  std::uint32_t step;  ///< of these bits, from a number to the next: 2^shift
  std::int32_t shift;

  /// \param low, high  bounds of the nearness in the region
  static voxel_code between(double low, double high) {
    voxel_code out{Kokkos::bit_cast<word>(T(low)), 1, 0};
    word const apart = Kokkos::bit_cast<word>(T(high)) - out.least;
    // The last number is left out, so that rounding up does not pass it.
    while (apart >> out.shift > last_number - 1) {
      ++out.shift;
      out.step *= 2;
    }
    return out;
  }
  /// \param releases  anything, or next to nothing
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION carried_voxel<T> of(T terma, T density, T nearness,
                                                                bool releases) const {
    word const bits = Kokkos::bit_cast<word>(nearness);
    word const above = ((bits > least ? bits : least) - least + step / 2) >> shift;
    word const number = above < last_number ? above : last_number;
    T const t = with_last_bits(terma, number & half_mask);
    T const d = with_last_bits(density, number >> half_bits);
    T const kept_t = releases ? t : terma;
    T const kept_d = releases ? d : density;
    return {kept_t, kept_d, nearness_in(kept_t, kept_d)};
  }
  KOKKOS_FORCEINLINE_FUNCTION static void write(backend::pack<T, 2>* to, std::int64_t at,
                                                carried_voxel<T> const& v) {
    to[at] = {{v.terma, v.density}};
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION carried_voxel<T> read(backend::pack<T, 2> const* from,
                                                                  std::int64_t at) const {
    auto const v = backend::vector_load(from + at);
    return {v[0], v[1], nearness_in(v[0], v[1])};
  }

 private:
  static constexpr word last_number = (word(1) << (2 * half_bits)) - 1;

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T nearness_in(T terma, T density) const {
    auto const low = std::uint32_t(Kokkos::bit_cast<word>(terma)) & half_mask;
    auto const high = std::uint32_t(Kokkos::bit_cast<word>(density)) & half_mask;
    return Kokkos::bit_cast<T>(word(low | high << half_bits) * step + least);
  }
  /// Numbers near the subnormal ones, which processors are slow with, become 0 or 2^-100.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static T with_last_bits(T x, word last) {
    constexpr word small = std::bit_cast<word>(T(0x1p-100));
    constexpr word large =
        std::bit_cast<word>(std::numeric_limits<T>::max()) - 2 * word(half_mask) - 1;
    word bits = Kokkos::bit_cast<word>(x);
    bits = bits < small ? (last == 0 ? 0 : small) : bits;
    bits = bits < large ? bits : large;
    word const half = (word(half_mask) + 1) / 2;
    return Kokkos::bit_cast<T>(((bits - last + half) & ~word(half_mask)) | last);
  }
};

/// 1 / the distance from the source to a voxel, alike in whatever order the axes stand.
template <class T>
struct voxel_nearness {
  vec3<T> from_source;  ///< to the region's middle, mm
  vec3<T> spacing;
  vec3<T> half;  ///< of the region's extents less one

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T at(std::int32_t x, std::int32_t y,
                                                 std::int32_t z) const {
    T const a = square(0, x);
    T const b = square(1, y);
    T const c = square(2, z);
    T const low = a < b ? a : b;
    T const high = a < b ? b : a;
    T const least = c < low ? c : low;
    T const most = c < high ? high : c;
    T const middle = c < low ? low : (c < high ? c : high);
    return T(1) / Kokkos::sqrt((least + middle) + most);
  }

 private:
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T square(int axis, std::int32_t index) const {
    T const d = Kokkos::fma(T(index) - half[axis], spacing[axis], from_source[axis]);
    return d * d;
  }
};

}  // namespace iso::dose::detail
