// SPDX-License-Identifier: BSD-3-Clause
//! Makes execution-space instances with a number of threads.
#pragma once

#include <iso/backend/backends.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>
#include <vector>

namespace iso::jobs {

/// Calls f(instance, threads) for every number of threads; other backends have one instance.
template <class Exec, class F>
void with_instances(std::vector<int> const& threads, F&& f) {
#if ISO_HAS_OPENMP
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) {
    for (int const count : threads) {
      f(Kokkos::OpenMP(count), count);
    }
    return;
  }
#endif
  static_cast<void>(threads);
  f(Exec(), 1);
}

}  // namespace iso::jobs
