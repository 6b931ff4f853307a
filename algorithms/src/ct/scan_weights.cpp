// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/scan_weights.hpp>

#include <iso/core/check.hpp>
#include <iso/ct/detail/ray_shares.hpp>
#include <iso/ct/detail/ray_weight.hpp>
#include <iso/ct/detail/row_extension.hpp>
#include <iso/detail/check_word.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

namespace iso::ct {
namespace {

using detail::angle_of;
using detail::distance_from_axis;
using detail::fan_angle;
using detail::horizontal;
using detail::pi;

constexpr double degrees = 180 / pi;
constexpr double steepest_roll = 0.2;  // rad
constexpr double usual_roll = 5 / degrees;
constexpr double usual_roll_of_once = 1.5 / degrees;  // where rays are measured once
constexpr double steepest_view = 5 / degrees;         // of the row of pixels that is least steep

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
void validate_rows(geometry const& g, double max_roll, char const* where = "") {
  ISO_VALIDATE(max_roll >= 0 && max_roll <= steepest_roll,
               "iso::ct::fdk: rows may leave the plane of rotation by {} rad (must be from 0 to "
               "{}); choose a smaller max_roll",
               max_roll, steepest_roll);
  for (std::size_t i = 0; i < g.views().size(); ++i) {
    view_vectors const& w = g.views()[i];
    double const roll = angle_of(horizontal(w.u_step), std::abs(w.u_step.z));
    ISO_VALIDATE(
        roll <= max_roll * (1 + 1e-9),
        "iso::ct::fdk: view {}: rows of u leave the plane of rotation by {:.3g} degrees (the "
        "filter runs along them, at most {:.3g}{}); turn the detector, or allow more by max_roll, "
        "at most 11.45 degrees, which blurs along z, or take an iterative method",
        i, roll * degrees, max_roll * degrees, where);
    if (g.kind() == beam::parallel) {
      continue;
    }
    vec3<double> const across = detail::across_rows(w);
    vec3<double> const first = w.detector_origin - w.source;
    vec3<double> const last = first + double(g.num_v() - 1) * w.v_step;
    double const axis = -(across.x * w.source.x + across.y * w.source.y);
    ISO_VALIDATE(axis * dot(across, first) > 0 && axis * dot(across, last) > 0,
                 "iso::ct::fdk: view {}: a row of pixels does not stand across from the source as "
                 "seen along the z axis (its rays do not pass the axis); turn the detector upright",
                 i);
  }
}

/// Throws where all views of a cone beam look at the plane of rotation, in which alone the method
/// is exact, from so far above or below that all rows leave it steeply.
void validate_steepness(geometry const& g) {
  double least = pi;
  for (view_vectors const& w : g.views()) {
    auto const steepness = [&](std::int64_t v) {
      vec3<double> const ray = w.detector_origin - w.source +
                               0.5 * double(g.num_u() - 1) * w.u_step + double(v) * w.v_step;
      double const angle = angle_of(horizontal(ray), std::abs(ray.z));
      return ray.z < 0 ? -angle : angle;
    };
    double const first = steepness(0);
    double const last = steepness(g.num_v() - 1);
    double const here = first * last <= 0 ? 0 : std::min(std::abs(first), std::abs(last));
    least = std::min(least, here);
  }
  ISO_VALIDATE(least <= steepest_view,
               "iso::ct::fdk: all rays leave the plane of rotation by {:.3g} degrees or more, as "
               "of a tilted axis in laminography (filtered backprojection is exact in that plane, "
               "and wrong far from it: at most {:.3g}); take an iterative method",
               least * degrees, steepest_view * degrees);
}

/// Throws where parallel rays climb along z so far that no height is seen in all views.
void validate_heights(geometry const& g) {
  double low = -std::numeric_limits<double>::infinity();
  double high = -low;
  for (view_vectors const& w : g.views()) {
    double const first = w.detector_origin.z + 0.5 * double(g.num_u() - 1) * w.u_step.z;
    double const below = first - 0.5 * w.v_step.z;
    double const above = below + double(g.num_v()) * w.v_step.z;
    low = std::max(low, std::min(below, above));
    high = std::min(high, std::max(below, above));
  }
  ISO_VALIDATE(low < high,
               "iso::ct::fdk: no height is seen in all views (filtered backprojection needs a "
               "circle about the z axis, not a helix); take an iterative method");
}

/// Throws unless the sources of a cone beam lie on a circle about the z axis, and parallel rays
/// across it.
void validate_orbit(geometry const& g) {
  auto const& views = g.views();
  if (g.kind() == beam::parallel) {
    for (std::size_t i = 0; i < views.size(); ++i) {
      vec3<double> const& d = views[i].source;
      ISO_VALIDATE(std::abs(d.z) <= 1e-3 * horizontal(d),
                   "iso::ct::fdk: view {}: rays leave the plane of rotation by {:.3g} degrees, as "
                   "of a tilted axis in laminography (filtered backprojection needs rays across "
                   "the z axis); take an iterative method, or check the directions of the rays",
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
                 "iso::ct::fdk: the sources lie in a plane that is tilted by {:.3g} degrees (they "
                 "must turn about the z axis); turn the coordinates, or take an iterative method",
                 tilt);
    ISO_VALIDATE(std::abs(here - r) <= 1e-3 * r && here > 0,
                 "iso::ct::fdk: view {}: source {} mm from the z axis, {} mm in view 0 (filtered "
                 "backprojection needs a circle about the z axis); take an iterative method, or "
                 "scan on a circle",
                 i, here, r);
    ISO_VALIDATE(false,
                 "iso::ct::fdk: view {}: source at z = {} mm, {} mm in view 0 (filtered "
                 "backprojection needs a circle about the z axis, not a helix); take an iterative "
                 "method, or scan on a circle",
                 i, views[i].source.z, views.front().source.z);
  }
}

double middle_row(geometry const& g) { return 0.5 * double(g.num_v() - 1); }

/// The rows whose rays differ as seen along the z axis: one where columns run along it.
std::vector<double> rows_of(geometry const& g) {
  if (g.v_parallel_to_z()) {
    return {middle_row(g)};
  }
  std::vector<double> rows(std::size_t(g.num_v()));
  std::iota(rows.begin(), rows.end(), 0.0);
  return rows;
}

/// Where the z axis is seen in a row, in columns.
double column_of_axis(view_vectors const& w, double v) {
  vec3<double> const from = w.detector_origin + v * w.v_step;
  vec3<double> const& h = w.source;  // seen from above, rays to the axis run along it
  return -(from.x * h.y - from.y * h.x) / (w.u_step.x * h.y - w.u_step.y * h.x);
}

/// What is known of a displaced detector.
struct placement {
  bool offset = false;
  double side = 0;               ///< the sign of the distance of the rays that are measured once
  std::vector<double> overlaps;  ///< [rows_of], mm: rays nearer to the axis are measured twice
  std::int64_t before = 0;
  std::int64_t after = 0;
};

/// Adds what a row of a view says to `p`. Returns how far the row sees on its nearer side, in mm
/// from the axis.
double place_row(geometry const& g, std::size_t view, double v, placement& p) {
  view_vectors const& w = g.views()[view];
  double const width = double(g.num_u());
  double const axis = column_of_axis(w, v);
  ISO_VALIDATE(axis > -0.5 && axis < width - 0.5,
               "iso::ct::fdk: view {}: the z axis is seen at column {:.4g} of row {:.4g} (beyond "
               "the displaced detector of {} columns, so that no ray near the axis is measured); "
               "move the detector so that its columns reach the axis",
               view, axis, v, g.num_u());
  double const low = std::abs(distance_from_axis(g.kind(), w, -0.5, v));
  double const high = std::abs(distance_from_axis(g.kind(), w, width - 0.5, v));
  // Until both sides are equally wide.
  auto const missing = std::int64_t(std::ceil(std::abs(2 * axis + 1 - width) - 1e-6));
  (high < low ? p.after : p.before) = std::max(high < low ? p.after : p.before, missing);
  return std::min(low, high);
}

placement place(geometry const& g, scan_options const& options) {
  iso::detail::check_word(options.detector, "iso::ct::fdk", "detector");
  placement p;
  double const width = double(g.num_u());
  double const middle = middle_row(g);
  double farthest = 0;
  for (view_vectors const& w : g.views()) {
    double const shift = (column_of_axis(w, middle) - 0.5 * (width - 1)) / width;
    farthest = std::abs(shift) > std::abs(farthest) ? shift : farthest;
  }
  p.offset = options.detector == detector_placement::displaced ||
             (options.detector == detector_placement::automatic && std::abs(farthest) > 0.1);
  if (!p.offset) {
    return p;
  }
  auto const rows = rows_of(g);
  p.overlaps.assign(rows.size(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < g.views().size(); ++i) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      p.overlaps[row] = std::min(p.overlaps[row], place_row(g, i, rows[row], p));
    }
    view_vectors const& w = g.views()[i];
    double const low = distance_from_axis(g.kind(), w, -0.5, middle);
    double const high = distance_from_axis(g.kind(), w, width - 0.5, middle);
    bool const high_is_near = std::abs(high) < std::abs(low);
    double const near = std::abs(high_is_near ? high : low);
    double const side = (high_is_near ? low : high) > 0 ? 1 : -1;
    bool const is_even = std::abs(std::abs(high) - std::abs(low)) <= 1e-6 * near;
    ISO_VALIDATE(p.side == 0 || is_even || side == p.side,
                 "iso::ct::fdk: view {}: the detector lies on the other side of the z axis than "
                 "before (opposite views must complete each other); displace the detector to one "
                 "side for all views",
                 i);
    p.side = is_even && p.side != 0 ? p.side : side;
  }
  for (double& overlap : p.overlaps) {
    overlap *= p.side;
  }
  return p;
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
  [[nodiscard]] double covered() const { return circle - gaps[widest()]; }
  [[nodiscard]] std::size_t widest() const {
    return std::size_t(std::max_element(gaps.begin(), gaps.end()) - gaps.begin());
  }
};

constexpr double widest_gap = 3;  // of the mean one

/// The widest gap of a circle, whatever the mean one: rays that it lacks are seen from the other
/// side, and the views beside it stand for them.
double allowed_gap(turn const& t) {
  double const half_circle = 1.5 * pi;  // there are none from the other side
  return t.circle < half_circle ? widest_gap * t.mean() : std::max(widest_gap * t.mean(), pi / 15);
}

bool is_closed(turn const& t) { return t.gaps[t.widest()] <= allowed_gap(t); }

/// Whether the views leave out one part of the circle: no other gap is wide, or none nearly as
/// wide. Angles that are irregular all about the circle have several wide gaps.
bool leaves_a_gap(turn const& t) {
  double const widest = t.gaps[t.widest()];
  if (t.order.size() < 2 || is_closed(t)) {
    return false;
  }
  auto gaps = t.gaps;
  std::nth_element(gaps.begin(), gaps.begin() + 1, gaps.end(), std::greater<>());
  double const mean = (t.circle - widest) / double(gaps.size() - 1);
  return gaps[1] <= widest_gap * mean || widest > widest_gap * gaps[1];
}

void weigh_circle(turn const& t, char const* needed, scan_weights& weights) {
  for (std::size_t n = 0; n < t.order.size(); ++n) {
    double const gap = t.gaps[n];
    ISO_VALIDATE(gap <= allowed_gap(t) || t.order.size() == 1,
                 "iso::ct::fdk: no view within {:.4g} degrees (views are {:.4g} degrees apart on "
                 "average; {} is needed); scan further, without gaps",
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
    ISO_VALIDATE(
        ends || gap_after(n) <= widest_gap * mean,
        "iso::ct::fdk: no view within {:.4g} degrees of an arc of {:.4g} degrees (views are {:.4g} "
        "degrees apart on average); scan the arc without gaps, or the full circle",
        gap_after(n) * degrees, t.covered() * degrees, mean * degrees);
    weights.angles[view] =
        (n == 0 ? first : gap_after(n - 1)) / 2 + (ends ? last : gap_after(n)) / 2;
    at += ends ? last / 2 : gap_after(n);
  }
  return at;
}

/// The shares of rays, to be read on the host.
detail::ray_shares shares_of(scan_weights const& weights) {
  return {weights.overlaps.empty() ? nullptr : weights.overlaps.data(),
          weights.begins.empty() ? nullptr : weights.begins.data(), weights.spare};
}

/// The factor of each column: beyond the detector's edges the cosine fall, and the share of its
/// rays where they have one.
void fill_redundancy_weights(geometry const& g, std::int64_t truncation_correction,
                             scan_weights& weights) {
  std::int64_t const columns = weights.before + g.num_u() + weights.after;
  bool const by_column =
      g.v_parallel_to_z() && !(weights.overlaps.empty() && weights.begins.empty());
  weights.rows = by_column ? g.num_views() : columns > g.num_u() ? 1 : 0;
  weights.redundancy_weights.reserve(std::size_t(weights.rows * columns));
  for (std::int64_t view = 0; view < weights.rows; ++view) {
    view_vectors const& w = g.views()[std::size_t(view)];
    for (std::int64_t c = 0; c < columns; ++c) {
      std::int64_t const u = c - weights.before;
      std::int64_t const edge = std::clamp<std::int64_t>(u, 0, g.num_u() - 1);
      std::int64_t const beyond = std::abs(u - edge);
      // cos^2 falls from 1 at the edge to 0 one column after the last.
      double const fall = detail::sine_of(0.5 * pi * double(truncation_correction + 1 - beyond) /
                                          double(truncation_correction + 1));
      double const share =
          by_column ? shares_of(weights).at(g.kind(), w, view, double(edge), middle_row(g), 0)
                    : 1.0;
      weights.redundancy_weights.push_back(beyond > truncation_correction ? 0.0
                                           : beyond == 0                  ? share
                                                                          : fall * fall * share);
    }
  }
  if (by_column) {
    weights.overlaps.clear();
    weights.begins.clear();
  }
}

void weigh_short_scan(geometry const& g, turn const& t, scan_weights& weights) {
  weights.begins.resize(t.order.size());
  double const arc = weigh_arc(t, weights, weights.begins);
  weights.spare = 0.5 * (arc - pi);
  double fan = 0;  // to the farther edge; at its largest in the first or the last row
  auto const rows = rows_of(g);
  for (view_vectors const& w : g.views()) {
    for (double const v : {rows.front(), rows.back()}) {
      fan = std::max({fan, std::abs(fan_angle(g.kind(), w, 0, v)),
                      std::abs(fan_angle(g.kind(), w, double(g.num_u() - 1), v))});
    }
  }
  ISO_VALIDATE(arc * (1 + 1e-9) >= pi + 2 * fan,
               "iso::ct::fdk: the views cover {:.4g} degrees (with a fan of {:.4g} degrees {:.4g} "
               "are needed, or the full circle); scan further",
               arc * degrees, 2 * fan * degrees, (pi + 2 * fan) * degrees);
}

}  // namespace

namespace detail {

row_extension extension_of(geometry const& g, scan_options const& options) {
  std::int64_t const most = 4 * g.num_u();
  ISO_VALIDATE(options.truncation_correction >= 0 && options.truncation_correction <= most,
               "iso::ct::fdk: truncation correction over {} columns (must be from 0 to {}, four "
               "times the detector's width); choose fewer columns",
               options.truncation_correction, most);
  placement const p = place(g, options);
  return {std::max(p.before, options.truncation_correction),
          std::max(p.after, options.truncation_correction)};
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
  iso::detail::check_word(options.arc, "iso::ct::fdk", "arc");
  validate_rows(g, options.max_roll.value_or(usual_roll));
  validate_orbit(g);
  if (g.kind() == beam::cone) {
    validate_steepness(g);
  } else {
    validate_heights(g);
  }
  auto const by = detail::extension_of(g, options);
  placement const p = place(g, options);
  bool const cone = g.kind() == beam::cone;
  // Without offset, parallel rays that run either way see the same.
  bool const folds = !cone && !p.offset && options.arc != scan_arc::short_scan;
  turn const t(g, folds ? pi : 2 * pi);
  bool const is_short = options.arc == scan_arc::short_scan ||
                        (options.arc == scan_arc::automatic && !folds && leaves_a_gap(t));
  ISO_VALIDATE(!(is_short && p.offset),
               "iso::ct::fdk: the detector lies beside the z axis and the views are taken for an "
               "arc of {:.4g} degrees (then some rays are measured from neither side); scan the "
               "full circle, or choose a centred detector for what both its sides see",
               t.covered() * degrees);
  // Parallel rays all about the circle see every line from both sides.
  bool const once = is_short || p.offset || (folds && !is_closed(turn(g, 2 * pi)));
  if (once && !options.max_roll) {
    validate_rows(g, usual_roll_of_once, " where rays are measured once");
  }
  scan_weights weights;
  weights.arc = is_short ? scan_arc::short_scan : scan_arc::full;
  weights.detector = p.offset ? detector_placement::displaced : detector_placement::centred;
  weights.before = by.before;
  weights.after = by.after;
  weights.angles.assign(t.order.size(), 0.0);
  if (is_short) {
    weigh_short_scan(g, t, weights);
  } else {
    weigh_circle(t,
                 folds ? "half a circle"
                 : p.offset || options.arc == scan_arc::full
                     ? "a full circle"
                     : "an arc without gaps, or a full circle,",
                 weights);
    weights.overlaps = p.overlaps;
  }
  fill_redundancy_weights(g, options.truncation_correction, weights);
  if (!cone && !folds) {
    // Both ways of a ray count.
    for (double& angle : weights.angles) {
      angle /= 2;
    }
  }
  return weights;
}

double redundancy_weight(geometry const& g, scan_weights const& weights, std::int64_t view,
                         std::int64_t u, std::int64_t v) {
  ISO_VALIDATE(view >= 0 && view < g.num_views() && u >= -weights.before &&
                   u < g.num_u() + weights.after && v >= 0 && v < g.num_v(),
               "iso::ct::redundancy_weight: pixel ({}, {}, {}) (there are [{}, -{} .. {}, {}]); "
               "ask for a pixel within these",
               view, u, v, g.num_views(), weights.before, g.num_u() + weights.after, g.num_v());
  std::int64_t const columns = weights.before + g.num_u() + weights.after;
  std::int64_t const row = weights.rows > 1 ? view : 0;
  double const factor =
      weights.rows == 0
          ? 1.0
          : weights.redundancy_weights[std::size_t(row * columns + weights.before + u)];
  std::int64_t const edge = std::clamp<std::int64_t>(u, 0, g.num_u() - 1);
  return factor == 0 ? 0.0
                     : factor * shares_of(weights).at(g.kind(), g.views()[std::size_t(view)], view,
                                                      double(edge), double(v), v);
}

}  // namespace iso::ct
