// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/iterate.hpp
//! Runs an iterative method until a rule ends it.
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/job.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace iso::ct {

/// The figures of one iteration. Those that a method does not compute are NaN.
struct iteration {
  std::int64_t number = 0;  ///< 1, 2, ...; a resumed run goes on counting
  /// The norm ||b - A x|| of the readings that count, as the iteration computes it anyway. CGLS,
  /// LSQR and TV: of the new x; the others: of x as the iteration, or each of its blocks, found it.
  /// LSQR with damping d: the root of ||b - A x||^2 + d^2 ||x - start||^2.
  double residual = std::numeric_limits<double>::quiet_NaN();
  double relative_residual = std::numeric_limits<double>::quiet_NaN();  ///< over ||b||
  double gap = std::numeric_limits<double>::quiet_NaN();  ///< TV: primal-dual gap over the primal
};

/// The rules by which a run of iterations ends. A rule that is zero, or empty, does not count.
struct stopping_rules {
  std::int64_t iterations = 20;  ///< at most, of this run
  double relative_residual = 0;  ///< at or below
  double noise = 0;              ///< discrepancy: ||b - A x|| at or below it, see noise_of_counts
  double gap = 0;                ///< TV: relative primal-dual gap at or below
  std::function<bool(iteration const&)> proceed = {};  ///< after each; false stops

  /// Returns whether a number of this iteration ends the run.
  [[nodiscard]] bool met_by(iteration const& now) const {
    return (relative_residual > 0 && now.relative_residual <= relative_residual) ||
           (noise > 0 && now.residual <= noise) || (gap > 0 && now.gap <= gap);
  }
};

/// Runs `method` and returns what every iteration told. A method has `iteration step(job const&)`.
/// Determinism: backend_to_backend.
/// \param control  progress in iterations of `rules.iterations`, and cancellation, asked between
///                 the launches of a projection
/// \throws iso::invalid_argument  fewer than one iteration, a rule that is negative or NaN, a
///                                residual or gap that is no longer finite
/// \throws iso::cancelled         the volume is then somewhere within an iteration
template <class Method>
std::vector<iteration> iterate(Method&& method, stopping_rules const& rules = {},
                               job const& control = {}) {
  ISO_VALIDATE(rules.iterations >= 1,
               "iso::ct::iterate: {} iterations (at least one is needed); ask for 1 or more",
               rules.iterations);
  for (double const rule : {rules.relative_residual, rules.noise, rules.gap}) {
    ISO_VALIDATE(rule >= 0,
                 "iso::ct::iterate: a stopping rule of {} (must not be negative); leave it at 0 "
                 "where it shall not count",
                 rule);
  }
  std::vector<iteration> history;
  for (std::int64_t n = 0; n < rules.iterations; ++n) {
    job const part{[&](double fraction) {
                     if (control.progress) {
                       control.progress((double(n) + fraction) / double(rules.iterations));
                     }
                   },
                   control.cancelled};
    history.push_back(method.step(part));
    iteration const& now = history.back();
    bool const proceeds = !rules.proceed || rules.proceed(now);
    if (rules.met_by(now) || !proceeds) {
      break;
    }
  }
  if (control.progress) {
    control.progress(1);
  }
  return history;
}

}  // namespace iso::ct
