// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/core/allocate.hpp>
#include <iso/core/concepts.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace iso::detail {

/// Copies bytes of the host to `Space` and waits for `exec`: one function for all types of values.
template <class Space, execution_space Exec>
[[gnu::noinline]] void copy_bytes(Exec const& exec, std::string const& label, void* to,
                                  void const* from, std::size_t bytes) {
  using target = Kokkos::View<std::byte*, Space, Kokkos::MemoryUnmanaged>;
  using source = Kokkos::View<std::byte const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  Kokkos::deep_copy(exec, target(static_cast<std::byte*>(to), bytes),
                    source(static_cast<std::byte const*>(from), bytes));
  exec.fence(label + ": the host copy may go");
}

/// Returns `values` in `Space`. Waits for `exec`: no other instance is fenced.
template <class Space, execution_space Exec, class T>
Kokkos::View<T*, Space> copied(Exec const& exec, std::string const& label,
                               std::vector<T> const& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  auto const copy = allocate<Kokkos::View<T*, Space>>(label, {std::int64_t(values.size())}, exec,
                                                      Kokkos::WithoutInitializing);
  copy_bytes<Space>(exec, label, copy.data(), values.data(), values.size() * sizeof(T));
  return copy;
}

}  // namespace iso::detail
