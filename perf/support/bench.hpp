// SPDX-License-Identifier: BSD-3-Clause
//! \file  support/bench.hpp
//! Holds what benchmarks share: sizes for a smoke run, timing around a fence, a row's counters.
#pragma once

#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/cases/memory.hpp>
#include <iso/cases/times.hpp>
#include <iso/cases/work.hpp>
#include <iso/ceilings/ceilings.hpp>
#include <iso/core/concepts.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace iso::perf {

/// Returns whether ISO_PERF_SMOKE is set: sizes so small that the run only shows that the program
/// still works.
inline bool smoke() {
  char const* const value = std::getenv("ISO_PERF_SMOKE");
  return value != nullptr && *value != '\0' && *value != '0';
}

/// Returns the ceilings of what `exec` runs on, measured once in a program's life.
template <execution_space Exec>
ceilings::rates const& ceilings_of(Exec const& exec) {
  static ceilings::rates const measured = ceilings::measure(
      exec, smoke() ? ceilings::measure_options{.bytes = std::int64_t(16) << 20, .repeats = 1}
                    : ceilings::measure_options{});
  return measured;
}

/// Sets the counters of a row: `bytes` and `flops` of one call, `share_of_ceiling` of a call that
/// takes `seconds` (1: as fast as the machine's memory and fma are), `error` against the reference
/// that the benchmark names. What a cache gives is not counted.
template <execution_space Exec>
void set_counters(benchmark::State& state, Exec const& exec, double seconds, cases::min_work work,
                  double error) {
  work.cache_bytes = 0;
  state.counters["bytes"] = work.bytes;
  state.counters["flops"] = work.flops;
  state.counters["share_of_ceiling"] = cases::min_seconds(work, ceilings_of(exec)) / seconds;
  state.counters["error"] = error;
  state.SetBytesProcessed(std::int64_t(work.bytes) * state.iterations());
}

inline double median(std::vector<double> x) {
  auto const middle = x.begin() + std::ptrdiff_t(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return middle == x.end() ? 0 : *middle;
}
inline double least(std::vector<double> const& x) { return *std::min_element(x.begin(), x.end()); }

using cases::duration_of;
using cases::kernel_times;
using cases::moment;
using cases::seconds_of;

/// Wall and processor seconds of each of some calls, for rows that time products in turn.
struct stopwatch {
  std::vector<double> wall;
  std::vector<double> processor;

  /// Returns the wall seconds of a call, of so many between two fences.
  template <execution_space Exec, class F>
  double run(Exec const& exec, F const& f, int calls = 1) {
    moment const took = duration_of(exec, f, calls);
    wall.push_back(took.wall);
    processor.push_back(took.processor);
    return took.wall;
  }
};

/// Runs the loop of a benchmark with UseManualTime: after one warm-up, an iteration is `calls`
/// calls of f between two fences, of which it takes the mean. Several calls where one is not long
/// beside a launch. Returns the median of the iterations, in seconds a call.
template <execution_space Exec, class F>
double time_calls(benchmark::State& state, Exec const& exec, F const& f, int calls = 1) {
  f();
  std::vector<double> seconds;
  for (auto _ : state) {
    seconds.push_back(seconds_of(exec, f, calls));
    state.SetIterationTime(seconds.back());
  }
  return median(std::move(seconds));
}

/// Counts how many rows have failed: main's exit status is 1 where any has.
inline int& failed_rows() {
  static int count = 0;
  return count;
}

/// Makes the row an error, in the output and for main.
inline void fail(benchmark::State& state, char const* why) {
  ++failed_rows();
  state.SkipWithError(why);
}

/// Compares two views of as many numbers, wherever they lie.
template <class A, class B>
bool same_bits(A const& a, B const& b) {
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
  auto const y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  return x.size() == y.size() &&
         std::memcmp(x.data(), y.data(), x.size() * sizeof(typename A::value_type)) == 0;
}

/// Adds a row of the program, whose `run` sets the time of each iteration; one in a smoke run.
template <class F>
void add_row(std::string const& name, int iterations, F const& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(smoke() ? 1 : iterations);
}

/// Calls add.operator()<Exec>(name) for every backend; to be the initialiser of something static.
template <class F>
int add_rows_of_backends(F const& add) {
  backend::for_each([&](auto tag) {
    add.template operator()<typename decltype(tag)::execution_space>(std::string(tag.name));
  });
  return 0;
}

}  // namespace iso::perf
