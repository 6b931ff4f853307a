// SPDX-License-Identifier: BSD-3-Clause
#include "ellipsoid_support.hpp"

#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>
#include <iso/ct/detail/shepp_logan_impl.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using ellipsoid_support::beam;
using ellipsoid_support::ellipsoid;
using ellipsoid_support::pi;
using ellipsoid_support::projected;
using ellipsoid_support::rasterised;
using ellipsoid_support::rays;
using ellipsoid_support::vec3;

double volume_of(ellipsoid const& e) {
  return 4 * pi / 3 * e.half_axes.x * e.half_axes.y * e.half_axes.z;
}

/// A density's sum at a point, from the definition.
double density_at(std::vector<ellipsoid> const& bodies, vec3<double> p) {
  double sum = 0;
  for (auto const& e : bodies) {
    vec3<double> const d = p - e.centre;
    double const x = (std::cos(e.angle) * d.x + std::sin(e.angle) * d.y) / e.half_axes.x;
    double const y = (-std::sin(e.angle) * d.x + std::cos(e.angle) * d.y) / e.half_axes.y;
    double const z = d.z / e.half_axes.z;
    sum += x * x + y * y + z * z <= 1 ? e.density : 0;
  }
  return sum;
}

struct long_vec {
  long double x, y, z;
};

/// Length of a line or of the stretch between two points inside an ellipsoid, from the quadratic.
long double chord(ellipsoid const& e, beam kind, vec3<double> source, vec3<double> pixel) {
  auto const to_ball = [&](long double x, long double y, long double z) {
    long double const c = std::cos((long double)(e.angle));
    long double const s = std::sin((long double)(e.angle));
    return long_vec{(c * x + s * y) / e.half_axes.x, (c * y - s * x) / e.half_axes.y,
                    z / e.half_axes.z};
  };
  using real = long double;
  bool const cone = kind == beam::cone;
  vec3<double> const from = cone ? source : pixel;
  long_vec const along =
      cone ? long_vec{real(pixel.x) - source.x, real(pixel.y) - source.y, real(pixel.z) - source.z}
           : long_vec{source.x, source.y, source.z};
  long_vec const p =
      to_ball(real(from.x) - e.centre.x, real(from.y) - e.centre.y, real(from.z) - e.centre.z);
  long_vec const d = to_ball(along.x, along.y, along.z);
  real const a = d.x * d.x + d.y * d.y + d.z * d.z;
  real const b = d.x * p.x + d.y * p.y + d.z * p.z;
  real const c = p.x * p.x + p.y * p.y + p.z * p.z - 1;
  real const root = b * b - a * c;
  if (root <= 0) {
    return 0;
  }
  real lower = (-b - std::sqrt(root)) / a;
  real upper = (-b + std::sqrt(root)) / a;
  if (cone) {
    lower = std::max(lower, real(0));
    upper = std::min(upper, real(1));
  }
  return std::max(upper - lower, real(0)) *
         std::sqrt(along.x * along.x + along.y * along.y + along.z * along.z);
}

struct random_scene {
  std::mt19937_64 engine{20260521};
  double number(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  }
  vec3<double> point(double size) {
    return {number(-size, size), number(-size, size), number(-size, size)};
  }
  ellipsoid body() {
    return {point(20), {number(1, 60), number(1, 60), number(1, 60)}, number(-7, 7), number(-2, 2)};
  }
};

TEST_CASE("shepp_logan: the head's table, its scale and its two contrasts") {
  auto const head = iso::ct::shepp_logan(100);
  auto const original = iso::ct::shepp_logan(100, iso::ct::shepp_logan_contrast::original);
  REQUIRE(head.size() == 10);
  REQUIRE(original.size() == 10);
  CHECK(head[0].half_axes.y == doctest::Approx(92));
  CHECK(head[6].half_axes.z == doctest::Approx(2));
  // Inside the skull, in both ventricles, in the upper tumour, outside.
  CHECK(density_at(head, {0, 90, 0}) == doctest::Approx(1));
  CHECK(density_at(head, {0, 0, 0}) == doctest::Approx(0.2));
  CHECK(density_at(head, {-22, 0, -25}) == doctest::Approx(0).epsilon(1e-12));
  CHECK(density_at(head, {22, 0, -25}) == doctest::Approx(0).epsilon(1e-12));
  CHECK(density_at(head, {0, 35, -25}) == doctest::Approx(0.4));
  CHECK(density_at(head, {0, 93, 0}) == 0);
  CHECK(density_at(original, {0, 0, 0}) == doctest::Approx(1.02));
  CHECK(density_at(original, {0, 90, 0}) == doctest::Approx(2));
  // The left ventricle's long axis leans by 108 degrees from x, the right one's by 72.
  double const lean = 35 * std::cos(108 * pi / 180);
  double const rise = 35 * std::sin(108 * pi / 180);
  CHECK(density_at(head, {-22 + lean, rise, -25}) == doctest::Approx(0).epsilon(1e-12));
  CHECK(density_at(head, {-22 - lean, rise, -25}) ==
        doctest::Approx(0.4));  // body and upper tumour
  CHECK_THROWS_WITH_AS(iso::ct::shepp_logan(0), doctest::Contains("half size 0"),
                       iso::invalid_argument);
  CHECK_THROWS_AS(iso::ct::shepp_logan(std::nan("")), iso::invalid_argument);
}

