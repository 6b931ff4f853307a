// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/on_circle.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/detail/check_word.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace iso::ct {
namespace {

double largest(vec3<double> a) { return std::max({std::abs(a.x), std::abs(a.y), std::abs(a.z)}); }

/// Sine of the angle between two directions, from 0 to 1.
double sine_between(vec3<double> a, vec3<double> b) {
  a = (1 / largest(a)) * a;
  b = (1 / largest(b)) * b;
  return norm(cross(a, b)) / (norm(a) * norm(b));
}

void check(vec3<double> a, char const* field, std::size_t view) {
  ISO_VALIDATE(is_finite(a) && largest(a) <= longest_length,
               "iso::ct::geometry: {} of view {} is [{}, {}, {}] (must be finite, at most 1e150 "
               "either way); check how it is computed",
               field, view, a.x, a.y, a.z);
}

void check(view_vectors const& view, beam kind, std::size_t i) {
  check(view.source, kind == beam::cone ? "source" : "direction", i);
  check(view.detector_origin, "detector_origin", i);
  check(view.u_step, "u_step", i);
  check(view.v_step, "v_step", i);
  ISO_VALIDATE(
      std::min(largest(view.u_step), largest(view.v_step)) >= shortest_length &&
          sine_between(view.u_step, view.v_step) >= 1e-4,
      "iso::ct::geometry: u_step and v_step of view {} are parallel or shorter than 1e-150 mm "
      "(they must span the detector); give the steps from a pixel to its neighbours along u and v",
      i);
  ISO_VALIDATE(kind == beam::cone || largest(view.source) >= shortest_length,
               "iso::ct::geometry: direction of view {} is shorter than 1e-150 (rays need one); "
               "give the direction in which rays travel",
               i);
}

void check_detector(std::int64_t num_u, std::int64_t num_v) {
  ISO_VALIDATE(num_u >= 1 && num_v >= 1,
               "iso::ct::geometry: detector of [{}, {}] pixels (at least one each way is needed); "
               "give the numbers of pixels along u and v",
               num_u, num_v);
}

void check_angle(double angle, char const* name) {
  ISO_VALIDATE(
      std::abs(angle) <= 1e5,
      "iso::ct::{}: angle {} rad (must be finite, at most 1e5 either way); take off whole turns",
      name, angle);
}

void check_count(std::size_t count, geometry const& g, char const* name, char const* what) {
  ISO_VALIDATE(std::int64_t(count) == g.num_views(),
               "iso::ct::{}: {} {} (the scan has {} views); give one for each view", name, count,
               what, g.num_views());
}

template <std::size_t N>
void check_shifts(std::vector<std::array<double, N>> const& shifts, geometry const& g,
                  char const* name) {
  check_count(shifts.size(), g, name, "shifts");
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    for (double const shift : shifts[i]) {
      ISO_VALIDATE(
          std::isfinite(shift),
          "iso::ct::{}: shift {} mm of view {} (must be finite); give 0 where nothing moves", name,
          shift, i);
    }
  }
}

/// Orthonormal and right-handed: along u, across it in the detector's plane, and the normal.
struct axes {
  vec3<double> u;
  vec3<double> v;
  vec3<double> normal;

  explicit axes(view_vectors const& w)
      : u((1 / norm(w.u_step)) * w.u_step), normal(cross(u, w.v_step)) {
    normal = (1 / norm(normal)) * normal;
    v = cross(normal, u);
  }
};

/// Turns a and b in their plane, a towards b.
void turn(vec3<double>& a, vec3<double>& b, double angle) {
  vec3<double> const p = detail::on_circle(angle);
  vec3<double> const turned = p.x * a + p.y * b;
  b = p.x * b - p.y * a;
  a = turned;
}

/// Returns `x` turned as `from` is to `to`; exactly `x` where these are the same.
vec3<double> turned(vec3<double> x, axes const& from, axes const& to) {
  return x + dot(x, from.u) * (to.u - from.u) + dot(x, from.v) * (to.v - from.v) +
         dot(x, from.normal) * (to.normal - from.normal);
}

/// Returns `g` with change(view, its number) made to every view.
template <class Change>
geometry changed(geometry const& g, Change const& change) {
  auto views = g.views();
  for (std::size_t i = 0; i < views.size(); ++i) {
    change(views[i], i);
  }
  return {g.kind(), g.num_u(), g.num_v(), std::move(views)};
}

