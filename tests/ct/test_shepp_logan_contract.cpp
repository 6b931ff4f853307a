// SPDX-License-Identifier: BSD-3-Clause
#include "ellipsoid_support.hpp"
#include "instances.hpp"
#include "slabs.hpp"

#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using ellipsoid_support::ellipsoid;
using ellipsoid_support::pi;
using ellipsoid_support::projected;
using ellipsoid_support::rasterised;
using iso::test::same_bits;

template <class T>
void same_bits_everywhere() {
  auto const head = iso::ct::shepp_logan(100);
  auto const grid = iso::grid::centred({33, 29, 75}, {6, 7, 3});
  auto const angles = iso::ct::even_angles(6, 2 * pi);
  auto const cone = iso::ct::circular_cone({20, 45, 14, 6, 2, 1}, 500, 800, angles);
  auto const parallel = iso::ct::circular_parallel({20, 45, 11, 4, 2, 1}, angles);
  Kokkos::Serial const serial;
  auto const first = rasterised<T>(serial, head, grid);
  auto const second = projected<T>(serial, head, cone, 3);
  auto const third = projected<T>(serial, head, parallel, 3);
  iso::test::for_each_instance([&](auto const& exec) {
    CHECK(same_bits(first, rasterised<T>(exec, head, grid)));
    CHECK(same_bits(second, projected<T>(exec, head, cone, 3)));
    CHECK(same_bits(third, projected<T>(exec, head, parallel, 3)));
  });
}

TEST_CASE("ellipsoids: the same bits on every backend and number of threads") {
  SUBCASE("float") { same_bits_everywhere<float>(); }
  SUBCASE("double") { same_bits_everywhere<double>(); }
}

TEST_CASE_TEMPLATE("ellipsoids: slabs have the bits of the whole volume", T, float, double) {
  std::mt19937_64 random(11);
  auto const body = ellipsoid{{3.25, -7.5, 1.75}, {31, 17, 22}, 0.7, 0.02};
  auto const head = iso::ct::shepp_logan(100);
  iso::grid const g{{13, 12, 75}, {15, 16, 3}, {-90, -87, -107}};
  for (auto const& bodies : {head, std::vector<ellipsoid>{body}}) {
    auto const all = rasterised<T>(Kokkos::Serial(), bodies, g);
    iso::test::for_each_instance([&](auto const& exec) {
      using space = typename std::decay_t<decltype(exec)>::memory_space;
      for (iso::slab const& planes : iso::test::random_slabs(random, g)) {
        auto const some = iso::make_slab<T, space>(exec, "slab", g, planes);
        Kokkos::deep_copy(exec, some.data, std::numeric_limits<T>::quiet_NaN());
        iso::ct::rasterise_ellipsoids(exec, bodies, some);
        exec.fence();
        CAPTURE(planes.first);
        CAPTURE(planes.last);
        CHECK(
            same_bits(ellipsoid_support::to_host(some.data), iso::test::planes_of(all, g, planes)));
      }
    });
  }
}

TEST_CASE("ellipsoids: scaling every length by a power of two scales lines alone") {
  for (double const scale : {0x1p-10, 0x1p10}) {
    auto const angles = iso::ct::even_angles(5, 2 * pi, 0.3);
    auto const at = [&](double s) {
      return projected<double>(
          Kokkos::Serial(), iso::ct::shepp_logan(100 * s),
          iso::ct::circular_cone({20, 45, 14 * s, 6 * s}, 500 * s, 800 * s, angles), 2);
    };
    auto expected = at(1);
    for (double& x : expected) {
      x *= scale;
    }
    CHECK(same_bits(expected, at(scale)));
    auto const voxels = [&](double s) {
      return rasterised<double>(Kokkos::Serial(), iso::ct::shepp_logan(100 * s),
                                iso::grid::centred({20, 21, 40}, {10 * s, 10 * s, 5 * s}));
    };
    CHECK(same_bits(voxels(1), voxels(scale)));
  }
}

