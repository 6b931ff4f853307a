// SPDX-License-Identifier: BSD-3-Clause
// Structures: shares of voxels, holes, caps, conventions, and what is refused.
#include "compare.hpp"
#include "dvh_support.hpp"

#include <iso/oracle/dvh.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace dvh_support;
using iso::oracle::ideal_body;
using iso::test::refusal;

double share(std::vector<double> const& all, std::size_t i, std::size_t j, std::size_t k = 0) {
  return all[(i * 10 + j) * 4 + k];
}

std::string refused(structure const& s, structure_options const& options = {},
                    grid const& g = box) {
  return refusal([&] { voxel_fractions(s, g, options); });
}

bool says(std::string const& text, char const* part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find("iso::dvh::voxel_fractions: ") == 0 && text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("voxel_fractions: a rectangle between voxels") {
  auto const all = voxel_fractions(column({rectangle(1.25, 2, 4.5, 5.75, 0)}), box);
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(share(all, 1, 2, k) == doctest::Approx(0.75).epsilon(1e-9));
    CHECK(share(all, 2, 3, k) == 1);
    CHECK(share(all, 4, 5, k) == doctest::Approx(0.375).epsilon(1e-9));
    CHECK(share(all, 0, 3, k) == 0);
    CHECK(share(all, 1, 1, k) == 0);
    CHECK(share(all, 5, 3, k) == 0);
  }
}

TEST_CASE("voxel_fractions: a triangle, in either direction and from any point") {
  std::vector<vec3<double>> const points = {{1, 1, 0}, {9, 1, 0}, {1, 7, 0}};
  auto const exact = voxel_fractions(column({{points}}), box);
  CHECK(2 * sum(exact) == doctest::Approx(24 * 8).epsilon(1e-9));
  // The hypotenuse is y = 7 - 3 (x - 1) / 4: cuts 0.5 / 4 * 3 off pixel (1, 6).
  CHECK(share(exact, 1, 6) == doctest::Approx(0.625).epsilon(1e-9));
  CHECK(share(exact, 2, 2) == 1);
  auto const other = voxel_fractions(column({{{points[2], points[1], points[0], points[2]}}}), box);
  for (std::size_t n = 0; n < exact.size(); ++n) {
    CHECK(other[n] == doctest::Approx(exact[n]).epsilon(1e-9));
  }
}

TEST_CASE("voxel_fractions: a pixel's own polygon") {
  auto const all = voxel_fractions(column({rectangle(3.2, 4.1, 3.3, 4.3, 0)}), box);
  CHECK(share(all, 3, 4) == doctest::Approx(0.02).epsilon(1e-8));
  CHECK(sum(all) == doctest::Approx(4 * 0.02).epsilon(1e-8));
}

TEST_CASE("voxel_fractions: a hole by a second contour and by a keyhole is the same") {
  auto const nested =
      voxel_fractions(column({rectangle(1, 1, 9, 9, 0), rectangle(3.5, 3.25, 6.5, 6.25, 0)}), box);
  auto const keyhole = voxel_fractions(column({flat({{1, 1},
                                                     {9, 1},
                                                     {9, 9},
                                                     {1, 9},
                                                     {1, 1},
                                                     {3.5, 3.25},
                                                     {3.5, 6.25},
                                                     {6.5, 6.25},
                                                     {6.5, 3.25},
                                                     {3.5, 3.25}},
                                                    0)}),
                                       box);
  CHECK(2 * sum(nested) == doctest::Approx((64 - 9) * 8).epsilon(1e-9));
  CHECK(share(nested, 4, 4) == 0);
  for (std::size_t n = 0; n < nested.size(); ++n) {
    CHECK(keyhole[n] == doctest::Approx(nested[n]).epsilon(1e-9));
  }
}

TEST_CASE("voxel_fractions: an island in a hole") {
  structure_report report;
  auto const all = voxel_fractions(
      column({rectangle(4, 4, 5, 5, 0), rectangle(1, 1, 9, 9, 0), rectangle(3, 3, 7, 7, 0)}), box,
      {}, &report);
  CHECK(2 * sum(all) == doctest::Approx((64 - 16 + 1) * 8));
  CHECK(share(all, 4, 4) == 1);
  CHECK(report.holes == 4);
  CHECK(report.contours == 12);
  CHECK(report.planes == 4);
}

