// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/ranks/planes_support.hpp
//! Planes that ranks own of a grid, and their parts of host volumes.
#pragma once

#include "ranks_support.hpp"
#include "slabs.hpp"

#include <iso/core/divide_planes.hpp>
#include <iso/core/volume_view.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ranks_support {

using iso::grid;
using iso::slab;

template <class T>
using host_volume = iso::volume_view<T, Kokkos::HostSpace>;

/// Planes of so many ranks: equal, unequal, slabs of one plane, and ranks without a plane.
inline std::vector<std::vector<slab>> divisions(grid const& g, int ranks) {
  auto const n = g.extent[2];
  std::vector<double> speeds;
  std::vector<slab> thin;
  std::vector<slab> idle;
  for (int rank = 0; rank < ranks; ++rank) {
    bool const last = rank + 1 == ranks;
    speeds.push_back(rank == 0 ? 1 : 3.7 / rank);
    thin.push_back({std::int64_t(rank), last ? n : std::int64_t(rank) + 1});
    idle.push_back({rank == 0 ? 0 : n / 2, rank == 0 && !last ? n / 2 : last ? n : n / 2});
  }
  return {iso::divide_planes(g, ranks), iso::divide_planes(g, ranks, speeds), thin, idle};
}

template <class T>
std::vector<T> numbers_of(host_volume<T> const& v) {
  return {v.data.data(), v.data.data() + v.data.size()};
}

/// The numbers of a view of any space, as they lie.
template <class View>
auto on_host(View const& v) {
  auto const here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
  using value = typename View::non_const_value_type;
  return std::vector<value>(here.data(), here.data() + here.size());
}

/// The planes of a host volume where `exec` reads them; without memory where there are none.
template <class Exec, class T>
iso::volume_view<T, typename Exec::memory_space> part_of(Exec const& exec, host_volume<T> const& v,
                                                         slab const& planes) {
  if (planes.count() == 0) {
    return {v.grid, {}, planes.first};
  }
  return iso::test::planes_of(exec, v, planes);
}

/// What all ranks say of a call: the sentence of this one, where all refuse.
template <class F>
std::string refusal_of_all(F const& f) {
  std::string const said = iso::test::refusal(f);
  std::uint32_t silent = said.empty() ? 1 : 0;
  all_ranks().maximum({&silent, 1});
  return silent == 0 ? said : "a rank goes on";
}

}  // namespace ranks_support
