// SPDX-License-Identifier: BSD-3-Clause
//! Does to every number of an array what iterative methods do between projections.
#pragma once

#include <iso/backend/for_each_index.hpp>
#include <iso/core/axpby.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/detail/voxel_step.hpp>
#include <iso/ct/voxel_bounds.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

template <execution_space Exec, class F>
void for_each_number(char const* name, Exec const& exec, std::int64_t count, F const& f) {
  backend::for_each_index(name, exec, count, f);
}

template <class T>
struct fill {
  T value;
  T* x;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { x[i] = value; }
};

/// p becomes (b - p), zero where `weight` is: a reading that does not count may be anything.
template <class T>
struct misfit {
  T const* b;
  T const* weight;  ///< may be null
  T* p;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    p[i] = weight != nullptr && weight[i] == T(0) ? T(0) : b[i] - p[i];
  }
};

/// The square of b - p, zero where `weight` is; p null: of b.
template <class T>
struct square_misfit_term {
  T const* b;
  T const* weight;  ///< may be null
  T const* p;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    if (weight != nullptr && weight[i] == T(0)) {
      return 0;
    }
    double const d = p != nullptr ? double(b[i]) - double(p[i]) : double(b[i]);
    return d * d;
  }
};

/// x times w, zero where w is; w null: all are 1.
template <class T>
struct scale_by {
  T const* w;
  T* x;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (w != nullptr) {
      x[i] = w[i] == T(0) ? T(0) : w[i] * x[i];
    }
  }
};

/// y becomes x times w, zero where w is.
template <class T>
struct weigh {
  T const* w;
  T const* x;
  T* y;
  [[nodiscard]] KOKKOS_FUNCTION static T of(T weight, T number) {
    return weight == T(0) ? T(0) : weight * number;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y[i] = of(w[i], x[i]); }
};

/// y becomes the larger of x and y.
template <class T>
struct raise_to {
  T const* x;
  T* y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y[i] = x[i] > y[i] ? x[i] : y[i]; }
};

/// w becomes 1 / w where it is above `least`, and zero elsewhere. A number below `floor` counts as
/// that.
template <class T>
struct invert {
  T least;
  T floor;
  T* w;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    w[i] = w[i] > least ? T(1) / (w[i] > floor ? w[i] : floor) : T(0);
  }
};

/// x becomes what `by` makes of it and the correction c. All loads go out at once.
template <class T>
struct step_voxels {
  voxel_step<T> by;
  T const* c;
  T* x;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { x[i] = by.of(x[i], by.weights[i], c[i]); }
};

/// p becomes (b + background) / (p + background) where p is above `least`, and zero elsewhere and
/// where `weight` is zero.
template <class T>
struct ratio {
  T const* b;
  T const* weight;      ///< may be null
  T const* background;  ///< may be null: none
  T least;
  T* p;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    bool const counts = weight == nullptr || weight[i] != T(0);
    T const added = background != nullptr ? background[i] : T(0);
    T const expected = p[i] + added;
    p[i] = counts && expected > least ? (b[i] + added) / expected : T(0);
  }
};

/// w, a row sum, becomes `mean` times what it is shorter than `floor`; zero where it is none.
template <class T>
struct background_of_short {
  T least;
  T floor;
  T mean;
  T* w;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    w[i] = w[i] > least && w[i] < floor ? mean * (floor - w[i]) : T(0);
  }
};

/// Counts rays that have a background.
template <class T>
struct is_short {
  T least;
  T floor;
  T const* w;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& number) const {
    number += w[i] > least && w[i] < floor ? 1 : 0;
  }
};

/// |b| over the length of the ray, zero where the ray does not count.
template <class T>
struct size_of_average {
  T const* b;
  T const* row_weight;  ///< 1 / length, or 0
  T* average;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    average[i] = row_weight[i] == T(0) ? T(0) : Kokkos::fabs(b[i]) * row_weight[i];
  }
};

/// |b| times the length of the ray, zero where the ray does not count.
template <class T>
struct size_times_length {
  T const* b;
  T const* row_weight;  ///< 1 / length, or 0
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    return row_weight[i] == T(0) ? 0.0 : Kokkos::fabs(double(b[i])) / double(row_weight[i]);
  }
};

