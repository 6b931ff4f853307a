// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/core/allocate.hpp>
#include <iso/core/concepts.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace iso::detail {

/// Returns `values` in `Space`. Waits for `exec`: no other instance is fenced.
template <class Space, execution_space Exec, class T>
Kokkos::View<T*, Space> copied(Exec const& exec, std::string const& label,
                               std::vector<T> const& values) {
  auto const copy = allocate<Kokkos::View<T*, Space>>(label, {std::int64_t(values.size())}, exec,
                                                      Kokkos::WithoutInitializing);
  Kokkos::deep_copy(exec, copy,
                    Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                        values.data(), values.size()));
  exec.fence(label + ": the host copy may go");
  return copy;
}

}  // namespace iso::detail
