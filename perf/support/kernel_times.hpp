// SPDX-License-Identifier: BSD-3-Clause
//! \file  support/kernel_times.hpp
//! Seconds that each kernel takes within a call of the library.
#pragma once

#include <Kokkos_Core.hpp>

#include <chrono>
#include <map>
#include <string>

namespace iso::perf {

/// Runs f with a fence before and after every kernel; returns seconds by the kernels' labels.
template <class F>
std::map<std::string, double> kernel_times(F const& f) {
  using clock = std::chrono::steady_clock;
  static std::map<std::string, double> seconds;
  static std::string label;
  static clock::time_point begin;
  seconds.clear();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
      [](char const* name, std::uint32_t, std::uint64_t*) {
        Kokkos::fence("iso::perf::kernel_times");
        label = name;
        begin = clock::now();
      });
  Kokkos::Tools::Experimental::set_end_parallel_for_callback([](std::uint64_t) {
    Kokkos::fence("iso::perf::kernel_times");
    seconds[label] += std::chrono::duration<double>(clock::now() - begin).count();
  });
  f();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
  Kokkos::Tools::Experimental::set_end_parallel_for_callback(nullptr);
  return seconds;
}

}  // namespace iso::perf