TEST_CASE("voxel_fractions: a hole in an island in a hole") {
  structure_report report;
  auto const all = voxel_fractions(column({rectangle(3, 3, 7, 7, 0), rectangle(1, 1, 9, 9, 0),
                                           rectangle(4, 4, 6, 6, 0), rectangle(2, 2, 8, 8, 0)}),
                                   box, {}, &report);
  CHECK(2 * sum(all) == doctest::Approx((64 - 36 + 16 - 4) * 8));
  CHECK(share(all, 1, 1) == 1);
  CHECK(share(all, 2, 2) == 0);
  CHECK(share(all, 3, 3) == 1);
  CHECK(share(all, 4, 4) == 0);
  CHECK(report.holes == 8);
}

TEST_CASE("voxel_fractions: the sphere at 3 mm by every convention") {
  ideal_body const sphere;
  auto const s = iso::oracle::contours_of(sphere, 3);
  auto const g = grid::centred({52, 52, 52}, {0.5, 0.5, 0.5});
  auto const deviation = [&](between_planes between, end_cap caps) {
    structure_report report;
    voxel_fractions(s, g, {.between = between, .caps = caps}, &report);
    CHECK(report.outside == 0);
    return 100 * (report.volume / sphere.volume() - 1);
  };
  CHECK(deviation(between_planes::frusta, end_cap::half_slice) ==
        doctest::Approx(0.07).epsilon(0.5));
  CHECK(deviation(between_planes::prisms, end_cap::half_slice) ==
        doctest::Approx(0.78).epsilon(0.01));
  CHECK(deviation(between_planes::frusta, end_cap::none) == doctest::Approx(-4.32).epsilon(0.02));
  double const rounded = deviation(between_planes::frusta, end_cap::rounded);
  CHECK(rounded == doctest::Approx(-4.32 + 4.4 * 2 / 3).epsilon(0.05));
}

TEST_CASE("voxel_fractions: regions part, join and end") {
  // Two columns, of which one ends at the second plane.
  structure s{"two", {}};
  for (double const z : {1, 3, 5, 7}) {
    s.contours.push_back(rectangle(1, 1, 3, 3, z));
    if (z < 4) {
      s.contours.push_back(rectangle(6, 6, 8, 9, z));
    }
  }
  auto const all = voxel_fractions(s, box);
  CHECK(2 * sum(all) == doctest::Approx(4 * 8 + 6 * 4));
  // One below joins two above: nothing is lost that both planes have.
  structure fork{"fork", {}};
  fork.contours = {rectangle(1, 1, 9, 3, 1), rectangle(1, 1, 3, 3, 3), rectangle(7, 1, 9, 3, 3)};
  auto const forked = voxel_fractions(fork, box);
  CHECK(share(forked, 1, 1, 0) == doctest::Approx(1));
  CHECK(share(forked, 8, 2, 1) == doctest::Approx(1));
  CHECK(share(forked, 4, 1, 1) < 0.5);
}

TEST_CASE("voxel_fractions: prisms of two planes meet halfway") {
  structure const s{"steps", {rectangle(1, 1, 9, 9, 1), rectangle(3, 3, 7, 7, 7)}};
  auto const all =
      voxel_fractions(s, box, {.between = between_planes::prisms, .caps = end_cap::none});
  // From z = 1 to 4, and from there to 7, in layers of 2 mm.
  double const outer[] = {0.5, 1, 0, 0};
  double const inner[] = {0.5, 1, 1, 0.5};
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(share(all, 2, 5, k) == doctest::Approx(outer[k]));
    CHECK(share(all, 5, 5, k) == doctest::Approx(inner[k]));
  }
}

