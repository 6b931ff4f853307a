// SPDX-License-Identifier: BSD-3-Clause
// Readings through the tool's jobs: a simulated detector undone, and an axis that stands aside.
#include "kokkos_events.hpp"

#include <iso/core/error.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/jobs/project.hpp>
#include <iso/jobs/scan_input.hpp>
#include <iso/jobs/simulate_scan.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace files = iso::files;
namespace jobs = iso::jobs;

namespace {

/// 48 views of 64 x 32 pixels of 2 mm, magnification 1.5, the axis `aside` mm along u.
files::geometry_file circle(double aside) {
  return files::parse_geometry(R"({"type": "circular_cone", "detector": {"pixels": [64, 32],
      "pitch_mm": [2, 2]}, "source_axis_mm": 400, "source_detector_mm": 600, "axis_offset_mm": )" +
                                   std::to_string(aside) +
                                   R"(, "angles_deg": {"range": 360, "count": 48}})",
                               "test");
}

double offset_of(files::geometry_file const& g) {
  return std::get<iso::ct::circular_scan>(g.scan).detector.offset_u;
}

std::vector<float> projected(files::geometry_file const& g) {
  jobs::project_request request;
  request.backend = "serial";
  request.geometry = g;
  request.phantom_size = 48;
  request.phantom_width = 60;
  return std::get<std::vector<float>>(jobs::project(request, {}).values);
}

jobs::scan_request integrals(files::geometry_file const& g, std::vector<float> const& values) {
  jobs::scan_request request;
  request.backend = "serial";
  request.geometry = g;
  request.readings = {{48, 64, 32}, files::pixel_type::float32, values};
  request.already_integrals = true;
  return request;
}

}  // namespace

TEST_CASE("an axis that stands aside is seen there, and the geometry is put right") {
  // Seen from the source, 2.5 mm at the axis are 3.75 mm on the detector: 1.875 pixels.
  auto const values = projected(circle(2.5));
  auto request = integrals(circle(0), values);
  request.find_centre = true;
  auto const found = jobs::line_integrals_of(request, {});
  REQUIRE(found.centre);
  CHECK(std::abs(*found.centre - (31.5 + 1.875)) <= 0.1);
  CHECK(offset_of(found.geometry) == doctest::Approx(-2 * (*found.centre - 31.5)));
  CHECK(found.projections == values);
  // Where the geometry knows it, nothing moves by more than the estimate's error.
  request = integrals(circle(2.5), values);
  request.find_centre = true;
  CHECK(std::abs(offset_of(jobs::line_integrals_of(request, {}).geometry)) <= 0.2);
}

TEST_CASE("images pass through a backend some at a time, with the bits of all at once") {
  auto const g = circle(2.5);
  auto values = projected(g);
  std::transform(values.begin(), values.end(), values.begin(), [](float p) { return 0.1F * p; });
  jobs::simulated_scan_request wanted;
  wanted.backend = "serial";
  wanted.extent = {48, 64, 32};
  wanted.integrals = values;
  wanted.photons = 1e6;
  wanted.dead_share = 0.01;
  auto const scan = jobs::simulate_scan(wanted, {});
  auto request = integrals(circle(0), scan.readings);
  request.already_integrals = false;
  request.flats = files::image_stack{{10, 64, 32}, files::pixel_type::uint16, scan.flats};
  request.darks = files::image_stack{{10, 64, 32}, files::pixel_type::uint16, scan.darks};
  request.find_dead = request.find_centre = true;
  std::int64_t const image = 4 * 64 * 32;
  jobs::scan_result whole;
  std::int64_t const at_once =
      iso::test::peak_bytes_of([&] { whole = jobs::line_integrals_of(request, {}); });
  CHECK(at_once >= 48 * image);
  for (std::int64_t const bytes : {std::int64_t(1), 5 * image + 3, 7 * image}) {
    CAPTURE(bytes);
    request.batch_bytes = bytes;
    jobs::scan_result parts;
    std::int64_t const taken =
        iso::test::peak_bytes_of([&] { parts = jobs::line_integrals_of(request, {}); });
    CHECK(parts.projections == whole.projections);
    CHECK(parts.dead_pixels == whole.dead_pixels);
    CHECK(parts.centre == whole.centre);
    // A batch, or a column of all images; the two fields, the dead pixels, and small things.
    CHECK(taken <= std::max(bytes, 48 * image / 64) + 5 * image);
  }
}

