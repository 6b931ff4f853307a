// SPDX-License-Identifier: BSD-3-Clause
#include <iso/oracle/reconstruction.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace iso::oracle {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// One view, its pixels weighted and filtered where they are asked for; columns are counted from
/// the detector's first, and those that the filter adds before it are negative.
template <class T>
struct filtered_view {
  ct::geometry const& g;
  projection_view<T const, Kokkos::HostSpace> const& projections;
  std::vector<double> const& taps;
  ct::scan_weights const& weights;
  std::int64_t view;
  ct::view_vectors const& w = g.views()[std::size_t(view)];
  bool cone = g.kind() == ct::beam::cone;
  std::int64_t num_u = weights.before + g.num_u() + weights.after;  ///< extended
  std::int64_t num_v = g.num_v();
  /// [u, v]; unknown until they are wanted, the weighted ones a row at a time.
  std::vector<double> weighted = std::vector<double>(std::size_t(num_u * num_v), unknown);
  std::vector<double> filtered = weighted;

  [[nodiscard]] double at(std::int64_t column, std::int64_t v) {
    std::int64_t const u = column + weights.before;
    if (u < 0 || u >= num_u || v < 0 || v >= num_v) {
      return 0;
    }
    double& value = filtered[std::size_t(u * num_v + v)];
    if (std::isnan(value)) {
      weigh_row(v);
      value = 0;
      for (std::int64_t m = 0; m < num_u; ++m) {
        value += taps[std::size_t(std::abs(u - m))] * weighted[std::size_t(m * num_v + v)];
      }
    }
    return value;
  }
  void weigh_row(std::int64_t v) {
    if (!std::isnan(weighted[std::size_t(v)])) {
      return;
    }
    for (std::int64_t c = 0; c < num_u; ++c) {
      std::int64_t const u = c - weights.before;
      std::int64_t const edge = std::clamp<std::int64_t>(u, 0, g.num_u() - 1);
      double const factor = ct::redundancy_weight(g, weights, view, u, v);
      vec3<double> const ray =
          w.detector_origin + double(u) * w.u_step + double(v) * w.v_step - w.source;
      weighted[std::size_t(c * num_v + v)] =
          factor == 0 ? 0 : factor * fan_weight(ray) * double(projections.data(view, edge, v));
    }
  }

  /// Interpolated where the ray through x meets the detector, times the weight of its distance.
  [[nodiscard]] double value(vec3<double> x) {
    vec3<double> const n = cross(w.u_step, w.v_step);
    vec3<double> const along = cone ? x - w.source : w.source;
    vec3<double> const from = cone ? w.source : x;
    double const t = dot(n, w.detector_origin - from) / dot(n, along);
    vec3<double> const hit = from + t * along - w.detector_origin;
    // Coordinates on the detector by its Gram matrix.
    double const uu = dot(w.u_step, w.u_step);
    double const vv = dot(w.v_step, w.v_step);
    double const uv = dot(w.u_step, w.v_step);
    double const det = uu * vv - uv * uv;
    double const u = (dot(hit, w.u_step) * vv - dot(hit, w.v_step) * uv) / det;
    double const v = (dot(hit, w.v_step) * uu - dot(hit, w.u_step) * uv) / det;
    auto const u0 = std::int64_t(std::floor(u));
    auto const v0 = std::int64_t(std::floor(v));
    double const a = u - double(u0);
    double const b = v - double(v0);
    double const read = (1 - a) * ((1 - b) * at(u0, v0) + b * at(u0, v0 + 1)) +
                        a * ((1 - b) * at(u0 + 1, v0) + b * at(u0 + 1, v0 + 1));
    double const pitch = std::sqrt(uu);
    if (!cone) {
      // Of what a step along the row moves in the plane of rotation, the part across the rays.
      double const level = std::hypot(w.u_step.x, w.u_step.y);
      return read / pitch / std::abs(std::sin(seen_from_above(w.source, w.u_step)) * level) * level;
    }
    // How much farther the detector is than x, by any measure along its normal.
    double const farther = dot(n, w.detector_origin - w.source) / dot(n, along);
    double const radius = std::hypot(w.source.x, w.source.y);
    return 0.5 * radius * farther * farther / pitch * read;
  }

  /// The angle from a to b about the z axis.
  static double seen_from_above(vec3<double> a, vec3<double> b) {
    return std::atan2(a.x * b.y - a.y * b.x, a.x * b.x + a.y * b.y);
  }
  /// The weight of a reading before the ramp, from the formula of a fan beam alone: seen from
  /// above, the rays to a row of pixels are a fan whose angles gamma are counted from the axis, and
  /// whose flat detector stands at the row's distance from the source, however the row lies to the
  /// middle ray. In coordinates along it the fan's weight is cos(gamma) over that distance (value()
  /// has the rest); a body that is the same at all heights is seen from above through |ray|'s level
  /// part.
  [[nodiscard]] double fan_weight(vec3<double> ray) const {
    if (!cone) {
      return 1;
    }
    double const level = std::hypot(ray.x, ray.y);
    double const gamma = seen_from_above(-1.0 * w.source, ray);
    double const row_distance = level * std::abs(std::sin(seen_from_above(w.u_step, ray)));
    return std::cos(gamma) / row_distance * level / norm(ray);
  }
};

}  // namespace

template <class T>
std::vector<double> exact_fdk(ct::geometry const& g,
                              projection_view<T const, Kokkos::HostSpace> const& projections,
                              grid const& volume, ct::fdk_options const& options,
                              std::int64_t stride) {
  auto const weights = ct::weigh_scan(g, options.scan);
  auto const taps = ct::ramp_taps(weights.before + g.num_u() + weights.after, options);
  std::vector<double> out(std::size_t(volume.size()), unknown);
  for (std::int64_t n = 0; n < volume.size(); n += stride) {
    out[std::size_t(n)] = 0;
  }
  for (std::int64_t view = 0; view < g.num_views(); ++view) {
    filtered_view<T> f{g, projections, taps, weights, view};
    for (std::int64_t n = 0; n < volume.size(); n += stride) {
      auto const k = n % volume.extent[2];
      auto const j = n / volume.extent[2] % volume.extent[1];
      auto const i = n / volume.extent[2] / volume.extent[1];
      vec3<double> const x{volume.origin.x + double(i) * volume.spacing.x,
                           volume.origin.y + double(j) * volume.spacing.y,
                           volume.origin.z + double(k) * volume.spacing.z};
      out[std::size_t(n)] += weights.angles[std::size_t(view)] * f.value(x);
    }
  }
  return out;
}

template std::vector<double> exact_fdk(ct::geometry const&,
                                       projection_view<float const, Kokkos::HostSpace> const&,
                                       grid const&, ct::fdk_options const&, std::int64_t);
template std::vector<double> exact_fdk(ct::geometry const&,
                                       projection_view<double const, Kokkos::HostSpace> const&,
                                       grid const&, ct::fdk_options const&, std::int64_t);

}  // namespace iso::oracle
