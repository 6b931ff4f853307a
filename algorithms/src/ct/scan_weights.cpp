// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/scan_weights.hpp>

#include <iso/core/check.hpp>
#include <iso/core/math.hpp>
#include <iso/ct/detail/ray_weight.hpp>
#include <iso/ct/detail/row_extension.hpp>

#include "../sine.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace iso::ct {
namespace {

constexpr double pi = 0x1.921fb54442d18p+1;
constexpr double degrees = 180 / pi;
constexpr double steepest_roll = 0.2;  // rad

/// The angle of (x, y), in [0, 2 pi), by Newton's method on iso::math's sine: the same on every
/// machine.
double angle_of(double x, double y) {
  double const length = std::sqrt(x * x + y * y);
  double const c = x / length;
  double const s = y / length;
  double angle = s >= 0 ? (1 - c) * (pi / 2) : (3 + c) * (pi / 2);
  for (int step = 0; step < 6; ++step) {
    double sine;
    double cosine;
    math::sincos(angle, sine, cosine);
    double const off = s * cosine - c * sine;  // sin of what is missing
    angle += off + off * off * off / 6;
  }
  return angle < 0 ? angle + 2 * pi : angle >= 2 * pi ? angle - 2 * pi : angle;
}

double horizontal(vec3<double> a) { return std::sqrt(a.x * a.x + a.y * a.y); }

/// Degrees by which the plane of the sources is tilted; negative where they lie in none.
double tilt_of_sources(geometry const& g, double radius) {
  vec3<double> const first = g.views().front().source;
  vec3<double> normal{};
  for (view_vectors const& w : g.views()) {
    for (view_vectors const* next : {&g.views()[g.views().size() / 2], &g.views().back()}) {
      vec3<double> const n = cross(w.source - first, next->source - first);
      normal = dot(n, n) > dot(normal, normal) ? n : normal;
    }
  }
  if (dot(normal, normal) == 0) {
    return -1;
  }
  for (view_vectors const& w : g.views()) {
    if (std::abs(dot(normal, w.source - first)) > 1e-3 * radius * norm(normal)) {
      return -1;
    }
  }
  double const angle = degrees * angle_of(std::abs(normal.z), horizontal(normal));
  return angle;
}

/// Throws where the rows of a view leave the plane of rotation by more than `max_roll`, or one of
/// them does not pass before the source as the z axis does.
void validate_rows(geometry const& g, double max_roll) {
  ISO_VALIDATE(
      max_roll >= 0 && max_roll <= steepest_roll,
      "fdk: rows may leave the plane of rotation by {} rad (must be from 0 to {}) choose a "
      "smaller max_roll",
      max_roll, steepest_roll);
  for (std::size_t i = 0; i < g.views().size(); ++i) {
    view_vectors const& w = g.views()[i];
    double const roll = angle_of(horizontal(w.u_step), std::abs(w.u_step.z));
    ISO_VALIDATE(roll <= max_roll * (1 + 1e-9),
                 "fdk: view {}: rows of u leave the plane of rotation by {:.3g} degrees (the "
                 "filter runs along them, at most {:.3g}) turn the detector, or allow more by "
                 "max_roll (to {:.3g} degrees), which blurs along z",
                 i, roll * degrees, max_roll * degrees, steepest_roll * degrees);
    if (g.kind() == beam::parallel) {
      continue;
    }
    vec3<double> const across = detail::across_rows(w);
    vec3<double> const first = w.detector_origin - w.source;
    vec3<double> const last = first + double(g.num_v() - 1) * w.v_step;
    double const axis = -(across.x * w.source.x + across.y * w.source.y);
    ISO_VALIDATE(
        axis * dot(across, first) > 0 && axis * dot(across, last) > 0,
        "fdk: view {}: a row of pixels does not stand across from the source as seen along "
        "the z axis (its rays do not pass the axis) turn the detector up",
        i);
  }
}

/// Throws unless the sources of a cone beam lie on a circle about the z axis, and parallel rays
/// across it.
void validate_orbit(geometry const& g) {
  auto const& views = g.views();
  if (g.kind() == beam::parallel) {
    for (std::size_t i = 0; i < views.size(); ++i) {
      vec3<double> const& d = views[i].source;
      ISO_VALIDATE(std::abs(d.z) <= 1e-3 * horizontal(d),
                   "fdk: view {}: rays leave the plane of rotation by {:.3g} degrees (filtered "
                   "backprojection needs rays across the z axis) check the directions of the rays",
                   i, degrees * angle_of(horizontal(d), std::abs(d.z)));
    }
    return;
  }
  double const r = horizontal(views.front().source);
  for (std::size_t i = 0; i < views.size(); ++i) {
    double const here = horizontal(views[i].source);
    if (std::abs(here - r) <= 1e-3 * r && here > 0 &&
        std::abs(views[i].source.z - views.front().source.z) <= 1e-3 * r) {
      continue;
    }
    double const tilt = tilt_of_sources(g, r);
    ISO_VALIDATE(tilt < 0.05,
                 "fdk: the sources lie in a plane that is tilted by {:.3g} degrees (they must turn "
                 "about the z axis) turn the coordinates",
                 tilt);
    ISO_VALIDATE(std::abs(here - r) <= 1e-3 * r && here > 0,
                 "fdk: view {}: source {} mm from the z axis, {} mm in view 0 (filtered "
                 "backprojection needs a circle about the z axis) scan on one",
                 i, here, r);
    ISO_VALIDATE(false,
                 "fdk: view {}: source at z = {} mm, {} mm in view 0 (filtered "
                 "backprojection needs a circle about the z axis, not a helix) scan on one",
                 i, views[i].source.z, views.front().source.z);
  }
}

/// Signed distance of the ray through column u, at the detector's middle height, from the z axis.
/// The opposite ray's is its negative.
double distance_from_axis(geometry const& g, view_vectors const& w, double u) {
  vec3<double> const pixel =
      w.detector_origin + u * w.u_step + (0.5 * double(g.num_v() - 1)) * w.v_step;
  vec3<double> const along = g.kind() == beam::cone ? pixel - w.source : w.source;
  return (pixel.x * along.y - pixel.y * along.x) / horizontal(along);
}

/// Where the z axis is seen, in columns.
double column_of_axis(geometry const& g, view_vectors const& w) {
  vec3<double> const n = cross(w.u_step, w.v_step);
  vec3<double> const along = g.kind() == beam::cone ? vec3<double>{-w.source.x, -w.source.y, 0}
                                                    : vec3<double>{w.source.x, w.source.y, 0};
  vec3<double> const from = g.kind() == beam::cone ? w.source : vec3<double>{};
  double const t = dot(n, w.detector_origin - from) / dot(n, along);
  return dot(cross(w.v_step, n), from + t * along - w.detector_origin) / dot(n, n);
}

/// What is known of an offset detector.
struct placement {
  bool offset = false;
  double side = 0;     ///< the sign of the distance of the rays that are measured once
  double overlap = 0;  ///< mm: rays nearer to the axis are measured twice
  std::int64_t before = 0;
  std::int64_t after = 0;
};

placement place(geometry const& g, scan_options const& options) {
  ISO_VALIDATE(int(options.detector) >= 0 && options.detector <= detector_placement::offset,
               "fdk: detector placement {} (none of its enumeration) choose from "
               "iso/ct/scan_weights.hpp",
               int(options.detector));
  placement p;
  double const width = double(g.num_u());
  double farthest = 0;
  for (view_vectors const& w : g.views()) {
    double const shift = (column_of_axis(g, w) - 0.5 * (width - 1)) / width;
    farthest = std::abs(shift) > std::abs(farthest) ? shift : farthest;
  }
  p.offset = options.detector == detector_placement::offset ||
             (options.detector == detector_placement::automatic && std::abs(farthest) > 0.1);
  if (!p.offset) {
    return p;
  }
  for (std::size_t i = 0; i < g.views().size(); ++i) {
    view_vectors const& w = g.views()[i];
    double const axis = column_of_axis(g, w);
    ISO_VALIDATE(axis > -0.5 && axis < width - 0.5,
                 "fdk: view {}: the z axis is seen at column {:.4g} (beyond the offset detector of "
                 "{} columns, so that no ray near the axis is measured) move the detector",
                 i, axis, g.num_u());
    double const low = distance_from_axis(g, w, -0.5);
    double const high = distance_from_axis(g, w, width - 0.5);
    bool const high_is_near = std::abs(high) < std::abs(low);
    double const near = std::abs(high_is_near ? high : low);
    double const side = (high_is_near ? low : high) > 0 ? 1 : -1;
    bool const is_even = std::abs(std::abs(high) - std::abs(low)) <= 1e-6 * near;
    ISO_VALIDATE(p.side == 0 || is_even || side == p.side,
                 "fdk: view {}: the detector lies on the other side of the z axis than before "
                 "(opposite views must complete each other) take one side for all views",
                 i);
    p.side = is_even && p.side != 0 ? p.side : side;
    p.overlap = i == 0 ? near : std::min(near, p.overlap);
    // Until both sides are equally wide.
    auto const missing = std::int64_t(std::ceil(std::abs(2 * axis + 1 - width) - 1e-6));
    (high_is_near ? p.after : p.before) = std::max(high_is_near ? p.after : p.before, missing);
  }
  return p;
}

/// From 0 at x = -1 to 2 at x = 1, x and -x adding up to 2.
double half_fan(double x) {
  return x <= -1 ? 0 : x >= 1 ? 2 : 1 + iso::detail::sine_of(0.5 * pi * x);
}

/// Twice Parker's weight of the ray at the angle gamma of the fan, beta after the arc's beginning;
/// the arc is pi + 2 spare. The ray that runs the other way is (beta + pi + 2 gamma, -gamma).
double parker(double beta, double gamma, double spare) {
  auto const rise = [](double part) {
    double const s = iso::detail::sine_of(0.5 * pi * part);
    return 2 * s * s;
  };
  if (beta < 2 * (spare - gamma)) {
    return rise(beta / (2 * (spare - gamma)));
  }
  if (beta > pi - 2 * gamma) {
    return rise((pi + 2 * spare - beta) / (2 * (spare + gamma)));
  }
  return 2;
}

/// The views in the order of their angles about the z axis, with the gap after each.
struct turn {
  double circle;  ///< what the angles are taken modulo
  std::vector<double> angles;
  std::vector<std::size_t> order;
  std::vector<double> gaps;

