// SPDX-License-Identifier: BSD-3-Clause
// Builders of scans: their views against vectors worked out by hand, and projection with its
// adjoint along each.
#include "back_project_support.hpp"
#include "instances.hpp"

#include <iso/ct/projector_pair.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace projector_support;
using iso::ct::circular_cone;
using iso::ct::circular_parallel;
using iso::ct::even_angles;
using iso::ct::flat_detector;
using iso::ct::helix;
using iso::ct::laminography;
using iso::ct::shift_detector;
using iso::ct::shift_source;
using iso::ct::turn_detector;
using iso::test::refusal;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
flat_detector const detector{.num_u = 9, .num_v = 5, .pitch_u = 2, .pitch_v = 4, .offset_u = 3};

geometry cone(std::vector<double> const& angles) {
  return circular_cone(detector, 100, 150, angles);
}
geometry parallel(std::vector<double> const& angles) { return circular_parallel(detector, angles); }

/// Lengths are some hundred mm, and a rounding error of each operation on them stays below 1e-13.
void check_near(vec3<double> found, vec3<double> wanted) {
  CAPTURE(found.x);
  CAPTURE(found.y);
  CAPTURE(found.z);
  CHECK(iso::norm(found - wanted) < 1e-12);
}

void check_view(view_vectors const& found, view_vectors const& wanted) {
  check_near(found.source, wanted.source);
  check_near(found.detector_origin, wanted.detector_origin);
  check_near(found.u_step, wanted.u_step);
  check_near(found.v_step, wanted.v_step);
}

void check_equal(geometry const& a, geometry const& b) {
  REQUIRE(a.num_views() == b.num_views());
  for (std::size_t i = 0; i < a.views().size(); ++i) {
    view_vectors const& v = a.views()[i];
    view_vectors const& w = b.views()[i];
    CHECK((v.source == w.source && v.detector_origin == w.detector_origin && v.u_step == w.u_step &&
           v.v_step == w.v_step));
  }
}

vec3<double> pixel(view_vectors const& w, double u, double v) {
  return w.detector_origin + u * w.u_step + v * w.v_step;
}

std::vector<std::array<double, 2>> detector_shifts(std::size_t count) {
  std::vector<std::array<double, 2>> shifts;
  for (std::size_t i = 0; i < count; ++i) {
    shifts.push_back({0.7 * double(i % 3) - 0.5, 0.9 * double(i % 4) - 1.2});
  }
  return shifts;
}
std::vector<std::array<double, 3>> source_shifts(std::size_t count) {
  std::vector<std::array<double, 3>> shifts;
  for (std::size_t i = 0; i < count; ++i) {
    shifts.push_back({0.5 * double(i % 2), -0.3 * double(i % 3), 0.2 * double(i % 4)});
  }
  return shifts;
}

struct named_scan {
  std::string name;
  geometry scan;
};

/// One of each kind, and all at once.
std::vector<named_scan> all_scans() {
  auto const turn = even_angles(7, 2 * pi, 0.2);
  auto const turns = even_angles(11, 6 * pi, 0.1);
  auto const tilted = laminography(cone(turns), 0.4);
  auto const moved = shift_source(shift_detector(tilted, detector_shifts(11)), source_shifts(11));
  return {{"arc", cone(even_angles(7, 3.6, -0.4))},
          {"several turns", cone(turns)},
          {"fan", circular_cone({.num_u = 15, .num_v = 1}, 100, 150, turn)},
          {"parallel fan", circular_parallel({.num_u = 15, .num_v = 1}, turn)},
          {"helix", helix(cone(turns), turns, 8)},
          {"parallel helix", helix(parallel(turns), turns, 8)},
          {"laminography", laminography(cone(turn), 0.6)},
          {"parallel laminography", laminography(parallel(turn), 0.6)},
          {"turned", turn_detector(cone(turn), {0.3, -0.2, 0.5})},
          {"parallel turned", turn_detector(parallel(turn), {0.3, -0.2, 0.5})},
          {"a quarter rolled", turn_detector(cone(turn), {.roll = pi / 2})},
          {"shifted detector", shift_detector(parallel(turn), detector_shifts(7))},
          {"shifted source", shift_source(cone(turn), source_shifts(7))},
          {"all at once", helix(turn_detector(moved, {-0.1, 0.2, 0.3}), turns, 5)}};
}

}  // namespace

