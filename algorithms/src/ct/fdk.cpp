// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/fdk.hpp>

#include <iso/core/check.hpp>
#include <iso/core/math.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace iso::ct {
namespace {

constexpr double pi = 0x1.921fb54442d18p+1;

double cosine(double x) {
  double s;
  double c;
  math::sincos(x, s, c);
  return c;
}

/// The ramp |f| cut off at `f`, at distance t: its inverse Fourier transform
/// 2 f^2 sinc(2 f t) - f^2 sinc(f t)^2.
double ramp(double f, double t) {
  if (t == 0) {
    return f * f;
  }
  // (cos x + x sin x - 1) / (2 pi^2 t^2), x = 2 pi f t, of which cos x - 1 = -2 sin(x / 2)^2.
  double const x = 2 * pi * f * t;
  double s;
  double c;
  math::sincos(x, s, c);
  double half_s;
  double half_c;
  math::sincos(x / 2, half_s, half_c);
  return (x * s - 2 * half_s * half_s) / (2 * pi * pi * t * t);
}

/// The integral over [-f, f] of sin(a |x|) cos(b x), a = pi / (2 f), b = 2 pi t, times 1 / a.
double sine_ramp(double f, double t) {
  double const a = pi / (2 * f);
  double const b = 2 * pi * t;
  auto const half = [&](double c) { return c == 0 ? 0.0 : (1 - cosine(c * f)) / c; };
  return (half(a + b) + half(a - b)) / a;
}

double windowed(ramp_window window, double f, double t) {
  // A window of cosines moves the ramp by half a period each way.
  auto const cosines = [&](double constant, double of_cosine, double shift) {
    return constant * ramp(f, t) + 0.5 * of_cosine * (ramp(f, t + shift) + ramp(f, t - shift));
  };
  switch (window) {
    case ramp_window::ram_lak:
      return ramp(f, t);
    case ramp_window::shepp_logan:
      return sine_ramp(f, t);
    case ramp_window::cosine:
      return cosines(0, 1, 0.25 / f);
    case ramp_window::hamming:
      return cosines(0.54, 0.46, 0.5 / f);
    default:
      return cosines(0.5, 0.5, 0.5 / f);
  }
}

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

/// Throws unless the sources of a cone beam lie on a circle about the z axis.
void validate_circle(geometry const& g) {
  auto const& views = g.views();
  auto const radius = [](view_vectors const& w) {
    return std::sqrt(w.source.x * w.source.x + w.source.y * w.source.y);
  };
  double const r = radius(views.front());
  for (std::size_t i = 0; i < views.size(); ++i) {
    ISO_VALIDATE(std::abs(radius(views[i]) - r) <= 1e-3 * r,
                 "fdk: view {}: source {} mm from the z axis, {} mm in view 0 (a circle about the "
                 "z axis is needed) use an iterative method",
                 i, radius(views[i]), r);
    ISO_VALIDATE(std::abs(views[i].source.z - views.front().source.z) <= 1e-3 * r,
                 "fdk: view {}: source at z = {} mm, {} mm in view 0 (a circle about the z axis is "
                 "needed, not a helix) use an iterative method",
                 i, views[i].source.z, views.front().source.z);
  }
}

}  // namespace

std::vector<double> ramp_taps(std::int64_t count, fdk_options const& options) {
  ISO_VALIDATE(count >= 1, "ramp_taps: {} taps (at least 1)", count);
  ISO_VALIDATE(options.cutoff > 0 && options.cutoff <= 1,
               "ramp_taps: cut-off {} (must lie in (0, 1], of the Nyquist frequency)",
               options.cutoff);
  ISO_VALIDATE(int(options.window) >= 0 && options.window <= ramp_window::hann,
               "ramp_taps: window {} (none of its enumeration) choose from iso/ct/fdk.hpp",
               int(options.window));
  std::vector<double> taps;
  for (std::int64_t n = 0; n < count; ++n) {
    bool const is_zero =
        options.window == ramp_window::ram_lak && options.cutoff == 1 && n > 0 && n % 2 == 0;
    taps.push_back(is_zero ? 0.0 : windowed(options.window, options.cutoff / 2, double(n)));
  }
  return taps;
}

std::vector<double> angular_weights(geometry const& g) {
  bool const cone = g.kind() == beam::cone;
  if (cone) {
    validate_circle(g);
  }
  // Parallel rays that run either way see the same.
  double const circle = cone ? 2 * pi : pi;
  std::vector<double> angles;
  for (view_vectors const& w : g.views()) {
    double const angle = angle_of(w.source.x, w.source.y);
    angles.push_back(angle >= circle ? angle - circle : angle);
  }
  std::vector<std::size_t> order(angles.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return angles[a] < angles[b]; });
  std::vector<double> weights(angles.size(), 0.0);
  double const mean = circle / double(angles.size());
  for (std::size_t n = 0; n < order.size(); ++n) {
    bool const wraps = n + 1 == order.size();
    std::size_t const here = order[n];
    std::size_t const next = order[wraps ? 0 : n + 1];
    double const gap = angles[next] - angles[here] + (wraps ? circle : 0.0);
    ISO_VALIDATE(
        gap <= 3 * mean || order.size() == 1,
        "fdk: no view within {:.4g} degrees (views are {:.4g} degrees apart on average; {} "
        "is needed) scan further, or use an iterative method",
        gap * 180 / pi, mean * 180 / pi, cone ? "a full circle" : "half a circle");
    weights[here] += gap / 2;
    weights[next] += gap / 2;
  }
  return weights;
}

namespace detail {

void validate_detector(geometry const& g) {
  std::int64_t const most = std::int64_t(1) << 22;
  ISO_VALIDATE(g.num_v() < most && g.num_u() < most &&
                   (g.num_u() + 2) * (g.num_v() + 34) < std::int64_t(1) << 31,
               "fdk: detector of {} x {} pixels (below 2^22 each way and 2^31 in all) bin them",
               g.num_u(), g.num_v());
}

void validate_depths(geometry const& g, iso::grid const& volume) {
  for (std::size_t i = 0; i < g.views().size(); ++i) {
    view_vectors const& w = g.views()[i];
    vec3<double> const n = normal_of(w);
    if (g.kind() == beam::parallel) {
      ISO_VALIDATE(dot(n, w.source) != 0, "fdk: view {}: rays run along the detector", i);
      continue;
    }
    double const axis = -dot(n, w.source);
    double const distance = dot(n, w.detector_origin - w.source);
    ISO_VALIDATE(axis * distance > 0,
                 "fdk: view {}: the z axis does not lie between source and detector", i);
    // The depth is linear: its least value stands at a corner.
    for (int corner = 0; corner < 8; ++corner) {
      auto const at = [&](int axis_number) {
        auto const a = std::size_t(axis_number);
        return (corner >> axis_number & 1) != 0 ? double(volume.extent[a] - 1) : 0.0;
      };
      vec3<double> const x{volume.origin.x + volume.spacing.x * at(0),
                           volume.origin.y + volume.spacing.y * at(1),
                           volume.origin.z + volume.spacing.z * at(2)};
      ISO_VALIDATE(dot(n, x - w.source) / axis > 1e-6,
                   "fdk: view {}: the source lies within the volume or behind its voxels "
                   "(every voxel must lie before it) move the source or crop the volume",
                   i);
    }
  }
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_CT_FDK, )

}  // namespace iso::ct