/// The sum's term: a number where `weight` is not zero.
template <class T>
struct counted_term {
  T const* x;
  T const* weight;  ///< may be null
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    return weight != nullptr && weight[i] == T(0) ? 0.0 : double(x[i]);
  }
};

/// x stays where w is not zero, and becomes zero elsewhere.
template <class T>
struct keep_where {
  T const* w;
  T* x;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { x[i] = w[i] != T(0) ? x[i] : T(0); }
};

/// Finds the largest number, or the largest size of one; a NaN counts as infinite.
template <class T, bool OfSize>
struct largest {
  T const* x;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& most) const {
    double const number = OfSize ? Kokkos::fabs(double(x[i])) : double(x[i]);
    double const value = number == number ? number : Kokkos::Experimental::infinity_v<double>;
    most = value > most ? value : most;
  }
};

/// Makes misfits, and finds the sizes of the largest and of the largest times its ray's weight.
template <class T>
struct bounded_misfit {
  using value_type = misfit_bounds;
  misfit<T> of;
  T const* ray_weights;  ///< null: not asked for
  KOKKOS_FUNCTION void operator()(std::int64_t i, misfit_bounds& bounds) const {
    of(i);
    largest<T, true>{of.p}(i, bounds.residual);
    if (ray_weights != nullptr) {
      double const size = Kokkos::fabs(double(weigh<T>::of(ray_weights[i], of.p[i])));
      bounds.weighted = is_finite(size) && size > bounds.weighted ? size : bounds.weighted;
    }
  }
  KOKKOS_FUNCTION void join(misfit_bounds& to, misfit_bounds const& from) const {
    to = to.joined(from);
  }
  KOKKOS_FUNCTION void init(misfit_bounds& bounds) const { bounds = {}; }
};

/// A step of voxels, and the bounds of those that it makes.
template <class T>
struct bounded_step {
  using value_type = voxel_bounds;
  step_voxels<T> step;
  KOKKOS_FUNCTION void operator()(std::int64_t i, voxel_bounds& bounds) const {
    step(i);
    T const size = Kokkos::fabs(step.x[i]);
    bool const finite = is_finite(size);
    bounds = bounds.joined({finite ? double(size) : 0.0, finite});
  }
  KOKKOS_FUNCTION void join(voxel_bounds& to, voxel_bounds const& of) const { to = to.joined(of); }
  KOKKOS_FUNCTION void init(voxel_bounds& bounds) const { bounds = {}; }
};

/// Counts numbers of a mask that are neither 0 nor 1.
template <class T>
struct not_zero_or_one {
  T const* mask;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& number) const {
    number += mask[i] == T(0) || mask[i] == T(1) ? 0 : 1;
  }
};

/// Returns what `counter` adds up to over `count` numbers. Waits for `exec`.
template <execution_space Exec, class Counter>
std::int64_t count_of(Exec const& exec, std::int64_t count, Counter const& counter) {
  std::int64_t number = 0;
  Kokkos::parallel_reduce(
      "iso::ct::iterate: count",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count), counter, number);
  exec.fence("iso::ct::iterate: the count is here");
  return number;
}

/// Returns the most that `finder` finds in `count` numbers, at least zero. Waits for `exec`.
template <execution_space Exec, class Finder>
double max_of(Exec const& exec, std::int64_t count, Finder const& finder) {
  double most = 0;
  if (count == 0) {
    return most;  // Kokkos would return the least number there is
  }
  Kokkos::parallel_reduce(
      "iso::ct::iterate: largest",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count), finder,
      Kokkos::Max<double>(most));
  exec.fence("iso::ct::iterate: the largest number is here");
  return most;
}

/// Returns the largest of `count` numbers, or of their sizes, at least zero. Waits for `exec`.
template <bool OfSize = false, execution_space Exec, class T>
double largest_of(Exec const& exec, T const* x, std::int64_t count) {
  return max_of(exec, count, largest<T, OfSize>{x});
}

}  // namespace iso::ct::detail