TEST_CASE("voxel_fractions: each part of a structure has slices of its own") {
  grid const high{{10, 10, 60}, {1, 1, 1}, {0.5, 0.5, 0.5}};
  auto const column_of = [](structure& s, double x, std::vector<double> const& planes) {
    for (double const z : planes) {
      s.contours.push_back(rectangle(x, 1, x + 2, 3, z));
    }
  };
  using pairs = std::vector<std::pair<double, double>>;
  struct {
    char const* what;
    std::vector<double> left;  // heights of planes, mm
    std::vector<double> right;
    double right_x;  // mm
    double heights;  // of both, mm
    std::int64_t parts;
    pairs missing;
    pairs separations;
  } const all[] = {
      {"at different heights", {3, 5, 7}, {43, 45, 47}, 6, 12, 2, {}, {}},
      {"one above the other", {3, 5, 7}, {43, 45, 47}, 2, 12, 2, {}, {{7, 43}}},
      {"a slice missing in one", {3, 5, 7, 9, 11}, {3, 5, 9, 11}, 6, 20, 2, {{5, 9}}, {}},
      {"three slices missing in one",
       {3, 5, 7, 9, 11, 13, 15},
       {3, 5, 13, 15},
       6,
       28,
       2,
       {{5, 13}},
       {}},
      {"slices of one between those of the other", {3, 5, 7}, {4, 6, 8}, 6, 12, 2, {}, {}},
      {"wider slices in one", {3, 4, 5, 6, 7, 8, 9, 10}, {3, 8, 13}, 6, 8 + 15, 2, {}, {}},
      {"one plane beside", {3, 5, 7}, {5}, 6, 8, 2, {}, {}},
      // The lower one of two distances is that of the slices: the other lacks one.
      {"two distances", {3, 5, 9}, {30, 32, 36}, 6, 16, 2, {{5, 9}, {32, 36}}, {}},
      {"one plane beside two distances", {3, 5, 9}, {5}, 6, 8 + 2, 2, {{5, 9}}, {}}};
  for (auto const& one : all) {
    CAPTURE(std::string(one.what));
    structure s{"two", {}};
    column_of(s, 1, one.left);
    column_of(s, one.right_x, one.right);
    double volume[2];
    for (bool const upside_down : {false, true}) {
      for (auto& c : s.contours) {
        for (auto& p : c.points) {
          p.z = upside_down ? 60 - p.z : p.z;
        }
      }
      structure_report report;
      voxel_fractions(s, high, {}, &report);
      CHECK(report.volume == doctest::Approx(4 * one.heights));
      CHECK(report.parts == one.parts);
      CHECK(report.missing_slices.size() == one.missing.size());
      CHECK(report.separations.size() == one.separations.size());
      if (!upside_down) {
        CHECK(report.missing_slices == one.missing);
        CHECK(report.separations == one.separations);
      }
      volume[upside_down ? 1 : 0] = report.volume;
      auto const g = structure_grid(s, grid{{10, 10, 80}, {1, 1, 1}, {0.5, 0.5, -9.5}});
      CHECK(sum(voxel_fractions(s, g)) * g.spacing.x * g.spacing.y * g.spacing.z ==
            doctest::Approx(4 * one.heights));
    }
    CHECK(volume[0] == doctest::Approx(volume[1]).epsilon(1e-12));
  }
  // Without joints the thickness is what is given, or the distance of the planes.
  structure apart{"apart", {rectangle(1, 1, 3, 3, 10), rectangle(6, 1, 8, 3, 20)}};
  CHECK(sum(voxel_fractions(apart, high, {.slice_thickness = 3})) == doctest::Approx(4 * 6));
  CHECK(sum(voxel_fractions(apart, high)) == doctest::Approx(4 * 20));
}

TEST_CASE("voxel_fractions: unequal spacing and missing slices") {
  structure s{"gaps", {}};
  for (double const z : {1.0, 2.0, 3.0, 3.5, 6.5}) {
    s.contours.push_back(rectangle(1, 1, 3, 3, z));
  }
  structure_report report;
  auto const all = voxel_fractions(s, box, {}, &report);
  CHECK(report.min_spacing == 0.5);
  CHECK(report.largest_spacing == 3);
  REQUIRE(report.missing_slices.size() == 1);
  CHECK(report.missing_slices[0] == std::pair(3.5, 6.5));
  // From half of 1 mm below the first plane to half of the usual 1 mm above the last.
  CHECK(2 * sum(all) == doctest::Approx(4 * 6.5));
}

TEST_CASE("voxel_fractions: contours of one slice whose z differ by rounding are one plane") {
  // Two lobes, of which one has a hole. Of each slice only the first contour is at z.
  std::vector<contour> const slice = {rectangle(1, 1, 4, 4, 0), rectangle(5, 5, 9, 9, 0),
                                      rectangle(6, 6, 7, 8, 0)};
  auto const exact = column(slice);
  for (double const off : {5e-5, -5e-5, 0.009}) {
    CAPTURE(off);
    auto rounded = exact;
    for (std::size_t n = 0; n < rounded.contours.size(); ++n) {
      for (auto& p : rounded.contours[n].points) {
        p.z += n % slice.size() == 0 ? 0 : off;
      }
    }
    structure_report report;
    auto const all = voxel_fractions(rounded, box, {.beyond = off_grid::cut}, &report);
    CHECK(report.planes == 4);
    CHECK(report.holes == 4);
    CHECK(report.missing_slices.empty());
    CHECK(2 * sum(all) == doctest::Approx((9 + 16 - 2) * 8).epsilon(1e-4));
  }
  // Points of one contour.
  auto uneven = exact;
  for (auto& c : uneven.contours) {
    c.points[1].z += 5e-5;
  }
  CHECK(2 * sum(voxel_fractions(uneven, box)) == doctest::Approx((9 + 16 - 2) * 8));
  // More than rounding.
  for (auto& c : uneven.contours) {
    c.points[1].z += 0.02;
  }
  CHECK(says(refused(uneven), "contours lie in axial planes"));
}

