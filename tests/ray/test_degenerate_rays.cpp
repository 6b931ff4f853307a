// SPDX-License-Identifier: BSD-3-Clause
//! The 468 named degenerate rays on seven grids, moved by an ulp, scaled: against the exact oracle.
#include "degenerate_rays.hpp"
#include "traverse_support.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace {

using namespace iso::test;
using iso::grid;
using iso::vec3;

std::vector<std::pair<std::string, grid>> grids() {
  return {{"1x1x1", grid::centred({1, 1, 1}, {1, 1, 1})},
          {"1x1x9", grid::centred({1, 1, 9}, {1, 1, 1})},
          {"7x1x1", grid::centred({7, 1, 1}, {1, 1, 1})},
          {"even", grid::centred({4, 6, 8}, {1, 1, 1})},
          {"odd", grid::centred({5, 3, 7}, {1, 1, 1})},
          {"anisotropic", grid::centred({6, 5, 4}, {0.5, 0.5, 3})},
          {"off centre", grid{{5, 4, 6}, {1, 0.5, 2}, {17.5, -3.25, 40}}}};
}

template <class T>
vec3<T> moved(vec3<T> p, T towards) {
  return {std::nextafter(p.x, towards), std::nextafter(p.y, towards), std::nextafter(p.z, towards)};
}

/// As given, then origin and direction moved an ulp up and down.
template <class T>
std::array<iso::ray::ray<T>, 5> neighbours(iso::ray::ray<T> const& r) {
  T const most = std::numeric_limits<T>::infinity();
  return {r,
          {moved(r.origin, most), r.direction},
          {moved(r.origin, -most), r.direction},
          {r.origin, moved(r.direction, most)},
          {r.origin, moved(r.direction, -most)}};
}

/// Counts what goes wrong on `g`, and says so for the first few.
template <class T>
int failures(std::string const& grid_name, grid const& g, vec3<double> tilt) {
  int failed = 0;
  auto const rays = degenerate_rays<T>(g, tilt);
  CHECK(int(rays.size()) == num_degenerate_rays);
  for (auto const& named : rays) {
    for (auto const& r : neighbours(named.ray)) {
      auto const exact = iso::oracle::exact_traversal(r, g);
      double const bound = iso::oracle::chord_bound(r, g);
      for_each_method([&](auto method, char const* method_name) {
        auto const wrong = complaint(walk<decltype(method)>(r, g), exact, g, bound);
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
  for (auto const& [name, g] : grids()) {
    CAPTURE(name);
    CHECK(failures<T>(name + " along voxel diagonals", g, g.spacing) == 0);
    CHECK(failures<T>(name + " oblique", g, {1, 0.7, 0.4}) == 0);
  }
}

TEST_CASE_TEMPLATE("468 named degenerate rays: all lengths times 1e-3 and 1e3", T, float, double) {
  for (double const scale : {1e-3, 1e3}) {
    for (auto [name, g] : grids()) {
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
    for (auto const& [name, g] : grids()) {
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
