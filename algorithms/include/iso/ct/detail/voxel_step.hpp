// SPDX-License-Identifier: BSD-3-Clause
//! Says how an iterative method's correction changes a voxel.
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

}  // namespace iso::ct::detail
