// SPDX-License-Identifier: BSD-3-Clause
//! Closed forms, empty rays, faces, and grids whose indices need 64 bits.
#include "traverse_support.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace {

using namespace iso::test;
using iso::grid;
using iso::vec3;

/// 4 x 4 unit pixels on [0, 4]^2, one voxel thick.
grid const pixels{{4, 4, 1}, {1, 1, 1}, {0.5, 0.5, 0.5}};
double const s3 = std::sqrt(3.0);

struct chord {
  int i;
  int j;
  double length;
};

/// The line through (x, 2) along (-1/2, sqrt(3)/2) crosses exactly `expected`.
template <class T>
void check_chords(double x, std::vector<chord> const& expected) {
  double const infinity = std::numeric_limits<double>::infinity();
  iso::ray::ray<T> const r{
      {T(x), T(2), T(0.5)}, {T(-0.5), T(s3 / 2), T(0)}, T(-infinity), T(infinity)};
  // The irrational inputs are rounded, which moves the line by about an ulp of 4.
  double const tolerance = 16 * double(std::numeric_limits<T>::epsilon());
  auto const exact = iso::oracle::exact_traversal(r, pixels);
  REQUIRE(exact.by_voxel.size() == expected.size());
  for (auto const& [i, j, length] : expected) {
    CHECK(std::abs(exact.by_voxel.at(i * 4 + j) - length) < tolerance);
  }
  for_each_method([&](auto method, char const* name) {
    INFO(std::string(name));
    auto const seen = walk<decltype(method)>(r, pixels);
    REQUIRE(seen.size() == expected.size());
    for (std::size_t n = 0; n < seen.size(); ++n) {
      CHECK(seen[n].first == expected[n].i * 4 + expected[n].j);
      CHECK(std::abs(double(seen[n].second) - expected[n].length) < tolerance);
    }
  });
}

template <class Method, class T>
std::size_t visited(iso::ray::ray<T> const& r, grid const& g) {
  return walk<Method>(r, g).size();
}

}  // namespace

TEST_CASE_TEMPLATE("exact chords of a line of slope -sqrt(3) through 4 x 4 pixels", T, float,
                   double) {
  double const a = 4 / s3 - 2;
  double const b = 2 - 2 / s3;
  double const c = 2 / s3;
  // In row j the line runs from x0 to x0 - 1/sqrt(3); a whole row is c long, and 1 in x is 2 long.
  check_chords<T>(2, {{3, 0, a}, {2, 0, b}, {2, 1, c}, {1, 2, c}, {1, 3, b}, {0, 3, a}});
  check_chords<T>(2 + s3, {{3, 1, 4 - 2 * s3}, {3, 2, c}, {3, 3, a}, {2, 3, b}});
  check_chords<T>(2 - s3, {{1, 0, b}, {0, 0, a}, {0, 1, c}, {0, 2, 4 - 2 * s3}});
  check_chords<T>(2 - (2 + s3 / 2), {{0, 0, 1 / s3}});
}

TEST_CASE_TEMPLATE("six rays along the axes of 3 x 3 x 3: integrals 3, A^T A of ones 18 and 6", T,
                   float, double) {
  auto const g = grid::centred({3, 3, 3}, {1, 1, 1});
  for_each_method([&](auto method, char const* name) {
    INFO(std::string(name));
    std::array<T, 27> backprojected{};
    for (int axis = 0; axis < 3; ++axis) {
      for (T const sign : {T(1), T(-1)}) {
        iso::ray::ray<T> r;
        r.direction[axis] = sign;
        r.origin[axis] = T(-10) * sign;
        auto const seen = walk<decltype(method)>(r, g);
        T integral = 0;
        for (auto const& [index, length] : seen) {
          integral += length;
        }
        CHECK(integral == T(3));
        for (auto const& [index, length] : seen) {
          backprojected[std::size_t(index)] += length * integral;
        }
      }
    }
    for (std::int64_t n = 0; n < 27; ++n) {
      int const off_centre = (n / 9 != 1) + (n / 3 % 3 != 1) + (n % 3 != 1);
      T const expected = off_centre == 0 ? T(18) : off_centre == 1 ? T(6) : T(0);
      CHECK(backprojected[std::size_t(n)] == expected);
    }
  });
}

