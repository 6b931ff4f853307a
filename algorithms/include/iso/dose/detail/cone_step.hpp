// SPDX-License-Identifier: BSD-3-Clause
//! Does one step of a collapsed cone through a voxel, for an exponential kernel.
#ifndef ISO_SET
#ifndef ISO_DOSE_DETAIL_CONE_STEP_HPP
#define ISO_DOSE_DETAIL_CONE_STEP_HPP

#include <iso/backend/lane_value.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/dose/detail/lattice.hpp>
#include <iso/dose/detail/tilt_terms.hpp>

#include <Kokkos_Core.hpp>

namespace iso::dose::detail {

/// What a line's steps are made of, in the order in which a kernel wants it.
template <class T, int Terms>
struct cone_terms {
  T scaled_half_step[Terms];  ///< half_step 2^-doublings
  T energy[Terms];
  tilt_terms<T, Terms> tilt;
  std::int32_t doublings[Terms];

  /// Sets a term for steps of up to `length` through densities of up to `density`.
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

}  // namespace iso::dose::detail

#define ISO_SET_HEADER <iso/dose/detail/cone_step.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::dose::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Returns the cosine of the angle to a voxel's ray less that to the axis.
/// \param toward    from the source to the voxel along the direction, mm
/// \param nearness  1 / the distance from the source to the voxel
template <class V, class T>
KOKKOS_FORCEINLINE_FUNCTION V tilt_of(lattice_line<T> const& line, V const& toward,
                                      V const& nearness) {
  return fma(toward, nearness, V(-line.cosine));
}

/// Computes exp(-x) - 1 of `Count` numbers 0 <= x <= 2^(doublings - 1), `scaled` being x
/// 2^-doublings: a polynomial, then e^-2x - 1 = m (m + 2). Float: relative error below 2e-7, and
/// 6e-8 more for each doubling. Numbers that double together share the loop's instructions.
template <int Count, class V>
KOKKOS_FORCEINLINE_FUNCTION void decay(V const (&scaled)[Count], int doublings, V (&m)[Count]) {
  using T = typename V::element;
  ISO_EACH_REGISTER(int i = 0; i < Count; ++i) {
    V const& x = scaled[i];
    V q;
    if constexpr (sizeof(T) == 4) {
      // Minimax on [0, 1/2], its constant term fixed, to 9.1e-8.
      q = fma(V(-0.00680760853F), x, V(0.0410424843F));
      q = fma(q, x, V(-0.1665636F));
      q = fma(q, x, V(0.499994636F));
      q = fma(q, x, V(-1.0F));
    } else {
      // Taylor's, to 4e-17 on [0, 1/2].
      q = V(1.0 / 87178291200.0);
      q = fma(q, x, V(-1.0 / 6227020800.0));
      q = fma(q, x, V(1.0 / 479001600.0));
      q = fma(q, x, V(-1.0 / 39916800.0));
      q = fma(q, x, V(1.0 / 3628800.0));
      q = fma(q, x, V(-1.0 / 362880.0));
      q = fma(q, x, V(1.0 / 40320.0));
      q = fma(q, x, V(-1.0 / 5040.0));
      q = fma(q, x, V(1.0 / 720.0));
      q = fma(q, x, V(-1.0 / 120.0));
      q = fma(q, x, V(1.0 / 24.0));
      q = fma(q, x, V(-1.0 / 6.0));
      q = fma(q, x, V(0.5));
      q = fma(q, x, V(-1.0));
    }
    m[i] = x * q;
  }
  ISO_DEVICE_NO_UNROLL
  for (int n = 0; n < doublings; ++n) {
    ISO_EACH_REGISTER(int i = 0; i < Count; ++i) { m[i] = fma(m[i], m[i], m[i] + m[i]); }
  }
}

/// Does the same for one.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V decay(V const& scaled, int doublings) {
  V const x[1] = {scaled};
  V m[1];
  decay(x, doublings, m);
  return m[0];
}

/// Returns delta within a tilt's bounds.
template <class V, class T, int Terms>
KOKKOS_FORCEINLINE_FUNCTION V kept_delta(tilt_terms<T, Terms> const& tilt, V const& delta) {
  return clamp(delta, V(tilt.least), V(tilt.most));
}
/// Returns what one term sends of `terma`.
/// \param delta    within its bounds
/// \param product  of terma and delta
template <class V, class T, int Terms>
KOKKOS_FORCEINLINE_FUNCTION V sent_by(tilt_terms<T, Terms> const& tilt, int term, V const& terma,
                                      V const& delta, V const& product) {
  V sum(tilt.coefficients[tilt_degree - 1][term]);
  ISO_EACH_REGISTER(int p = tilt_degree - 2; p >= 0; --p) {
    sum = fma(sum, delta, V(tilt.coefficients[p][term]));
  }
  return fma(product, sum, terma);
}

/// The voxels that some lines of one direction meet, side by side.
template <class V, int Count>
struct voxels_met {
  V terma[Count];
  V density[Count];
  V delta[Count];  ///< cosine of the angle to the photons' ray less that to the axis
};

/// Does one step of `Count` lines of one direction, each through its voxel: what travels goes
/// towards the TERMA as exp(-rate density length). `dose` becomes that at the middle of the step.
template <class V, class T, int Count, int Terms>
KOKKOS_FORCEINLINE_FUNCTION void cone_step(cone_terms<T, Terms> const& c,
                                           voxels_met<V, Count> const& met,
                                           V (&travels)[Count][Terms], V (&dose)[Count]) {
  V kept[Count];
  V product[Count];
  ISO_EACH_REGISTER(int i = 0; i < Count; ++i) {
    kept[i] = (kept_delta)(c.tilt, met.delta[i]);
    product[i] = met.terma[i] * kept[i];
  }
  ISO_EACH_REGISTER(int n = 0; n < Terms; ++n) {
    V scaled[Count];
    V m[Count];
    ISO_EACH_REGISTER(int i = 0; i < Count; ++i) {
      scaled[i] = met.density[i] * V(c.scaled_half_step[n]);
    }
    decay(scaled, c.doublings[n], m);
    ISO_EACH_REGISTER(int i = 0; i < Count; ++i) {
      V const released = (sent_by)(c.tilt, n, met.terma[i], kept[i], product[i]);
      V const middle = fma(m[i], travels[i][n] - released, travels[i][n]);
      travels[i][n] = fma(m[i], middle - released, middle);
      dose[i] = n == 0 ? V(c.energy[n]) * middle : fma(V(c.energy[n]), middle, dose[i]);
    }
  }
}

}  // namespace iso::dose::detail::ISO_SET

#endif
