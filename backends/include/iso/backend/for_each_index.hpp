// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/for_each_index.hpp
//! Runs a function of an index in parallel.
#pragma once

#include <iso/core/concepts.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

namespace iso::backend {

/// Runs kernel(i) for every i in [0, count), a 64-bit integer. The work is enqueued on `exec`.
///
/// It is compiled once for each kernel and kept out of line: what launches several kernels would
/// otherwise hold the loops of all of them.
///
/// Determinism: backend_to_backend, of what the kernel computes; the order of indices is not
/// defined.
template <execution_space Exec, class Kernel>
[[gnu::noinline]] void for_each_index(std::string const& label, Exec const& exec,
                                      std::int64_t count, Kernel const& kernel) {
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count), kernel);
}

}  // namespace iso::backend
