// SPDX-License-Identifier: BSD-3-Clause
//! \file  backends/ceiling_loops.hpp
//! Runs the loops that ceilings stand for, written with the lane group as this library's kernels
//! are: `share_of_ceiling` is what such a kernel gets of the ceiling where it does nothing else.
#pragma once

#include "support/bench.hpp"

#include <iso/cases/loops.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace iso::perf {

using namespace cases;

/// Sets every figure of ceilings::measure, under its own name.
inline void set_figures(benchmark::State& state, ceilings::rates const& c) {
  for (auto const& [name, figure] : {std::pair{"read", c.read},
                                     {"copy", c.copy},
                                     {"triad", c.triad},
                                     {"l1", c.l1},
                                     {"l2", c.l2},
                                     {"fp16", c.fp16},
                                     {"fp32", c.fp32},
                                     {"fp64", c.fp64},
                                     {"spread", c.spread}}) {
    state.counters[name] = figure;
  }
}

/// Holds the rows of one backend: each runs its loop, and compares what came out with what must.
template <class Exec>
class ceiling_rows {
 public:
  static void read(benchmark::State& state) { run_stream(state, stream::read); }
  static void copy(benchmark::State& state) { run_stream(state, stream::copy); }
  static void triad(benchmark::State& state) { run_stream(state, stream::triad); }

  template <class T>
  static void fma(benchmark::State& state) {
    Exec const exec;
    run<T>(state, exec, chain_case<T>{num_fma_groups(exec)}, chain_case<T>::largest_error());
  }

 private:
  /// Returns the stretches of arrays of several times the last cache.
  static std::int64_t num_stretches(Exec const& exec) {
    auto const facts = backend::facts(exec);
    std::int64_t const cache = std::max(facts.l2_bytes, facts.l3_bytes);
    std::int64_t const bytes =
        smoke() ? std::int64_t(1) << 20 : std::max(2 * cache, std::int64_t(1) << 28);
    return bytes / std::int64_t(sizeof(float)) / stretch;
  }
  static std::int64_t num_fma_groups(Exec const& exec) {
    return smoke() ? 64 : 1024 * std::max<std::int64_t>(1, backend::facts(exec).cores);
  }
  static void run_stream(benchmark::State& state, stream kind) {
    Exec const exec;
    run<float>(state, exec, stream_case{kind, num_stretches(exec)}, 0);
  }
  template <class T, class Case>
  static void run(benchmark::State& state, Exec const& exec, Case const& what, double allowed) {
    measurable<Exec, T> const call(exec, what.prepare(exec));
    double const seconds =
        time_calls(state, exec, call, backend::is_device<Exec> && !smoke() ? 10 : 1);
    double const error = call.error();
    set_figures(state, ceilings_of(exec));
    set_counters(state, exec, seconds, call.work(), error);
    if (!(error <= allowed)) {
      fail(state, "the loop's result is not what it must be");
    }
  }
};

/// Adds the row `name`, which runs `row`.
inline void add_ceiling_row(std::string const& name, void (*row)(benchmark::State&)) {
  add_row(name, 9, row);
}

}  // namespace iso::perf
