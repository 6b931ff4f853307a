// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/interpolation.hpp
//! Provides weights and the blend by which kernels read a volume between voxel centres.
#pragma once

#include <iso/core/arithmetic.hpp>

namespace iso {

/// The values of the field beyond the outermost voxel centres.
enum class boundary {
  zero,  ///< blends with zero up to one spacing beyond them, as if empty voxels lay around the grid
  truncate,  ///< ends at them
};

/// The linear weight of the upper of two neighbours, at the fraction `d` in [0, 1) between them.
struct linear_weight {
  template <class T>
  ISO_FORCEINLINE_FUNCTION T operator()(T const& d) const {
    return d;
  }
};

/// The smooth weight 3 d^2 - 2 d^3 of Graetz 2020, equation 14. `T` may be a lane value.
struct spline_weight {
  template <class T>
  ISO_FORCEINLINE_FUNCTION T operator()(T const& d) const {
    using math::fma;
    return (d * d) * fma(T(-2), d, T(3));
  }
};

/// Returns a + w (b - a), two roundings: the one blend from which every interpolation here is made.
/// Determinism: backend_to_backend.
template <class T>
ISO_FUNCTION T blend(T w, T a, T b) {
  return math::fma(w, b - a, a);
}

}  // namespace iso
