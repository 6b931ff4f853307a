// SPDX-License-Identifier: BSD-3-Clause
//! The 468 named degenerate rays on seven grids, moved by an ulp, scaled: against the exact oracle,
//! on the host. test_degenerate_backends.cpp has every backend.
#include "degenerate_rays.hpp"
#include "traverse_support.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace {

using namespace iso::test;
using iso::grid;
using iso::vec3;

/// Counts what goes wrong on `g`, and says so for the first few.
template <class T>
int failures(std::string const& grid_name, grid const& g, vec3<double> tilt) {
  int failed = 0;
  auto rays = degenerate_rays<T>(g, tilt);
  CHECK(int(rays.size()) == num_degenerate_rays);
  for (auto const& special : special_rays<T>(g)) {
    rays.push_back(special);
  }
  for (auto const& named : rays) {
    for (auto const& r : neighbours(named.ray)) {
      auto const exact = exact_chords_of(r, g);
      double const bound = iso::oracle::chord_bound(r, g);
      for_each_method([&](auto method, char const* method_name) {
        auto wrong = complaint(walk<decltype(method)>(r, g), exact, g, bound);
        auto const taken = steps<decltype(method)>(r, g);
        wrong += taken > max_steps(g) ? std::to_string(taken) + " steps" : std::string();
        if (!wrong.empty() && ++failed <= 5) {
          MESSAGE(grid_name << ", " << std::string(method_name) << ", " << named.name << ", "
                            << describe(r) << ": " << wrong);
        }
      });
    }
  }
  return failed;
}

}  // namespace

TEST_CASE_TEMPLATE("468 named degenerate rays: exact chords, five neighbours each", T, float,
                   double) {
  for (auto const& [name, g] : degenerate_grids()) {
    CAPTURE(name);
    CHECK(failures<T>(name + " along voxel diagonals", g, g.spacing) == 0);
    CHECK(failures<T>(name + " oblique", g, {1, 0.7, 0.4}) == 0);
  }
}

TEST_CASE_TEMPLATE("468 named degenerate rays: all lengths times 1e-3 and 1e3", T, float, double) {
  for (double const scale : {1e-3, 1e3}) {
    for (auto [name, g] : degenerate_grids()) {
      CAPTURE(name);
      CAPTURE(scale);
      g.spacing = scale * g.spacing;
      g.origin = scale * g.origin;
      CHECK(failures<T>(name, g, g.spacing) == 0);
    }
  }
}

TEST_CASE_TEMPLATE("scaling by a power of two changes nothing but the lengths' exponent", T, float,
                   double) {
  for (double const scale : {0x1p-10, 0x1p10, 0x1p40}) {
    for (auto const& [name, g] : degenerate_grids()) {
      auto scaled = g;
      scaled.spacing = scale * g.spacing;
      scaled.origin = scale * g.origin;
      int differing = 0;
      for (auto const& named : degenerate_rays<T>(g, {1, 0.7, 0.4})) {
        auto r = named.ray;
        r.origin = T(scale) * r.origin;
        for_each_method([&](auto method, char const*) {
          auto expected = walk<decltype(method)>(named.ray, g);
          for (auto& [index, length] : expected) {
            length *= T(scale);
          }
          differing += walk<decltype(method)>(r, scaled) != expected ? 1 : 0;
        });
      }
      CAPTURE(name);
      CAPTURE(scale);
      CHECK(differing == 0);
    }
  }
}

TEST_CASE_TEMPLATE("the length of the direction does not matter", T, float, double) {
  auto const g = grid::centred({5, 4, 6}, {1, 0.5, 2});
  T const longest = std::numeric_limits<T>::max();
  T const shortest = std::numeric_limits<T>::denorm_min();
  for (T const length : {T(0x1p-60), T(0x1p60), T(0x1p-100), longest, shortest}) {
    // Along an axis and along a diagonal: the direction is exact at any length.
    for (vec3<T> const d : {vec3<T>{1, 0, 0}, vec3<T>{0, -1, 1}, vec3<T>{-1, 1, -1}}) {
      iso::ray::ray<T> const unit{{T(0.3), T(0.2), T(0.1)}, d, T(0)};
      iso::ray::ray<T> const other{unit.origin, length * d, T(0)};
      double const bound = iso::oracle::chord_bound(unit, g);
      auto const exact = iso::oracle::exact_traversal(unit, g);
      for_each_method([&](auto method, char const* name) {
        CAPTURE(name);
        CAPTURE(length);
        CHECK(complaint(walk<decltype(method)>(other, g), exact, g, bound) == "");
      });
    }
  }
}

TEST_CASE_TEMPLATE("a walk ends within Nx + Ny + Nz + 3 steps, and the longest takes most of them",
                   T, float, double) {
  auto const g = grid::centred({9, 8, 7}, {1, 1, 1});
  // From corner to corner, no two planes crossed together.
  auto const r = iso::ray::ray<T>::between({T(-5), T(-4.4), T(-3.9)}, {T(5), T(4.5), T(4.1)});
  for_each_method([&](auto method, char const* name) {
    CAPTURE(std::string(name));
    CHECK(steps<decltype(method)>(r, g) <= max_steps(g));
    CHECK(steps<decltype(method)>(r, g) >= 20);
  });
}
