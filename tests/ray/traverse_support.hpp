// SPDX-License-Identifier: BSD-3-Clause
//! \file  ray/traverse_support.hpp
//! A visitor that remembers, and what must hold of everything it saw.
#pragma once

#include <iso/oracle/exact_traversal.hpp>
#include <iso/ray/traverse.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace iso::test {

template <class T>
using visits = std::vector<std::pair<std::int64_t, T>>;

template <class Method, class T>
visits<T> walk(ray::ray<T> const& r, grid const& g) {
  visits<T> seen;
  auto const count = ray::traverse<Method>(
      r, ray::traversal_grid(g),
      [&](std::int64_t index, T length) { seen.emplace_back(index, length); });
  if (count != std::int32_t(seen.size())) {
    seen.emplace_back(-1, T(count));  // no grid has this index: every check below will say so
  }
  return seen;
}

/// Counts the steps of a walk's loop, whether a voxel is visited in them or not; a walk that does
/// not end is ended.
struct step_counter {
  std::int64_t count = 0;

  template <class Index, class T>
  void operator()(Index, T) {
    if (++count > 1000000) {
      throw std::runtime_error("the walk does not end");
    }
  }
};

/// Steps that the method's loop takes for `r`, the one that leaves it included; at most
/// Nx + Ny + Nz + 3.
template <class Method, class T>
std::int64_t steps(ray::ray<T> const& r, grid const& g) {
  step_counter counter;
  ray::detail::walk(Method{}, ray::detail::enter<T, std::int64_t>(r, ray::traversal_grid(g)),
                    counter);
  return counter.count;
}
inline std::int64_t max_steps(grid const& g) { return g.extent[0] + g.extent[1] + g.extent[2] + 3; }

template <class F>
void for_each_method(F&& f) {
  f(ray::amanatides_woo{}, "amanatides_woo");
  f(ray::branchless{}, "branchless");
  f(ray::siddon{}, "siddon");
}

/// The exact chords of any ray, none where it is empty (iso/ray/ray.hpp).
template <class T>
oracle::exact_chords exact_chords_of(ray::ray<T> const& r, grid const& g) {
  auto const finite = [](vec3<T> v) {
    return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
  };
  return finite(r.origin) && finite(r.direction) && r.t_min < r.t_max
             ? oracle::exact_traversal(r, g)
             : oracle::exact_chords{};
}

/// What is wrong with `seen` as the traversal of a ray whose exact chords are `exact`; empty:
/// nothing.
template <class T>
std::string complaint(visits<T> const& seen, oracle::exact_chords const& exact, grid const& g,
                      double bound) {
  std::ostringstream wrong;
  wrong.precision(17);
  std::map<std::int64_t, double> chords;
  double sum = 0;
  for (auto const& [index, length] : seen) {
    if (index < 0 || index >= g.size()) {
      wrong << "index " << index << " lies outside; ";
    }
    if (!(length > 0)) {
      wrong << "length " << length << " is reported; ";
    }
    if (chords.contains(index)) {
      wrong << "voxel " << index << " is visited twice; ";
    }
    chords[index] += double(length);
    sum += double(length);
  }
  auto const most = g.extent[0] + g.extent[1] + g.extent[2];
  if (std::int64_t(seen.size()) > most) {
    wrong << seen.size() << " visits; ";
  }
  if (!(std::abs(sum - exact.total) <= bound)) {
    wrong << "lengths sum to " << sum << " instead of " << exact.total << " (bound " << bound
          << "); ";
  }
  for (auto const& [index, chord] : exact.by_voxel) {
    chords[index] -= chord;
  }
  for (auto const& [index, difference] : chords) {
    if (!(std::abs(difference) <= bound)) {
      wrong << "voxel " << index << " is off by " << difference << " mm (bound " << bound << "); ";
    }
  }
  return wrong.str();
}

template <class T>
std::string describe(ray::ray<T> const& r) {
  std::ostringstream s;
  s << std::hexfloat << "origin [" << r.origin.x << ", " << r.origin.y << ", " << r.origin.z
    << "] direction [" << r.direction.x << ", " << r.direction.y << ", " << r.direction.z << "] t ["
    << r.t_min << ", " << r.t_max << "]";
  return s.str();
}

}  // namespace iso::test
