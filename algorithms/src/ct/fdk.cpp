// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/fdk_impl.hpp>

#include <iso/core/check.hpp>
#include <iso/core/math.hpp>
#include <iso/detail/angles.hpp>
#include <iso/detail/check_word.hpp>

#include <cstddef>

namespace iso::ct {
namespace {

using iso::detail::pi;

/// Returns the inverse Fourier transform of the ramp |f|, cut off at `f`, at the distance t: 2 f^2
/// sinc(2 f t) - f^2 sinc(f t)^2.
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

/// Returns the integral over [-f, f] of sin(a |x|) cos(b x), with a = pi / (2 f) and b = 2 pi t,
/// divided by a.
double sine_ramp(double f, double t) {
  double const a = pi / (2 * f);
  double const b = 2 * pi * t;
  auto const half = [&](double c) {
    return c == 0 ? 0.0 : (1 - iso::detail::cosine_of(c * f)) / c;
  };
  return (half(a + b) + half(a - b)) / a;
}

double windowed(ramp_window window, double f, double t) {
  // A cosine in the window adds the ramp's transform, moved by half a period each way.
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

}  // namespace

std::vector<double> ramp_taps(std::int64_t count, fdk_options const& options) {
  ISO_VALIDATE(count >= 1,
               "iso::ct::ramp_taps: {} taps (at least one is needed); ask for as many as the "
               "detector has columns",
               count);
  ISO_VALIDATE(options.cutoff > 0 && options.cutoff <= 1,
               "iso::ct::ramp_taps: cut-off {} (must be above 0 and at most 1, of the Nyquist "
               "frequency); use 1 for the full resolution",
               options.cutoff);
  iso::detail::check_word(options.window, "iso::ct::ramp_taps", "window");
  std::vector<double> taps;
  for (std::int64_t n = 0; n < count; ++n) {
    bool const is_zero =
        options.window == ramp_window::ram_lak && options.cutoff == 1 && n > 0 && n % 2 == 0;
    taps.push_back(is_zero ? 0.0 : windowed(options.window, options.cutoff / 2, double(n)));
  }
  return taps;
}

namespace detail {

void validate_detector(geometry const& g, row_extension const& by) {
  std::int64_t const most = std::int64_t(1) << 22;
  std::int64_t const columns = by.before + g.num_u() + by.after;
  ISO_VALIDATE(g.num_v() < most && columns < most &&
                   (columns + 2) * (g.num_v() + 34) < std::int64_t(1) << 31,
               "iso::ct::fdk: detector of {} x {} pixels, extended to {} (below 2^22 each way and "
               "2^31 in all); bin or crop the detector",
               g.num_u(), g.num_v(), columns);
}

void validate_depths(geometry const& g, iso::grid const& volume, char const* function) {
  for (std::size_t i = 0; i < g.views().size(); ++i) {
    view_vectors const& w = g.views()[i];
    vec3<double> const n = normal_of(w);
    if (g.kind() == beam::parallel) {
      ISO_VALIDATE(dot(n, w.source) != 0,
                   "{}: view {}: rays run along the detector (they meet no pixel); check the "
                   "view's steps and direction",
                   function, i);
      continue;
    }
    double const axis = -dot(n, w.source);
    double const distance = dot(n, w.detector_origin - w.source);
    ISO_VALIDATE(axis * distance > 0,
                 "{}: view {}: the z axis does not lie between source and detector (no volume "
                 "about it is seen); check the view's source and detector",
                 function, i);
    // The depth is linear, so that its smallest value is at a corner.
    for (int corner = 0; corner < 8; ++corner) {
      auto const at = [&](int axis_number) {
        auto const a = std::size_t(axis_number);
        return (corner >> axis_number & 1) != 0 ? double(volume.extent[a] - 1) : 0.0;
      };
      vec3<double> const x{volume.origin.x + volume.spacing.x * at(0),
                           volume.origin.y + volume.spacing.y * at(1),
                           volume.origin.z + volume.spacing.z * at(2)};
      ISO_VALIDATE(dot(n, x - w.source) / axis > 1e-6,
                   "{}: view {}: the source lies within the volume or behind its voxels (every "
                   "voxel must lie before it); move the source away, or crop the volume",
                   function, i);
    }
  }
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_CT_FDK, )
ISO_FOR_EACH_BACKEND(ISO_CT_FDK_PLAN)

}  // namespace iso::ct