void check(flat_detector const& d) {
  check_detector(d.num_u, d.num_v);
  auto const good = [](double x) { return std::isfinite(x) && x > 0; };
  ISO_VALIDATE(good(d.pitch_u) && good(d.pitch_v),
               "iso::ct::geometry: pixel pitch [{}, {}] mm (must be finite and positive); give the "
               "distances of neighbouring pixels along u and v",
               d.pitch_u, d.pitch_v);
  ISO_VALIDATE(std::isfinite(d.offset_u) && std::isfinite(d.offset_v),
               "iso::ct::geometry: detector offset [{}, {}] mm (must be finite); give 0 for a "
               "centred detector",
               d.offset_u, d.offset_v);
}

geometry circle(beam kind, flat_detector const& d, double source_axis, double axis_detector,
                std::vector<double> const& angles) {
  check(d);
  ISO_VALIDATE(
      !angles.empty(),
      "iso::ct::geometry: no view angles (at least one is needed); give an angle for each view");
  double const first_u = d.offset_u - 0.5 * double(d.num_u - 1) * d.pitch_u;
  double const first_v = d.offset_v - 0.5 * double(d.num_v - 1) * d.pitch_v;
  std::vector<view_vectors> views;
  views.reserve(angles.size());
  for (double const angle : angles) {
    ISO_VALIDATE(std::abs(angle) <= 1e5,
                 "iso::ct::geometry: view angle {} rad (must be finite, at most 1e5 either way); "
                 "take off whole turns",
                 angle);
    vec3<double> const out = detail::on_circle(angle);
    vec3<double> const u{-out.y, out.x, 0};
    vec3<double> const v{0, 0, 1};
    views.push_back({kind == beam::cone ? source_axis * out : -1.0 * out,
                     (-axis_detector) * out + first_u * u + first_v * v, d.pitch_u * u,
                     d.pitch_v * v});
  }
  return {kind, d.num_u, d.num_v, std::move(views)};
}

/// Returns the corners of a view's pixels, edges included, in turn.
std::vector<vec3<double>> detector_corners(geometry const& g, view_vectors const& w) {
  double const u = double(g.num_u()) - 0.5;
  double const v = double(g.num_v()) - 0.5;
  auto const at = [&](double a, double b) {
    return w.detector_origin + a * w.u_step + b * w.v_step;
  };
  return {at(-0.5, -0.5), at(u, -0.5), at(u, v), at(-0.5, v)};
}

/// Returns whether a flat convex polygon meets the volume: what is left of it between the planes of
/// each pair of faces in turn.
bool meets(std::vector<vec3<double>> polygon, iso::grid const& volume) {
  for (int a = 0; a < 3; ++a) {
    for (double const side : {-1.0, 1.0}) {
      double const n = double(volume.extent[std::size_t(a)]);
      double const face = volume.origin[a] + volume.spacing[a] * (side < 0 ? -0.5 : n - 0.5);
      std::vector<vec3<double>> left;
      for (std::size_t i = 0; i < polygon.size(); ++i) {
        vec3<double> const& p = polygon[i];
        vec3<double> const& q = polygon[(i + 1) % polygon.size()];
        double const at_p = side * (face - p[a]);
        double const at_q = side * (face - q[a]);
        if (at_p > 0) {
          left.push_back(p);
        }
        if ((at_p > 0) != (at_q > 0)) {
          left.push_back(p + (at_p / (at_p - at_q)) * (q - p));
        }
      }
      polygon = std::move(left);
    }
  }
  return !polygon.empty();
}

}  // namespace

geometry::geometry(beam kind, std::int64_t num_u, std::int64_t num_v,
                   std::vector<view_vectors> views)
    : kind_(kind), num_u_(num_u), num_v_(num_v), views_(std::move(views)) {
  iso::detail::check_word(kind_, "iso::ct::geometry", "beam");
  check_detector(num_u_, num_v_);
  ISO_VALIDATE(
      !views_.empty(),
      "iso::ct::geometry: no views (at least one is needed); give the vectors of each view");
  auto const most = std::numeric_limits<std::int64_t>::max();
  ISO_VALIDATE(num_u_ <= most / num_v_ && num_u_ * num_v_ <= most / num_views(),
               "iso::ct::geometry: {} views of [{}, {}] pixels (their number does not fit 63 "
               "bits); check the detector's extents",
               num_views(), num_u_, num_v_);
  for (std::size_t i = 0; i < views_.size(); ++i) {
    check(views_[i], kind_, i);
  }
  v_parallel_to_z_ = std::all_of(views_.begin(), views_.end(), [](view_vectors const& view) {
    return view.v_step.x == 0 && view.v_step.y == 0;
  });
}

