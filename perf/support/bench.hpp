// SPDX-License-Identifier: BSD-3-Clause
//! \file  support/bench.hpp
//! What benchmarks share: sizes for a smoke run, timing around a fence, the counters of a row.
#pragma once

#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/cases/memory.hpp>
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

/// ISO_PERF_SMOKE is set: sizes so small that the run only shows that the program still works.
inline bool smoke() {
  char const* const value = std::getenv("ISO_PERF_SMOKE");
  return value != nullptr && *value != '\0' && *value != '0';
}

/// What one call must do at least: each input read once, each output written once.
struct model {
  double bytes = 0;
  double flops = 0;
};

/// What bounds it, in bytes and operations per second; 0: does not count.
struct ceiling {
  double bytes_per_second = 0;
  double flops_per_second = 0;
};

/// The ceilings of what `exec` runs on, measured once in a program's life.
template <execution_space Exec>
ceilings::rates const& ceilings_of(Exec const& exec) {
  static ceilings::rates const measured = ceilings::measure(
      exec, smoke() ? ceilings::measure_options{.bytes = std::int64_t(16) << 20, .repeats = 1}
                    : ceilings::measure_options{});
  return measured;
}

/// Those that a model of iso/cases is held against.
inline ceiling ceiling_of(cases::least_work const& work, ceilings::rates const& most) {
  return {work.memory == cases::stream::copy    ? most.copy
          : work.memory == cases::stream::triad ? most.triad
                                                : most.read,
          work.unit == cases::arithmetic::fp32 ? most.fp32 : most.fp64};
}

/// Seconds that one call takes at the ceiling: the larger of what its bytes and its operations
/// want.
inline double floor_seconds(model const& work, ceiling const& at_most) {
  double const moving = at_most.bytes_per_second > 0 ? work.bytes / at_most.bytes_per_second : 0;
  double const computing = at_most.flops_per_second > 0 ? work.flops / at_most.flops_per_second : 0;
  return std::max(moving, computing);
}

/// The counters of a row: `bytes` and `flops` of one call, `share_of_ceiling` of a call that takes
/// `seconds` (1: as fast as the machine can), `error` against the reference that the benchmark
/// names.
inline void set_counters(benchmark::State& state, double seconds, model const& work,
                         ceiling const& at_most, double error) {
  state.counters["bytes"] = work.bytes;
  state.counters["flops"] = work.flops;
  state.counters["share_of_ceiling"] = floor_seconds(work, at_most) / seconds;
  state.counters["error"] = error;
  state.SetBytesProcessed(std::int64_t(work.bytes) * state.iterations());
}

/// Writes several times the last cache of what `exec` runs on, so that the next kernel finds
/// nothing of its data there.
template <execution_space Exec>
class cache_flusher {
 public:
  explicit cache_flusher(Exec const& exec)
      : exec_(exec), data_("iso::perf::cache_flusher", words(exec)) {}

  void operator()() const {
    auto const data = data_;
    Kokkos::parallel_for(
        "iso::perf::cache_flusher",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec_, 0,
                                                                   std::int64_t(data.extent(0))),
        KOKKOS_LAMBDA(std::int64_t i) { data(i) += 1; });
  }

 private:
  static std::size_t words(Exec const& exec) {
    auto const facts = backend::facts(exec);
    std::int64_t const cache = std::max(facts.l2_bytes, facts.l3_bytes);
    std::int64_t const bytes = smoke() ? 1 << 16 : std::max<std::int64_t>(cache * 2, 1 << 20);
    return std::size_t(bytes) / sizeof(std::uint64_t);
  }

  Exec exec_;
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> data_;
};

inline double median(std::vector<double> x) {
  auto const middle = x.begin() + std::ptrdiff_t(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return middle == x.end() ? 0 : *middle;
}

using cases::seconds_of;

/// The loop of a benchmark with UseManualTime: after one warm-up, an iteration is `before()`, not
/// timed, and `calls` calls of f between two fences, of which it takes the mean. Several calls
/// where one is not long beside a launch. Returns the median of the iterations, in seconds a call.
template <execution_space Exec, class F, class Before>
double time_calls(benchmark::State& state, Exec const& exec, F const& f, int calls,
                  Before const& before) {
  f();
  std::vector<double> seconds;
  for (auto _ : state) {
    before();
    seconds.push_back(seconds_of(exec, f, calls));
    state.SetIterationTime(seconds.back());
  }
  return median(std::move(seconds));
}

template <execution_space Exec, class F>
double time_calls(benchmark::State& state, Exec const& exec, F const& f, int calls = 1) {
  return time_calls(state, exec, f, calls, [] {});
}

/// How many rows have failed: main's exit status is 1 where any has.
inline int& failed_rows() {
  static int count = 0;
  return count;
}

/// Makes the row an error, in the output and for main.
inline void fail(benchmark::State& state, char const* why) {
  ++failed_rows();
  state.SkipWithError(why);
}

/// Of two views of one shape, wherever they lie.
template <class View>
bool same_bits(View const& a, View const& b) {
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
  auto const y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  return std::memcmp(x.data(), y.data(), x.size() * sizeof(typename View::value_type)) == 0;
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
