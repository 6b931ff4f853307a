// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/sampler.hpp
//! How a kernel reads a volume between voxel centres.
#pragma once

#include <iso/core/volume_view.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso {

/// The field beyond the outermost voxel centres.
enum class boundary {
  zero,  ///< blends with zero up to one spacing beyond them, as if empty voxels lay around the grid
  cut,   ///< ends at them
};

/// Weight of the upper of two neighbours at the fraction `d` in [0, 1) between them.
struct linear_weight {
  template <class T>
  KOKKOS_FUNCTION T operator()(T d) const {
    return d;
  }
};

/// 3 d^2 - 2 d^3: the smooth weight of Graetz 2020, equation 14.
struct spline_weight {
  template <class T>
  KOKKOS_FUNCTION T operator()(T d) const {
    return (d * d) * Kokkos::fma(T(-2), d, T(3));
  }
};

/// a + w (b - a), two roundings: the one blend from which every interpolation here is made.
/// Determinism: backend_to_backend.
template <class T>
KOKKOS_FUNCTION T blend(T w, T a, T b) {
  return Kokkos::fma(w, b - a, a);
}

/// Reads by interpolation between the eight voxels about a point. Callable inside any kernel.
/// Determinism: backend_to_backend.
template <class T, class Space, class Weight = linear_weight>
class interpolating_sampler {
 public:
  interpolating_sampler(volume_view<T const, Space> const& volume, boundary edge = boundary::zero)
      : data_(volume.data), edge_(edge) {}

  /// Value at continuous voxel indices (x, y, z): blended along x, then y, then z; zero outside.
  KOKKOS_FUNCTION T operator()(T x, T y, T z) const {
    if (!(inside(x, 0) && inside(y, 1) && inside(z, 2))) {
      return T(0);
    }
    auto const i = floor(x);
    auto const j = floor(y);
    auto const k = floor(z);
    Weight const weight;
    T const wx = weight(x - T(i));
    T const wy = weight(y - T(j));
    T const wz = weight(z - T(k));
    auto const column = [&](std::int64_t kk) {
      return blend(wy, blend(wx, at(i, j, kk), at(i + 1, j, kk)),
                   blend(wx, at(i, j + 1, kk), at(i + 1, j + 1, kk)));
    };
    return blend(wz, column(k), column(k + 1));
  }

 private:
  KOKKOS_FUNCTION static std::int64_t floor(T x) { return std::int64_t(Kokkos::floor(x)); }
  KOKKOS_FUNCTION bool inside(T p, int axis) const {
    T const n = T(std::int64_t(data_.extent(axis)));
    return edge_ == boundary::zero ? p > T(-1) && p < n : p >= T(0) && p <= n - T(1);
  }
  KOKKOS_FUNCTION T at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    auto const n = [&](int axis) { return std::int64_t(data_.extent(axis)); };
    return i >= 0 && i < n(0) && j >= 0 && j < n(1) && k >= 0 && k < n(2) ? data_(i, j, k) : T(0);
  }

  typename volume_view<T const, Space>::data_type data_;
  boundary edge_;
};

}  // namespace iso
