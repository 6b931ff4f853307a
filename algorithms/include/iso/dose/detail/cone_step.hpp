// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/lane_value.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/dose/cones.hpp>

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

/// How much more than an untilted source a tilted one sends: dose::cone_tilt of `Terms` terms, the
/// coefficients of each power side by side.
template <class T, int Terms>
struct tilt_terms {
  T coefficients[tilt_degree][Terms];
  T least;
  T most;

  /// Delta within its bounds.
  template <class V>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION V kept(V const& delta) const {
    return clamp(delta, V(least), V(most));
  }
  /// What is sent of `terma` by one term.
  /// \param delta    within its bounds
  /// \param product  of terma and delta
  template <class V>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION V sent(int term, V const& terma, V const& delta,
                                                   V const& product) const {
    V sum(coefficients[tilt_degree - 1][term]);
    ISO_EACH_REGISTER(int p = tilt_degree - 2; p >= 0; --p) {
      sum = fma(sum, delta, V(coefficients[p][term]));
    }
    return fma(product, sum, terma);
  }
};

/// What a line's steps are made of, in the order in which a kernel wants it.
template <class T, int Terms>
struct cone_terms {
  T scaled_half_step[Terms];  ///< half_step 2^-doublings
  T energy[Terms];
  tilt_terms<T, Terms> tilt;
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
  V const kept = c.tilt.kept(delta);
  V const product = terma * kept;
  ISO_EACH_REGISTER(int n = 0; n < Terms; ++n) {
    V const released = c.tilt.sent(n, terma, kept, product);
    V const m = decay(density * V(c.scaled_half_step[n]), c.doublings[n]);
    V const middle = fma(m, travels[n] - released, travels[n]);
    travels[n] = fma(m, middle - released, middle);
    dose = n == 0 ? V(c.energy[n]) * middle : fma(V(c.energy[n]), middle, dose);
  }
  return dose;
}

}  // namespace iso::dose::detail
