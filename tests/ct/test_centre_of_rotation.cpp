// SPDX-License-Identifier: BSD-3-Clause
// The axis found in projections of a body without symmetry, whose detector is known to be offset.
#include "instances.hpp"

#include <iso/ct/centre_of_rotation.hpp>
#include <iso/ct/line_integrals.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ct/view_projection.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

namespace {

using namespace iso::ct;
using host = Kokkos::HostSpace;
using iso::test::refusal;
constexpr double half_turn = std::numbers::pi;

/// The phantom's head and a ball beside it: no mirror plane along the axis.
std::vector<ellipsoid> body() {
  auto all = shepp_logan(50);
  all.push_back({{30, 18, 12}, {9, 7, 8}, 0.3, 1.5});
  return all;
}

double estimate(geometry const& g, centre_options const& options) {
  Kokkos::Serial const exec;
  auto const p = iso::make_projections<double, host>("p", g.num_views(), g.num_u(), g.num_v());
  project_ellipsoids<Kokkos::Serial, double>(exec, body(), stage(exec, g), p, {2});
  auto const weights = mirror_weights(g);
  Kokkos::View<double const*, host> const w(weights.data(), weights.size());
  auto const mean = iso::make_projections<double, host>("mean", 1, g.num_u(), g.num_v());
  mean_of_views<Kokkos::Serial, double>(exec, p, w, mean);
  exec.fence("test");
  return centre_of_rotation(mean, options);
}

}  // namespace

TEST_CASE("projection_of: a view sees a point of a ray at the ray's pixel") {
  // A detector that stands and leans aside, whose plane does not hold the isocenter.
  view_vectors const cone{{210, -35, 12}, {-90, -40, -25}, {0.1, 1.2, -0.2}, {0.3, -0.1, 0.9}};
  view_vectors const parallel{{-3, 0.4, 0.7}, cone.detector_origin, cone.u_step, cone.v_step};
  for (auto const kind : {beam::cone, beam::parallel}) {
    view_vectors const& w = kind == beam::cone ? cone : parallel;
    view_projection const seen = projection_of(kind, w);
    for (double const u : {-4.5, 0.0, 17.25}) {
      for (double const v : {-2.0, 0.0, 30.5}) {
        iso::vec3<double> const pixel = w.detector_origin + u * w.u_step + v * w.v_step;
        for (double const t : {0.25, 1.0, 1.5}) {
          bool const is_cone = kind == beam::cone;
          auto const x = is_cone ? w.source + t * (pixel - w.source) : pixel + t * w.source;
          double const depth = seen.depth(x);
          CHECK(depth == doctest::Approx(is_cone ? t : 1).epsilon(1e-13));
          CHECK(std::abs(seen.u(x) / depth - u) < 1e-12 * 300);
          CHECK(std::abs(seen.v(x) / depth - v) < 1e-12 * 300);
        }
      }
    }
  }
  CHECK(std::abs(projection_of(beam::cone, cone).depth(cone.source)) < 1e-13);
  CHECK(projection_of(beam::cone, cone).depth(2.0 * cone.source) < 0);
}

TEST_CASE("where the geometry puts the isocenter") {
  flat_detector d{101, 20, 0.5, 0.5};
  for (double const offset : {0.0, 3.3, -7.25}) {
    d.offset_u = offset;
    for (auto const& g : {circular_cone(d, 300, 450, {0.3, 1}), circular_parallel(d, {0.3, 1})}) {
      CHECK(axis_pixel(g) == doctest::Approx(50 - offset / 0.5).epsilon(1e-12));
    }
  }
}

TEST_CASE("the offset of a detector is found to a twentieth of a pixel, cone and parallel") {
  flat_detector d{128, 24, 1.5, 3};
  for (double const offset : {0.0, 0.37, -1.04, 5.55, -9.9}) {  // pixels
    CAPTURE(offset);
    d.offset_u = offset * d.pitch_u;
    auto const cone = circular_cone(d, 400, 600, even_angles(180, 2 * half_turn, 0.1));
    auto const full = circular_parallel(d, even_angles(120, 2 * half_turn));
    // Half a turn, both ends: the first view and the last are mirror images.
    std::vector<double> half;
    for (int i = 0; i <= 60; ++i) {
      half.push_back(half_turn * i / 60);
    }
    for (auto const& g : {cone, full, circular_parallel(d, half)}) {
      double const centre = estimate(g, {63.5, 0});
      CHECK(std::abs(centre - axis_pixel(g)) <= 0.05);
    }
  }
}

TEST_CASE("an object that the detector cuts off on one side") {
  // A third of the body lies beyond the detector.
  flat_detector d{96, 24, 1.5, 3};
  d.offset_u = -36.8 * d.pitch_u;
  auto const g = circular_cone(d, 400, 600, even_angles(180, 2 * half_turn));
  CHECK(std::abs(estimate(g, {80, 15}) - axis_pixel(g)) <= 0.1);
}

TEST_CASE("scans in which no axis shows are refused") {
  flat_detector const d{64, 8, 1, 1};
  CHECK(refusal([&] {
          static_cast<void>(mirror_weights(circular_cone(d, 400, 600, even_angles(90, half_turn))));
        }).find("not evenly spaced over a full circle") != std::string::npos);
  CHECK(refusal([&] {
          static_cast<void>(mirror_weights(circular_parallel(d, even_angles(60, half_turn))));
        }).find("half a turn") != std::string::npos);
  // A helix of whole turns is as even, but the mean of its views is no mirror image of itself.
  auto const turn = even_angles(90, 2 * half_turn);
  for (auto const& circle : {circular_cone(d, 400, 600, turn), circular_parallel(d, turn)}) {
    CHECK(refusal([&] {
            static_cast<void>(mirror_weights(helix(circle, turn, 30)));
          }).find("move along the axis") != std::string::npos);
    CHECK(mirror_weights(laminography(circle, 0.4)) == std::vector<double>(90, 1.0));
    CHECK(mirror_weights(turn_detector(circle, {.yaw = 0.1, .pitch = 0.2, .roll = 0.1})) ==
          std::vector<double>(90, 1.0));
  }
  auto const flat = iso::make_projections<double, host>("mean", 1, 64, 8);
  CHECK(refusal([&] { centre_of_rotation(flat, {32, 0}); }).find("the same everywhere") !=
        std::string::npos);
  CHECK(refusal([&] { centre_of_rotation(flat, {-3, 0}); }).find("guess -3") != std::string::npos);
  flat.data(0, 5, 2) = NAN;
  CHECK(refusal([&] { centre_of_rotation(flat, {32, 0}); }).find("u 5, v 2") != std::string::npos);
  auto const small = iso::make_projections<double, host>("mean", 1, 8, 8);
  CHECK(refusal([&] { centre_of_rotation(small, {4, 0}); }).find("at least 16 pixels") !=
        std::string::npos);
}
