// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/sum_of.hpp
//! Makes sums and scalar products of long arrays that do not depend on any order, at once or piece
//! by piece.
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/reproducible.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <span>

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

/// The grids of a sum: a coarse one, and a fine one of what that leaves.
struct split_scale {
  using grid = reproducible_scale<double>;
  grid coarse;
  grid fine;

  split_scale() = default;
  split_scale(double largest, double count) : coarse(largest, count), fine(coarse.unit(), count) {}

  KOKKOS_FUNCTION void add(double x, split_sum& sum) const {
    std::uint64_t const bits = coarse.round(x);
    double const rounded = (Kokkos::bit_cast<double>(bits) - grid::rounder) * coarse.unit();
    sum.coarse += coarse.without_rounder(bits, 1);
    sum.fine += fine.without_rounder(fine.round(x - rounded), 1);
  }
  [[nodiscard]] double value(split_sum const& sum) const {
    return coarse.value(sum.coarse) + fine.value(sum.fine);
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
  Terms terms;
  split_scale scale;

  KOKKOS_FUNCTION void operator()(std::int64_t i, split_sum& sum) const {
    terms(i, [&](double x) { scale.add(x, sum); });
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

template <class T>
struct product_term {
  T const* x;
  T const* y;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const { return double(x[i]) * double(y[i]); }
};

}  // namespace detail

/// What a sum of terms that come in pieces must know of all of them before the first piece.
struct term_bounds {
  double largest = 0;      ///< |term|; infinite where one is not finite
  std::int64_t count = 0;  ///< of the terms

  /// Returns the bounds of two pieces together.
  [[nodiscard]] term_bounds joined(term_bounds const& other) const {
    return {largest > other.largest ? largest : other.largest, count + other.count};
  }

  friend bool operator==(term_bounds const&, term_bounds const&) = default;
};

namespace detail {

/// Returns the bounds of `count` terms, any number for each index. Waits for `exec`.
template <execution_space Exec, class Terms>
term_bounds bounds_of_terms(Exec const& exec, std::int64_t indices, std::int64_t count,
                            Terms const& terms) {
  using range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  if (count == 0) {
    return {};
  }
  term_bounds found{0, count};
  Kokkos::parallel_reduce("iso::sum_of: range", range(exec, 0, indices),
                          term_range_kernel<Terms>{terms}, Kokkos::Max<double>(found.largest));
  exec.fence("iso::sum_of: the range is here");
  return found;
}

}  // namespace detail

/// Returns the bounds of term(i), i from 0 to `count`. Waits for `exec`.
/// Determinism: backend_to_backend; a maximum and a count.
/// \param term  a functor that can be copied: double operator()(std::int64_t) const
template <execution_space Exec, class Term>
term_bounds bounds_of_terms(Exec const& exec, std::int64_t count, Term const& term) {
  return detail::bounds_of_terms(exec, count, count, detail::single_terms<Term>{term});
}

/// The sum of terms that come in pieces, in any order and number: sum_of, to the bit. It is two
/// words, which add as integers. Their units follow from the bounds of all terms, so a pass over
/// all of them comes before.
/// Determinism: backend_to_backend, in any order and number of pieces.
class partial_sum {
 public:
  /// Makes the sum of no terms.
  /// \param all  bounds_of_terms of every piece, joined
  explicit partial_sum(term_bounds const& all)
      : all_(all), scale_(all.largest, double(all.count)) {}

  /// Adds term(i), i from 0 to `count`. Waits for `exec`.
  /// \throws iso::invalid_argument  more terms than the bounds are of
  template <execution_space Exec, class Term>
  void add(Exec const& exec, std::int64_t count, Term const& term) {
    add_terms(exec, count, count, detail::single_terms<Term>{term});
  }
  /// Adds `count` terms, any number for each index: terms(index, add) calls add(x) for each, and
  /// terms.bound(index) is no less than |x|. Waits for `exec`.
  /// \throws iso::invalid_argument  more terms than the bounds are of
  template <execution_space Exec, class Terms>
  void add_terms(Exec const& exec, std::int64_t indices, std::int64_t count, Terms const& terms) {
    using range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    take(count);
    if (count == 0 || !(all_.largest > 0) || !is_finite(all_.largest)) {
      return;
    }
    detail::split_sum some;
    Kokkos::parallel_reduce("iso::sum_of", range(exec, 0, indices),
                            detail::split_sum_kernel<Terms>{terms, scale_}, some);
    exec.fence("iso::sum_of: the sum is here");
    sum_ += some;
  }
  /// Adds the terms of other pieces.
  /// \throws iso::invalid_argument  a sum with other bounds, more terms than these are of
  void add(partial_sum const& other) {
    ISO_VALIDATE(other.all_ == all_,
                 "iso::partial_sum::add: a sum of {} terms up to {} to one of {} up to {} (their "
                 "words count in other units); make both with the bounds of all terms",
                 other.all_.count, other.all_.largest, all_.count, all_.largest);
    take(other.added_);
    sum_ += other.sum_;
  }
  /// Adds what others hold of the same sum, as integers.
  /// \param add  a function that overwrites a std::span<std::uint64_t> of words by their sums over
  ///             all, each of whom calls this with the same bounds
  /// \throws iso::invalid_argument  more terms than the bounds are of
  template <class Add>
  void add_up(Add const& add) {
    std::array<std::uint64_t, 3> words{sum_.coarse, sum_.fine, std::uint64_t(added_)};
    add(std::span<std::uint64_t>(words));
    take(std::int64_t(words[2]) - added_);
    sum_ = {words[0], words[1]};
  }
  /// Returns the sum: NaN where a term is not finite.
  /// \throws iso::invalid_argument  fewer terms than the bounds are of
  [[nodiscard]] double value() const {
    ISO_VALIDATE(added_ == all_.count,
                 "iso::partial_sum::value: {} of {} terms were added (a sum needs all); add every "
                 "piece",
                 added_, all_.count);
    return !(all_.largest > 0)       ? 0.0
           : is_finite(all_.largest) ? scale_.value(sum_)
                                     : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  void take(std::int64_t count) {
    ISO_VALIDATE(count <= all_.count - added_,
                 "iso::partial_sum::add: {} terms after {} (the bounds are of {}); add each piece "
                 "once",
                 count, added_, all_.count);
    added_ += count;
  }

  term_bounds all_;
  detail::split_scale scale_;
  detail::split_sum sum_;
  std::int64_t added_ = 0;
};

/// Returns the sum of term(i), i from 0 to `count`, off by at most 1e-13 of the sum of |term(i)|
/// (count up to 2^36). NaN where a term is not finite. Each term is asked for twice, and must be
/// the same. Waits for `exec`. Determinism: backend_to_backend; terms are rounded to two grids of
/// integers, which add exactly in any order (iso::reproducible_scale).
/// \param term  a functor that can be copied: double operator()(std::int64_t) const
template <execution_space Exec, class Term>
double sum_of(Exec const& exec, std::int64_t count, Term const& term) {
  partial_sum sum(bounds_of_terms(exec, count, term));
  sum.add(exec, count, term);
  return sum.value();
}

/// Returns the sum of x[i] y[i], products rounded to double, as sum_of makes it.
/// Determinism: backend_to_backend.
template <execution_space Exec, real T>
double dot(Exec const& exec, T const* x, T const* y, std::int64_t count) {
  return sum_of(exec, count, detail::product_term<T>{x, y});
}

}  // namespace iso