TEST_CASE("project_ellipsoids: chords of a sphere in closed form") {
  std::vector<ellipsoid> const sphere{{{1, 2, 3}, {5, 5, 5}, 0.3, 0.25}};
  vec3<double> const c{1, 2, 3};
  auto const at = [&](double x, double y, double z) { return c + vec3<double>{x, y, z}; };
  auto const g = rays(beam::cone, {{at(-100, 0, 0), at(70, 0, 0)},    // through the middle
                                   {at(-60, -80, 0), at(60, 80, 0)},  // the same, askew
                                   {at(-100, 3, 0), at(70, 3, 0)},    // 3 from the middle
                                   {at(-100, 0, 5), at(70, 0, 5)},    // touching
                                   {at(-100, 0, 6), at(70, 0, 6)},    // past it
                                   {at(0, 0, 0), at(0, 0, 50)},       // from the middle
                                   {at(0, 1, 0), at(0, -1, 0)},       // both ends inside
                                   {at(-100, 0, 0), at(-6, 0, 0)},    // ends before it
                                   {at(6, 0, 0), at(60, 0, 0)},       // begins after it
                                   {at(1, 1, 1), at(1, 1, 1)}});      // no length
  std::vector<double> const lengths{10, 10, 8, 0, 0, 5, 2, 0, 0, 0};
  auto const line = [&](vec3<double> along, vec3<double> through) {
    return std::array<vec3<double>, 2>{along, through};
  };
  auto const h =
      rays(beam::parallel, {line({1, 0, 0}, at(500, 0, 0)), line({0, 0, -3}, at(0, 4, 9)),
                            line({0, 2, 0}, at(0, 0, 0)), line({0, 2, 0}, at(6, 0, 0))});
  std::vector<double> const whole{10, 6, 10, 0};
  iso::backend::for_each([&](auto tag) {
    INFO(tag.name);
    typename decltype(tag)::execution_space const exec;
    auto const cone = projected<double>(exec, sphere, g);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      CAPTURE(i);
      CHECK(cone[i] == doctest::Approx(0.25 * lengths[i]).epsilon(1e-13));
    }
    auto const parallel = projected<float>(exec, sphere, h);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      CAPTURE(i);
      CHECK(parallel[i] == float(0.25 * whole[i]));
    }
  });
}

TEST_CASE("project_ellipsoids: random rays against long double") {
  random_scene scene;
  for (beam const kind : {beam::cone, beam::parallel}) {
    for (int round = 0; round < 40; ++round) {
      ellipsoid const body = scene.body();
      std::vector<std::array<vec3<double>, 2>> ends;
      for (int i = 0; i < 50; ++i) {
        double const far = i % 3 == 0 ? 30 : 1000;
        ends.push_back({scene.point(far), scene.point(kind == beam::cone ? far : 60)});
      }
      auto const ours = projected<double>(Kokkos::Serial(), {body}, rays(kind, ends));
      double const longest =
          2 * std::max({body.half_axes.x, body.half_axes.y, body.half_axes.z}) * body.density;
      for (std::size_t i = 0; i < ends.size(); ++i) {
        double const exact = double(chord(body, kind, ends[i][0], ends[i][1])) * body.density;
        // Squares, because a chord near a tangent moves by the square root of an error.
        CAPTURE(i);
        CHECK(std::abs(ours[i] * ours[i] - exact * exact) <= 1e-10 * longest * longest);
      }
    }
  }
}