geometry geometry::subset(std::int64_t first, std::int64_t count) const {
  ISO_VALIDATE(first >= 0 && count >= 1 && first <= num_views() - count,
               "iso::ct::geometry: {} views from view {} on (must be a part of the {}); ask for "
               "views that the geometry has",
               count, first, num_views());
  return {kind_, num_u_, num_v_, {views_.begin() + first, views_.begin() + first + count}};
}

geometry circular_cone(flat_detector const& detector, double source_axis, double source_detector,
                       std::vector<double> const& angles) {
  auto const good = [](double x) { return std::isfinite(x) && x > 0; };
  ISO_VALIDATE(good(source_axis) && good(source_detector),
               "iso::ct::geometry: source-axis {} mm, source-detector {} mm (must be finite and "
               "positive); give both distances in mm",
               source_axis, source_detector);
  return circle(beam::cone, detector, source_axis, source_detector - source_axis, angles);
}

geometry circular_parallel(flat_detector const& detector, std::vector<double> const& angles) {
  return circle(beam::parallel, detector, 0, 0, angles);
}

std::vector<double> even_angles(std::int64_t count, double range, double first) {
  ISO_VALIDATE(count >= 1,
               "iso::ct::geometry: {} view angles (at least one is needed); ask for 1 or more",
               count);
  constexpr std::int64_t most = 100'000'000;
  ISO_VALIDATE(count <= most, "iso::ct::geometry: {} view angles (at most {}); make them in parts",
               count, most);
  ISO_VALIDATE(std::abs(first + range) <= 1e5 && std::abs(first) <= 1e5,
               "iso::ct::geometry: view angles from {} rad over {} rad (all must be finite, at "
               "most 1e5 either way); take off whole turns",
               first, range);
  std::vector<double> angles;
  angles.reserve(std::size_t(count));
  for (std::int64_t i = 0; i < count; ++i) {
    angles.push_back(first + range * double(i) / double(count));
  }
  return angles;
}

geometry helix(geometry const& circle, std::vector<double> const& angles, double pitch) {
  check_count(angles.size(), circle, "helix", "angles");
  ISO_VALIDATE(std::isfinite(pitch),
               "iso::ct::helix: pitch {} mm a turn (must be finite); give 0 for a circle", pitch);
  double const middle = 0.5 * angles.front() + 0.5 * angles.back();
  return changed(circle, [&](view_vectors& w, std::size_t i) {
    check_angle(angles[i], "helix");
    vec3<double> const shift{0, 0, pitch * ((angles[i] - middle) / (2 * std::numbers::pi))};
    w.source = circle.kind() == beam::cone ? w.source + shift : w.source;
    w.detector_origin = w.detector_origin + shift;
  });
}

geometry laminography(geometry const& circle, double tilt) {
  ISO_VALIDATE(std::abs(tilt) < std::numbers::pi / 2,
               "iso::ct::laminography: tilt {} rad (must be below pi / 2 either way, or the rays "
               "run along the axis); give the tilt in radians",
               tilt);
  return changed(circle, [&](view_vectors& w, std::size_t) {
    axes const from(w);
    axes to = from;
    turn(to.normal, to.v, tilt);
    // Of parallel rays the direction, which points from the source.
    for (vec3<double>* const x : {&w.source, &w.detector_origin, &w.u_step, &w.v_step}) {
      *x = turned(*x, from, to);
    }
  });
}