TEST_CASE("voxel_fractions: voxels wholly inside have a share of 1, those outside 0") {
  // Sums along z, of spacings that are not exact: thirds of 2.5 mm against planes every 3 mm.
  structure s{"box", {}};
  for (double z = -12; z < 13; z += 3) {
    s.contours.push_back(rectangle(-5, -5, 5, 5, z));
  }
  auto const g = structure_grid(s, grid::centred({9, 9, 15}, {2.5, 2.5, 2.5}), {}, 3);
  std::int64_t almost = 0;
  std::int64_t whole = 0;
  for (double const share : voxel_fractions(s, g)) {
    almost += (share > 0 && share < 1e-9) || (share < 1 && share > 1 - 1e-9) ? 1 : 0;
    whole += share == 1 ? 1 : 0;
  }
  CHECK(almost == 0);
  // Faces are at multiples of 2.5 / 3 mm: 12 x 12 pixels, and from -13.5 to 13.5 mm 2 x 16 layers.
  CHECK(whole == 12 * 12 * 32);
}

TEST_CASE("voxel_fractions: one plane has the thickness that is given") {
  structure const s{"flat", {rectangle(1, 1, 3, 3, 3)}};
  CHECK(says(refused(s), "'flat' has contours at z = 3 mm only"));
  CHECK(2 * sum(voxel_fractions(s, box, {.slice_thickness = 3})) == doctest::Approx(12));
}

TEST_CASE("voxel_fractions: what lies off the grid is told, and cut if asked") {
  auto const s = column({rectangle(-2, 1, 6, 9, 0)});
  CHECK(says(refused(s), "0.128 of 0.512 cm3 of 'column' (25 %) lie outside of the grid"));
  structure_report report;
  auto const all = voxel_fractions(s, box, {.beyond = off_grid::cut}, &report);
  CHECK(report.outside == doctest::Approx(128));
  CHECK(2 * sum(all) == doctest::Approx(384));
  auto above = column({rectangle(1, 1, 6, 9, 0)});
  above.contours.push_back(rectangle(1, 1, 6, 9, 9));
  CHECK(says(refused(above), "0.08 of 0.4 cm3 of 'column' (20 %) lie outside of the grid"));
  // Wholly off the grid: nothing is inside.
  auto const away = column({rectangle(20, 1, 30, 9, 0)});
  CHECK(says(refused(away), "0.64 of 0.64 cm3 of 'column' (100 %) lie outside of the grid"));
}

TEST_CASE("voxel_fractions: what lies below the grid counts as what lies above") {
  // 9 planes 3 mm apart: 27 mm of 5 x 8 mm2. The grid goes from z = 0 to 8.
  auto const at = [](double lowest) {
    structure s{"tall", {}};
    for (int n = 0; n < 9; ++n) {
      s.contours.push_back(rectangle(1, 1, 6, 9, lowest + 1.5 + 3 * n));
    }
    return s;
  };
  auto const upside_down = [](structure s) {
    for (auto& c : s.contours) {
      for (auto& p : c.points) {
        p.z = 8 - p.z;
      }
    }
    return s;
  };
  for (double const lowest : {-25.0, -21.5, -13.0, -9.5, -1.0, 2.0, 7.5}) {
    CAPTURE(lowest);
    double const inside = std::min(lowest + 27, 8.0) - std::max(lowest, 0.0);
    for (auto const between : {between_planes::frusta, between_planes::prisms}) {
      for (auto const& s : {at(lowest), upside_down(at(lowest))}) {
        structure_report report;
        auto const all =
            voxel_fractions(s, box, {.between = between, .beyond = off_grid::cut}, &report);
        CHECK(report.volume == doctest::Approx(40 * inside));
        CHECK(report.outside == doctest::Approx(40 * (27 - inside)));
        CHECK(2 * sum(all) == doctest::Approx(40 * inside));
        CHECK(says(refused(s, {.between = between}), "of 1.08 cm3 of 'tall'"));
      }
    }
  }
  // One contour apart, and all of a structure.
  auto apart = column({rectangle(1, 1, 6, 9, 0)});
  apart.contours.push_back(rectangle(1, 1, 6, 9, -31));
  for (auto const& s : {apart, upside_down(apart)}) {
    CHECK(says(refused(s), "0.08 of 0.4 cm3 of 'column' (20 %) lie outside of the grid"));
  }
  for (auto const& s : {at(-50), upside_down(at(-50))}) {
    structure_report report;
    CHECK(sum(voxel_fractions(s, box, {.beyond = off_grid::cut}, &report)) == 0);
    CHECK(report.outside == doctest::Approx(40 * 27));
    CHECK(says(refused(s), "1.08 of 1.08 cm3 of 'tall' (100 %)"));
  }
  for (auto const& s : {at(-26.5), upside_down(at(-26.5))}) {
    structure_report rounded;
    voxel_fractions(s, box, {.caps = end_cap::rounded, .beyond = off_grid::cut}, &rounded);
    CHECK(rounded.volume + rounded.outside > 40 * 24);
  }
}