TEST_CASE("integers of 16 bits that are line integrals stay what they are") {
  jobs::scan_request request;
  request.backend = "serial";
  request.geometry = circle(0);
  request.stored =
      files::stored_stack{{48, 64, 32}, std::vector<std::uint16_t>(48 * 64 * 32, 7), 0.5, 1};
  request.already_integrals = true;
  request.centre = 20;
  auto const found = jobs::line_integrals_of(request, {});
  REQUIRE(found.stored);
  CHECK(found.stored->values == request.stored->values);
  CHECK(found.stored->scale == 0.5);
  CHECK(found.projections.empty());
  CHECK(offset_of(found.geometry) != 0);
  request.find_centre = true;
  CHECK_THROWS_WITH_AS(jobs::line_integrals_of(request, {}),
                       doctest::Contains("readings of 16 bits"), iso::invalid_argument);
}

TEST_CASE("an axis that is given is where a turned detector sees it") {
  auto const once = [](files::geometry_file const& g) {
    auto request = integrals(g, std::vector<float>(std::size_t(48 * 64 * 32), 1.F));
    request.centre = 20;
    return jobs::line_integrals_of(request, {}).geometry;
  };
  auto turned = circle(0);
  std::get<iso::ct::circular_scan>(turned.scan).turn = {0.6, 0.2, 0.1};
  auto const first = once(turned);
  auto const second = once(first);
  auto const& moved = std::get<iso::ct::geometry>(first.scan).views();
  auto const& again = std::get<iso::ct::geometry>(second.scan).views();
  REQUIRE(moved.size() == 48);
  for (std::size_t i = 0; i < 48; ++i) {
    CHECK(norm(again[i].detector_origin - moved[i].detector_origin) < 1e-9);
  }
}

TEST_CASE("a simulated detector undone: line integrals come back within their noise") {
  auto const g = circle(0);
  auto values = projected(g);
  // The phantom's brain attenuates 0.2 / mm, which would let no photon through.
  std::transform(values.begin(), values.end(), values.begin(), [](float p) { return 0.1F * p; });
  jobs::simulated_scan_request wanted;
  wanted.backend = "serial";
  wanted.extent = {48, 64, 32};
  wanted.integrals = values;
  wanted.photons = 1e6;
  for (double const dead_share : {0.0, 0.01}) {
    CAPTURE(dead_share);
    wanted.dead_share = dead_share;
    auto const scan = jobs::simulate_scan(wanted, {});
    CHECK(std::all_of(scan.readings.begin(), scan.readings.end(),
                      [](float x) { return x == std::floor(x) && x >= 0 && x <= 65535; }));
    auto request = integrals(g, scan.readings);
    request.already_integrals = false;
    request.flats = files::image_stack{{10, 64, 32}, files::pixel_type::uint16, scan.flats};
    request.darks = files::image_stack{{10, 64, 32}, files::pixel_type::uint16, scan.darks};
    request.find_dead = true;
    auto const result = jobs::line_integrals_of(request, {});
    double squares = 0;
    double expected = 0;
    double far = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      double const error = double(result.projections[i]) - double(values[i]);
      // Photons of the view, of ten flats, and thermal counts of the view.
      double const photons = 1e6 * std::exp(-double(values[i]));
      squares += error * error;
      expected += 1 / photons + 0.1e-6 + 1e3 / (photons * photons);
      far += std::abs(error) > 0.05 ? 1 : 0;
    }
    if (dead_share == 0) {
      CHECK(result.dead_pixels == 0);
      CHECK(far == 0);
      CHECK(squares <= 1.2 * expected);
      CHECK(squares >= 0.8 * expected);
    } else {
      // 20 of 2048 pixels in the mean. Beside an edge their neighbours' mean is off.
      CHECK(result.dead_pixels >= 6);
      CHECK(result.dead_pixels <= 38);
      CHECK(far <= 0.01 * double(values.size()));
    }
  }
}

