// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/support/slabs.hpp
//! Partitions of a grid into slabs, and planes of volumes.
#pragma once

#include <iso/core/volume_view.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <random>
#include <vector>

namespace iso::test {

/// A partition of the grid's planes: slabs of one plane and of many.
inline std::vector<slab> random_slabs(std::mt19937_64& random, grid const& g) {
  std::vector<slab> all;
  for (std::int64_t first = 0; first < g.extent[2];) {
    std::int64_t const left = g.extent[2] - first;
    std::int64_t const count =
        random() % 3 == 0 ? 1 : 1 + std::int64_t(random() % std::uint64_t(left));
    all.push_back({first, first + count});
    first += count;
  }
  return all;
}

/// Planes of a host volume, where `exec` reads them.
template <class T, class Exec>
auto planes_of(Exec const& exec, volume_view<T, Kokkos::HostSpace> const& v, slab const& planes) {
  using space = typename Exec::memory_space;
  using value = std::remove_const_t<T>;
  auto const here = make_slab<value, Kokkos::HostSpace>(Kokkos::Serial(), "here", v.grid, planes);
  Kokkos::deep_copy(here.data, Kokkos::subview(v.data, Kokkos::ALL, Kokkos::ALL,
                                               Kokkos::make_pair(planes.first, planes.last)));
  auto const there = make_slab<value, space>(exec, "there", v.grid, planes);
  Kokkos::deep_copy(exec, there.data, here.data);
  exec.fence("test: the planes are there");
  return there;
}

/// The planes of a volume, as host numbers, of a host vector of all.
template <class T>
std::vector<T> planes_of(std::vector<T> const& all, grid const& g, slab const& planes) {
  std::vector<T> some;
  for (std::int64_t column = 0; column < g.extent[0] * g.extent[1]; ++column) {
    auto const from = all.begin() + column * g.extent[2];
    some.insert(some.end(), from + planes.first, from + planes.last);
  }
  return some;
}

}  // namespace iso::test