TEST_CASE("scans: angles over an arc and over several turns") {
  auto const arc = even_angles(4, pi / 2, -pi / 4);
  CHECK(arc == std::vector<double>{-pi / 4, -pi / 8, 0, pi / 8});
  auto const turns = even_angles(12, 6 * pi);
  CHECK(turns.front() == 0);
  CHECK(turns.back() == doctest::Approx(5.5 * pi));
  // A turn later source and detector stand where they stood.
  auto const g = cone(turns);
  for (std::size_t i = 0; i < 8; ++i) {
    check_view(g.views()[i], g.views()[i + 4]);
  }
}

TEST_CASE("scans: a fan beam is a cone beam of one row, in the plane of rotation") {
  auto const g = circular_cone({.num_u = 3, .num_v = 1, .pitch_u = 2}, 100, 150, {0, pi / 2});
  check_view(g.views()[0], {{100, 0, 0}, {-50, -2, 0}, {0, 2, 0}, {0, 0, 1}});
  check_view(g.views()[1], {{0, 100, 0}, {2, -50, 0}, {-2, 0, 0}, {0, 0, 1}});
}

TEST_CASE("scans: a helix climbs by its pitch a turn, midway at z = 0") {
  auto const angles = even_angles(13, 2 * pi * 13 / 4, 0.3);  // four views a turn, three turns
  for (auto const& circle : {cone(angles), parallel(angles)}) {
    auto const g = helix(circle, angles, 20);
    for (std::size_t i = 0; i < 13; ++i) {
      vec3<double> const shift{0, 0, 5 * (double(i) - 6)};
      view_vectors wanted = circle.views()[i];
      // Parallel rays have a direction, which stays.
      wanted.source = circle.kind() == beam::cone ? wanted.source + shift : wanted.source;
      wanted.detector_origin = wanted.detector_origin + shift;
      check_view(g.views()[i], wanted);
    }
    check_equal(helix(circle, angles, 0), circle);
    check_near(helix(circle, angles, -20).views()[0].detector_origin,
               circle.views()[0].detector_origin + vec3<double>{0, 0, 30});
  }
  check_equal(helix(cone({1}), {1}, 20), cone({1}));
}

TEST_CASE("scans: laminography lifts the source and lowers the detector") {
  double const c = std::cos(0.5);
  double const s = std::sin(0.5);
  // At angle 0 before the tilt: source (100, 0, 0), middle of the detector (-50, 3, 0).
  vec3<double> const middle{-50 * c, 3, -50 * s};
  vec3<double> const u{0, 2, 0};
  vec3<double> const v{-4 * s, 0, 4 * c};
  check_view(laminography(cone({0}), 0.5).views()[0],
             {{100 * c, 0, 100 * s}, middle - 4.0 * u - 2.0 * v, u, v});
  // At a quarter turn u runs along -x, and parallel rays come down along -y.
  vec3<double> const side{-2, 0, 0};
  vec3<double> const up{0, -4 * s, 4 * c};
  check_view(laminography(parallel({pi / 2}), 0.5).views()[0],
             {{0, -c, -s}, vec3<double>{-3, 0, 0} - 4.0 * side - 2.0 * up, side, up});
  auto const angles = even_angles(7, 2 * pi, 0.2);
  check_equal(laminography(cone(angles), 0), cone(angles));
  check_equal(laminography(parallel(angles), 0), parallel(angles));
}

