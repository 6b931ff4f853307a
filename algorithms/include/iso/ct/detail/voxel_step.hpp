// SPDX-License-Identifier: BSD-3-Clause
//! Says how an iterative method's correction changes a voxel, and what its residuals are.
#pragma once

#include <Kokkos_Core.hpp>

namespace iso::ct::detail {

/// Where its weight w is not zero, x becomes x + step w c within [lower, upper], or x w c; c is the
/// correction.
template <class T>
struct voxel_step {
  T step = T(0);
  T const* weights = nullptr;
  T lower = T(0);
  T upper = T(0);
  bool multiplies = false;

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T of(T from, T weight, T correction) const {
    T const sum = Kokkos::fma(step * weight, correction, from);
    T const within = sum < lower ? lower : sum > upper ? upper : sum;
    T const to = multiplies ? from * (correction * weight) : within;
    return weight != T(0) ? to : from;
  }
};

/// What is known of the rays of a block, [views, u, v].
template <class T>
struct compared_rays {
  T const* readings;
  T const* mask;  ///< may be null
  T const* weights;
};

/// What a pass over the misfits of a block's rays finds.
struct misfit_bounds {
  double residual = 0;  ///< the largest size of one, infinite where one is not finite
  double weighted = 0;  ///< the largest finite size of one times its ray's weight

  [[nodiscard]] KOKKOS_FUNCTION misfit_bounds joined(misfit_bounds const& other) const {
    return {residual > other.residual ? residual : other.residual,
            weighted > other.weighted ? weighted : other.weighted};
  }
};

}  // namespace iso::ct::detail
