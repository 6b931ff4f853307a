// SPDX-License-Identifier: BSD-3-Clause
//! Says which part of a volume and a scan lies here, and makes numbers of the parts those of the
//! whole.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/core/sum_of.hpp>
#include <iso/ct/detail/agreement.hpp>
#include <iso/ct/rank_plan.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace iso::ct::detail {

/// The part that a rank has of a volume and a scan; all of it, where nothing is divided. Then its
/// functions return what they are given.
class rank_part {
 public:
  /// Nothing is divided.
  rank_part() = default;
  /// \param ranks  must outlive it
  rank_part(backend::communicator& ranks, rank_plan plan)
      : ranks_(&ranks), plan_(std::move(plan)) {}

  /// Returns the planes of a grid, and the rows of a detector, that are here.
  [[nodiscard]] slab planes(iso::grid const& whole) const {
    return plan_ ? plan_->planes(ranks_->rank()) : all_planes(whole);
  }
  [[nodiscard]] row_range rows(geometry const& scan) const {
    return plan_ ? plan_->rows(ranks_->rank()) : row_range{0, scan.num_v()};
  }

  /// Calls f(), and throws on every rank where it throws on one.
  template <class F>
  void together(char const* function, F const& f) const {
    if (ranks_ != nullptr) {
      check_together(*ranks_, function, f);
    } else {
      f();
    }
  }
  /// Does the same, and asks the job afterwards: all ranks stop where one is asked to.
  template <class F>
  void together(char const* function, job const& control, F const& f) const {
    if (ranks_ != nullptr) {
      check_together(*ranks_, function, control, f);
    } else {
      f();
      job{{}, control.cancelled}.step(1);
    }
  }
  /// Throws on every rank, unless all have the same options.
  template <class Options>
  void agree(char const* function, Options const& options) const {
    if (ranks_ != nullptr) {
      fingerprint of;
      describe(of, options);
      validate_agreement(*ranks_, *plan_, of, function);
    }
  }

  /// Returns the largest number of all parts, of numbers that are not negative.
  [[nodiscard]] double largest(double x) const {
    return ranks_ != nullptr ? largest_of_ranks(*ranks_, x) : x;
  }
  /// Returns the sum of the counts of all parts.
  [[nodiscard]] std::int64_t count(std::int64_t x) const {
    auto word = std::uint64_t(x);
    if (ranks_ != nullptr) {
      ranks_->sum(std::span<std::uint64_t>(&word, 1));
    }
    return std::int64_t(word);
  }
  /// Returns the bounds of the terms of all parts.
  [[nodiscard]] term_bounds joined(term_bounds const& here) const {
    return {largest(here.largest), count(here.count)};
  }
  /// Adds the terms of all other parts to `sum`, which has the bounds of all.
  void add_others(partial_sum& sum) const {
    if (ranks_ != nullptr) {
      sum.add_up([&](std::span<std::uint64_t> words) { ranks_->sum(words); });
    }
  }

 private:
  backend::communicator* ranks_ = nullptr;
  std::optional<rank_plan> plan_;
};

/// Returns the sum of `count` terms here, and of those of all other parts: any number for each
/// index, as partial_sum::add_terms takes them.
template <execution_space Exec, class Terms>
double sum_of_parts(Exec const& exec, rank_part const& part, std::int64_t indices,
                    std::int64_t count, Terms const& terms) {
  partial_sum all(part.joined(iso::detail::bounds_of_terms(exec, indices, count, terms)));
  all.add_terms(exec, indices, count, terms);
  part.add_others(all);
  return all.value();
}
/// Returns the sum of term(i) of all parts, as iso::sum_of.
template <execution_space Exec, class Term>
double sum_of_parts(Exec const& exec, rank_part const& part, std::int64_t count, Term const& term) {
  return sum_of_parts(exec, part, count, count, iso::detail::single_terms<Term>{term});
}

}  // namespace iso::ct::detail