TEST_CASE("scans: a detector turns about its middle, right-handed about v, u and the normal") {
  auto const middle_of = [](view_vectors const& w) { return pixel(w, 4, 2); };
  auto const angles = even_angles(7, 2 * pi, 0.2);
  check_equal(turn_detector(cone(angles), {}), cone(angles));
  check_equal(turn_detector(parallel(angles), {}), parallel(angles));
  // At angle 0 u = y, v = z and the normal x.
  double const c = std::cos(0.3);
  double const s = std::sin(0.3);
  auto const turned = [&](iso::ct::detector_turn const& by) {
    auto const g = turn_detector(cone({0}), by);
    check_near(g.views()[0].source, {100, 0, 0});
    check_near(middle_of(g.views()[0]), {-50, 3, 0});
    return g.views()[0];
  };
  auto const check_steps = [](view_vectors const& w, vec3<double> u, vec3<double> v) {
    check_near(w.u_step, u);
    check_near(w.v_step, v);
  };
  check_steps(turned({.yaw = 0.3}), {-2 * s, 2 * c, 0}, {0, 0, 4});
  check_steps(turned({.pitch = 0.3}), {0, 2, 0}, {4 * s, 0, 4 * c});
  check_steps(turned({.roll = 0.3}), {0, 2 * c, 2 * s}, {0, -4 * s, 4 * c});
  // The pitch is about the yawed u, and the roll in the plane that both leave.
  auto const twice = turn_detector(parallel({0}), {.yaw = 0.3, .pitch = 0.4});
  check_steps(twice.views()[0], {-2 * s, 2 * c, 0},
              {4 * std::sin(0.4) * c, 4 * std::sin(0.4) * s, 4 * std::cos(0.4)});
  auto const thrice = turn_detector(parallel({0}), {.yaw = 0.3, .pitch = 0.4, .roll = pi / 2});
  check_steps(thrice.views()[0], 0.5 * twice.views()[0].v_step, -2.0 * twice.views()[0].u_step);
  // Columns stay exactly along z where the detector is yawed alone, for the fast path of Joseph.
  CHECK(turn_detector(cone(angles), {.yaw = 0.3}).v_parallel_to_z());
}

TEST_CASE("scans: a roll by a quarter turn exchanges u and v") {
  flat_detector const square{.num_u = 7, .num_v = 7, .pitch_u = 2, .pitch_v = 2};
  grid const box = grid::centred({6, 5, 4}, {1, 1.25, 1.5});
  auto const x = random_volume<double>(box);
  for (auto const& g :
       {circular_cone(square, 100, 150, {0, 0.4}), circular_parallel(square, {0, 0.4})}) {
    auto const straight = projected(x, g);
    auto const rolled = projected(x, turn_detector(g, {.roll = pi / 2}));
    for (std::size_t view = 0; view < 2; ++view) {
      for (std::size_t u = 0; u < 7; ++u) {
        for (std::size_t v = 0; v < 7; ++v) {
          // u'' = v and v'' = -u
          CHECK(rolled[(view * 7 + u) * 7 + v] ==
                doctest::Approx(straight[(view * 7 + (6 - v)) * 7 + u]).epsilon(1e-12));
        }
      }
    }
  }
}

TEST_CASE("scans: a shift by whole pixels moves the projections of a ball by as many") {
  std::vector<iso::ct::ellipsoid> const ball = {{{1, -2, 0.5}, {5, 5, 5}, 0, 1}};
  auto const integrals = [&](geometry const& g) {
    Kokkos::Serial const exec;
    auto const p = iso::make_projections<double, host>("p", g.num_views(), g.num_u(), g.num_v());
    iso::ct::project_ellipsoids<Kokkos::Serial, double>(exec, ball, iso::ct::stage(exec, g), p);
    exec.fence("integrals");
    return p;
  };
  // Views of any angle, each with a shift of its own.
  auto const angles = even_angles(5, 2 * pi, 0.3);
  std::array<int, 5> const by_u = {0, 1, -2, 3, 1};
  std::array<int, 5> const by_v = {1, 0, 1, -1, -2};
  std::vector<std::array<double, 2>> shifts;
  for (std::size_t i = 0; i < 5; ++i) {
    shifts.push_back({2.0 * by_u[i], 4.0 * by_v[i]});
  }
  for (auto const& g : {cone(angles), parallel(angles)}) {
    auto const before = integrals(g);
    auto const after = integrals(shift_detector(g, shifts));
    int compared = 0;
    for (int view = 0; view < 5; ++view) {
      for (int u = 0; u < 9; ++u) {
        for (int v = 0; v < 5; ++v) {
          int const from_u = u + by_u[std::size_t(view)];
          int const from_v = v + by_v[std::size_t(view)];
          if (from_u >= 0 && from_u < 9 && from_v >= 0 && from_v < 5) {
            CHECK(after.data(view, u, v) ==
                  doctest::Approx(before.data(view, from_u, from_v)).epsilon(1e-9));
            compared += before.data(view, from_u, from_v) > 0 ? 1 : 0;
          }
        }
      }
    }
    CHECK(compared > 30);
  }
}

