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

/// A sum on a coarse grid, and the sum of what that leaves on a fine one. Adding is exact.
struct split_sum {
  std::uint64_t coarse = 0;
  std::uint64_t fine = 0;

  KOKKOS_FUNCTION split_sum& operator+=(split_sum const& other) {
    coarse += other.coarse;
    fine += other.fine;
    return *this;
  }
};

/// The terms of a sum with one term, of any size, for each index.
template <class Term>
struct single_terms {
  Term term;

  template <class Add>
  KOKKOS_FUNCTION void operator()(std::int64_t i, Add const& add) const {
    add(term(i));
  }
  [[nodiscard]] KOKKOS_FUNCTION double bound(std::int64_t /*i*/) const {
    return Kokkos::Experimental::infinity_v<double>;
  }
};

/// The kernel that adds finite terms.
template <class Terms>
struct split_sum_kernel {
  using value_type = split_sum;
  using grid = reproducible_scale<double>;
  Terms terms;
  grid coarse;
  grid fine;

  KOKKOS_FUNCTION void operator()(std::int64_t i, split_sum& sum) const {
    terms(i, [&](double x) {
      std::uint64_t const bits = coarse.round(x);
      double const rounded = (Kokkos::bit_cast<double>(bits) - grid::rounder) * coarse.unit();
      sum.coarse += coarse.without_rounder(bits, 1);
      sum.fine += fine.without_rounder(fine.round(x - rounded), 1);
    });
  }
  KOKKOS_FUNCTION void join(split_sum& to, split_sum const& of) const { to += of; }
  KOKKOS_FUNCTION void init(split_sum& sum) const { sum = {}; }
};

/// The kernel that finds the largest |term|, infinite where one is not finite.
template <class Terms>
struct term_range_kernel {
  Terms terms;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& most) const {
    if (!(terms.bound(i) > most)) {
      return;
    }
    terms(i, [&](double x) {
      double const size = Kokkos::fabs(x);
      double const known = is_finite(size) ? size : Kokkos::Experimental::infinity_v<double>;
      most = known > most ? known : most;
    });
  }
};

/// Returns iso::sum_of of at most `count` terms, which come in groups.
/// \param terms  a functor that can be copied: terms(i, add) calls add(x) for each term of group i,
///               terms.bound(i) is at least the largest |x| of them
template <execution_space Exec, class Terms>
double sum_of_groups(Exec const& exec, std::int64_t groups, std::int64_t count,
                     Terms const& terms) {
  if (groups == 0) {
    return 0;
  }
  using range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  double most = 0;
  Kokkos::parallel_reduce("iso::sum_of: range", range(exec, 0, groups),
                          term_range_kernel<Terms>{terms}, Kokkos::Max<double>(most));
  exec.fence("iso::sum_of: the range is here");
  if (!(most > 0)) {
    return 0;  // below all numbers where there are no terms
  }
  if (!is_finite(most)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  reproducible_scale<double> const coarse(most, double(count));
  reproducible_scale<double> const fine(coarse.unit(), double(count));
  split_sum sum;
  Kokkos::parallel_reduce("iso::sum_of", range(exec, 0, groups),
                          split_sum_kernel<Terms>{terms, coarse, fine}, sum);
  exec.fence("iso::sum_of: the sum is here");
  return coarse.value(sum.coarse) + fine.value(sum.fine);
}

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
  return detail::sum_of_groups(exec, count, count, detail::single_terms<Term>{term});
}

/// Returns the sum of x[i] y[i], products rounded to double, as sum_of makes it.
/// Determinism: backend_to_backend.
template <execution_space Exec, real T>
double dot(Exec const& exec, T const* x, T const* y, std::int64_t count) {
  return sum_of(exec, count, detail::product_term<T>{x, y});
}

}  // namespace iso