TEST_CASE_TEMPLATE("an empty ray visits nothing", T, float, double) {
  auto const g = grid::centred({4, 4, 4}, {1, 1, 1});
  T const nan = std::numeric_limits<T>::quiet_NaN();
  T const infinity = std::numeric_limits<T>::infinity();
  iso::ray::ray<T> const good{{T(-9), T(0.1), T(0.2)}, {T(1), T(0), T(0)}};
  std::vector<iso::ray::ray<T>> empty;
  for (T const bad : {nan, infinity, -infinity}) {
    for (int axis = 0; axis < 3; ++axis) {
      empty.push_back(good);
      empty.back().origin[axis] = bad;
      empty.push_back(good);
      empty.back().direction[axis] = bad;
    }
  }
  auto const with = [&](vec3<T> d, T t_min, T t_max) {
    empty.push_back({good.origin, d, t_min, t_max});
  };
  with({0, 0, 0}, 0, infinity);
  with({T(-0.0), 0, T(-0.0)}, -infinity, infinity);
  with(good.direction, nan, infinity);
  with(good.direction, 0, nan);
  with(good.direction, 9, 9);
  with(good.direction, 10, 9);
  with(good.direction, infinity, infinity);
  with(good.direction, -infinity, -infinity);
  with(good.direction, 0, 7);
  with(good.direction, 11, 99);
  empty.push_back(iso::ray::ray<T>::between({0, 0, 0}, {0, 0, 0}));
  for_each_method([&](auto method, char const* name) {
    INFO(std::string(name));
    CHECK(visited<decltype(method)>(good, g) == 4);
    for (auto const& r : empty) {
      INFO(describe(r));
      CHECK(visited<decltype(method)>(r, g) == 0);
    }
  });
}

TEST_CASE_TEMPLATE("segments end where their end points lie", T, float, double) {
  auto const g = grid::centred({8, 8, 8}, {1, 1, 1});
  std::vector<iso::ray::ray<T>> const segments{
      iso::ray::ray<T>::between({T(0.25), T(0.5), T(0.5)}, {T(0.75), T(0.5), T(0.625)}),
      iso::ray::ray<T>::between({T(-1.25), T(0.5), T(2.5)}, {T(1.75), T(-3.5), T(0.625)}),
      iso::ray::ray<T>::between({T(-9), T(0.5), T(2.5)}, {T(1.75), T(-3.5), T(0.625)}),
      iso::ray::ray<T>::between({T(1), T(1), T(1)}, {T(-2), T(-2), T(-2)}),
      iso::ray::ray<T>::between({T(1), T(1), T(1)}, {T(3), T(1), T(1)}),
      {{T(0.5), T(1.5), T(-0.5)}, {T(1), T(2), T(3)}, T(-0.75), T(0.125)}};
  for_each_method([&](auto method, char const* name) {
    INFO(std::string(name));
    for (auto const& r : segments) {
      INFO(describe(r));
      CHECK(complaint(walk<decltype(method)>(r, g), iso::oracle::exact_traversal(r, g), g,
                      iso::oracle::chord_bound(r, g)) == "");
    }
    CHECK(visited<decltype(method)>(segments[0], g) == 1);
  });
}

TEST_CASE_TEMPLATE("a ray in a face belongs to the upper voxel, in the upper face to none", T,
                   float, double) {
  auto const g = grid::centred({4, 4, 4}, {1, 1, 1});
  for_each_method([&](auto method, char const* name) {
    INFO(std::string(name));
    for (int axis = 0; axis < 3; ++axis) {
      for (int plane = 0; plane <= 4; ++plane) {
        for (T const sign : {T(1), T(-1)}) {
          iso::ray::ray<T> r{{T(0.5), T(0.5), T(0.5)}, {}};
          int const along = (axis + 1) % 3;
          r.origin[axis] = T(plane - 2);
          r.origin[along] = T(-7) * sign;
          r.direction[along] = sign;
          auto const seen = walk<decltype(method)>(r, g);
          REQUIRE(seen.size() == (plane < 4 ? 4U : 0U));
          for (auto const& [index, length] : seen) {
            auto const voxel = iso::ray::traversal_grid(g).at(index);
            CHECK((axis == 0 ? voxel.i : axis == 1 ? voxel.j : voxel.k) == plane);
            CHECK(length == T(1));
          }
        }
      }
    }
  });
}

