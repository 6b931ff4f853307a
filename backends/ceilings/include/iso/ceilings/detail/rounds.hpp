// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/ceilings/ceilings.hpp>
#include <iso/core/check.hpp>

#include <algorithm>
#include <chrono>

namespace iso::ceilings::detail {

using clock = std::chrono::steady_clock;

inline double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// Returns the best figures of rounds, each of which measures every figure once: of two at least,
/// and of more until the best two of every figure agree within `agreement`, or `seconds` have
/// passed. What disturbs the machine for a while then spoils a round and not a figure.
template <class Round>
rates best_of_rounds(Round const& round, double agreement, double seconds) {
  auto const start = clock::now();
  rates best = round();
  rates second;
  do {
    rates const next = round();
    best.spread = 0;
    for (auto const figure : {&rates::read, &rates::copy, &rates::triad, &rates::l1, &rates::l2,
                              &rates::fp16, &rates::fp32, &rates::fp64}) {
      second.*figure = std::max(second.*figure, std::min(best.*figure, next.*figure));
      best.*figure = std::max(best.*figure, next.*figure);
      if (best.*figure > 0) {
        best.spread = std::max(best.spread, 1 - second.*figure / best.*figure);
      }
    }
  } while (best.spread > agreement && seconds_since(start) < seconds);
  return best;
}

/// Makes the rounds that `options` ask for: one round, or as many as it takes for the best two of
/// every figure to agree within 5 per cent, for two seconds at most. What triad reads counts as a
/// measurement of `read`.
template <class Round>
rates measure_in_rounds(Round const& round, measure_options const& options) {
  rates result = options.repeats > 0 ? round() : best_of_rounds(round, 0.05, 2);
  result.read = std::max(result.read, result.triad * 2 / 3);
  return result;
}

inline void validate(measure_options const& options) {
  ISO_VALIDATE(options.bytes >= 0 && options.repeats >= 0,
               "iso::ceilings::measure: bytes {}, repeats {} (negative); use 0 for the default",
               options.bytes, options.repeats);
}

}  // namespace iso::ceilings::detail