  turn(geometry const& g, double modulus) : circle(modulus), order(g.views().size()) {
    for (view_vectors const& w : g.views()) {
      double const angle = angle_of(w.source.x, w.source.y);
      angles.push_back(angle >= circle ? angle - circle : angle);
    }
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return angles[a] < angles[b]; });
    for (std::size_t n = 0; n < order.size(); ++n) {
      bool const wraps = n + 1 == order.size();
      double const next = angles[order[wraps ? 0 : n + 1]];
      gaps.push_back(next - angles[order[n]] + (wraps ? circle : 0.0));
    }
  }
  [[nodiscard]] double mean() const { return circle / double(gaps.size()); }
  [[nodiscard]] std::size_t widest() const {
    return std::size_t(std::max_element(gaps.begin(), gaps.end()) - gaps.begin());
  }
};

constexpr double widest_gap = 3;  // of the mean one

/// Whether the views leave out one part of the circle: beside it no gap is wide. Angles that are
/// irregular all about the circle have several wide gaps.
bool leaves_a_gap(turn const& t) {
  if (t.order.size() < 2 || t.gaps[t.widest()] <= widest_gap * t.mean()) {
    return false;
  }
  double const mean = (t.circle - t.gaps[t.widest()]) / double(t.gaps.size() - 1);
  return std::count_if(t.gaps.begin(), t.gaps.end(),
                       [&](double gap) { return gap > widest_gap * mean; }) == 1;
}

