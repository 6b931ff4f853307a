// SPDX-License-Identifier: BSD-3-Clause
//! \file  support/kernel_times.hpp
//! Time that each kernel takes within a call of the library.
#pragma once

#include <Kokkos_Core.hpp>

#include <chrono>
#include <map>
#include <string>

namespace iso::perf {

/// Seconds on the wall.
inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Runs f with a fence before and after every kernel; returns the time by the kernels' labels, as
/// differences of what `now` says.
template <class F, class Time = double>
std::map<std::string, Time> kernel_times(F const& f, Time (*now)() = wall_seconds) {
  static std::map<std::string, Time> times;
  static std::string label;
  static Time begin;
  static Time (*clock)();
  clock = now;
  times.clear();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
      [](char const* name, std::uint32_t, std::uint64_t*) {
        Kokkos::fence("iso::perf::kernel_times");
        label = name;
        begin = clock();
      });
  Kokkos::Tools::Experimental::set_end_parallel_for_callback([](std::uint64_t) {
    Kokkos::fence("iso::perf::kernel_times");
    times[label] += clock() - begin;
  });
  f();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
  Kokkos::Tools::Experimental::set_end_parallel_for_callback(nullptr);
  return times;
}

}  // namespace iso::perf
