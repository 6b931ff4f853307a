// SPDX-License-Identifier: BSD-3-Clause
// Whether the readings tell that a volume, or the detector, is smaller than what was scanned.
#include <iso/ct/geometry.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/jobs/reconstruct.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace files = iso::files;
namespace jobs = iso::jobs;

namespace {

using iso::vec3;

double const pi = std::numbers::pi;
double const inside = 0.02;  // 1/mm

iso::ct::geometry circle(std::int64_t pixels = 20, double pitch = 6, std::int64_t views = 12) {
  return iso::ct::circular_cone(
      {.num_u = pixels, .num_v = pixels, .pitch_u = pitch, .pitch_v = pitch}, 300, 450,
      iso::ct::even_angles(views, 2 * pi));
}
iso::ct::geometry tilted() {
  return iso::ct::turn_detector(circle(),
                                {.yaw = 4 * pi / 180, .pitch = 3 * pi / 180, .roll = 1 * pi / 180});
}
iso::ct::geometry helix() { return iso::ct::helix(circle(), iso::ct::even_angles(12, 2 * pi), 8); }
iso::ct::geometry parallel() {
  return iso::ct::circular_parallel({.num_u = 20, .num_v = 20, .pitch_u = 4, .pitch_v = 4},
                                    iso::ct::even_angles(12, pi));
}

/// The part of a ray, from its first to its last t.
using part = std::array<double, 2>;

/// Returns the integral along a ray of a ball about the origin.
double of_ball(vec3<double> from, vec3<double> along, double radius) {
  double const a = dot(along, along);
  double const b = dot(along, from);
  double const c = dot(from, from) - radius * radius;
  return inside * 2 * std::sqrt(std::max(b * b - a * c, 0.0) / a);
}

/// Returns the integral along a ray of a cylinder about the z axis.
double of_cylinder(vec3<double> from, vec3<double> along, double radius, double half_height) {
  double const a = along.x * along.x + along.y * along.y;
  double const b = along.x * from.x + along.y * from.y;
  double const c = from.x * from.x + from.y * from.y - radius * radius;
  double const root = std::sqrt(std::max(b * b - a * c, 0.0));
  part in = {(-b - root) / a, (-b + root) / a};
  if (along.z != 0) {
    part const ends = {(-half_height - from.z) / along.z, (half_height - from.z) / along.z};
    in[0] = std::max(in[0], std::min(ends[0], ends[1]));
    in[1] = std::min(in[1], std::max(ends[0], ends[1]));
  }
  return inside * std::max(in[1] - in[0], 0.0) * norm(along);
}

/// Returns the scan of a body, whose integrals along rays `body(from, along)` gives.
template <class Body>
jobs::reconstruct_request scan_of(iso::ct::geometry const& g, Body const& body, std::int64_t voxels,
                                  double spacing) {
  jobs::reconstruct_request request;
  request.backend = "serial";
  request.extent = {voxels, voxels, voxels};
  request.spacing = {spacing, spacing, spacing};
  request.shape = {g.num_views(), g.num_u(), g.num_v()};
  request.iterative = jobs::iterative_request{.rules = {.iterations = 1}};
  request.geometry.scan = g;
  bool const cone = g.kind() == iso::ct::beam::cone;
  for (auto const& w : g.views()) {
    for (std::int64_t u = 0; u < g.num_u(); ++u) {
      for (std::int64_t v = 0; v < g.num_v(); ++v) {
        auto const pixel = w.detector_origin + double(u) * w.u_step + double(v) * w.v_step;
        request.projections.push_back(
            float(cone ? body(w.source, pixel - w.source) : body(pixel, w.source)));
      }
    }
  }
  return request;
}

jobs::reconstruct_request ball(iso::ct::geometry const& g, std::int64_t voxels,
                               double radius = 24) {
  return scan_of(
      g, [radius](auto const& from, auto const& along) { return of_ball(from, along, radius); },
      voxels, 4);
}

void add_noise(std::vector<float>& readings, double sigma) {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(0, sigma);
  for (float& r : readings) {
    r += float(noise(random));
  }
}

/// Makes readings of so many photons a ray in the open beam, counted.
void count(std::vector<float>& readings, double photons) {
  std::mt19937 random(5);
  for (float& r : readings) {
    std::poisson_distribution<int> counted(photons * std::exp(-double(r)));
    r = float(std::log(photons / std::max(counted(random), 1)));
  }
}

/// Returns the mean of voxels less than `radius` mm from the middle.
double mean_within(jobs::reconstruct_result const& result, double radius) {
  auto const& n = result.volume.extent;
  auto const& s = result.volume.spacing;
  double sum = 0;
  double number = 0;
  for (std::int64_t i = 0; i < n[0]; ++i) {
    for (std::int64_t j = 0; j < n[1]; ++j) {
      for (std::int64_t k = 0; k < n[2]; ++k) {
        double const from = std::hypot(s[0] * (double(i) - 0.5 * double(n[0] - 1)),
                                       s[1] * (double(j) - 0.5 * double(n[1] - 1)),
                                       s[2] * (double(k) - 0.5 * double(n[2] - 1)));
        if (from < radius) {
          sum += double(result.volume.values[std::size_t((i * n[1] + j) * n[2] + k)]);
          number += 1;
        }
      }
    }
  }
  return sum / number;
}

bool warns(jobs::reconstruct_result const& result) { return result.voxels_wanted[0] > 0; }

/// Whether the result of a volume of the extent that was advised has `value` in its middle, and
/// asks for nothing more.
void check_advice(jobs::reconstruct_request request, double value, double within) {
  auto const small = jobs::reconstruct(request, {});
  REQUIRE(warns(small));
  request.extent = small.voxels_wanted;
  request.iterative->method = iso::ct::iterative_method::os_sart;
  request.iterative->options =
      iso::ct::default_options(request.iterative->method, request.shape[0]);
  request.iterative->rules.iterations = 20;
  auto const advised = jobs::reconstruct(request, {});
  CAPTURE(small.voxels_wanted[0]);
  CAPTURE(small.voxels_wanted[2]);
  CHECK(!warns(advised));
  CHECK(advised.part_outside == 0);
  CHECK(std::abs(mean_within(advised, 8) / value - 1) < within);
}

/// A scan of 24 views of a cylinder about the axis (radius mm, half height mm), with noise, and a
/// body of metal if its reading is above zero.
jobs::reconstruct_request cylinder(double radius, double half_height, std::int64_t slices,
                                   double noise = 0, double metal = 0) {
  auto request = scan_of(
      circle(48, 2, 24),
      [=](auto const& from, auto const& along) {
        return of_cylinder(from, along, radius, half_height);
      },
      40, 1.5);
  request.extent[2] = slices;
  std::mt19937 random(3);
  for (std::size_t i = 0; i < request.projections.size(); ++i) {
    auto const u = std::int64_t(i / 48 % 48);
    auto const v = std::int64_t(i % 48);
    bool const in_metal = std::abs(u - 20) < 3 && std::abs(v - 30) < 3;
    double const of_metal = in_metal ? metal : 0;
    double const of_noise = noise * ((double(random()) + double(random())) / 0x1p32 - 1);
    request.projections[i] += float(of_metal + of_noise);
  }
  return request;
}

}  // namespace

