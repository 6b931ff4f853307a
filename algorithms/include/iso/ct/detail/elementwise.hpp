// SPDX-License-Identifier: BSD-3-Clause
//! Does to every number of an array what iterative methods do between projections.
#pragma once

#include <iso/backend/for_each_index.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/detail/voxel_step.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

template <execution_space Exec, class F>
void for_each_number(char const* name, Exec const& exec, std::int64_t count, F const& f) {
  backend::for_each_index(name, exec, count, f);
}

/// y = a x + b y; with b = 0 whatever y holds.
template <class T>
struct combine {
  T a;
  T const* x;
  T b;
  T* y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    y[i] = b == T(0) ? a * x[i] : Kokkos::fma(a, x[i], b * y[i]);
  }
};

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
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    y[i] = w[i] == T(0) ? T(0) : w[i] * x[i];
  }
};

/// y becomes the larger of x and y.
template <class T>
struct raise_to {
  T const* x;
  T* y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y[i] = x[i] > y[i] ? x[i] : y[i]; }
};

/// w becomes factor / w where it is above `least`, and zero elsewhere.
template <class T>
struct invert {
  T factor;
  T least;
  T* w;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    w[i] = w[i] > least ? factor / w[i] : T(0);
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

/// p becomes b / p where p is above `least`, and zero elsewhere and where `weight` is zero.
template <class T>
struct ratio {
  T const* b;
  T const* weight;  ///< may be null
  T least;
  T* p;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    bool const counts = weight == nullptr || weight[i] != T(0);
    p[i] = counts && p[i] > least ? b[i] / p[i] : T(0);
  }
};

/// x stays where w is not zero, and becomes zero elsewhere.
template <class T>
struct keep_where {
  T const* w;
  T* x;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { x[i] = w[i] != T(0) ? x[i] : T(0); }
};

/// Finds the largest number; a NaN counts as infinite.
template <class T>
struct largest {
  T const* x;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& most) const {
    double const value = x[i] == x[i] ? double(x[i]) : Kokkos::Experimental::infinity_v<double>;
    most = value > most ? value : most;
  }
};

/// Counts numbers that are NaN or infinite, or negative where that is refused, and that count.
template <class T>
struct unfit {
  T const* b;
  T const* weight;
  bool refuse_negative;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& number) const {
    bool const counts = weight == nullptr || weight[i] != T(0);
    number += counts && (!is_finite(b[i]) || (refuse_negative && b[i] < T(0))) ? 1 : 0;
  }
};

/// Counts numbers of a mask that are neither 0 nor 1.
template <class T>
struct not_zero_or_one {
  T const* mask;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& number) const {
    number += mask[i] == T(0) || mask[i] == T(1) ? 0 : 1;
  }
};

/// Counts voxels that are NaN, infinite or outside of [lower, upper].
template <class T>
struct outside {
  T const* x;
  T lower;
  T upper;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& number) const {
    number += is_finite(x[i]) && !(x[i] < lower) && !(x[i] > upper) ? 0 : 1;
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

/// Returns the largest of `count` numbers, at least zero. Waits for `exec`.
template <execution_space Exec, class T>
double largest_of(Exec const& exec, T const* x, std::int64_t count) {
  double most = 0;
  Kokkos::parallel_reduce(
      "iso::ct::iterate: largest",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count), largest<T>{x},
      Kokkos::Max<double>(most));
  exec.fence("iso::ct::iterate: the largest number is here");
  return most;
}

}  // namespace iso::ct::detail
