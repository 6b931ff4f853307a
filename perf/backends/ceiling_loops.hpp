// SPDX-License-Identifier: BSD-3-Clause
//! \file  backends/ceiling_loops.hpp
//! The loops that ceilings stand for, written with the lane group as this library's kernels are:
//! `share_of_ceiling` is what such a kernel gets of the ceiling where it does nothing else.
#pragma once

#include "support/bench.hpp"

#include <iso/backend/lane_group.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace iso::perf {

/// Element i of every input: small integers, so that all sums below are exact in any order.
inline constexpr std::int64_t period = 1021;
KOKKOS_INLINE_FUNCTION float element(std::int64_t i) { return float(i % period); }

/// Of elements [0, end).
inline double sum_of_elements(std::int64_t end) {
  std::int64_t const rest = end % period;
  return double(end / period * (period * (period - 1) / 2) + rest * (rest - 1) / 2);
}

/// What a group takes of an array.
inline constexpr std::int64_t stretch = 4096;

struct fill_elements {
  float* out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out[i] = element(i); }
};

struct read_loop {
  float const* in;
  float* sums;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template lane_array<float> sum(0.0F);
    float const* KOKKOS_RESTRICT const from = in;
    group.strided(index * stretch, (index + 1) * stretch,
                  [&](int lane, std::int64_t i) { sum[lane] += from[i]; });
    float const total = group.sum(sum);
    group.once([&] { sums[index] = total; });
  }
};

struct copy_loop {
  float const* in;
  float* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    float const* KOKKOS_RESTRICT const from = in;
    float* KOKKOS_RESTRICT const to = out;
    group.strided(index * stretch, (index + 1) * stretch,
                  [&](int, std::int64_t i) { to[i] = from[i]; });
  }
};

struct triad_loop {
  float const* b;
  float const* c;
  float s;
  float* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    float const* KOKKOS_RESTRICT const left = b;
    float const* KOKKOS_RESTRICT const right = c;
    float* KOKKOS_RESTRICT const to = out;
    group.strided(index * stretch, (index + 1) * stretch,
                  [&](int, std::int64_t i) { to[i] = Kokkos::fma(s, right[i], left[i]); });
  }
};

/// x = fma(x, factor, term) over and over; three chains a lane, what the host's registers hold.
template <class T>
struct fma_loop {
  static constexpr int chains = 3;
  static constexpr int steps = 512;

  T factor;
  T term;
  T* out;  ///< chains x lanes for each group

  KOKKOS_FUNCTION static T start(std::int64_t place) { return T(place) * T(0.0078125); }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    using lane_values = typename Group::template lane_array<T>;
    lane_values a(T(0));
    lane_values b(T(0));
    lane_values c(T(0));
    group.each([&](int lane) {
      a[lane] = start(lane);
      b[lane] = start(backend::lanes + lane);
      c[lane] = start(2 * backend::lanes + lane);
    });
    for (int step = 0; step < steps; ++step) {
      group.each([&](int lane) {
        a[lane] = Kokkos::fma(a[lane], factor, term);
        b[lane] = Kokkos::fma(b[lane], factor, term);
        c[lane] = Kokkos::fma(c[lane], factor, term);
      });
    }
    T* const mine = out + index * chains * backend::lanes;
    group.each([&](int lane) {
      mine[lane] = a[lane];
      mine[backend::lanes + lane] = b[lane];
      mine[2 * backend::lanes + lane] = c[lane];
    });
  }
};

/// Largest |view(i) - expected(i)| over the largest |expected(i)|.
template <class View, class F>
double distance_from(View const& view, F const& expected) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  double apart = 0;
  double most = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    double const exact = expected(std::int64_t(i));
    double const difference = std::fabs(double(host.data()[i]) - exact);
    if (std::isnan(difference)) {
      return difference;
    }
    apart = std::max(apart, difference);
    most = std::max(most, std::fabs(exact));
  }
  return apart / most;
}

/// Every figure of ceilings::measure, under its own name.
inline void set_figures(benchmark::State& state, ceilings::rates const& c) {
  state.counters["read"] = c.read;
  state.counters["copy"] = c.copy;
  state.counters["triad"] = c.triad;
  state.counters["l1"] = c.l1;
  state.counters["l2"] = c.l2;
  state.counters["fp16"] = c.fp16;
  state.counters["fp32"] = c.fp32;
  state.counters["fp64"] = c.fp64;
  state.counters["spread"] = c.spread;
}

/// The rows of one backend: each runs its loop, and compares what came out with what must.
template <class Exec>
class ceiling_rows {
  using floats = Kokkos::View<float*, typename Exec::memory_space>;