TEST_CASE("the extent that is advised to a volume that is too small does") {
  for (auto const& g : {circle(), tilted(), helix(), parallel()}) {
    for (std::int64_t const voxels : {6, 8, 10}) {
      CAPTURE(voxels);
      check_advice(ball(g, voxels), inside, 0.03);
    }
  }
}

TEST_CASE("noise is no body beside a volume that is large enough, and hides none") {
  for (auto const& g : {circle(), tilted(), helix(), parallel()}) {
    auto const checked = [&](auto const& spoil) {
      auto large = ball(g, 16);
      spoil(large.projections);
      CHECK(!warns(jobs::reconstruct(large, {})));
      // Some set to zero what noise makes of less.
      for (float& r : large.projections) {
        r = std::max(r, 0.0F);
      }
      CHECK(!warns(jobs::reconstruct(large, {})));
      auto small = ball(g, 6);
      spoil(small.projections);
      check_advice(small, inside, 0.1);
    };
    checked([](auto&) {});
    checked([](auto& readings) { add_noise(readings, 0.03); });
    checked([](auto& readings) { count(readings, 3000); });
    checked([](auto& readings) { count(readings, 100); });
  }
}

TEST_CASE("filtered backprojection makes the same voxels of a volume that is too small") {
  for (auto const& g : {circle(), tilted()}) {
    auto request = ball(g, 6);
    request.iterative.reset();
    auto const small = jobs::reconstruct(request, {});
    request.extent = {16, 16, 16};
    auto const large = jobs::reconstruct(request, {});
    CHECK(!warns(small));
    for (std::size_t i = 0; i < 216; ++i) {
      std::size_t const x = i / 36 + 5;
      std::size_t const y = i / 6 % 6 + 5;
      std::size_t const z = i % 6 + 5;
      CHECK(small.volume.values[i] ==
            doctest::Approx(large.volume.values[(x * 16 + y) * 16 + z]).epsilon(1e-5));
    }
  }
}

