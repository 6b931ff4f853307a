// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/backends/lane_group_support.hpp
//! Copies to and from a backend's memory, and every instance with every launch shape.
#pragma once

#include "instances.hpp"

#include <iso/backend/lane_group.hpp>

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace lane_group_support {

/// A copy in memory of `Space`.
template <class Space, class T>
Kokkos::View<T*, Space> on(std::vector<T> const& host) {
  Kokkos::View<T*, Space> there("there", host.size());
  Kokkos::deep_copy(there, Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                               host.data(), host.size()));
  return there;
}

/// A copy on the host.
template <class V>
auto back(V const& there) {
  auto const here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), there);
  return std::vector<std::remove_const_t<typename V::value_type>>(here.data(),
                                                                  here.data() + here.size());
}

/// Calls f(exec, shape) for each instance and three launch shapes.
template <class F>
void everywhere(F const& f) {
  iso::test::for_each_instance([&](auto const& exec) {
    for (std::int64_t const groups : {0, 37, 500}) {
      CAPTURE(groups);
      f(exec, iso::backend::launch_shape{groups});
    }
  });
}

}  // namespace lane_group_support
