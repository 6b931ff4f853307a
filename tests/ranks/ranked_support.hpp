// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/ranks/ranked_support.hpp
//! Scans and plans of tests of what ranks project and reconstruct.
#pragma once

#include "forward_project_support.hpp"
#include "ranks_support.hpp"
#include "slabs.hpp"

#include <iso/core/divide_planes.hpp>
#include <iso/ct/ranked.hpp>

#include <cstdint>
#include <vector>

namespace ranks_support {

using namespace projector_support;
using iso::slab;
using iso::ct::rank_plan;
using iso::ct::row_range;
using iso::test::planes_of;

inline grid const whole = grid::centred({17, 15, 37}, {1, 0.9, 0.8});

inline geometry rolled(geometry const& upright, double roll) {
  auto views = upright.views();
  for (auto& w : views) {
    auto const u = w.u_step;
    w.u_step = w.u_step + roll * w.v_step;
    w.v_step = w.v_step - roll * u;
  }
  return {upright.kind(), upright.num_u(), upright.num_v(), views};
}

/// A scan and how it is called in messages.
struct named_scan {
  char const* name;
  geometry scan;
  bool fdk;  ///< takes it
};

inline std::vector<named_scan> scans() {
  auto const angles = iso::ct::even_angles(35, 2 * pi, 0.1);
  iso::ct::flat_detector const detector{21, 34, 2.1, 1.7, 0.3, -1};
  auto const circle = iso::ct::circular_cone(detector, 90, 140, angles);
  auto downwards = circle.views();
  for (auto& w : downwards) {
    w.detector_origin = w.detector_origin + 33 * w.v_step;
    w.v_step = -1.0 * w.v_step;
  }
  auto const turns = iso::ct::even_angles(41, 6 * pi, 0.1);
  iso::ct::flat_detector const low{21, 9, 2.1, 1.9, 0, 0.2};
  return {
      {"circle", circle, true},
      {"rolled", rolled(circle, 0.03), true},
      {"downwards", {circle.kind(), 21, 34, downwards}, false},
      {"helix", iso::ct::helix(iso::ct::circular_cone(low, 90, 140, turns), turns, 11), false},
      {"turned by a quarter", rolled(circle, 40), false},
      {"parallel",
       iso::ct::circular_parallel({21, 34, 1, 0.9, 0.2, 0.3}, iso::ct::even_angles(17, pi, 0.2)),
       true},
  };
}

/// Plans for so many ranks: equal, by speeds, a slab of one plane, and a rank without a plane.
inline std::vector<std::vector<slab>> plans(int ranks) {
  auto const n = whole.extent[2];
  std::vector<double> speeds;
  std::vector<slab> thin;
  std::vector<slab> idle;
  for (int rank = 0; rank < ranks; ++rank) {
    bool const last = rank + 1 == ranks;
    speeds.push_back(rank == 0 ? 1 : 3.7 / rank);
    thin.push_back({std::int64_t(rank), last ? n : std::int64_t(rank) + 1});
    idle.push_back({rank == 0 ? 0 : n / 2, rank == 0 && !last ? n / 2 : last ? n : n / 2});
  }
  return {iso::divide_planes(whole, ranks), iso::divide_planes(whole, ranks, speeds), thin, idle};
}

/// The rows of a rank of pixels of the whole detector.
template <class T>
std::vector<T> rows_of(std::vector<T> const& all, geometry const& g, row_range const& rows) {
  std::vector<T> some;
  for (std::int64_t column = 0; column < g.num_views() * g.num_u(); ++column) {
    auto const from = all.begin() + column * g.num_v();
    some.insert(some.end(), from + rows.first, from + rows.last);
  }
  return some;
}

/// Copies host numbers to a view of as many.
template <class Exec, class View, class T>
void fill(Exec const& exec, View const& to, std::vector<T> const& values) {
  Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const from(values.data(),
                                                                                values.size());
  Kokkos::View<T*, typename View::memory_space, Kokkos::MemoryUnmanaged> const flat(to.data(),
                                                                                    to.size());
  Kokkos::deep_copy(exec, flat, from);
  exec.fence("test: the numbers are there");
}

}  // namespace ranks_support
