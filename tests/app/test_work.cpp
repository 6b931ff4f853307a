// SPDX-License-Identifier: BSD-3-Clause
// The counts that shares of ceilings rest on, where they are known in closed form.
#include <iso/cases/work.hpp>
#include <iso/ct/forward_project.hpp>

#include <doctest/doctest.h>

#include <numbers>
#include <string>
#include <vector>

namespace cases = iso::cases;
namespace ct = iso::ct;

namespace {

/// Rays along -x, one through the middle of every row of voxels.
ct::geometry rows(std::int64_t n, double pitch) {
  return ct::circular_parallel({.num_u = n, .num_v = n, .pitch_u = pitch, .pitch_v = pitch}, {0.0});
}

std::string level_of(double kibibytes, cases::cache_sizes const& caches) {
  iso::ceilings::rates most;
  most.read = 1;
  most.triad = 2;
  most.l1 = caches.l1 > 0 ? 4 : 0;
  most.l2 = 3;
  auto const work = cases::stream_work(cases::stream::triad, kibibytes * 1024 / 12);
  return cases::bound_of(work, most, caches).name;
}

}  // namespace

TEST_CASE("a loop over memory is held against the level that its arrays fit") {
  cases::cache_sizes const host{64 << 10, 1 << 20};
  CHECK(level_of(64, host) == "l1");
  CHECK(level_of(66, host) == "l2");
  CHECK(level_of(1024, host) == "l2");
  CHECK(level_of(1026, host) == "triad");
  CHECK(level_of(16, {}) == "triad");
  cases::cache_sizes const gpu{0, 1 << 20};
  CHECK(level_of(16, gpu) == "l2");
  CHECK(level_of(2048, gpu) == "triad");
  // A product may find its vectors in a cache, but is held against memory.
  iso::ceilings::rates most;
  most.read = 1;
  most.l2 = 3;
  cases::min_work work;
  work.bytes = 1024;
  CHECK(std::string(cases::bound_of(work, most, host).name) == "read");
}

TEST_CASE("a ray along a row of voxels has a sample in each, and crosses each") {
  std::int64_t const n = 8;
  auto const box = iso::grid::centred({n, n, n}, {1, 1, 1});
  double const all = double(n * n * n);
  CHECK(cases::num_samples(rows(n, 1), box, {}) == all);
  CHECK(cases::num_samples(rows(n, 1), box, {.method = ct::projector::siddon}) == all);
  CHECK(cases::num_samples(rows(n, 1), box, {.oversampling = 2}) == 4 * all);
  // Every other ray misses the box by more than a voxel.
  CHECK(cases::num_samples(rows(2, 20), box, {}) == 0);

  std::vector<iso::ray::ray<double>> rays(10, {{-10, 0.5, 0.5}, {1, 0, 0}, 0, 100});
  CHECK(cases::voxels_crossed(rays.data(), 10, box) == 10 * double(n));
  CHECK(cases::voxels_crossed(rays.data(), 10, box, 3) == 10 * double(n));
}

TEST_CASE("ellipsoids are met by the rays of their shadow") {
  double const pitch = 0.05;
  ct::ellipsoid const ball{{0, 0, 0}, {3, 3, 3}};
  ct::ellipsoid const turned{{0, 0.5, 0}, {0.5, 2, 1}, std::numbers::pi / 2};
  auto const counts = cases::count_chords({ball, turned}, rows(201, pitch));
  double const pixels = std::numbers::pi / (pitch * pitch);
  CHECK(counts.rays == doctest::Approx(9 * pixels).epsilon(0.02));
  // Turned by a quarter, its half axis along y is 0.5.
  CHECK(counts.chords == doctest::Approx(9.5 * pixels).epsilon(0.02));
}
