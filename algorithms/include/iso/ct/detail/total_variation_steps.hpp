// SPDX-License-Identifier: BSD-3-Clause
//! Does the steps of total variation to rays and voxels.
#pragma once

#include <iso/core/numerics.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ct::detail {

/// A plane of voxels that another rank holds, next to those that are here.
template <class T>
struct next_plane {
  T const* x = nullptr;     ///< null: there is none
  T const* mask = nullptr;  ///< null where that of the voxels here is

  [[nodiscard]] KOKKOS_FUNCTION bool counts(std::int64_t column) const {
    return x != nullptr && (mask == nullptr || mask[column] != T(0));
  }
};

/// The differences of a voxel from its neighbours one up along x, y and z. A neighbour beyond the
/// grid or with mask 0 is equal, and so are all of a voxel with mask 0.
template <class T>
struct differences {
  Kokkos::Array<std::int64_t, 3> extent;
  T const* mask;  ///< may be null
  T const* x;
  next_plane<T> above;  ///< the last plane along z

  struct place {
    Kokkos::Array<std::int64_t, 3> index;
    Kokkos::Array<std::int64_t, 3> stride;
  };
  [[nodiscard]] KOKKOS_FUNCTION place of(std::int64_t i) const {
    std::int64_t const row = i / extent[2];
    return {{row / extent[1], row % extent[1], i % extent[2]},
            {extent[1] * extent[2], extent[2], 1}};
  }
  [[nodiscard]] KOKKOS_FUNCTION bool counts(std::int64_t i) const {
    return mask == nullptr || mask[i] != T(0);
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t column(place const& at) const {
    return at.index[0] * extent[1] + at.index[1];
  }
  /// Returns whether the neighbour of a voxel is in the plane above.
  [[nodiscard]] KOKKOS_FUNCTION bool leaves(place const& at, int axis) const {
    return axis == 2 && at.index[2] + 1 == extent[2];
  }
  /// Returns whether voxel i has a difference along `axis`.
  [[nodiscard]] KOKKOS_FUNCTION bool has(place const& at, std::int64_t i, int axis) const {
    if (leaves(at, axis)) {
      return above.counts(column(at)) && counts(i);
    }
    return at.index[axis] + 1 < extent[axis] && counts(i) && counts(i + at.stride[axis]);
  }
  [[nodiscard]] KOKKOS_FUNCTION T along(place const& at, std::int64_t i, int axis) const {
    if (!has(at, i, axis)) {
      return T(0);
    }
    return (leaves(at, axis) ? above.x[column(at)] : x[i + at.stride[axis]]) - x[i];
  }
};

/// The length of a voxel's differences, in double.
template <class T>
struct variation_term {
  differences<T> of;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    auto const at = of.of(i);
    double squares = 0;
    for (int axis = 0; axis < 3; ++axis) {
      double const d = double(of.along(at, i, axis));
      squares = Kokkos::fma(d, d, squares);
    }
    return Kokkos::sqrt(squares);
  }
};

/// A ray's next dual is (y + s (A x' - b)) / (1 + s) with x' = 2 x - (x before), zero for readings
/// that do not count. A ray without a voxel (s = 0) has -b, its best. y and A (x before) go `by`
/// times the way to the next ones; `projected` becomes the next y.
template <class T>
struct ray_dual_step {
  T const* b;
  T const* weight;      ///< may be null
  T const* row_weight;  ///< s over the ratio
  T ratio;
  T by;
  T* projected;  ///< A x
  T* before;     ///< A (x before)
  T* y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    bool const counts = weight == nullptr || weight[i] != T(0);
    T const step = ratio * row_weight[i];
    T const beyond = Kokkos::fma(T(2), projected[i], -before[i]);
    T const inner = step > T(0) ? Kokkos::fma(step, beyond - b[i], y[i]) / (T(1) + step) : -b[i];
    T const next = counts ? inner : T(0);
    before[i] = Kokkos::fma(by, projected[i] - before[i], before[i]);
    y[i] = Kokkos::fma(by, next - y[i], y[i]);
    projected[i] = next;
  }
};

/// Returns the length of a vector, also where the squares of its parts leave the range of T.
template <class T>
KOKKOS_FUNCTION T length_of(T const (&v)[3]) {
  constexpr T low = sizeof(T) == 4 ? T(0x1p-100) : T(0x1p-960);
  T const squares = Kokkos::fma(v[2], v[2], Kokkos::fma(v[1], v[1], Kokkos::fma(v[0], v[0], T(0))));
  if (squares > low && squares < T(1) / low) {
    return Kokkos::sqrt(squares);
  }
  T most = T(0);
  for (T const part : v) {
    most = Kokkos::fabs(part) > most ? Kokkos::fabs(part) : most;
  }
  T sum = T(0);
  for (T const part : v) {
    sum = most > T(0) ? Kokkos::fma(part / most, part / most, sum) : squares;
  }
  return most * Kokkos::sqrt(sum);
}