TEST_CASE("readings that a mask hides become 0, and others stay") {
  auto const g = circle(0);
  std::vector<float> mask(std::size_t(48 * 64 * 32), 1);
  auto const at = [](int view, int u, int v) { return std::size_t((view * 64 + u) * 32 + v); };
  std::vector<std::size_t> const hidden = {at(3, 10, 10), at(3, 10, 11), at(7, 20, 5)};
  for (std::size_t const i : hidden) {
    mask[i] = 0;
  }
  auto const once = [&](std::vector<float> readings, float there) {
    for (std::size_t const i : hidden) {
      readings[i] = there;
    }
    auto request = integrals(g, readings);
    request.already_integrals = false;
    request.white = 1000;
    request.dead = {{11, 20}};
    request.mask = mask;
    return jobs::line_integrals_of(request, {});
  };
  std::vector<float> readings(mask.size());
  for (std::size_t i = 0; i < readings.size(); ++i) {
    readings[i] = 100 + float(i % 89);
  }
  auto const result = once(readings, 0);
  CHECK(result.projections == once(readings, 5e4F).projections);
  CHECK(result.opaque == 0);
  for (std::size_t const i : hidden) {
    CHECK(result.projections[i] == 0);
  }
  CHECK(result.projections[at(3, 11, 11)] != 0);
  // All that counts is too dark, whatever is hidden.
  CHECK_THROWS_WITH_AS(once(std::vector<float>(mask.size(), 0), 500),
                       doctest::Contains("readings are too dark"), iso::invalid_argument);
  mask.pop_back();
  CHECK_THROWS_WITH_AS(once(readings, 0), doctest::Contains("mask of readings: 98303 numbers"),
                       iso::invalid_argument);
}

TEST_CASE("what does not go together is refused") {
  auto const g = circle(0);
  std::vector<float> const values(48 * 64 * 32, 1);
  auto request = integrals(g, values);
  request.already_integrals = false;
  CHECK_THROWS_WITH_AS(jobs::line_integrals_of(request, {}), doctest::Contains("no flat field"),
                       iso::invalid_argument);
  request.flats =
      files::image_stack{{1, 32, 64}, files::pixel_type::uint16, std::vector<float>(64 * 32, 9)};
  CHECK_THROWS_WITH_AS(jobs::line_integrals_of(request, {}),
                       doctest::Contains("flat fields: images of 32 x 64 pixels"),
                       iso::invalid_argument);
  request.flats = std::nullopt;
  request.white = 2;
  request.dead = {{3, 32}};
  CHECK_THROWS_WITH_AS(jobs::line_integrals_of(request, {}),
                       doctest::Contains("dead pixel (3, 32)"), iso::invalid_argument);
  request.dead.clear();
  for (std::int64_t u = 0; u < 64; ++u) {
    for (std::int64_t v = 0; v < 32; ++v) {
      request.dead.push_back({u, v});
    }
  }
  CHECK_THROWS_WITH_AS(jobs::line_integrals_of(request, {}), doctest::Contains("all 2048 pixels"),
                       iso::invalid_argument);
  request.dead.clear();
  request.readings.extent = {47, 64, 32};
  CHECK_THROWS_WITH_AS(jobs::line_integrals_of(request, {}),
                       doctest::Contains("47 images of 64 x 32 pixels (the geometry has 48"),
                       iso::invalid_argument);
}