void weigh_circle(turn const& t, char const* needed, scan_weights& weights) {
  for (std::size_t n = 0; n < t.order.size(); ++n) {
    double const gap = t.gaps[n];
    ISO_VALIDATE(
        gap <= widest_gap * t.mean() || t.order.size() == 1,
        "fdk: no view within {:.4g} degrees (views are {:.4g} degrees apart on average; {} "
        "is needed) scan further, without gaps",
        gap * degrees, t.mean() * degrees, needed);
    weights.angles[t.order[n]] += gap / 2;
    weights.angles[t.order[n + 1 == t.order.size() ? 0 : n + 1]] += gap / 2;
  }
}

/// Angles of an arc's views, each in the middle of what it stands for at the arc's ends; `begins`
/// takes how far each lies from the arc's beginning. Returns the arc.
double weigh_arc(turn const& t, scan_weights& weights, std::vector<double>& begins) {
  std::size_t const size = t.order.size();
  std::size_t const widest = t.widest();
  double const mean = (t.circle - t.gaps[widest]) / std::max(1.0, double(size - 1));
  auto const gap_after = [&](std::size_t n) { return t.gaps[(widest + 1 + n) % size]; };
  double const first = size > 1 ? std::min(gap_after(0), t.gaps[widest]) : 0;
  double const last = size > 1 ? std::min(gap_after(size - 2), t.gaps[widest]) : 0;
  double at = first / 2;
  for (std::size_t n = 0; n < size; ++n) {
    std::size_t const view = t.order[(widest + 1 + n) % size];
    bool const ends = n + 1 == size;
    begins[view] = at;
    ISO_VALIDATE(ends || gap_after(n) <= widest_gap * mean,
                 "fdk: no view within {:.4g} degrees of an arc (views are {:.4g} degrees apart on "
                 "average) scan the arc without gaps",
                 gap_after(n) * degrees, mean * degrees);
    weights.angles[view] =
        (n == 0 ? first : gap_after(n - 1)) / 2 + (ends ? last : gap_after(n)) / 2;
    at += ends ? last / 2 : gap_after(n);
  }
  return at;
}