TEST_CASE("ellipsoids: what cannot be right is refused, and nothing is written") {
  Kokkos::Serial const exec;
  using space = Kokkos::HostSpace;
  auto const head = iso::ct::shepp_logan(100);
  auto const g = iso::ct::stage(exec, iso::ct::circular_parallel({4, 5, 1, 1}, {0.0}));
  auto const good = iso::make_projections<float, space>("test", 1, 4, 5);
  auto const wrong = iso::make_projections<float, space>("test", 1, 5, 4);
  auto volume = iso::make_volume<float, space>("test", iso::grid::centred({4, 4, 4}, {1, 1, 1}));
  Kokkos::deep_copy(good.data, 7.0F);
  Kokkos::deep_copy(volume.data, 7.0F);
  using refusal = iso::invalid_argument;
  auto const project = [&](std::vector<ellipsoid> const& bodies, std::int64_t n) {
    iso::ct::project_ellipsoids(exec, bodies, g, good, {n});
  };
  CHECK_THROWS_WITH_AS(iso::ct::project_ellipsoids(exec, head, g, wrong),
                       "iso::ct::project_ellipsoids: projections of [1, 5, 4] (geometry has [1, 4, "
                       "5]: views, u, v); give them the geometry's extents",
                       refusal);
  iso::projection_view<float, space> const no_pixels{
      decltype(good.data)(static_cast<float*>(nullptr), 1, 4, 5)};
  CHECK_THROWS_WITH_AS(
      iso::ct::project_ellipsoids(exec, head, g, no_pixels),
      doctest::Contains("iso::ct::project_ellipsoids: projections has elements but no memory"),
      refusal);
  iso::volume_view<float, space> const no_voxels{
      volume.grid, decltype(volume.data)(static_cast<float*>(nullptr), 4, 4, 4)};
  CHECK_THROWS_WITH_AS(
      iso::ct::rasterise_ellipsoids(exec, head, no_voxels),
      doctest::Contains("iso::ct::rasterise_ellipsoids: volume data has elements but no memory"),
      refusal);
  iso::volume_view<float, space> const beyond{volume.grid, volume.data, 1};
  CHECK_THROWS_WITH_AS(iso::ct::rasterise_ellipsoids(exec, head, beyond),
                       "iso::ct::rasterise_ellipsoids: 4 planes along z from plane 1 on (the grid "
                       "has 4); choose one of them or more",
                       refusal);
  CHECK_THROWS_WITH_AS(project(head, 0),
                       "iso::ct::project_ellipsoids: 0 subsamples (must be from 1 to 64); use 1 "
                       "for the ray through the middle of each pixel",
                       refusal);
  CHECK_THROWS_AS(project(head, 65), refusal);
  CHECK_THROWS_WITH_AS(project({}, 1), doctest::Contains("0 ellipsoids (takes from 1 to 32)"),
                       refusal);
  CHECK_THROWS_AS(project(std::vector<ellipsoid>(33, head[0]), 1), refusal);
  CHECK_NOTHROW(iso::ct::rasterise_ellipsoids(exec, std::vector<ellipsoid>(32, head[0]),
                                              iso::make_volume<float, space>("t", volume.grid)));
  double const nan = std::nan("");
  double const inf = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH_AS(project({{{}, {1, 0, 1}}}, 1),
                       doctest::Contains("half axes of ellipsoid 0 are [1, 0, 1]"), refusal);
  CHECK_THROWS_AS(project({{{}, {1, inf, 1}}}, 1), refusal);
  CHECK_THROWS_WITH_AS(project({head[0], {{0, nan, 0}, {1, 1, 1}}}, 1),
                       doctest::Contains("centre of ellipsoid 1 is"), refusal);
  CHECK_THROWS_WITH_AS(project({{{}, {1, 1, 1}, inf, 1}}, 1), doctest::Contains("has angle inf"),
                       refusal);
  CHECK_THROWS_WITH_AS(
      project({{{}, {1, 1, 1}, 1.0001e5, 1}}, 1),
      doctest::Contains("ellipsoid 0 has angle 100010 rad (at most 1e5 either way)"), refusal);
  CHECK_THROWS_AS(project({{{}, {1, 1, 1}, 0, nan}}, 1), refusal);
  CHECK_THROWS_WITH_AS(iso::ct::rasterise_ellipsoids(exec, head, volume, {0}),
                       "iso::ct::rasterise_ellipsoids: 0 samples (must be from 1 to 64); use 1 for "
                       "the middle of each voxel",
                       refusal);
  CHECK_THROWS_AS(iso::ct::rasterise_ellipsoids(exec, std::vector<ellipsoid>{}, volume), refusal);
  CHECK(good.data(0, 3, 4) == 7.0F);
  CHECK(volume.data(3, 3, 3) == 7.0F);
  volume.grid.extent[1] = 5;
  CHECK_THROWS_WITH_AS(iso::ct::rasterise_ellipsoids(exec, head, volume),
                       doctest::Contains("iso::ct::rasterise_ellipsoids: volume data of [4, 4, 4]"),
                       refusal);
}

}  // namespace