geometry turn_detector(geometry const& g, detector_turn const& by) {
  for (double const angle : {by.yaw, by.pitch, by.roll}) {
    check_angle(angle, "turn_detector");
  }
  double const to_u = 0.5 * double(g.num_u() - 1);
  double const to_v = 0.5 * double(g.num_v() - 1);
  return changed(g, [&](view_vectors& w, std::size_t i) {
    axes const from(w);
    axes to = from;
    turn(to.normal, to.u, by.yaw);
    turn(to.v, to.normal, by.pitch);
    turn(to.u, to.v, by.roll);
    vec3<double> const middle = w.detector_origin + to_u * w.u_step + to_v * w.v_step;
    vec3<double> const ray = g.kind() == beam::cone ? middle - w.source : w.source;
    ISO_VALIDATE(std::abs(dot(to.normal, ray)) >= 1e-4 * norm(ray),
                 "iso::ct::turn_detector: the detector of view {} stands edge-on (its plane runs "
                 "along the ray to its middle); turn it less",
                 i);
    vec3<double> const corner = w.detector_origin - middle;
    w.detector_origin = w.detector_origin + (turned(corner, from, to) - corner);
    w.u_step = turned(w.u_step, from, to);
    w.v_step = turned(w.v_step, from, to);
  });
}

geometry shift_detector(geometry const& g, std::vector<std::array<double, 2>> const& shifts) {
  check_shifts(shifts, g, "shift_detector");
  return changed(g, [&](view_vectors& w, std::size_t i) {
    w.detector_origin = w.detector_origin + (shifts[i][0] / norm(w.u_step)) * w.u_step +
                        (shifts[i][1] / norm(w.v_step)) * w.v_step;
  });
}

geometry shift_source(geometry const& g, std::vector<std::array<double, 3>> const& shifts) {
  ISO_VALIDATE(g.kind() == beam::cone,
               "iso::ct::shift_source: parallel rays (they have no source); take a cone beam");
  check_shifts(shifts, g, "shift_source");
  return changed(g, [&](view_vectors& w, std::size_t i) {
    vec3<double> const normal = axes(w).normal;
    double const before = dot(normal, w.detector_origin - w.source);
    w.source = w.source + (shifts[i][0] / norm(w.u_step)) * w.u_step +
               (shifts[i][1] / norm(w.v_step)) * w.v_step + shifts[i][2] * normal;
    double const after = dot(normal, w.detector_origin - w.source);
    ISO_VALIDATE(after / before > 1e-4,
                 "iso::ct::shift_source: view {}: the source comes to {} mm from the detector's "
                 "plane, from {} mm (it must stay in front of it); shift it less, or the other way",
                 i, after, before);
  });
}

geometry move_detector(geometry const& g, double factor) {
  ISO_VALIDATE(
      g.kind() == beam::cone,
      "iso::ct::move_detector: parallel rays (they have no source to move it from); take a "
      "cone beam");
  ISO_VALIDATE(
      std::isfinite(factor) && factor >= 1e-4,
      "iso::ct::move_detector: factor {} (must be finite, at least 1e-4); give 1 for where "
      "the detector is, 2 for twice as far from the source",
      factor);
  return changed(g, [&](view_vectors& w, std::size_t) {
    w.detector_origin = w.source + factor * (w.detector_origin - w.source);
    w.u_step = factor * w.u_step;
    w.v_step = factor * w.v_step;
  });
}

detectors_within_volume find_detectors_within(geometry const& g, iso::grid const& volume) {
  validate(volume, "iso::ct::find_detectors_within");
  detectors_within_volume found;
  if (g.kind() != beam::cone) {
    return found;
  }
  for (auto const& w : g.views()) {
    vec3<double> const normal = cross(w.u_step, w.v_step);
    double const depth = dot(normal, w.detector_origin - w.source);
    double nearest = std::numeric_limits<double>::infinity();
    double farthest = 0;
    for (int corner = 0; corner < 8; ++corner) {
      vec3<double> p = volume.origin;
      for (int a = 0; a < 3; ++a) {
        double const n = double(volume.extent[std::size_t(a)]);
        p[a] += volume.spacing[a] * ((corner >> a & 1) != 0 ? n - 0.5 : -0.5);
      }
      double const share = dot(normal, p - w.source) / depth;
      nearest = std::min(nearest, share);
      farthest = std::max(farthest, share);
    }
    if (farthest > 1 && (nearest > 1 || meets(detector_corners(g, w), volume))) {
      ++found.views;
      found.factor = std::max(found.factor, farthest);
    }
  }
  return found;
}

}  // namespace iso::ct
