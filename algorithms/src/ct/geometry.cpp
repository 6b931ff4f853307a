// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/on_circle.hpp>
#include <iso/ct/geometry.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace iso::ct {
namespace {

vec3<double> cross(vec3<double> a, vec3<double> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

double largest(vec3<double> a) { return std::max({std::abs(a.x), std::abs(a.y), std::abs(a.z)}); }

/// Sine of the angle between two directions, from 0 to 1.
double sine_between(vec3<double> a, vec3<double> b) {
  a = (1 / largest(a)) * a;
  b = (1 / largest(b)) * b;
  return norm(cross(a, b)) / (norm(a) * norm(b));
}

void check(vec3<double> a, char const* field, std::size_t view) {
  ISO_VALIDATE(
      is_finite(a) && largest(a) <= longest_length,
      "iso::ct::geometry: {} of view {} is [{}, {}, {}] (must be finite, at most 1e150 either way)",
      field, view, a.x, a.y, a.z);
}

void check(view_vectors const& view, beam kind, std::size_t i) {
  check(view.source, kind == beam::cone ? "source" : "direction", i);
  check(view.detector_origin, "detector_origin", i);
  check(view.u_step, "u_step", i);
  check(view.v_step, "v_step", i);
  ISO_VALIDATE(std::min(largest(view.u_step), largest(view.v_step)) >= shortest_length &&
                   sine_between(view.u_step, view.v_step) >= 1e-4,
               "iso::ct::geometry: u_step and v_step of view {} are parallel or shorter than "
               "1e-150 mm (they "
               "must span the detector)",
               i);
  ISO_VALIDATE(kind == beam::cone || largest(view.source) >= shortest_length,
               "iso::ct::geometry: direction of view {} is shorter than 1e-150 (rays need one)", i);
}

void check_detector(std::int64_t num_u, std::int64_t num_v) {
  ISO_VALIDATE(num_u >= 1 && num_v >= 1,
               "iso::ct::geometry: detector of [{}, {}] pixels (needs at least one each way)",
               num_u, num_v);
}

void check(flat_detector const& d) {
  check_detector(d.num_u, d.num_v);
  auto const good = [](double x) { return std::isfinite(x) && x > 0; };
  ISO_VALIDATE(good(d.pitch_u) && good(d.pitch_v),
               "iso::ct::geometry: pixel pitch [{}, {}] mm (must be finite and positive)",
               d.pitch_u, d.pitch_v);
  ISO_VALIDATE(std::isfinite(d.offset_u) && std::isfinite(d.offset_v),
               "iso::ct::geometry: detector offset [{}, {}] mm (must be finite)", d.offset_u,
               d.offset_v);
}

geometry circle(beam kind, flat_detector const& d, double source_axis, double axis_detector,
                std::vector<double> const& angles) {
  check(d);
  ISO_VALIDATE(!angles.empty(), "iso::ct::geometry: no view angles (needs at least one)");
  double const first_u = d.offset_u - 0.5 * double(d.num_u - 1) * d.pitch_u;
  double const first_v = d.offset_v - 0.5 * double(d.num_v - 1) * d.pitch_v;
  std::vector<view_vectors> views;
  views.reserve(angles.size());
  for (double const angle : angles) {
    ISO_VALIDATE(std::abs(angle) <= 1e5,
                 "iso::ct::geometry: view angle {} rad (must be finite, at most 1e5 either way)",
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

}  // namespace

geometry::geometry(beam kind, std::int64_t num_u, std::int64_t num_v,
                   std::vector<view_vectors> views)
    : kind_(kind), num_u_(num_u), num_v_(num_v), views_(std::move(views)) {
  ISO_VALIDATE(
      kind_ == beam::cone || kind_ == beam::parallel,
      "iso::ct::geometry: beam {} (is none of the enumeration) choose one of iso::ct::beam",
      int(kind_));
  check_detector(num_u_, num_v_);
  ISO_VALIDATE(!views_.empty(), "iso::ct::geometry: no views (needs at least one)");
  auto const most = std::numeric_limits<std::int64_t>::max();
  ISO_VALIDATE(num_u_ <= most / num_v_ && num_u_ * num_v_ <= most / num_views(),
               "iso::ct::geometry: {} views of [{}, {}] pixels (their number does not fit 63 bits) "
               "check the "
               "detector",
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
               "iso::ct::geometry: {} views from view {} on (must be a part of the {})", count,
               first, num_views());
  return {kind_, num_u_, num_v_, {views_.begin() + first, views_.begin() + first + count}};
}

geometry circular_cone(flat_detector const& detector, double source_axis, double source_detector,
                       std::vector<double> const& angles) {
  auto const good = [](double x) { return std::isfinite(x) && x > 0; };
  ISO_VALIDATE(
      good(source_axis) && good(source_detector),
      "iso::ct::geometry: source-axis {} mm, source-detector {} mm (must be finite and positive)",
      source_axis, source_detector);
  return circle(beam::cone, detector, source_axis, source_detector - source_axis, angles);
}

geometry circular_parallel(flat_detector const& detector, std::vector<double> const& angles) {
  return circle(beam::parallel, detector, 0, 0, angles);
}

std::vector<double> even_angles(std::int64_t count, double range, double first) {
  ISO_VALIDATE(count >= 1, "iso::ct::geometry: {} view angles (needs at least one)", count);
  constexpr std::int64_t most = 100'000'000;
  ISO_VALIDATE(count <= most, "iso::ct::geometry: {} view angles (at most {}) make them in parts",
               count, most);
  ISO_VALIDATE(
      std::abs(first + range) <= 1e5 && std::abs(first) <= 1e5,
      "iso::ct::geometry: view angles from {} rad over {} rad (all must be finite, at most 1e5 "
      "either way)",
      first, range);
  std::vector<double> angles;
  angles.reserve(std::size_t(count));
  for (std::int64_t i = 0; i < count; ++i) {
    angles.push_back(first + range * double(i) / double(count));
  }
  return angles;
}

}  // namespace iso::ct
