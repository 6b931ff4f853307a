// SPDX-License-Identifier: BSD-3-Clause
// What the lattice's lines read of a voxel, and how little memory holds it: GPUs walk large regions
// at the speed of their memory.
#pragma once

#include <iso/backend/loads.hpp>
#include <iso/backend/pack.hpp>
#include <iso/core/grid.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::dose::detail {

template <class T>
struct carried_voxel {
  T terma;  ///< of the most that a voxel releases
  T density;
  T nearness;  ///< 1 / the distance from the source, 1/mm
};

/// The numbers of a carried voxel, alike on every backend. In double they are what they are.
template <class T>
struct voxel_code {
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION carried_voxel<T> of(T terma, T density,
                                                                T nearness) const {
    return {terma, density, nearness};
  }
  /// Of a voxel that releases nothing, or next to nothing.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION carried_voxel<T> silent(T terma, T density) const {
    return {terma, density, T(0)};
  }
  /// \param low, high  bounds of the nearness in the region
  static voxel_code between(double, double) { return {}; }

  /// As GPUs read it.
  struct memory {
    backend::pack<T, 2>* voxels;
    T* nearness;
    static constexpr bool apart = true;  ///< the nearness

    [[nodiscard]] memory from(std::int64_t first) const {
      return {voxels + first, nearness + first};
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION void write(memory const& to, std::int64_t at,
                                         carried_voxel<T> const& v) const {
    to.voxels[at] = {{v.terma, v.density}};
    to.nearness[at] = v.nearness;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION carried_voxel<T> read(memory const& from,
                                                                  std::int64_t at) const {
    auto const v = backend::vector_load(from.voxels + at);
    return {v[0], v[1], from.nearness[at]};
  }
};

/// In float the nearness is one of 2^16 numbers, and TERMA and density are the nearest numbers
/// whose last bytes are that number's two bytes: so a voxel is eight bytes. They differ by at most
/// 2^-16 of themselves from what they were. A voxel that releases nothing keeps its density, and
/// whatever number its bytes make.
template <>
struct voxel_code<float> {
  std::uint32_t least;  ///< bits of the least nearness
  std::uint32_t step;   ///< of these bits, from a number to the next: 2^shift
  std::int32_t shift;

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION carried_voxel<float> of(float terma, float density,
                                                                    float nearness) const {
    std::uint32_t const bits = Kokkos::bit_cast<std::uint32_t>(nearness);
    std::uint32_t const above = bits > least ? (bits - least + step / 2) >> shift : 0;
    std::uint32_t const number = above < 0xFFFF ? above : 0xFFFF;
    float const t = with_last_byte(terma, number & 0xFF);
    float const d = with_last_byte(density, number >> 8);
    return {t, d, nearness_in(t, d)};
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION carried_voxel<float> silent(float terma,
                                                                        float density) const {
    return {terma, density, nearness_in(terma, density)};
  }
  static voxel_code between(double low, double high) {
    voxel_code out{Kokkos::bit_cast<std::uint32_t>(float(low)), 1, 0};
    std::uint32_t const apart = Kokkos::bit_cast<std::uint32_t>(float(high)) - out.least;
    while (apart >> out.shift > 0xFFFE) {
      ++out.shift;
      out.step *= 2;
    }
    return out;
  }

  struct memory {
    backend::pack<float, 2>* voxels;
    float* nearness;  ///< null
    static constexpr bool apart = false;

    [[nodiscard]] memory from(std::int64_t first) const { return {voxels + first, nullptr}; }
  };
  KOKKOS_FORCEINLINE_FUNCTION void write(memory const& to, std::int64_t at,
                                         carried_voxel<float> const& v) const {
    to.voxels[at] = {{v.terma, v.density}};
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION carried_voxel<float> read(memory const& from,
                                                                      std::int64_t at) const {
    auto const v = backend::vector_load(from.voxels + at);
    return {v[0], v[1], nearness_in(v[0], v[1])};
  }

 private:
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION float nearness_in(float terma, float density) const {
    std::uint32_t const low = Kokkos::bit_cast<std::uint32_t>(terma) & 0xFF;
    std::uint32_t const high = Kokkos::bit_cast<std::uint32_t>(density) & 0xFF;
    return Kokkos::bit_cast<float>(high * (256 * step) + (low * step + least));
  }
  /// Subnormal numbers, which processors are slow with, become 0 or 2^-100.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static float with_last_byte(float x,
                                                                        std::uint32_t last) {
    std::uint32_t const small = 0x0D800000;
    std::uint32_t bits = Kokkos::bit_cast<std::uint32_t>(x);
    bits = bits < small ? (last == 0 ? 0 : small) : bits;
    bits = bits < 0x7F7FFE00 ? bits : 0x7F7FFE00;
    return Kokkos::bit_cast<float>(((bits - last + 0x80) & ~std::uint32_t(0xFF)) | last);
  }
};

/// 1 / the distance from the source to a voxel, alike in whatever order the axes stand.
template <class T>
struct voxel_nearness {
  vec3<T> from_source;  ///< to the region's middle, mm
  vec3<T> spacing;
  vec3<T> half;  ///< of the region's extents less one

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T at(std::int64_t x, std::int64_t y,
                                                 std::int64_t z) const {
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
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T square(int axis, std::int64_t index) const {
    T const d = Kokkos::fma(T(std::int32_t(index)) - half[axis], spacing[axis], from_source[axis]);
    return d * d;
  }
};

}  // namespace iso::dose::detail