TEST_CASE("project_ellipsoids: a turned body seen from a turned circle") {
  double const turn = 0.7;
  ellipsoid const body{{12, -5, 3}, {30, 11, 17}, 0.2, 1.5};
  ellipsoid turned = body;
  turned.angle += turn;
  turned.centre = {std::cos(turn) * 12 + std::sin(turn) * 5,
                   std::sin(turn) * 12 - std::cos(turn) * 5, 3};
  iso::ct::flat_detector const detector{40, 33, 3, 2.5, 1.1, -0.4};
  for (beam const kind : {beam::cone, beam::parallel}) {
    auto const scan = [&](double first) {
      auto const angles = iso::ct::even_angles(7, 2 * pi, first);
      return kind == beam::cone ? iso::ct::circular_cone(detector, 400, 600, angles)
                                : iso::ct::circular_parallel(detector, angles);
    };
    auto const one = projected<double>(Kokkos::Serial(), {body}, scan(0.1), 3);
    auto const two = projected<double>(Kokkos::Serial(), {turned}, scan(0.1 + turn), 3);
    double sum = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
      sum += one[i];
      CHECK(std::abs(one[i] - two[i]) <= 1e-6);  // a tangent's square root of rounding
    }
    CHECK(sum > 1000);
  }
}

TEST_CASE("project_ellipsoids: densities add, and sub-rays are the pixels of a finer detector") {
  auto const head = iso::ct::shepp_logan(100);
  iso::ct::flat_detector const coarse{21, 35, 12, 8};
  iso::ct::flat_detector const fine{84, 140, 3, 2};
  auto const angles = iso::ct::even_angles(5, 2 * pi, 0.05);
  auto const g = iso::ct::circular_cone(coarse, 500, 800, angles);
  Kokkos::Serial const exec;
  auto const all = projected<double>(exec, head, g, 4);
  std::vector<double> sum(all.size());
  for (auto const& e : head) {
    auto const part = projected<double>(exec, {e}, g, 4);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += part[i];
    }
  }
  auto const finer = projected<double>(exec, head, iso::ct::circular_cone(fine, 500, 800, angles));
  for (std::size_t i = 0; i < sum.size(); ++i) {
    CHECK(all[i] == doctest::Approx(sum[i]).epsilon(1e-12));
    double mean = 0;
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 0; b < 4; ++b) {
        mean += finer[((i / (21 * 35)) * 84 + (i / 35 % 21) * 4 + a) * 140 + (i % 35) * 4 + b] / 16;
      }
    }
    CHECK(std::abs(all[i] - mean) <= 1e-6);
  }
}

TEST_CASE("project_ellipsoids: a parallel projection holds the body's mass") {
  std::vector<ellipsoid> const body{{{3, -2, 1}, {30, 22, 14}, 0.6, 0.5}};
  auto const angles = iso::ct::even_angles(4, pi, 0.2);
  auto const g = iso::ct::circular_parallel({96, 64, 1, 1}, angles);
  auto const p = projected<double>(Kokkos::Serial(), body, g, 8);
  for (std::size_t view = 0; view < 4; ++view) {
    double mass = 0;
    for (std::size_t i = 0; i < 96 * 64; ++i) {
      mass += p[view * 96 * 64 + i];
    }
    // The midpoint rule with 1/8 mm steps over a body of 30 mm.
    CHECK(mass == doctest::Approx(0.5 * volume_of(body[0])).epsilon(1e-4));
  }
}

/// The mean that rasterise_ellipsoids defines, without a bound that skips anything. Coordinates
/// round as the library's do, so that a point on a surface falls on the same side.
double voxel_mean(std::vector<ellipsoid> const& bodies, iso::grid const& g, vec3<double> voxel,
                  int n) {
  double value = 0;
  auto const offset = [&](int i) { return (i + 0.5) / n - 0.5; };
  for (auto const& e : bodies) {
    double const c = std::cos(e.angle);
    double const s = std::sin(e.angle);
    int inside = 0;
    for (int i = 0; i < n * n * n; ++i) {
      double const x =
          std::fma(g.spacing.x, voxel.x + offset(i / (n * n)), g.origin.x) - e.centre.x;
      double const y = std::fma(g.spacing.y, voxel.y + offset(i / n % n), g.origin.y) - e.centre.y;
      double const z = std::fma(g.spacing.z, voxel.z + offset(i % n), g.origin.z) - e.centre.z;
      double const qx = std::fma(s / e.half_axes.x, y, c / e.half_axes.x * x);
      double const qy = std::fma(c / e.half_axes.y, y, -s / e.half_axes.y * x);
      double const qz = 1 / e.half_axes.z * z;
      inside += std::fma(qz, qz, std::fma(qy, qy, qx * qx)) <= 1 ? 1 : 0;
    }
    value = std::fma(e.density, inside / double(n * n * n), value);
  }
  return value;
}

