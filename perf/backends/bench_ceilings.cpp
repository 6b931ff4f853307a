// SPDX-License-Identifier: BSD-3-Clause
// The measured ceilings of every backend of this build, one row each, and how long measuring takes.
// The rates are counters: bytes or operations per second.
#include "support/bench.hpp"

#include <iso/backend/ceilings.hpp>

#include <benchmark/benchmark.h>

#include <string>

namespace {

template <class Exec>
void measure(benchmark::State& state) {
  Exec const exec;
  iso::backend::ceiling_options const options{.bytes = iso::perf::smoke() ? 1 << 24 : 0};
  iso::backend::ceilings best;
  for (auto _ : state) {
    state.SetIterationTime(
        iso::perf::seconds_of(exec, [&] { best = iso::backend::measure_ceilings(exec, options); }));
  }
  state.counters["read"] = best.read;
  state.counters["copy"] = best.copy;
  state.counters["triad"] = best.triad;
  state.counters["l1"] = best.l1;
  state.counters["l2"] = best.l2;
  state.counters["fp16"] = best.fp16;
  state.counters["fp32"] = best.fp32;
  state.counters["fp64"] = best.fp64;
  state.counters["spread"] = best.spread;
}

int const registered = iso::perf::add_rows_of_backends([]<class Exec>(std::string const& name) {
  benchmark::RegisterBenchmark(("ceilings/" + name).c_str(), measure<Exec>)
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
});

}  // namespace
