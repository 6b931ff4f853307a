// SPDX-License-Identifier: BSD-3-Clause
//! Holds what both gathers of backprojection add, and how carefully weights must be taken.
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/backend/saturate.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/detail/back_project_tables.hpp>
#include <iso/ct/detail/column_pair.hpp>
#include <iso/ct/detail/joseph_walk.hpp>
#include <iso/ct/detail/voxel_step.hpp>
#include <iso/ct/detail/weighted_backprojection_kernel.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// The care that the weights of some voxels need. Wherever less care will do, more gives the same
/// bits.
enum class care {
  none,  ///< 1 - |z - k|
  low,   ///< share_of, which height 1 needs
  full,  ///< besides: coordinates outside the field, and pixels that only touched voxels may see
};

/// Returns sum + share x, where a share of zero changes nothing, whatever x is.
template <care Care, class T>
KOKKOS_FORCEINLINE_FUNCTION T add_share(T share, T x, T sum) {
  T const added = Kokkos::fma(share, x, sum);
  return Care == care::full && share == T(0) ? sum : added;
}

/// A voxel, and the weight of its step, as they are before a sum goes to it.
template <class T>
struct voxel_before {
  T value;
  T weight;
};

/// The place where backprojection puts its sums: all voxels of a grid, or a slab's.
template <class T>
struct back_project_volume {
  T* voxels;
  grid g;
  slab planes;  ///< that `voxels` holds
  field_range<T> field;
  boundary edge;
  bool begins;            ///< the volume's voxels begin at zero
  voxel_step<T> by = {};  ///< with weights: how a voxel steps by its sum, the only one

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t layers(std::int32_t height) const {
    return (planes.count() + height - 1) / height;
  }
  /// Returns the first height of a layer.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int32_t first_of(std::int32_t layer,
                                                                  std::int32_t height) const {
    return std::int32_t(planes.first) + layer * height;
  }
  /// Returns p, or a coordinate that touches no voxel along `axis` where p is not in the field.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T kept(T p, int axis) const {
    return field.keep(p, field.highest[axis], std::int32_t(g.extent[axis]));
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION care care_for(std::int32_t z, std::int32_t height,
                                                          bool unsafe) const {
    bool const at_edge = z == 0 || z + height >= g.extent[2];
    return unsafe || (edge == boundary::truncate && at_edge) ? care::full
           : z <= 1                                          ? care::low
                                                             : care::none;
  }
  /// Returns what a ray at z gives voxel k.
  template <care Care>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T height_share(T z, T k) const {
    if constexpr (Care == care::none) {
      return backend::saturate(T(1) - Kokkos::fabs(z - k));
    } else if constexpr (Care == care::low) {
      T const lower = backend::saturate(T(1) - (z - k));
      T const upper = backend::saturate(z - (k - T(1)));
      return lower < upper ? lower : upper;
    } else {
      return share_of(kept(z, 2), k);
    }
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool has(std::int64_t i, std::int64_t j,
                                                     std::int64_t k) const {
    return i < g.extent[0] && j < g.extent[1] && k < planes.last;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int64_t index(std::int64_t i, std::int64_t j,
                                                               std::int64_t k) const {
    return (i * g.extent[1] + j) * planes.count() + (k - planes.first);
  }
  /// Ends a block of views: its sum goes to the voxel, if there is one. A zero loses its
  /// sign, so that terms that are zero change no bit.
  KOKKOS_FORCEINLINE_FUNCTION void add(std::int64_t i, std::int64_t j, std::int64_t k,
                                       bool is_first, T sum) const {
    if (has(i, j, k)) {
      T& voxel = voxels[index(i, j, k)];
      T const before = begins && is_first ? T(0) : voxel;
      voxel = canonical(before + (sum + T(0)));
    }
  }
  /// Reads what step wants, if there is such a voxel.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION voxel_before<T> before_step(std::int64_t i,
                                                                        std::int64_t j,
                                                                        std::int64_t k) const {
    return has(i, j, k) ? voxel_before<T>{voxels[index(i, j, k)], by.weights[index(i, j, k)]}
                        : voxel_before<T>{T(0), T(0)};
  }
  /// Ends the only block of views: the voxel steps by its sum, if there is one.
  KOKKOS_FORCEINLINE_FUNCTION void step(voxel_before<T> const& was, std::int64_t i, std::int64_t j,
                                        std::int64_t k, T sum) const {
    if (has(i, j, k)) {
      voxels[index(i, j, k)] = by.of(was.value, was.weight, canonical(sum + T(0)));
    }
  }
};

}  // namespace iso::ct::detail
