// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/detail/tilt_terms.hpp
//! Holds dose::cone_tilt, as kernels read it.
#pragma once

#include <iso/backend/unroll.hpp>
#include <iso/dose/cones.hpp>

#include <Kokkos_Core.hpp>

namespace iso::dose::detail {

/// The ratio of what a tilted source sends to what an untilted one does: dose::cone_tilt of `Terms`
/// terms, the coefficients of each power side by side.
template <class T, int Terms>
struct tilt_terms {
  T coefficients[tilt_degree][Terms];
  T least;
  T most;

  /// Returns those of the first terms alone.
  template <int Some>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION tilt_terms<T, Some> first() const {
    tilt_terms<T, Some> out{{}, least, most};
    ISO_EACH_REGISTER(int p = 0; p < tilt_degree; ++p) {
      ISO_EACH_REGISTER(int n = 0; n < Some; ++n) { out.coefficients[p][n] = coefficients[p][n]; }
    }
    return out;
  }
};

}  // namespace iso::dose::detail
