// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/lane_value.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/dose/kernel.hpp>

#include <Kokkos_Core.hpp>

namespace iso::dose::detail {

/// exp(-x) - 1 for 0 <= x <= 2^(doublings - 1), `scaled` being x 2^-doublings: a polynomial, then
/// e^-2x - 1 = m (m + 2). Float: relative error below 2e-7, and 6e-8 more for each doubling.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V decay(V const& scaled, int doublings) {
  using T = typename V::element;
  V q;
  if constexpr (sizeof(T) == 4) {
    // Minimax on [0, 1/2], its constant term fixed, to 9.1e-8.
    q = fma(V(-0.00680760853F), scaled, V(0.0410424843F));
    q = fma(q, scaled, V(-0.1665636F));
    q = fma(q, scaled, V(0.499994636F));
    q = fma(q, scaled, V(-1.0F));
  } else {
    // Taylor's, to 4e-17 on [0, 1/2].
    q = V(1.0 / 87178291200.0);
    q = fma(q, scaled, V(-1.0 / 6227020800.0));
    q = fma(q, scaled, V(1.0 / 479001600.0));
    q = fma(q, scaled, V(-1.0 / 39916800.0));
    q = fma(q, scaled, V(1.0 / 3628800.0));
    q = fma(q, scaled, V(-1.0 / 362880.0));
    q = fma(q, scaled, V(1.0 / 40320.0));
    q = fma(q, scaled, V(-1.0 / 5040.0));
    q = fma(q, scaled, V(1.0 / 720.0));
    q = fma(q, scaled, V(-1.0 / 120.0));
    q = fma(q, scaled, V(1.0 / 24.0));
    q = fma(q, scaled, V(-1.0 / 6.0));
    q = fma(q, scaled, V(0.5));
    q = fma(q, scaled, V(-1.0));
  }
  V m = scaled * q;
  ISO_DEVICE_NO_UNROLL
  for (int i = 0; i < doublings; ++i) {
    m = fma(m, m, m + m);
  }
  return m;
}

/// What a line's steps are made of, in the order in which a kernel wants it.
template <class T, int Terms>
struct cone_terms {
  T scaled_half_step[Terms];  ///< half_step 2^-doublings
  T energy[Terms];
  T tilt_first[Terms];
  T tilt_second[Terms];
  std::int32_t doublings[Terms];

  /// For steps of up to `length` through densities of up to `density`.
  KOKKOS_FUNCTION void set(int term, T rate, T length, double density) {
    T x = rate;
    std::int32_t n = 0;
    // 64 halvings are enough for any step that is not absurd.
    for (; double(x) * double(length) * density > 0.5 && n < 64; ++n) {
      x *= T(0.5);
    }
    scaled_half_step[term] = x;
    doublings[term] = n;
  }
};

/// One step of a line through a voxel: what travels goes towards `terma` as exp(-rate density
/// length). Returns the dose at the middle of the step.
/// \param delta  cosine of the angle to the photons' ray less that to the axis
template <class V, class T, int Terms>
KOKKOS_FORCEINLINE_FUNCTION V cone_step(cone_terms<T, Terms> const& c, V const& terma,
                                        V const& density, V const& delta, V (&travels)[Terms]) {
  V dose;
  ISO_EACH_REGISTER(int n = 0; n < Terms; ++n) {
    V const released =
        fma(terma * fma(V(c.tilt_second[n]), delta, V(c.tilt_first[n])), delta, terma);
    V const m = decay(density * V(c.scaled_half_step[n]), c.doublings[n]);
    V const middle = fma(m, travels[n] - released, travels[n]);
    travels[n] = fma(m, middle - released, middle);
    dose = n == 0 ? V(c.energy[n]) * middle : fma(V(c.energy[n]), middle, dose);
  }
  return dose;
}

}  // namespace iso::dose::detail