TEST_CASE_TEMPLATE("a ray that only touches an edge or a corner", T, float, double) {
  auto const g = grid::centred({4, 4, 4}, {1, 1, 1});
  for_each_method([&](auto method, char const* name) {
    INFO(std::string(name));
    CHECK(visited<decltype(method)>(iso::ray::ray<T>{{-3, 3, 1}, {1, 0, 0}}, g) == 0);
    CHECK(visited<decltype(method)>(iso::ray::ray<T>{{-4, 0, T(0.5)}, {1, 1, 0}}, g) == 0);
    CHECK(visited<decltype(method)>(iso::ray::ray<T>{{4, 0, T(0.5)}, {-1, -1, 0}}, g) == 0);
    CHECK(visited<decltype(method)>(iso::ray::ray<T>{{-4, 0, 0}, {1, 1, 1}}, g) == 0);
    // Through inner corners: the diagonal's voxels and no others.
    auto const seen = walk<decltype(method)>(iso::ray::ray<T>{{-4, -4, -4}, {1, 1, 1}}, g);
    REQUIRE(seen.size() == 4);
    for (std::size_t n = 0; n < 4; ++n) {
      CHECK(seen[n].first == std::int64_t(21 * n));
      CHECK(std::abs(double(seen[n].second) - s3) <=
            8 * s3 * double(std::numeric_limits<T>::epsilon()));
    }
  });
}

TEST_CASE_TEMPLATE("grids of more than 2^31 voxels: 2049, 4096 and 2^14 a side", T, float, double) {
  for (std::int64_t const n : {std::int64_t(2049), std::int64_t(4096), std::int64_t(1) << 14}) {
    auto const g = grid::centred({n, n, n}, {1, 1, 1});
    T const far = T(n);
    for_each_method([&](auto method, char const* name) {
      INFO(std::string(name));
      auto const seen = walk<decltype(method)>(iso::ray::ray<T>{{far, far, far}, {-1, -1, -1}}, g);
      REQUIRE(std::int64_t(seen.size()) == n);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        std::int64_t const at = n - 1 - i;
        wrong += seen[std::size_t(i)].first != (at * n + at) * n + at ? 1 : 0;
      }
      CHECK(wrong == 0);
    });
  }
}

TEST_CASE("more planes than a float counts: float visits nothing, double does") {
  grid const g{{1, 1, (std::int64_t(1) << 24) + 1}, {1, 1, 1}, {0, 0, 0}};
  CHECK(visited<iso::ray::branchless>(iso::ray::ray<float>{{-9, 0, 5}, {1, 0, 0}}, g) == 0);
  CHECK(visited<iso::ray::branchless>(iso::ray::ray<double>{{-9, 0, 5}, {1, 0, 0}}, g) == 1);
}

TEST_CASE("a plane lies at the double nearest to its place, and a ray in it in the upper voxel") {
  grid const tenths{{64, 1, 1}, {0.1, 0.1, 0.1}, {0, 0, 0}};
  for_each_method([&](auto method, char const* name) {
    CAPTURE(name);
    using Method = decltype(method);
    auto const voxel_of = [&](double x) {
      auto const seen = walk<Method>(iso::ray::ray<double>{{x, 0, -9}, {0, 0, 1}}, tenths);
      REQUIRE(seen.size() == 1);
      CHECK(seen[0].second == doctest::Approx(0.1));
      return seen[0].first;
    };
    // The double 2.15 is 9e-17 below 21.5 tenths.
    CHECK(voxel_of(2.15) == 22);
    CHECK(voxel_of(std::nextafter(2.15, 0)) == 21);
  });
}
