// SPDX-License-Identifier: BSD-3-Clause
//! Does the steps of total variation to rays and voxels.
#pragma once

#include <iso/core/numerics.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// The differences of a voxel from its neighbours one up along x, y and z. A neighbour beyond the
/// grid or with mask 0 is equal, and so are all of a voxel with mask 0.
template <class T>
struct differences {
  Kokkos::Array<std::int64_t, 3> extent;
  T const* mask;  ///< may be null
  T const* x;

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
  /// Returns whether voxel i has a difference along `axis`.
  [[nodiscard]] KOKKOS_FUNCTION bool has(place const& at, std::int64_t i, int axis) const {
    return at.index[axis] + 1 < extent[axis] && counts(i) && counts(i + at.stride[axis]);
  }
  [[nodiscard]] KOKKOS_FUNCTION T along(place const& at, std::int64_t i, int axis) const {
    return has(at, i, axis) ? x[i + at.stride[axis]] - x[i] : T(0);
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

/// y becomes (y + s (A x - b)) / (1 + s), zero for readings that do not count.
template <class T>
struct ray_dual_step {
  T const* b;
  T const* weight;  ///< may be null
  T const* step;
  T const* projected;
  T* y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    bool const counts = weight == nullptr || weight[i] != T(0);
    y[i] = counts ? Kokkos::fma(step[i], projected[i] - b[i], y[i]) / (T(1) + step[i]) : T(0);
  }
};

/// q becomes q + step (differences), cut back to the length `most`. With rows g times differences
/// and a step 1 / (2 g) the factor is 1 / 2.
template <class T>
struct difference_dual_step {
  differences<T> of;
  T step;
  T most;
  T* qx;
  T* qy;
  T* qz;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const at = of.of(i);
    T const x = Kokkos::fma(step, of.along(at, i, 0), qx[i]);
    T const y = Kokkos::fma(step, of.along(at, i, 1), qy[i]);
    T const z = Kokkos::fma(step, of.along(at, i, 2), qz[i]);
    T const length = Kokkos::sqrt(Kokkos::fma(x, x, Kokkos::fma(y, y, z * z)));
    T const part = length > most ? most / length : T(1);
    qx[i] = part * x;
    qy[i] = part * y;
    qz[i] = part * z;
  }
};

/// g becomes g + scale times the adjoint of the differences of q.
template <class T>
struct add_difference_adjoint {
  differences<T> of;
  T scale;
  T const* qx;
  T const* qy;
  T const* qz;
  T* g;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const at = of.of(i);
    T const* const q[3] = {qx, qy, qz};
    T sum = T(0);
    for (int axis = 0; axis < 3; ++axis) {
      std::int64_t const below = i - at.stride[axis];
      if (at.index[axis] > 0 && of.counts(i) && of.counts(below)) {
        sum += q[axis][below];
      }
      if (of.has(at, i, axis)) {
        sum -= q[axis][i];
      }
    }
    g[i] = Kokkos::fma(scale, sum, g[i]);
  }
};

/// x becomes x - t z within the box, and `extrapolated` twice the new x less the old.
template <class T>
struct primal_step {
  T const* step;
  T const* z;
  T lower;
  T upper;
  T* x;
  T* extrapolated;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    T const before = x[i];
    if (step[i] != T(0)) {
      T const to = Kokkos::fma(-step[i], z[i], before);
      x[i] = to < lower ? lower : to > upper ? upper : to;
    }
    extrapolated[i] = Kokkos::fma(T(2), x[i], -before);
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

/// The least of z x over the box; z x itself where x is held fixed by the mask.
template <class T>
struct box_term {
  T const* z;
  T const* mask;  ///< may be null
  T const* x;
  double lower;
  double upper;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    double const slope = double(z[i]);
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

/// |b| over the length of the ray, times that it counts.
template <class T>
struct size_of_average {
  T const* b;
  T const* weight;      ///< may be null
  T const* row_weight;  ///< 1 / length, or 0
  T* average;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    bool const counts = weight == nullptr || weight[i] != T(0);
    average[i] = counts ? Kokkos::fabs(b[i]) * row_weight[i] : T(0);
  }
};

}  // namespace iso::ct::detail