TEST_CASE("surface_points: no farther apart than asked for, on contours and on what caps end") {
  // Sides of 8 mm in four planes from z = 1 to 7; caps end at 0 and 8.
  auto const s = column({rectangle(1, 1, 9, 9, 0)});
  auto const heights = [&](double distance, end_cap caps) {
    std::map<double, int> found;
    for (auto const& p : surface_points(s, distance, {.caps = caps})) {
      CHECK((p.x == 1 || p.x == 9 || p.y == 1 || p.y == 9));
      ++found[p.z];
    }
    return found;
  };
  using counts = std::map<double, int>;
  CHECK(heights(3, end_cap::half_slice) ==
        counts{{0, 12}, {1, 12}, {3, 12}, {5, 12}, {7, 12}, {8, 12}});
  CHECK(heights(8, end_cap::none) == counts{{1, 4}, {3, 4}, {5, 4}, {7, 4}});
}

TEST_CASE("structure_grid: all axes have one number of parts") {
  struct {
    char const* what;
    vec3<double> spacing;
    vec3<double> size;  // of the structure, mm
    double least;       // parts
    double most;
  } const all[] = {{"an organ", {2.5, 2.5, 3}, {90, 90, 90}, 3, 3},
                   {"a target", {2.5, 2.5, 3}, {22.5, 22.5, 22.5}, 6, 6},
                   {"thick slices", {1, 1, 3}, {90, 90, 90}, 3, 3},
                   {"thick slices of a body", {1, 1, 3}, {300, 300, 300}, 1, 2},
                   {"an even body", {2, 2, 2}, {450, 300, 400}, 2, 2},
                   {"a slab", {3, 3, 3}, {300, 300, 3}, 3, 44}};
  for (auto const& one : all) {
    CAPTURE(std::string(one.what));
    structure s{"s", {}};
    double const x = 0.5 * one.size.x;
    double const y = 0.5 * one.size.y;
    for (double const z : {-0.25 * one.size.z, 0.25 * one.size.z}) {
      s.contours.push_back(rectangle(-x, -y, x, y, z));
    }
    grid const dose = grid::centred({600, 600, 300}, one.spacing);
    auto const g = structure_grid(s, dose);
    double const parts = dose.spacing.x / g.spacing.x;
    CHECK(parts == doctest::Approx(std::round(parts)));
    CHECK(dose.spacing.y / g.spacing.y == doctest::Approx(parts));
    CHECK(dose.spacing.z / g.spacing.z == doctest::Approx(parts));
    CHECK(parts >= one.least * (1 - 1e-12));
    CHECK(parts <= one.most * (1 + 1e-12));
    if (one.least < one.most) {
      CHECK(g.size() <= std::int64_t(1) << 24);
    }
  }
}

TEST_CASE("dvh: structures have one name each") {
  std::vector<structure> const all = {{"lung", {}}, {"heart", {}}, {"lung", {}}};
  CHECK(&structure_named(all, "heart") == &all[1]);
  CHECK(refusal([&] {
          structure_named(all, "lung");
        }).find("iso::dvh::structure_named: two structures are called 'lung'") == 0);
  CHECK(refusal([&] { structure_named(all, "cord"); }) ==
        "iso::dvh::structure_named: there is no structure 'cord' (there are 'lung', 'heart', "
        "'lung'); choose another name");
  CHECK(refusal([&] {
          structure_named({}, "cord");
        }).find("there is no structure 'cord' (there are none)") != std::string::npos);
}
