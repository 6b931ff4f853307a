// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/support/lane_group_support.hpp
//! What tests of kernels share: copies to and from a backend's memory, every instance with every
//! launch shape, and the order of a group's sum.
#pragma once

#include "instances.hpp"

#include <iso/backend/lane_group.hpp>

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
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
      f(exec, iso::launch_shape{groups});
    }
  });
}

/// Magnitudes over 12 decades and both signs: another order of the sum gives other bits.
template <class T>
std::vector<T> entries(std::int64_t count) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponent(-6, 6);
  std::vector<T> all;
  for (std::int64_t i = 0; i < count; ++i) {
    auto const size = std::pow(10.0, exponent(random));
    all.push_back(T((random() & 1U) != 0 ? size : -size));
  }
  return all;
}

/// The sum of the lanes' numbers in the order of `group.sum`.
template <class T>
T tree(std::array<T, iso::backend::lanes> x) {
  for (std::size_t const offset : {16, 8, 4, 2, 1}) {
    for (std::size_t lane = 0; lane < offset; ++lane) {
      x[lane] = x[lane] + x[lane + offset];
    }
  }
  return x[0];
}

}  // namespace lane_group_support