/// The angle of the ray through column u to the one through the z axis, from x to y.
double fan_angle(geometry const& g, view_vectors const& w, double u) {
  if (g.kind() == beam::parallel) {
    return 0;
  }
  double const s = -distance_from_axis(g, w, u) / horizontal(w.source);
  double const angle = angle_of(std::sqrt(std::max(0.0, 1 - s * s)), s);
  return angle > pi ? angle - 2 * pi : angle;
}

/// Redundancy as f(view, column), and beyond the detector's edges the cosine fall.
template <class F>
void fill_factors(geometry const& g, std::int64_t continuation, F const& redundancy,
                  scan_weights& weights) {
  std::int64_t const columns = weights.before + g.num_u() + weights.after;
  weights.factors.reserve(std::size_t(weights.rows * columns));
  for (std::int64_t view = 0; view < weights.rows; ++view) {
    for (std::int64_t c = 0; c < columns; ++c) {
      std::int64_t const u = c - weights.before;
      std::int64_t const edge = std::clamp<std::int64_t>(u, 0, g.num_u() - 1);
      std::int64_t const beyond = std::abs(u - edge);
      // cos^2 falls from 1 at the edge to 0 one column after the last.
      double const fall = iso::detail::sine_of(0.5 * pi * double(continuation + 1 - beyond) /
                                               double(continuation + 1));
      weights.factors.push_back(beyond > continuation ? 0.0
                                : beyond == 0         ? redundancy(view, edge)
                                                      : fall * fall * redundancy(view, edge));
    }
  }
}