 public:
  static void read(benchmark::State& state) {
    Exec const exec;
    std::int64_t const groups = num_stretches(exec);
    auto const in = filled(exec, groups * stretch);
    floats const sums("sums", std::size_t(groups));
    double const seconds = timed(state, exec, groups, read_loop{in.data(), sums.data()});
    double const error = distance_from(sums, [](std::int64_t i) {
      return sum_of_elements((i + 1) * stretch) - sum_of_elements(i * stretch);
    });
    set(state, exec, seconds, {.bytes = bytes(groups, 1) + 4.0 * double(groups)},
        {.bytes_per_second = ceilings_of(exec).read}, error, 0);
  }

  static void copy(benchmark::State& state) {
    Exec const exec;
    std::int64_t const groups = num_stretches(exec);
    auto const in = filled(exec, groups * stretch);
    floats const out("out", in.size());
    double const seconds = timed(state, exec, groups, copy_loop{in.data(), out.data()});
    set(state, exec, seconds, {.bytes = bytes(groups, 2)},
        {.bytes_per_second = ceilings_of(exec).copy},
        distance_from(out, [](std::int64_t i) { return double(element(i)); }), 0);
  }

  static void triad(benchmark::State& state) {
    Exec const exec;
    std::int64_t const groups = num_stretches(exec);
    std::int64_t const count = groups * stretch;
    auto const in = filled(exec, 2 * count);
    floats const out("out", std::size_t(count));
    double const seconds =
        timed(state, exec, groups, triad_loop{in.data(), in.data() + count, 0.5F, out.data()});
    set(state, exec, seconds, {.bytes = bytes(groups, 3), .flops = 2.0 * double(count)},
        {.bytes_per_second = ceilings_of(exec).triad},
        distance_from(
            out,
            [=](std::int64_t i) { return double(element(i)) + 0.5 * double(element(count + i)); }),
        0);
  }

  /// Against x_n = p + (x_0 - p) factor^n, p = term / (1 - factor), with the factor and the term as
  /// T has them: no more than n roundings apart.
  template <class T>
  static void fma(benchmark::State& state) {
    using loop = fma_loop<T>;
    Exec const exec;
    std::int64_t const groups = num_fma_groups(exec);
    T const factor(0.999);
    T const term(0.001);
    constexpr std::int64_t a_group = loop::chains * backend::lanes;
    Kokkos::View<T*, typename Exec::memory_space> const out("out", std::size_t(groups * a_group));
    double const seconds = timed(state, exec, groups, loop{factor, term, out.data()});
    double const fixed = double(term) / (1 - double(factor));
    double const left = std::pow(double(factor), loop::steps);
    double const error = distance_from(out, [=](std::int64_t i) {
      return fixed + (double(loop::start(i % a_group)) - fixed) * left;
    });
    auto const& c = ceilings_of(exec);
    set(state, exec, seconds,
        {.bytes = double(out.size() * sizeof(T)), .flops = 2.0 * loop::steps * double(out.size())},
        {.bytes_per_second = c.read, .flops_per_second = sizeof(T) == 4 ? c.fp32 : c.fp64}, error,
        loop::steps * double(std::numeric_limits<T>::epsilon()));
  }

 private:
  /// Arrays of several times the last cache.
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
  static double bytes(std::int64_t groups, int arrays) {
    return double(arrays) * double(groups) * double(stretch) * sizeof(float);
  }
  static floats filled(Exec const& exec, std::int64_t count) {
    floats const view("elements", std::size_t(count));
    Kokkos::parallel_for("iso::perf::fill_elements",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count),
                         fill_elements{view.data()});
    return view;
  }
  template <class Loop>
  static double timed(benchmark::State& state, Exec const& exec, std::int64_t groups,
                      Loop const& loop) {
    auto const run = [&] {
      backend::for_each_lane_group("iso::perf::ceiling_loop", exec, groups, loop);
    };
    return time_calls(state, exec, run, backend::is_device<Exec> && !smoke() ? 10 : 1);
  }
  static void set(benchmark::State& state, Exec const& exec, double seconds, model const& work,
                  ceiling const& at_most, double error, double allowed) {
    set_figures(state, ceilings_of(exec));
    set_counters(state, seconds, work, at_most, error);
    if (!(error <= allowed)) {
      fail(state, "the loop's result is not what it must be");
    }
  }
};

/// The row `name`, which runs `row`.
inline void add_ceiling_row(std::string const& name, void (*row)(benchmark::State&)) {
  benchmark::RegisterBenchmark(name.c_str(), row)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(smoke() ? 1 : 9);
}

}  // namespace iso::perf
