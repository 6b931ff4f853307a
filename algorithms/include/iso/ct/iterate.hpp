// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/iterate.hpp
//! Runs an iterative method until a rule ends it.
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/job.hpp>
#include <iso/ct/iterative_options.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace iso::ct {

/// Runs `method` and returns what every iteration told. A method has `iteration step(job const&)`,
/// which waits for the method's execution space.
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
