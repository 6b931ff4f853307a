// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/ceilings/ceilings.hpp>

#include <algorithm>
#include <chrono>

namespace iso::backend::detail {

using one_figure = double ceilings::*;
inline constexpr one_figure all_figures[] = {&ceilings::read, &ceilings::copy, &ceilings::triad,
                                             &ceilings::l1,   &ceilings::l2,   &ceilings::fp16,
                                             &ceilings::fp32, &ceilings::fp64};

/// The best figure of each kind, and how far from it the second best lies.
class best_two {
 public:
  void add(ceilings const& round) {
    for (auto const figure : all_figures) {
      second_.*figure = std::max(second_.*figure, std::min(best_.*figure, round.*figure));
      best_.*figure = std::max(best_.*figure, round.*figure);
    }
  }
  /// Of the figure whose best two differ most: (best - second) / best.
  [[nodiscard]] double spread() const {
    double most = 0;
    for (auto const figure : all_figures) {
      if (best_.*figure > 0) {
        most = std::max(most, 1 - second_.*figure / best_.*figure);
      }
    }
    return most;
  }
  [[nodiscard]] ceilings const& best() const { return best_; }

 private:
  ceilings best_;
  ceilings second_;
};

/// The best of rounds, each of which measures every figure once: of two at least, and of more until
/// the best two of every figure agree within `agreement`, or `seconds` have passed. What disturbs
/// the machine for a while then spoils a round and not a figure.
template <class Round>
ceilings best_of_rounds(Round const& round, double agreement, double seconds) {
  auto const start = std::chrono::steady_clock::now();
  auto const spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  best_two found;
  found.add(round());
  do {
    found.add(round());
  } while (found.spread() > agreement && spent() < seconds);
  ceilings result = found.best();
  result.spread = found.spread();
  return result;
}

/// What `options` ask for: one round, or as many as it takes for the best two of every figure to
/// agree within 5 per cent, for two seconds at most. What triad reads counts as a measurement of
/// `read`.
template <class Round>
ceilings measure_in_rounds(Round const& round, ceiling_options const& options) {
  ceilings result = options.repeats > 0 ? round() : best_of_rounds(round, 0.05, 2);
  result.read = std::max(result.read, result.triad * 2 / 3);
  return result;
}

}  // namespace iso::backend::detail
