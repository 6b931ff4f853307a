// SPDX-License-Identifier: BSD-3-Clause
//! \file  sparse/rows.hpp
//! What rows of the benchmark share: names, timing in turn, counters.
#pragma once

#include "sparse/matrices.hpp"
#include "support/bench.hpp"

#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <memory>
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

/// Returns the library's product with one vector of T.
template <class T = double, class Exec, class Matrix>
rival library_rival(std::string const& name, Exec const& exec, Matrix const& a,
                    sparse::spmv_options const& options) {
  auto const product = std::make_shared<library_product<Exec, Matrix, T>>(exec, a, 1, options);
  return {name, [product] { (*product)(); }};
}

/// Calls between two fences: enough that launching does not count.
inline int calls_for(double seconds) {
  return smoke() ? 1 : int(std::clamp(4e-3 / std::max(seconds, 1e-7), 1.0, 50.0));
}

/// Runs `ours` and the rival, if there is any, in every iteration. Medians: `ratio`, the
/// rival's time over ours, and on the host `processor_ratio`, the same of processor time, which
/// counts where others use the machine too. Returns the seconds of a call of ours.
template <class Exec, class F>
double time_in_turn(benchmark::State& state, Exec const& exec, F const& ours, rival const& other) {
  stopwatch mine;
  stopwatch theirs;
  ours();
  int const calls = calls_for(seconds_of(exec, ours));
  int other_calls = 0;
  if (other.multiply) {
    other.multiply();
    other_calls = calls_for(seconds_of(exec, other.multiply));
  }
  for (auto _ : state) {
    state.SetIterationTime(mine.run(exec, ours, calls));
    if (other_calls > 0) {
      theirs.run(exec, other.multiply, other_calls);
    }
  }
  double const seconds = median(mine.wall);
  state.counters["ms"] = 1e3 * seconds;
  if (other_calls > 0) {
    state.counters["ratio"] = median(theirs.wall) / seconds;
    state.counters["rival_ms"] = 1e3 * median(theirs.wall);
    if (!backend::is_device<Exec>) {
      state.counters["processor_ratio"] = median(theirs.processor) / median(mine.processor);
    }
    state.SetLabel("ratio: beside " + other.name);
  }
  return seconds;
}

struct product_facts {
  double nonzeros = 0;
  double bytes = 0;  ///< of the matrix and all vectors, each once
  int vectors = 1;
};

/// Measures the row of the product `ours`, whose distance from the reference is then error().
template <class Exec, class F, class Error>
void measure_product(benchmark::State& state, Exec const& exec, product_facts const& facts,
                     F const& ours, rival const& other, Error const& error) {
  double const seconds = time_in_turn(state, exec, ours, other);
  distance const off = error();
  min_work const work{facts.bytes, product_flops(facts.nonzeros, facts.vectors)};
  state.counters["nonzeros"] = facts.nonzeros;
  state.counters["vectors"] = facts.vectors;
  state.counters["bytes_per_nonzero"] = work.bytes / facts.nonzeros;
  state.counters["gflops"] = 1e-9 * work.flops / seconds;
  state.counters["worst_row"] = off.worst;
  set_counters(state, exec, seconds, work, off.relative);
}

/// The row of what cannot be: counter `refused` and the reason as its label.
inline void refuse(benchmark::State& state, std::string const& why) {
  for (auto _ : state) {
    state.SetIterationTime(1e-9);
  }
  state.counters["refused"] = 1;
  state.SetLabel("refused: " + why);
}

/// Rows run in the order in which they are added, each once. What the library refuses, or what does
/// not fit, becomes a row that says so.
template <class F>
void add_row(row_name const& name, int iterations, F const& f) {
  add_row(name.text(), iterations, [=](benchmark::State& state) {
    try {
      f(state);
    } catch (invalid_argument const& failure) {
      refuse(state, failure.what());
    } catch (out_of_memory const& failure) {
      refuse(state, failure.what());
    }
  });
}

}  // namespace iso::perf
