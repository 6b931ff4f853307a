// SPDX-License-Identifier: BSD-3-Clause
//! Does the steps of total variation to rays and voxels.
#pragma once

#include <iso/backend/for_each_index.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/detail/elementwise.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ct::detail {

/// A voxel, and where its neighbours lie.
struct voxel_place {
  std::int64_t i;       ///< its number
  std::int64_t column;  ///< that of its column along z
  /// How far the next number along x, y and z is from this one, and the one before; 0: there is
  /// none here.
  Kokkos::Array<std::int64_t, 3> up;
  Kokkos::Array<std::int64_t, 3> down;
  bool first;  ///< of its column
  bool last;
};

/// The voxels that lie here, [nx, ny, nz].
struct voxel_box {
  Kokkos::Array<std::int64_t, 3> extent;

  [[nodiscard]] std::int64_t columns() const { return extent[0] * extent[1]; }
  [[nodiscard]] std::int64_t size() const { return columns() * extent[2]; }
  /// Returns a column's place along x and y; in_column() has that along z.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION voxel_place column(std::int64_t number) const {
    std::int64_t const ix = number / extent[1];
    std::int64_t const iy = number - ix * extent[1];
    std::int64_t const along_x = extent[1] * extent[2];
    return {number * extent[2],
            number,
            {ix + 1 < extent[0] ? along_x : 0, iy + 1 < extent[1] ? extent[2] : 0, 0},
            {ix > 0 ? along_x : 0, iy > 0 ? extent[2] : 0, 0},
            false,
            false};
  }
  /// Returns a voxel of the column that `of` is of.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION voxel_place in_column(voxel_place const& of,
                                                                  std::int64_t iz) const {
    voxel_place at = of;
    at.i = of.column * extent[2] + iz;
    at.first = iz == 0;
    at.last = iz + 1 == extent[2];
    at.up[2] = at.last ? 0 : 1;
    at.down[2] = at.first ? 0 : 1;
    return at;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION voxel_place voxel(std::int64_t i) const {
    std::int64_t const number = i / extent[2];
    return in_column(column(number), i - number * extent[2]);
  }
};

/// Calls f(place) for the voxels of a column, those between its ends in a loop of their own: what
/// they ask of their place does not change.
template <class F>
KOKKOS_FORCEINLINE_FUNCTION void for_each_in_column(voxel_box const& box, std::int64_t number,
                                                    F const& f) {
  voxel_place const column = box.column(number);
  std::int64_t const depth = box.extent[2];
  f(box.in_column(column, 0));
  voxel_place at = box.in_column(column, 0);
  at.first = at.last = false;
  at.up[2] = at.down[2] = 1;
  std::int64_t const begin = at.i;
  for (std::int64_t iz = 1; iz + 1 < depth; ++iz) {
    at.i = begin + iz;
    f(at);
  }
  if (depth > 1) {
    f(box.in_column(column, depth - 1));
  }
}

/// A kernel of places, for an index of a voxel, or of a column.
template <class F, bool Columns>
struct place_kernel {
  voxel_box box;
  F f;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if constexpr (Columns) {
      for_each_in_column(box, i, f);
    } else {
      f(box.voxel(i));
    }
  }
};

/// The terms of a sum, one a voxel, for an index of a voxel, or of a column.
template <class Term, bool Columns>
struct place_terms {
  voxel_box box;
  Term term;
  template <class Add>
  KOKKOS_FUNCTION void operator()(std::int64_t i, Add const& add) const {
    if constexpr (Columns) {
      for_each_in_column(box, i, [&](voxel_place const& at) { add(term(at)); });
    } else {
      add(term(box.voxel(i)));
    }
  }
  [[nodiscard]] KOKKOS_FUNCTION double bound(std::int64_t /*i*/) const {
    return Kokkos::Experimental::infinity_v<double>;
  }
};

/// A processor's thread takes columns: the place of each voxel by itself is two divisions.
template <class Exec>
inline constexpr bool by_columns = !backend::is_device<Exec>;

template <class Exec>
std::int64_t num_places(voxel_box const& box) {
  return box.size() == 0 ? 0 : by_columns<Exec> ? box.columns() : box.size();
}

/// Does f(place) for every voxel that lies here.
template <execution_space Exec, class F>
void for_each_voxel(char const* label, Exec const& exec, voxel_box const& box, F const& f) {
  backend::for_each_index(label, exec, num_places<Exec>(box),
                          place_kernel<F, by_columns<Exec>>{box, f});
}

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
  T const* mask;  ///< may be null
  T const* x;
  next_plane<T> above;  ///< the last plane along z

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool counts(std::int64_t i) const {
    return mask == nullptr || mask[i] != T(0);
  }
  /// Returns whether the neighbour of a voxel is in the plane above.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static bool leaves(voxel_place const& at, int axis) {
    return axis == 2 && at.last;
  }
  /// Returns whether a voxel has a difference along `axis`.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool has(voxel_place const& at, int axis) const {
    if (leaves(at, axis)) {
      return above.counts(at.column) && counts(at.i);
    }
    return at.up[axis] != 0 && counts(at.i) && counts(at.i + at.up[axis]);
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T along(voxel_place const& at, int axis) const {
    if (leaves(at, axis)) {
      return has(at, axis) ? above.x[at.column] - x[at.i] : T(0);
    }
    // Where there is no neighbour this is the voxel's own number, which is finite, less itself.
    T const difference = x[at.i + at.up[axis]] - x[at.i];
    return mask == nullptr || has(at, axis) ? difference : T(0);
  }
};

/// The length of a voxel's differences, in double.
template <class T>
struct variation_term {
  differences<T> of;
  KOKKOS_FORCEINLINE_FUNCTION double operator()(voxel_place const& at) const {
    double squares = 0;
    for (int axis = 0; axis < 3; ++axis) {
      double const d = double(of.along(at, axis));
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
  KOKKOS_FORCEINLINE_FUNCTION void operator()(voxel_place const& at) const {
    T to[3];
    for (int axis = 0; axis < 3; ++axis) {
      T const beyond = Kokkos::fma(T(2), of.along(at, axis), -before.along(at, axis));
      to[axis] = Kokkos::fma(step, beyond, q[axis][at.i]);
    }
    T const length = length_of(to);
    T const part = length > most ? most / length : T(1);
    for (int axis = 0; axis < 3; ++axis) {
      T& held = q[axis][at.i];
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
  KOKKOS_FORCEINLINE_FUNCTION void operator()(voxel_place const& at) const {
    T sum = T(0);
    for (int axis = 0; axis < 3; ++axis) {
      if (axis == 2 && at.first) {
        if (below.counts(at.column) && of.counts(at.i)) {
          sum += below.x[at.column];
        }
      } else if (at.down[axis] != 0 && of.counts(at.i) && of.counts(at.i - at.down[axis])) {
        sum += q[axis][at.i - at.down[axis]];
      }
      if (of.has(at, axis)) {
        sum -= q[axis][at.i];
      }
    }
    z[at.i] += sum;
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