void weigh_short_scan(geometry const& g, std::int64_t continuation, turn const& t,
                      scan_weights& weights) {
  std::vector<double> begins(t.order.size());
  double const arc = weigh_arc(t, weights, begins);
  double fan = 0;  // to the farther edge
  for (view_vectors const& w : g.views()) {
    fan = std::max(
        {fan, std::abs(fan_angle(g, w, 0)), std::abs(fan_angle(g, w, double(g.num_u() - 1)))});
  }
  ISO_VALIDATE(
      arc * (1 + 1e-9) >= pi + 2 * fan,
      "fdk: the views cover {:.4g} degrees (with a fan of {:.4g} degrees {:.4g} are needed, "
      "or the full circle) scan further",
      arc * degrees, 2 * fan * degrees, (pi + 2 * fan) * degrees);
  weights.rows = g.num_views();
  fill_factors(
      g, continuation,
      [&](std::int64_t view, std::int64_t u) {
        auto const i = std::size_t(view);
        return parker(begins[i], fan_angle(g, g.views()[i], double(u)), 0.5 * (arc - pi));
      },
      weights);
}

}  // namespace

namespace detail {

row_extension extension_of(geometry const& g, scan_options const& options) {
  std::int64_t const most = std::int64_t(1) << 22;
  ISO_VALIDATE(options.continuation >= 0 && options.continuation < most,
               "fdk: continuation over {} columns (must be from 0 to 2^22 - 1)",
               options.continuation);
  placement const p = place(g, options);
  return {std::max(p.before, options.continuation), std::max(p.after, options.continuation)};
}

geometry extended(geometry const& g, row_extension const& by) {
  if (by.before == 0 && by.after == 0) {
    return g;
  }
  auto views = g.views();
  for (view_vectors& w : views) {
    w.detector_origin = w.detector_origin - double(by.before) * w.u_step;
  }
  return {g.kind(), by.before + g.num_u() + by.after, g.num_v(), std::move(views)};
}

}  // namespace detail

scan_weights weigh_scan(geometry const& g, scan_options const& options) {
  ISO_VALIDATE(int(options.arc) >= 0 && options.arc <= scan_arc::short_scan,
               "fdk: scan arc {} (none of its enumeration) choose from iso/ct/scan_weights.hpp",
               int(options.arc));
  validate_rows(g, options.max_roll);
  validate_orbit(g);
  auto const by = detail::extension_of(g, options);
  placement const p = place(g, options);
  bool const cone = g.kind() == beam::cone;
  // Without offset, parallel rays that run either way see the same.
  bool const folds = !cone && !p.offset && options.arc != scan_arc::short_scan;
  turn const t(g, folds ? pi : 2 * pi);
  bool const is_short = options.arc == scan_arc::short_scan ||
                        (options.arc == scan_arc::automatic && !folds && leaves_a_gap(t));
  ISO_VALIDATE(
      !(is_short && p.offset),
      "fdk: the detector lies beside the z axis and the views cover an arc (then some rays "
      "are measured from neither side) scan the full circle, or choose a centred detector "
      "for what both its sides see");
  scan_weights weights;
  weights.arc = is_short ? scan_arc::short_scan : scan_arc::full;
  weights.detector = p.offset ? detector_placement::offset : detector_placement::centred;
  weights.before = by.before;
  weights.after = by.after;
  weights.angles.assign(t.order.size(), 0.0);
  if (is_short) {
    weigh_short_scan(g, options.continuation, t, weights);
  } else {
    weigh_circle(t, folds ? "half a circle" : "a full circle", weights);
    weights.rows = p.offset ? g.num_views() : options.continuation > 0 ? 1 : 0;
    fill_factors(
        g, options.continuation,
        [&](std::int64_t view, std::int64_t u) {
          return p.offset
                     ? half_fan(p.side *
                                distance_from_axis(g, g.views()[std::size_t(view)], double(u)) /
                                p.overlap)
                     : 1.0;
        },
        weights);
  }
  if (!cone && !folds) {
    // Both ways of a ray count.
    for (double& angle : weights.angles) {
      angle /= 2;
    }
  }
  return weights;
}

}  // namespace iso::ct