TEST_CASE("scans: a source shifts along u, v and the normal of its detector") {
  auto const g = shift_source(cone({0, pi / 2}), {{1, 2, 3}, {1, 2, 3}});
  auto const still = cone({0, pi / 2});
  check_near(g.views()[0].source, {103, 1, 2});
  check_near(g.views()[1].source, {-1, 103, 2});
  check_near(g.views()[0].detector_origin, still.views()[0].detector_origin);
  check_equal(shift_source(still, {{0, 0, 0}, {0, 0, 0}}), still);
  check_equal(shift_detector(still, {{0, 0}, {0, 0}}), still);
}

TEST_CASE("scans: <A x, y> = <x, A' y> along every scan, with the same bits on every backend") {
  grid const box = grid::centred({10, 9, 12}, {1.5, 1.75, 1.25});
  auto const x = random_volume<double>(box);
  for (auto const& [name, scan] : all_scans()) {
    CAPTURE(name);
    problem const p{box, scan};
    auto const y = random_pixels<double>(scan);
    auto const ax = projected(x, scan);
    auto const aty = backprojected(y, p);
    auto const voxels = host_vector(x.data);
    double forward = 0;
    double back = 0;
    double size = 0;
    for (std::size_t n = 0; n < y.size(); ++n) {
      forward += ax[n] * y[n];
      size += ax[n] * std::abs(y[n]);
    }
    for (std::size_t n = 0; n < voxels.size(); ++n) {
      back += voxels[n] * aty[n];
    }
    CHECK(size > 0);
    CHECK(std::abs(forward - back) < 1e-12 * size);
    iso::test::for_each_instance([&](auto const& exec) {
      CHECK(difference(projected(exec, x, scan), ax) == "");
      CHECK(difference(backprojected(exec, y, p), aty) == "");
    });
  }
}

TEST_CASE("scans: what makes no scan is refused with a sentence") {
  auto const angles = even_angles(3, 2 * pi);
  auto const circle = cone(angles);
  auto const says = [](std::string const& text, std::string const& words) {
    CAPTURE(text);
    CHECK(text.find(words) != std::string::npos);
  };
  says(refusal([&] { helix(circle, {0, 1}, 5); }),
       "iso::ct::helix: 2 angles (the scan has 3 views); give one for each view");
  says(refusal([&] { helix(circle, {0, not_a_number, 1}, 5); }), "iso::ct::helix: angle nan rad");
  says(refusal([&] { helix(circle, angles, not_a_number); }),
       "iso::ct::helix: pitch nan mm a turn");
  says(refusal([&] { helix(circle, angles, infinite); }), "must be finite");
  for (double const tilt : {pi / 2, -2.0, not_a_number, infinite}) {
    says(refusal([&] { laminography(circle, tilt); }), "iso::ct::laminography: tilt ");
  }
  says(refusal([&] { turn_detector(circle, {.yaw = not_a_number}); }),
       "iso::ct::turn_detector: angle nan rad");
  says(refusal([&] { turn_detector(circle, {.roll = 2e5}); }), "at most 1e5 either way");
  // The middle lies 3 mm aside of the central ray.
  says(refusal([&] { turn_detector(circle, {.yaw = std::atan(150.0 / 3)}); }),
       "iso::ct::turn_detector: the detector of view 0 stands edge-on");
  says(refusal([&] { turn_detector(parallel(angles), {.pitch = pi / 2}); }), "stands edge-on");
  CHECK(refusal([&] { turn_detector(parallel(angles), {.pitch = pi / 2 - 1e-3}); }).empty());
  says(refusal([&] { shift_detector(circle, {{0, 0}}); }),
       "iso::ct::shift_detector: 1 shifts (the scan has 3 views)");
  says(refusal([&] { shift_detector(circle, {{0, 0}, {0, infinite}, {0, 0}}); }),
       "iso::ct::shift_detector: shift inf mm of view 1 (must be finite); give 0 where nothing "
       "moves");
  says(refusal([&] { shift_source(circle, {{0, 0, 0}}); }), "iso::ct::shift_source: 1 shifts");
  says(refusal([&] { shift_source(circle, {{0, 0, not_a_number}, {}, {}}); }),
       "shift nan mm of view 0");
  says(refusal([&] { shift_source(parallel(angles), {{}, {}, {}}); }),
       "iso::ct::shift_source: parallel rays (they have no source)");
}

