// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/circular_scan.hpp>

#include <cmath>
#include <utility>

namespace iso::ct {
namespace {

/// A circle of views, the axis beside the middle of the beam where the scan says so.
geometry make_circle(circular_scan const& s) {
  if (s.rays == beam::parallel) {
    return circular_parallel(s.detector, s.angles);
  }
  auto about_beam = circular_cone(s.detector, s.source_axis, s.source_detector, s.angles);
  if (s.axis_offset == 0) {
    return about_beam;
  }
  return shift_source(shift_detector(about_beam, {s.angles.size(), {-s.axis_offset, 0}}),
                      {s.angles.size(), {-s.axis_offset, 0, 0}});
}

double length_of(vec3<double> const& v) { return std::hypot(v.x, v.y, v.z); }

}  // namespace

geometry make_geometry(circular_scan const& s) {
  auto views = laminography(make_circle(s), s.axis_tilt);
  if (!s.detector_shifts.empty()) {
    views = shift_detector(views, s.detector_shifts);
  }
  if (!s.source_shifts.empty()) {
    views = shift_source(views, s.source_shifts);
  }
  if (s.turn != detector_turn{}) {
    views = turn_detector(views, s.turn);
  }
  return helix(views, s.angles, s.helix_pitch);
}

geometry make_geometry(scan const& s) {
  auto const* const circle = std::get_if<circular_scan>(&s);
  return circle != nullptr ? make_geometry(*circle) : std::get<geometry>(s);
}

beam rays_of(scan const& s) {
  auto const* const circle = std::get_if<circular_scan>(&s);
  return circle != nullptr ? circle->rays : std::get<geometry>(s).kind();
}

std::int64_t num_views(scan const& s) {
  auto const* const circle = std::get_if<circular_scan>(&s);
  return circle != nullptr ? std::int64_t(circle->angles.size())
                           : std::get<geometry>(s).num_views();
}

std::array<std::int64_t, 2> detector_pixels(scan const& s) {
  if (auto const* const circle = std::get_if<circular_scan>(&s)) {
    return {circle->detector.num_u, circle->detector.num_v};
  }
  auto const& g = std::get<geometry>(s);
  return {g.num_u(), g.num_v()};
}

std::array<double, 2> detector_pitch(scan const& s) {
  if (auto const* const circle = std::get_if<circular_scan>(&s)) {
    return {circle->detector.pitch_u, circle->detector.pitch_v};
  }
  auto const& view = std::get<geometry>(s).views().front();
  return {length_of(view.u_step), length_of(view.v_step)};
}

scan moved_along_u(scan const& s, double pixels) {
  if (auto const* const circle = std::get_if<circular_scan>(&s);
      circle != nullptr && circle->turn == detector_turn{}) {
    auto moved = *circle;
    moved.detector.offset_u += pixels * moved.detector.pitch_u;
    return moved;
  }
  auto const g = make_geometry(s);
  auto views = g.views();
  for (auto& view : views) {
    view.detector_origin = view.detector_origin + pixels * view.u_step;
  }
  return geometry(g.kind(), g.num_u(), g.num_v(), std::move(views));
}

}  // namespace iso::ct
