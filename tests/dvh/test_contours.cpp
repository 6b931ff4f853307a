// SPDX-License-Identifier: BSD-3-Clause
// Contours as they are drawn: crossings, points and lines, many points; and what is refused.
#include "compare.hpp"
#include "dvh_support.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <ctime>
#include <random>
#include <string>
#include <vector>

namespace contours {
namespace {

using namespace dvh_support;
using iso::test::refusal;

constexpr double pi = 3.14159265358979323846;

structure_report report_of(structure const& s, grid const& g = box) {
  structure_report report;
  voxel_fractions(s, g, {}, &report);
  return report;
}

std::string refused(structure const& s) {
  return refusal([&] { voxel_fractions(s, box); });
}

bool says(std::string const& text, char const* part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find("iso::dvh::voxel_fractions: ") == 0 && text.find(part) != std::string::npos;
}

/// A column of 8 mm x 8 mm whose third contour is another one.
structure with(contour const& c) {
  auto s = column({rectangle(1, 1, 9, 9, 0)});
  s.contours[2] = c;
  return s;
}

/// Turned about the middle of the box.
contour turned(contour c, double angle) {
  for (auto& p : c.points) {
    double const x = p.x - 5;
    double const y = p.y - 5;
    p.x = 5 + std::cos(angle) * x - std::sin(angle) * y;
    p.y = 5 + std::sin(angle) * x + std::cos(angle) * y;
  }
  return c;
}

}  // namespace

TEST_CASE("voxel_fractions: a contour that crosses itself is split into loops") {
  // A square of 20 mm, and on its upper side two triangles that touch in a crossing: one in the
  // contour's direction, one against it. By signed areas they would cancel.
  auto const drawn = flat({{-10, -10},
                           {10, -10},
                           {10, 10},
                           {.05, 10},
                           {-.05, 10.1},
                           {.05, 10.1},
                           {-.05, 10},
                           {-10, 10}},
                          0);
  double const triangles = 2 * 0.5 * 0.1 * 0.05;
  grid const g{{240, 240, 4}, {0.1, 0.1, 2}, {-11.95, -11.95, 1}};
  structure_report report;
  auto const all = voxel_fractions(column({drawn}), g, {}, &report);
  CHECK(report.volume == doctest::Approx((400 + triangles) * 8).epsilon(1e-8));
  CHECK(report.crossing_contours == 4);
  CHECK(report.crossing_planes == 4);
  CHECK(report.disputed < 1e-9);
  // Each triangle is an eighth of a pixel, on both sides of x = 0.
  auto const share = [&](int i, int j) { return all[std::size_t((i * 240 + j) * 4)]; };
  CHECK(share(119, 220) == doctest::Approx(0.25).epsilon(1e-4));
  CHECK(share(120, 220) == doctest::Approx(0.25).epsilon(1e-4));
  CHECK(share(118, 220) == 0);
}

TEST_CASE("voxel_fractions: loops on either side of a crossing are both inside") {
  // At a point between edges, and at points of the contour.
  for (auto const& crossing : {flat({{1, 1}, {9, 9}, {9, 1}, {1, 9}}, 0),
                               flat({{1, 1}, {5, 5}, {9, 9}, {9, 1}, {5, 5}, {1, 9}}, 0),
                               flat({{1, 1}, {5, 5}, {9, 9}, {9, 1}, {1, 9}}, 0)}) {
    for (double const angle : {0.0, 0.3}) {
      auto const report =
          report_of(column({turned(crossing, angle)}), {{14, 14, 4}, {1, 1, 2}, {-1.5, -1.5, 1}});
      CHECK(report.volume == doctest::Approx(32 * 8).epsilon(1e-7));
      CHECK(report.crossing_contours == 4);
      CHECK(report.disputed < 1e-9);
    }
  }
  // There and back along two sines: seven lenses in a row, turned.
  plane_points points;
  for (int n = 0; n < 7 * 40; ++n) {
    points.emplace_back(1.5 + n / 40.0, 5 + std::sin(pi * n / 40.0));
  }
  for (int n = 7 * 40; n > 0; --n) {
    points.emplace_back(1.5 + n / 40.0, 5 - std::sin(pi * n / 40.0));
  }
  double area = 0;
  for (int n = 0; n < 7 * 40; ++n) {
    area += std::fabs(std::sin(pi * n / 40.0) + std::sin(pi * (n + 1) / 40.0)) / 40;
  }
  for (double const angle : {0.0, 0.4, 1.2}) {
    auto const report = report_of(column({turned(flat(points, 0), angle)}));
    CHECK(report.volume == doctest::Approx(area * 8).epsilon(1e-6));
    CHECK(report.crossing_planes == 4);
  }
}

TEST_CASE("voxel_fractions: what contours go around twice is told, and refused above 1 %") {
  // A loop of the pen, 0.2 mm wide, within the contour and in its direction.
  auto const report = report_of(column(
      {flat({{1, 1}, {9, 1}, {9, 5.2}, {8.8, 5.2}, {8.8, 5}, {9.2, 5}, {9.2, 9}, {1, 9}}, 0)}));
  double const area = 8 * 4 + 8.2 * 4 - 0.04;
  CHECK(report.volume == doctest::Approx(area * 8).epsilon(1e-6));
  CHECK(report.disputed == doctest::Approx(0.04 / area).epsilon(1e-5));
  CHECK(report.crossing_contours == 4);
  // Two contours that overlap, at points of them.
  auto const touching = report_of(with(flat({{9, 2}, {9.5, 3}, {9, 4}, {8, 3}}, 3)));
  CHECK(touching.crossing_contours == 2);
  CHECK(touching.crossing_planes == 1);
  CHECK(touching.disputed == doctest::Approx(1 / (64 + 63.5 + 64)).epsilon(1e-5));
  // And more of it.
  CHECK(says(refused(with(rectangle(5, 5, 11, 6, 3))),
             "contours of 'column' cross or are drawn twice, and go around 4 mm2"));
  CHECK(says(refused(with(rectangle(5, 5, 11, 6, 3))), "the first lie at z = 3 mm"));
  // A keyhole whose hole runs as the outline does.
  CHECK(says(
      refused(with(flat(
          {{1, 1}, {9, 1}, {9, 9}, {1, 9}, {1, 1}, {3, 3}, {6, 3}, {6, 6}, {3, 6}, {3, 3}}, 5))),
      "contours of 'column' cross or are drawn twice, and go around "));
}

TEST_CASE("voxel_fractions: contours that do not cross keep their bits beside those that do") {
  std::vector<contour> const plain = {flat({{0.3, 0.3}, {3.1, 0.7}, {2.9, 4.1}, {0.7, 3.3}}, 0),
                                      flat({{1.1, 1.3}, {2.2, 1.4}, {1.9, 2.3}}, 0),
                                      // A keyhole, along one line there and back.
                                      flat({{0.5, 5.5},
                                            {4.1, 5.3},
                                            {4.3, 9.4},
                                            {0.4, 9.6},
                                            {0.5, 5.5},
                                            {1.3, 6.3},
                                            {1.4, 7.7},
                                            {3.3, 7.6},
                                            {3.1, 6.2},
                                            {1.3, 6.3}},
                                           0)};
  auto const alone = voxel_fractions(column(plain), box);
  auto both = plain;
  both.push_back(flat({{6, 1}, {9, 4}, {9, 1}, {6, 4}}, 0));
  structure_report report;
  auto const all = voxel_fractions(column(both), box, {}, &report);
  CHECK(report.crossing_contours == 4);
  CHECK(report.holes == 4);
  for (std::size_t n = 0; n < alone.size() / 2; ++n) {
    CHECK(all[n] == alone[n]);
  }
  CHECK(report_of(column(plain)).crossing_contours == 0);
}

TEST_CASE("voxel_fractions: contours may touch") {
  // At a point, along an edge, and a contour at a point of its own.
  structure_report report;
  auto const all = voxel_fractions(
      column({rectangle(1, 1, 3, 3, 0), rectangle(3, 3, 5, 5, 0), rectangle(5, 3, 6, 4, 0),
              flat({{6, 6}, {7, 7}, {8, 6}, {8, 8}, {7, 7}, {6, 8}}, 0)}),
      box, {}, &report);
  CHECK(2 * sum(all) == doctest::Approx((4 + 4 + 1 + 2) * 8));
  CHECK(report.crossing_contours == 0);
}

TEST_CASE("voxel_fractions: contours of points and lines are left out, and told") {
  auto s = column({rectangle(1, 1, 9, 9, 0)});
  s.contours.push_back(flat({{2, 2}}, 3));
  s.contours.push_back(flat({{2, 2}, {2, 2}, {2, 2}}, 3));
  s.contours.push_back(flat({{1, 1}, {2, 2}, {1, 1}}, 5));
  s.contours.push_back(flat({{1, 1}, {2, 2}, {3, 3}, {12, 12}}, 40));
  s.contours.push_back({});
  // There and back along two lines.
  s.contours.push_back(flat({{2, 2}, {3, 2}, {3, 3}, {3, 2}}, 3));
  auto const report = report_of(s);
  CHECK(report.volume == doctest::Approx(64 * 8));
  CHECK(report.left_out == 6);
  CHECK(report.contours == 4);
  CHECK(report.planes == 4);
  CHECK(report.crossing_contours == 0);
  CHECK(says(refused({"marks", {flat({{2, 2}}, 3), flat({{1, 1}, {2, 2}, {3, 3}}, 5)}}),
             "'marks' has 2 contours without area"));
  CHECK(says(refused({"mark", {flat({{2, 2}}, 3)}}), "'mark' has 1 contour without area"));
}

TEST_CASE("voxel_fractions: of what is drawn twice the area is told, which may be all of it") {
  contour const twice = flat({{1, 1}, {9, 1}, {9, 9}, {1, 9}, {1, 1}, {9, 1}, {9, 9}, {1, 9}}, 5);
  auto const all = refused({"twice", {twice}});
  CAPTURE(all);
  CHECK(says(all, "drawn twice, and go around 64 mm2 more than once"));
  CHECK(says(all, "1 % of the 0 mm2 that are left"));
  CHECK(says(all, "at z = 5 mm"));
  CHECK(says(refused(with(twice)), "go around 64 mm2 more than once"));
}

TEST_CASE("voxel_fractions: contours that make no sense are refused") {
  CHECK(says(refused({"empty", {}}), "'empty' has no contours"));
  CHECK(says(refused(with(flat({{1, NAN}, {9, 9}, {9, 1}}, 5))), "has a point at (1, nan, 5)"));
  contour tilted = rectangle(1, 1, 9, 9, 5);
  tilted.points[2].z = 5.5;
  CHECK(says(refused(with(tilted)), "goes from z = 5 to 5.5 mm"));
  CHECK(
      says(refused(with(rectangle(1, 1, 9, 9, 3))), "'column' has one contour twice at z = 3 mm"));
}

TEST_CASE("voxel_fractions: contours of many points take no longer than they are") {
  constexpr int count = 30000;
  auto const begin = std::clock();  // of a processor: the machine may be busy
  // Alike in all planes, so that every point lies on another contour; and with teeth.
  for (double const teeth : {0.0, 0.02}) {
    plane_points points;
    for (int n = 0; n < count; ++n) {
      double const angle = 2 * pi * n / count;
      double const radius = 4 + (n % 2 == 0 ? teeth : -teeth);
      points.emplace_back(5 + radius * std::cos(angle), 5 + radius * std::sin(angle));
    }
    structure s{"fine", {}};
    for (double const z : {1, 2, 3, 4, 5}) {
      s.contours.push_back(flat(points, z));
    }
    double const area = count * 0.5 * (16 - teeth * teeth) * std::sin(2 * pi / count);
    CHECK(report_of(s).volume == doctest::Approx(area * 5).epsilon(1e-6));
  }
  double const seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  // All pairs of edges took 36 s for one structure.
  CHECK(seconds < 15);
}

TEST_CASE(
    "voxel_fractions: loops that rough contours are split into are compared by what is near") {
  constexpr int count = 30000;
  std::mt19937 bits;
  auto const random = [&] { return 2 * double(bits()) / double(0xffffffffU) - 1; };
  // Each point goes up to three steps back or on: thousands of loops, in two planes.
  structure s{"rough", {}};
  for (double const z : {1, 2}) {
    plane_points points;
    for (int n = 0; n < count; ++n) {
      double const angle = 2 * pi * (n + 3 * random()) / count;
      double const radius = 20 + (n % 2 == 0 ? 0.01 : -0.01) + 0.0025 * random();
      points.emplace_back(radius * std::cos(angle), radius * std::sin(angle));
    }
    s.contours.push_back(flat(points, z));
  }
  // A processor's: the machine may be busy.
  auto const begin = std::clock();
  auto const rough = report_of(s, {{50, 50, 4}, {1, 1, 1}, {-25, -25, 0}});
  CHECK(double(std::clock() - begin) / CLOCKS_PER_SEC < 15);  // 42 s with all edges for each loop
  CHECK(rough.crossing_contours == 2);
  CHECK(rough.parts > 5000);
  CHECK(rough.volume == doctest::Approx(2 * pi * 400).epsilon(1e-3));
}

TEST_CASE("voxel_fractions: slivers beside a contour of many points") {
  constexpr int count = 30000;
  constexpr int slivers = 10000;
  auto const on_circle = [](double radius, double angle) {
    return std::pair(radius * std::cos(angle), radius * std::sin(angle));
  };
  plane_points circle;
  for (int n = 0; n < count; ++n) {
    circle.push_back(on_circle(20, 2 * pi * n / count));
  }
  structure s{"slivers", {flat(circle, 1)}};
  for (int n = 0; n < slivers; ++n) {
    double const angle = 2 * pi * n / slivers;
    s.contours.push_back(
        flat({on_circle(20.5, angle), on_circle(21, angle), on_circle(20, angle + 1e-4)}, 2));
  }
  // Others cross one contour of their own plane.
  s.contours.push_back(flat(circle, 3));
  for (int n = 0; n < slivers / 5; ++n) {
    double const angle = 2 * pi * 5 * n / slivers;
    s.contours.push_back(
        flat({on_circle(19.999, angle), on_circle(20.001, angle), on_circle(20, angle + 3e-4)}, 3));
  }
  auto const begin = std::clock();
  report_of(s, {{50, 50, 6}, {1, 1, 1}, {-25, -25, 0}});
  CHECK(double(std::clock() - begin) / CLOCKS_PER_SEC < 10);
}

TEST_CASE("voxel_fractions: contours of any width are told apart by their planes") {
  // 20 km wide, every 2 mm: all were taken for one plane.
  auto const s = column({rectangle(0, 0, 2e7, 1e7, 0)});
  CHECK(
      says(refused(s), "contours reach over 20000003 x 10000003 pixels in a plane (at most 2^28"));
  auto const wide = report_of(s, {{21, 11, 8}, {1e6, 1e6, 1}, {0, 0, 0.5}});
  CHECK(wide.planes == 4);
  CHECK(wide.volume == doctest::Approx(2e14 * 8));
}

TEST_CASE("voxel_fractions: what lies beside an edge that rounding tilts is outside") {
  // By 2^-52 along y; corners of voxels lie between its ends.
  double const above = 1 + 0x1p-52;
  auto const tilted = column({flat({{3, 1}, {7, above}, {7, 9}, {3, 9}}, 0)});
  auto const shares = voxel_fractions(tilted, box, {.caps = end_cap::rounded});
  double left = 0;
  for (std::int64_t n = 0; n < box.size(); ++n) {
    left += n < 3 * 10 * 4 ? shares[std::size_t(n)] : 0;
  }
  CHECK(left == 0);
}

TEST_CASE("voxel_fractions: a cone on its side by either shape between planes") {
  // Its axis lies along x: apex at x = 0, and at x = 24 a radius of 12 mm. Sections every 3 mm.
  structure s{"cone", {}};
  for (double z = -10.5; z < 12; z += 3) {
    plane_points points;
    int const steps = 200;
    double const first = 2 * std::fabs(z);
    auto const y_at = [&](double x) { return std::sqrt(std::max(x * x / 4 - z * z, 0.0)); };
    for (int n = 0; n <= steps; ++n) {
      double const t = double(n) / steps;
      double const x = first + (24 - first) * t * t;  // the section is steep at its apex
      points.emplace_back(x, y_at(x));
    }
    for (int n = steps; n > 0; --n) {
      double const t = double(n) / steps;
      double const x = first + (24 - first) * t * t;
      points.emplace_back(x, -y_at(x));
    }
    s.contours.push_back(flat(points, z));
  }
  grid const g{{56, 56, 56}, {0.5, 0.5, 0.5}, {-1.75, -13.75, -13.75}};
  double const volume = pi * 12 * 12 * 24 / 3;
  auto const deviation = [&](between_planes between) {
    structure_report report;
    voxel_fractions(s, g, {.between = between}, &report);
    return 100 * (report.volume / volume - 1);
  };
  // docs/algorithms/dvh.md
  CHECK(std::fabs(deviation(between_planes::frusta) + 2.5) < 0.1);
  CHECK(std::fabs(deviation(between_planes::prisms) - 0.1) < 0.1);
}

TEST_CASE("voxel_fractions: a job is asked after each plane, and changes no bit") {
  auto const s = column({rectangle(1.3, 1, 8.9, 9, 0), rectangle(3, 3.1, 5, 5.2, 0)});
  auto const alone = voxel_fractions(s, box);
  int asked = 0;
  std::vector<double> fractions;
  iso::job const listening{[&](double fraction) { fractions.push_back(fraction); },
                           [&] { return ++asked < 0; }};
  CHECK(voxel_fractions(s, box, {}, nullptr, listening) == alone);
  // While contours are sorted, too, of which no progress is told.
  CHECK(asked > 8);
  CHECK(fractions == std::vector<double>{0.25, 0.5, 0.75, 1});
  for (int const stop_at : {1, 2, asked / 2, asked - 1, asked}) {
    int now = 0;
    iso::job const stopping{{}, [&] { return ++now == stop_at; }};
    CHECK_THROWS_AS(voxel_fractions(s, box, {}, nullptr, stopping), iso::cancelled);
    CHECK(now == stop_at);
  }
}

TEST_CASE("structure_plan: a job is asked within planes of many points, and one plan serves all") {
  // Circles of 16384 points, at whose end the contour goes to and back across its beginning.
  constexpr int points = 1 << 14;
  structure s{"circles", {}};
  for (double const z : {1.0, 3.0}) {
    auto& c = s.contours.emplace_back();
    for (int n = 0; n < points + 100; ++n) {
      double const angle = 2 * pi * n / points;
      double const radius = n < points ? 4 : 4 + 1e-3 * std::sin(400 * angle);
      c.points.push_back({5 + radius * std::cos(angle), 5 + radius * std::sin(angle), z});
    }
  }
  structure_options const options{.beyond = iso::dvh::off_grid::cut};
  int asked = 0;
  iso::dvh::structure_plan const plan(s, options, {{}, [&] { return ++asked < 0; }});
  // Once in 1024 edges, where those of a plane are compared and where they are cut.
  CHECK(asked > 2 * 2 * points / 1024);
  int now = 0;
  CHECK_THROWS_AS(iso::dvh::structure_plan(s, options, {{}, [&] { return ++now == asked / 2; }}),
                  iso::cancelled);
  CHECK(now == asked / 2);

  auto const g = structure_grid(plan, box, 2);
  CHECK(g == structure_grid(s, box, options, 2));
  structure_report report;
  CHECK(voxel_fractions(plan, g, &report) == voxel_fractions(s, g, options));
  CHECK(report.crossing_contours == 2);
  auto const same = [](iso::vec3<double> const& a, iso::vec3<double> const& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  };
  CHECK(std::ranges::equal(surface_points(plan, 0.5), surface_points(s, 0.5, options), same));
}

}  // namespace contours
