// SPDX-License-Identifier: BSD-3-Clause
//! \file  support/times.hpp
//! Measures time on the wall and of the processor, of calls and of each kernel within them.
#pragma once

#include <Kokkos_Core.hpp>

#include <chrono>
#include <ctime>
#include <map>
#include <string>

namespace iso::perf {

/// Seconds on the wall, and of this process' threads, which other programs do not lengthen.
struct moment {
  double wall = 0;
  double processor = 0;

  friend moment operator-(moment a, moment b) {
    return {a.wall - b.wall, a.processor - b.processor};
  }
  moment& operator+=(moment b) { return *this = {wall + b.wall, processor + b.processor}; }
};

inline moment now() {
  auto const wall = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(wall).count(), double(std::clock()) / CLOCKS_PER_SEC};
}

/// Returns what a call of f takes on `exec`, of so many between two fences.
template <class Exec, class F>
moment duration_of(Exec const& exec, F const& f, int calls = 1) {
  exec.fence("iso::perf: before");
  moment const start = now();
  for (int i = 0; i < calls; ++i) {
    f();
  }
  exec.fence("iso::perf: after");
  moment const all = now() - start;
  return {all.wall / calls, all.processor / calls};
}

/// Runs f with a fence before and after every kernel; returns the time by the kernels' labels.
template <class F>
std::map<std::string, moment> kernel_times(F const& f) {
  static std::map<std::string, moment> times;
  static std::string label;
  static moment begin;
  times.clear();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
      [](char const* name, std::uint32_t, std::uint64_t*) {
        Kokkos::fence("iso::perf::kernel_times");
        label = name;
        begin = now();
      });
  Kokkos::Tools::Experimental::set_end_parallel_for_callback([](std::uint64_t) {
    Kokkos::fence("iso::perf::kernel_times");
    times[label] += now() - begin;
  });
  f();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
  Kokkos::Tools::Experimental::set_end_parallel_for_callback(nullptr);
  return times;
}

}  // namespace iso::perf
