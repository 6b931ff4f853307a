// SPDX-License-Identifier: BSD-3-Clause
//! Runs an operation again, as often as a request wants, and takes the time.
#pragma once

#include <iso/cases/times.hpp>
#include <iso/core/job.hpp>
#include <iso/jobs/repeats.hpp>
#include <iso/jobs/session.hpp>

#include <functional>

namespace iso::jobs {

/// Returns what runs of f(job) on `exec` take. Before each of them, untimed, `anew` puts back what
/// the run before has changed of its inputs. Progress is told between runs alone: within them it
/// would wait for `exec`.
template <class Exec, class F>
repeats_result repeat(Exec const& exec, repeats_request const& request, observer const& watch,
                      F const& f, std::function<void(job const&)> const& anew = {}) {
  job const unasked{};
  auto const prepare = [&] {
    if (anew) {
      anew(unasked);
    }
  };
  auto const told = [](cases::moment took) { return run_time{took.wall, took.processor}; };
  repeats_result result;
  for (int n = 0; n < request.count; ++n) {
    watch.step(double(n) / request.count, "repeating");
    prepare();
    result.runs.push_back(told(cases::duration_of(exec, [&] { f(unasked); })));
  }
  if (request.by_kernel) {
    prepare();
    for (auto const& [label, took] : cases::kernel_times([&] { f(unasked); })) {
      result.kernels[label] = told(took);
    }
  }
  return result;
}

}  // namespace iso::jobs