TEST_CASE("a detector that is moved along its rays has the same rays") {
  auto const near = turn_detector(cone({0.3}), {.yaw = 0.2, .pitch = 0.1});
  auto const far = iso::ct::move_detector(near, 1.5);
  auto const& w = near.views()[0];
  auto const& f = far.views()[0];
  check_near(f.source, w.source);
  for (double const u : {0.0, 3.0, 8.0}) {
    for (double const v : {0.0, 4.0}) {
      auto const at = w.detector_origin + u * w.u_step + v * w.v_step;
      auto const to = f.detector_origin + u * f.u_step + v * f.v_step;
      check_near(to - w.source, 1.5 * (at - w.source));
    }
  }
  CHECK(refusal([&] { iso::ct::move_detector(near, 0); }).find("factor 0 (must be finite") !=
        std::string::npos);
  CHECK(refusal([&] { iso::ct::move_detector(near, infinite); }).find("factor inf") !=
        std::string::npos);
  CHECK(refusal([&] { iso::ct::move_detector(parallel({0}), 2); }).find("parallel rays") !=
        std::string::npos);
}

TEST_CASE("detectors within a volume are found, and moved out of it") {
  auto const box = iso::grid::centred({20, 20, 10}, {2, 2, 2});
  flat_detector const plate{.num_u = 30, .num_v = 12, .pitch_u = 2, .pitch_v = 2};
  auto const at_axis = circular_cone(plate, 100, 100, even_angles(12, 2 * pi));
  auto const found = iso::ct::find_detectors_within(at_axis, box);
  CHECK(found.views == 12);
  // The corner of the box that lies farthest, of the view at 30 degrees.
  CHECK(found.factor ==
        doctest::Approx(1 + 0.2 * (std::cos(pi / 6) + std::sin(pi / 6))).epsilon(1e-12));
  auto const moved = iso::ct::move_detector(at_axis, found.factor * 1.001);
  CHECK(iso::ct::find_detectors_within(moved, box).views == 0);
  // Before the volume: no ray would reach it.
  auto const before = circular_cone(plate, 100, 60, even_angles(12, 2 * pi));
  CHECK(iso::ct::find_detectors_within(before, box).views == 12);
  // Beside it; behind it; a plane that cuts it, with the pixels far away; parallel rays.
  auto const behind = circular_cone(plate, 100, 140, even_angles(12, 2 * pi));
  CHECK(iso::ct::find_detectors_within(behind, box).views == 0);
  auto aside = plate;
  aside.offset_v = 60;
  CHECK(iso::ct::find_detectors_within(circular_cone(aside, 100, 100, even_angles(12, 2 * pi)), box)
            .views == 0);
  CHECK(iso::ct::find_detectors_within(circular_parallel(plate, {0.0}), box).views == 0);

  // One ray through the middle of ones: half of it before the pixel, all of it after the move.
  flat_detector const one{.num_u = 1, .num_v = 1};
  auto const sum = [&](geometry const& g) {
    Kokkos::Serial const exec;
    auto const x = iso::make_volume<double, Kokkos::HostSpace>("x", box);
    Kokkos::deep_copy(x.data, 1.0);
    auto const p = iso::make_projections<double, Kokkos::HostSpace>("p", 1, 1, 1);
    iso::ct::projector_pair<Kokkos::Serial, double>(exec, g, box,
                                                    {.method = iso::ct::projector::siddon})
        .forward(0, x, p);
    return p.data(0, 0, 0);
  };
  auto const virtual_pixel = circular_cone(one, 100, 100, {0.1});
  CHECK(sum(iso::ct::move_detector(virtual_pixel, 1.5)) ==
        doctest::Approx(2 * sum(virtual_pixel)).epsilon(1e-9));
}
