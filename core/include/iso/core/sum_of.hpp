// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/sum_of.hpp
//! Makes sums and scalar products of long arrays that do not depend on any order.
#pragma once

#include <iso/core/concepts.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/reproducible.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>

namespace iso {
namespace detail {

/// Sums numbers on a coarse grid, and what that leaves on a fine one. Adding is exact.
struct split_sum {
  std::uint64_t coarse = 0;
  std::uint64_t fine = 0;

  KOKKOS_FUNCTION split_sum& operator+=(split_sum const& other) {
    coarse += other.coarse;
    fine += other.fine;
    return *this;
  }
};

/// Adds up terms that are finite.
template <class Term>
struct split_sum_kernel {
  using value_type = split_sum;
  using grid = reproducible_scale<double>;
  Term term;
  grid coarse;
  grid fine;

  KOKKOS_FUNCTION void operator()(std::int64_t i, split_sum& sum) const {
    double const x = term(i);
    std::uint64_t const bits = coarse.round(x);
    double const rounded = (Kokkos::bit_cast<double>(bits) - grid::rounder) * coarse.unit();
    sum.coarse += coarse.without_rounder(bits, 1);
    sum.fine += fine.without_rounder(fine.round(x - rounded), 1);
  }
  KOKKOS_FUNCTION void join(split_sum& to, split_sum const& of) const { to += of; }
  KOKKOS_FUNCTION void init(split_sum& sum) const { sum = {}; }
};

/// Finds the largest |term|, infinite where one is not finite.
template <class Term>
struct term_range_kernel {
  Term term;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& most) const {
    double const size = Kokkos::fabs(term(i));
    double const known = is_finite(size) ? size : Kokkos::Experimental::infinity_v<double>;
    most = known > most ? known : most;
  }
};

template <class T>
struct product_term {
  T const* x;
  T const* y;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const { return double(x[i]) * double(y[i]); }
};

}  // namespace detail

/// Returns the sum of term(i), i from 0 to `count`, off by at most 1e-13 of the sum of |term(i)|
/// (count up to 2^36). NaN where a term is not finite. Each term is asked for twice, and must be
/// the same. Waits for `exec`. Determinism: backend_to_backend; terms are rounded to two grids of
/// integers, which add exactly in any order (iso::reproducible_scale).
/// \param term  a functor that can be copied: double operator()(std::int64_t) const
template <execution_space Exec, class Term>
double sum_of(Exec const& exec, std::int64_t count, Term const& term) {
  if (count == 0) {
    return 0;
  }
  using range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  double most = 0;
  Kokkos::parallel_reduce("iso::sum_of: range", range(exec, 0, count),
                          detail::term_range_kernel<Term>{term}, Kokkos::Max<double>(most));
  exec.fence("iso::sum_of: the range is here");
  if (!is_finite(most)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (!(most > 0)) {
    return 0;
  }
  reproducible_scale<double> const coarse(most, double(count));
  reproducible_scale<double> const fine(coarse.unit(), double(count));
  detail::split_sum sum;
  Kokkos::parallel_reduce("iso::sum_of", range(exec, 0, count),
                          detail::split_sum_kernel<Term>{term, coarse, fine}, sum);
  exec.fence("iso::sum_of: the sum is here");
  return coarse.value(sum.coarse) + fine.value(sum.fine);
}

/// Returns the sum of x[i] y[i], products rounded to double, as sum_of makes it.
/// Determinism: backend_to_backend.
template <execution_space Exec, real T>
double dot(Exec const& exec, T const* x, T const* y, std::int64_t count) {
  return sum_of(exec, count, detail::product_term<T>{x, y});
}

}  // namespace iso
