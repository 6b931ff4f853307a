// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/times.hpp
//! Measures time on the wall and of the processor, of calls and of each kernel within them.
#pragma once

#include <Kokkos_Core.hpp>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <string>

namespace iso::cases {

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
  exec.fence("iso::cases: before");
  moment const start = now();
  for (int i = 0; i < calls; ++i) {
    f();
  }
  exec.fence("iso::cases: after");
  moment const all = now() - start;
  return {all.wall / calls, all.processor / calls};
}

/// Runs f with a fence before and after every kernel; returns the time by the kernels' labels.
inline std::map<std::string, moment> kernel_times(std::function<void()> const& f) {
  namespace tools = Kokkos::Tools::Experimental;
  static std::map<std::string, moment> times;
  static std::string label;
  static moment begin;
  times.clear();
  auto const watch = [](Kokkos::Tools::beginFunction before, Kokkos::Tools::endFunction after) {
    tools::set_begin_parallel_for_callback(before);
    tools::set_end_parallel_for_callback(after);
    tools::set_begin_parallel_reduce_callback(before);
    tools::set_end_parallel_reduce_callback(after);
    tools::set_begin_parallel_scan_callback(before);
    tools::set_end_parallel_scan_callback(after);
  };
  watch(
      [](char const* name, std::uint32_t, std::uint64_t*) {
        Kokkos::fence("iso::cases::kernel_times");
        label = name;
        begin = now();
      },
      [](std::uint64_t) {
        Kokkos::fence("iso::cases::kernel_times");
        times[label] += now() - begin;
      });
  f();
  watch(nullptr, nullptr);
  return times;
}

}  // namespace iso::cases