TEST_CASE("rows that end within the body are told of, and by filtered backprojection too") {
  // The detector sees 24 of 128 mm: every ray meets the volume.
  auto request = ball(circle(12, 3, 24), 6, 64);
  auto const small = jobs::reconstruct(request, {});
  CHECK(small.part_cut > 0.9);
  CHECK(warns(small));
  double const of_small = mean_within(small, 8);
  request.extent = small.voxels_wanted;
  request.iterative->rules.iterations = 20;
  auto const advised = jobs::reconstruct(request, {});
  CHECK(!warns(advised));
  CAPTURE(small.voxels_wanted[0]);
  CAPTURE(of_small);
  CAPTURE(mean_within(advised, 8));
  CHECK(std::abs(mean_within(advised, 8) / inside - 1) < 0.15);
  request.iterative.reset();
  CHECK(jobs::reconstruct(request, {}).part_cut > 0.9);
  // One that reaches the other way at half a turn sees the body whole.
  auto const whole = [](auto const& g) {
    auto scan = ball(g, 16);
    for (bool const filtered : {false, true}) {
      if (filtered) {
        scan.iterative.reset();
      }
      CHECK(jobs::reconstruct(scan, {}).part_cut == 0);
    }
  };
  whole(circle());
  whole(
      iso::ct::circular_cone({.num_u = 20, .num_v = 20, .pitch_u = 3, .pitch_v = 6, .offset_u = 18},
                             300, 450, iso::ct::even_angles(24, 2 * pi)));
}

TEST_CASE(
    "a body that goes on behind the volume's end is seen by what rays read for their length") {
  // Every ray with a reading enters the volume, but those of the outer rows leave it soon.
  auto const cut = jobs::reconstruct(cylinder(25, 1000, 39), {});
  CHECK(cut.part_outside > 0.01);
  CHECK(cut.part_outside < 0.2);
  CHECK(cut.voxels_wanted[0] == 40);
  CHECK(cut.voxels_wanted[1] == 40);
  CHECK(cut.voxels_wanted[2] > 44);
  CHECK(cut.voxels_wanted[2] < 52);
  auto const wanted = jobs::reconstruct(cylinder(25, 1000, cut.voxels_wanted[2]), {});
  CHECK(wanted.part_outside == 0);
  // No word of bodies within the volume, of noise and of metal.
  for (double const noise : {0.0, 0.05, 0.2}) {
    for (double const metal : {0.0, 5.0}) {
      CAPTURE(noise);
      CAPTURE(metal);
      CHECK(jobs::reconstruct(cylinder(25, 20, 39, noise, metal), {}).part_outside == 0);
      CHECK(jobs::reconstruct(cylinder(25, 28, 39, noise, metal), {}).part_outside == 0);
    }
  }
}
