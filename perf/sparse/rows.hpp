// SPDX-License-Identifier: BSD-3-Clause
//! \file  sparse/rows.hpp
//! What rows of the benchmark share: names, timing in turn, counters, the table at the end.
#pragma once

#include "sparse/matrices.hpp"
#include "support/bench.hpp"

#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace iso::perf {

enum class way { forward, transposed };

/// What a row's product is: which matrix, and what it says in its name.
struct row_name {
  std::string family;   ///< "spmv", "peer", ...
  std::string matrix;   ///< matrix_source::name
  std::string product;  ///< format and values, or who computes it
  std::string sum;      ///< "ordered", "reproducible", "-"
  std::string backend;
  way direction = way::forward;

  [[nodiscard]] std::string text() const {
    return family + "/" + matrix + (direction == way::forward ? "/A/" : "/AT/") + product + "/" +
           sum + "/" + backend;
  }
};

/// Another product, timed in turn with a row's own.
struct rival {
  std::string name;
  std::function<void()> multiply;  ///< empty: there is none
};

struct measured {
  double seconds = 0;
  double rival_seconds = 0;  ///< 0: there was none
  /// Of all threads of this process, one call: what counts on a processor that others share.
  double processor_seconds = 0;
  double rival_processor_seconds = 0;
};

/// Wall and processor seconds of each of some calls.
class stopwatch {
 public:
  template <class Exec, class F>
  double run(Exec const& exec, F const& f, int calls) {
    auto const start = std::clock();
    wall_.push_back(seconds_of(exec, f, calls));
    processor_.push_back(double(std::clock() - start) / CLOCKS_PER_SEC / calls);
    return wall_.back();
  }
  [[nodiscard]] double wall() const { return wall_.empty() ? 0 : median(wall_); }
  [[nodiscard]] double processor() const { return processor_.empty() ? 0 : median(processor_); }

 private:
  std::vector<double> wall_;
  std::vector<double> processor_;
};

/// Calls between two fences: enough that launching does not count.
inline int calls_for(double seconds) {
  return smoke() ? 1 : int(std::clamp(4e-3 / std::max(seconds, 1e-7), 1.0, 50.0));
}

/// Medians; every iteration is a run of `ours` and one of the rival.
template <class Exec, class F>
measured time_in_turn(benchmark::State& state, Exec const& exec, F const& ours,
                      rival const& other) {
  stopwatch our_times;
  stopwatch other_times;
  ours();
  int const calls = calls_for(seconds_of(exec, ours));
  int other_calls = 0;
  if (other.multiply) {
    other.multiply();
    other_calls = calls_for(seconds_of(exec, other.multiply));
  }
  for (auto _ : state) {
    state.SetIterationTime(our_times.run(exec, ours, calls));
    if (other_calls > 0) {
      other_times.run(exec, other.multiply, other_calls);
    }
  }
  return {our_times.wall(), other_times.wall(), our_times.processor(), other_times.processor()};
}

struct product_facts {
  double nonzeros = 0;
  double bytes = 0;  ///< of the matrix and all vectors, each once
  int vectors = 1;
  distance error;
};

/// One line of the table that the program ends with.
struct summary_line {
  std::string name;
  double milliseconds = 0;
  double gflops = 0;
  double bytes_per_nonzero = 0;
  double share = 0;
  double error = 0;
  double ratio = 0;            ///< the rival's time over ours; 0: there was none
  double processor_ratio = 0;  ///< the same of processor time, on the host
  std::string rival = {};
  std::string refusal = {};
};
/// Printed to stderr when Kokkos ends.
void add_to_summary(summary_line const& line);

template <class Exec>
void set_product_counters(benchmark::State& state, Exec const& exec, row_name const& name,
                          measured const& times, rival const& other, product_facts const& facts) {
  model const work{facts.bytes, product_flops(facts.nonzeros, facts.vectors)};
  ceiling const at_most{.bytes_per_second = ceilings_of(exec).read};
  state.counters["nonzeros"] = facts.nonzeros;
  state.counters["vectors"] = facts.vectors;
  state.counters["bytes_per_nonzero"] = work.bytes / facts.nonzeros;
  state.counters["gflops"] = 1e-9 * work.flops / times.seconds;
  state.counters["worst_row"] = facts.error.worst;
  if (times.rival_seconds > 0) {
    state.counters["ratio"] = times.rival_seconds / times.seconds;
    state.counters["rival_ms"] = 1e3 * times.rival_seconds;
    if (!backend::is_device<Exec>) {
      state.counters["processor_ratio"] = times.rival_processor_seconds / times.processor_seconds;
    }
    state.SetLabel("ratio: beside " + other.name);
  }
  set_counters(state, times.seconds, work, at_most, facts.error.relative);
  bool const by_processor = !backend::is_device<Exec> && times.rival_seconds > 0;
  add_to_summary({.name = name.text(),
                  .milliseconds = 1e3 * times.seconds,
                  .gflops = 1e-9 * work.flops / times.seconds,
                  .bytes_per_nonzero = work.bytes / facts.nonzeros,
                  .share = floor_seconds(work, at_most) / times.seconds,
                  .error = facts.error.relative,
                  .ratio = times.rival_seconds / times.seconds,
                  .processor_ratio =
                      by_processor ? times.rival_processor_seconds / times.processor_seconds : 0,
                  .rival = other.name});
}

/// The row of what cannot be: counter `refused` and the reason as its label.
inline void refuse(benchmark::State& state, row_name const& name, std::string const& why) {
  for (auto _ : state) {
    state.SetIterationTime(1e-9);
  }
  state.counters["refused"] = 1;
  state.SetLabel("refused: " + why);
  add_to_summary({.name = name.text(), .refusal = why});
}

/// Runs f; what the library refuses, or what does not fit, becomes a row that says so.
template <class F>
void attempt(benchmark::State& state, row_name const& name, F const& f) {
  try {
    f();
  } catch (invalid_argument const& failure) {
    refuse(state, name, failure.what());
  } catch (out_of_memory const& failure) {
    refuse(state, name, failure.what());
  }
}

/// Rows run in the order in which they are added, each once.
template <class F>
void add_row(row_name const& name, int iterations, F const& f) {
  benchmark::RegisterBenchmark(
      name.text().c_str(),
      [=](benchmark::State& state) { attempt(state, name, [&] { f(state, name); }); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(smoke() ? 1 : iterations);
}

}  // namespace iso::perf