TEST_CASE("rasterise_ellipsoids: bit for bit what sampling every voxel gives") {
  random_scene scene;
  iso::grid const grids[] = {
      {{37, 20, 45}, {2.5, 4, 2.1}, {-40, -37, -50}},
      {{5, 4, 70}, {20, 25, 1.5}, {-40, -37, -50}},
      {{1, 1, 1}, {300, 300, 300}, {0, 0, 0}},
      {{30, 31, 33},
       {3, 3, 3},
       {1e6 - 45, -1e6 - 40, -45}},  // far out, where coordinates are coarse
  };
  for (auto const& g : grids) {
    vec3<double> const middle = g.origin.x > 1e5 ? vec3<double>{1e6, -1e6, 0} : vec3<double>{};
    for (int const n : {1, 4, 5}) {
      std::vector<ellipsoid> bodies{
          {middle, {30, 30, 30}, 0, 1}};  // faces of samples on its surface
      for (int i = 0; i < 4; ++i) {
        bodies.push_back(scene.body());
        bodies.back().centre = bodies.back().centre + middle;
      }
      auto const ours = rasterised<double>(Kokkos::Serial(), bodies, g, n);
      std::size_t differing = 0;
      for (std::size_t i = 0; i < ours.size(); ++i) {
        auto const ny = std::size_t(g.extent[1]);
        auto const nz = std::size_t(g.extent[2]);
        vec3<double> const voxel{double(i / (ny * nz)), double(i / nz % ny), double(i % nz)};
        differing += ours[i] == voxel_mean(bodies, g, voxel, n) ? 0U : 1U;
      }
      CHECK(differing == 0);
    }
  }
}

TEST_CASE("project_ellipsoids: bit for bit what following every ray gives") {
  auto bodies = iso::ct::shepp_logan(100);
  bodies.push_back({{0, 60, 95}, {2, 2, 2}, 0, 3});
  auto const list = iso::ct::detail::prepare(bodies, "test");
  auto const angles = iso::ct::even_angles(6, 2 * pi, 0.05);
  auto const g = iso::ct::circular_cone({40, 70, 8, 5, 1.3, 0}, 180, 400, angles);  // nearly inside
  int const n = 2;
  auto const ours = projected<double>(Kokkos::Serial(), bodies, g, n);
  std::size_t differing = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    auto const& view = g.views()[i / (40 * 70)];
    double total = 0;
    auto const along = [](double steps, vec3<double> step, vec3<double> from) {
      return vec3<double>{std::fma(steps, step.x, from.x), std::fma(steps, step.y, from.y),
                          std::fma(steps, step.z, from.z)};
    };
    for (int k = 0; k < n * n; ++k) {
      double const u = double(i / 70 % 40) + ((k / n + 0.5) / n - 0.5);
      double const v = double(i % 70 / 32 * 32) + ((k % n + 0.5) / n - 0.5) + double(i % 70 % 32);
      vec3<double> const pixel = along(v, view.v_step, along(u, view.u_step, view.detector_origin));
      double ray = 0;
      for (int e = 0; e < list.count; ++e) {
        iso::ct::detail::ball_ray<beam::cone> const r{list.shapes[e](view.source),
                                                      list.shapes[e].turn(pixel - view.source)};
        ray = std::fma(list.shapes[e].density, r.chord(), ray);
      }
      total = std::fma(norm(pixel - view.source), ray, total);
    }
    differing += ours[i] == total / (n * n) ? 0U : 1U;
  }
  CHECK(differing == 0);
}

TEST_CASE("rasterise_ellipsoids: the voxels hold the phantom's mass") {
  auto const head = iso::ct::shepp_logan(128);
  double mass = 0;
  for (auto const& e : head) {
    mass += e.density * volume_of(e);
  }
  auto const g = iso::grid::centred({128, 128, 128}, {2, 2, 2});
  iso::backend::for_each([&](auto tag) {
    INFO(tag.name);
    double sum = 0;
    for (float const x : rasterised<float>(typename decltype(tag)::execution_space{}, head, g)) {
      sum += 8.0 * x;
    }
    CHECK(sum == doctest::Approx(mass).epsilon(5e-5));
  });
}

}  // namespace