/// A voxel's next duals of differences are q + step (differences of x'), cut back to the length
/// `most`, with x' = 2 x - (x before). q goes `by` times the way to them.
template <class T>
struct difference_dual_step {
  differences<T> of;
  differences<T> before;
  T step;
  T most;
  T by;
  Kokkos::Array<T*, 3> q;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const at = of.of(i);
    T to[3];
    for (int axis = 0; axis < 3; ++axis) {
      T const beyond = Kokkos::fma(T(2), of.along(at, i, axis), -before.along(at, i, axis));
      to[axis] = Kokkos::fma(step, beyond, q[axis][i]);
    }
    T const length = length_of(to);
    T const part = length > most ? most / length : T(1);
    for (int axis = 0; axis < 3; ++axis) {
      T& held = q[axis][i];
      held = Kokkos::fma(by, to[axis] * part - held, held);
    }
  }
};

/// z becomes z + the adjoint of the differences of q.
template <class T>
struct add_difference_adjoint {
  differences<T> of;
  Kokkos::Array<T*, 3> q;
  next_plane<T> below;  ///< the first plane along z: of q[2]
  T* z;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const at = of.of(i);
    T sum = T(0);
    for (int axis = 0; axis < 3; ++axis) {
      std::int64_t const one_down = i - at.stride[axis];
      if (axis == 2 && at.index[2] == 0) {
        if (below.counts(of.column(at)) && of.counts(i)) {
          sum += below.x[of.column(at)];
        }
      } else if (at.index[axis] > 0 && of.counts(i) && of.counts(one_down)) {
        sum += q[axis][one_down];
      }
      if (of.has(at, i, axis)) {
        sum -= q[axis][i];
      }
    }
    z[i] += sum;
  }
};

/// x becomes (x before) - t z within the box; stays where t is 0.
template <class T>
struct primal_step {
  T const* step;  ///< t times the ratio
  T part;         ///< 1 / ratio
  T const* z;
  T lower;
  T upper;
  T const* before;
  T* x;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (step[i] != T(0)) {
      T const to = Kokkos::fma(-(part * step[i]), z[i], before[i]);
      x[i] = to < lower ? lower : to > upper ? upper : to;
    }
  }
};

/// (x before) goes `by` times the way to x.
template <class T>
struct approach {
  T by;
  T const* x;
  T* before;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    before[i] = Kokkos::fma(by, x[i] - before[i], before[i]);
  }
};

/// Turns column sums into steps 1 / (sum + 6 g).
template <class T>
struct voxel_steps {
  T least;
  T* sums;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    T const sum = sums[i] + least;
    sums[i] = sum > T(0) ? T(1) / sum : T(0);
  }
};

/// The slope z = A^T y + D^T q of the next duals: those held went `by` times the way to them, and
/// with them z from `before` to `after`.
template <class T>
struct next_slope {
  T const* before;
  T const* after;
  double by;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    return double(before[i]) + (double(after[i]) - double(before[i])) / by;
  }
};

/// A pointer or next_slope: the i-th number in double.
template <class Numbers>
KOKKOS_FUNCTION double number_at(Numbers const& of, std::int64_t i) {
  if constexpr (std::is_pointer_v<Numbers>) {
    return double(of[i]);
  } else {
    return of(i);
  }
}

/// `mean` goes `part` of the way to x.
template <class T, class Numbers>
struct average {
  Numbers x;
  T part;
  T* mean;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    mean[i] = Kokkos::fma(part, T(number_at(x, i)) - mean[i], mean[i]);
  }
};

/// The least of z x over the box; z x itself where x is held fixed by the mask.
template <class T, class Slope>
struct box_term {
  Slope z;
  T const* mask;  ///< may be null
  T const* x;
  double lower;
  double upper;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    double const slope = number_at(z, i);
    if (mask != nullptr && mask[i] == T(0)) {
      return slope * double(x[i]);
    }
    return slope > 0 ? slope * lower : slope * upper;
  }
};

/// y^2 / 2 + y b: the conjugate of (z - b)^2 / 2.
template <class T>
struct conjugate_term {
  T const* b;
  T const* weight;  ///< may be null
  T const* y;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    if (weight != nullptr && weight[i] == T(0)) {
      return 0;
    }
    double const dual = double(y[i]);
    return dual * Kokkos::fma(0.5, dual, double(b[i]));
  }
};

}  // namespace iso::ct::detail
