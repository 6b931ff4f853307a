// SPDX-License-Identifier: BSD-3-Clause
//! Random grids and rays, half of them on a coarse lattice so that faces, edges and corners are
//! common.
#include "traverse_support.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>

namespace {

using namespace iso::test;
using iso::grid;
using iso::vec3;

/// A multiple of 1/8, or of 2^-20, of at most `most`.
double coordinate(double most) {
  bool const coarse = *rc::gen::arbitrary<bool>();
  double const unit = coarse ? 0x1p-3 : 0x1p-20;
  auto const range = int(most / unit);
  return unit * *rc::gen::inRange(-range, range + 1);
}

vec3<double> point(double most) { return {coordinate(most), coordinate(most), coordinate(most)}; }

grid dyadic_grid() {
  grid g;
  for (int a = 0; a < 3; ++a) {
    g.extent[std::size_t(a)] = *rc::gen::inRange(1, 9);
    g.spacing[a] = 0.25 * *rc::gen::inRange(1, 9);
    g.origin[a] = 0.125 * *rc::gen::inRange(-40, 41);
  }
  return g;
}

template <class T>
iso::ray::ray<T> dyadic_ray() {
  iso::ray::ray<T> r{static_cast<vec3<T>>(point(24)), static_cast<vec3<T>>(point(4))};
  if (*rc::gen::arbitrary<bool>()) {
    r.t_min = T(coordinate(4));
    r.t_max = r.t_min + T(coordinate(16));
  }
  return r;
}

/// The voxels [from, to) of `g` along `axis`.
grid part_of(grid const& g, int axis, std::int64_t from, std::int64_t to) {
  grid part = g;
  part.extent[std::size_t(axis)] = to - from;
  part.origin[axis] = g.origin[axis] + double(from) * g.spacing[axis];
  return part;
}

}  // namespace

TEST_CASE_TEMPLATE("any ray through any grid agrees with exact arithmetic", T, float, double) {
  for_each_method([](auto method, char const* name) {
    CHECK(rc::check(std::string("exact chords, ") + name, [&] {
      auto const g = dyadic_grid();
      auto const r = dyadic_ray<T>();
      auto const wrong = complaint(walk<decltype(method)>(r, g), iso::oracle::exact_traversal(r, g),
                                   g, iso::oracle::chord_bound(r, g));
      RC_LOG() << describe(r) << ": " << wrong;
      RC_ASSERT(wrong.empty());
    }));
  });
}

TEST_CASE_TEMPLATE("the whole is the disjoint union of its two halves", T, float, double) {
  for_each_method([](auto method, char const* name) {
    CHECK(rc::check(std::string("disjoint union, ") + name, [&] {
      auto const g = dyadic_grid();
      auto r = dyadic_ray<T>();
      int const axis = *rc::gen::inRange(0, 3);
      auto const n = g.extent[std::size_t(axis)];
      RC_PRE(n > 1);
      auto const half = *rc::gen::inRange<std::int64_t>(1, n);
      if (*rc::gen::arbitrary<bool>()) {  // in the shared face
        r.origin[axis] = T(g.origin[axis] + (double(half) - 0.5) * g.spacing[axis]);
        r.direction[axis] = 0;
      }
      std::map<std::int64_t, double> chords;
      for (auto const& [index, length] : walk<decltype(method)>(r, g)) {
        chords[index] += double(length);
      }
      for (auto const from : {std::int64_t(0), half}) {
        auto const part = part_of(g, axis, from, from == 0 ? half : n);
        iso::ray::traversal_grid const indices(part);
        for (auto const& [index, length] : walk<decltype(method)>(r, part)) {
          auto const voxel = indices.at(index);
          std::array<std::int64_t, 3> whole{voxel.i, voxel.j, voxel.k};
          whole[std::size_t(axis)] += from;
          chords[(whole[0] * g.extent[1] + whole[1]) * g.extent[2] + whole[2]] -= double(length);
        }
      }
      double const bound = iso::oracle::chord_bound(r, g);
      for (auto const& [index, difference] : chords) {
        RC_LOG() << describe(r) << ": voxel " << index << " is off by " << difference << "\n";
        RC_ASSERT(std::abs(difference) <= bound);
      }
    }));
  });
}

TEST_CASE_TEMPLATE("all methods see the same voxels and the same bits", T, float, double) {
  CHECK(rc::check("methods agree", [] {
    auto const g = dyadic_grid();
    auto const r = dyadic_ray<T>();
    auto const expected = walk<iso::ray::amanatides_woo>(r, g);
    RC_ASSERT(walk<iso::ray::branchless>(r, g) == expected);
    RC_ASSERT(walk<iso::ray::siddon>(r, g) == expected);
  }));
}

TEST_CASE_TEMPLATE("any bit pattern is a ray: it ends, inside", T, float, double) {
  for_each_method([](auto method, char const* name) {
    CHECK(rc::check(std::string("any bits, ") + name, [&] {
      auto const g = dyadic_grid();
      auto const any = [] {
        return Kokkos::bit_cast<T>(
            *rc::gen::arbitrary<
                std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>());
      };
      auto const some = [&] { return *rc::gen::arbitrary<bool>() ? any() : T(coordinate(8)); };
      iso::ray::ray<T> const r{{some(), some(), some()}, {some(), some(), some()}, some(), some()};
      RC_ASSERT(steps<decltype(method)>(r, g) <= max_steps(g));
      auto const seen = walk<decltype(method)>(r, g);
      RC_ASSERT(std::int64_t(seen.size()) <= g.extent[0] + g.extent[1] + g.extent[2]);
      for (auto const& [index, length] : seen) {
        RC_ASSERT(index >= 0);
        RC_ASSERT(index < g.size());
        RC_ASSERT(length > T(0));
      }
    }));
  });
}
