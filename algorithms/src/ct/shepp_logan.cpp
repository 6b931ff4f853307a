// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/on_circle.hpp>
#include <iso/ct/detail/shepp_logan_impl.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace iso::ct {
namespace {

struct table_row {
  double modified;
  double original;
  vec3<double> half_axes;
  vec3<double> centre;
  double degrees;
};

// Densities of Yu, Ye and Wang 2004 ("modified") and of Kak and Slaney ("original"); half axes and
// centres in units of the half size.
constexpr std::array<table_row, 10> head{{
    {1, 2, {0.69, 0.92, 0.9}, {0, 0, 0}, 0},
    {-0.8, -0.98, {0.6624, 0.874, 0.88}, {0, 0, 0}, 0},
    {-0.2, -0.02, {0.41, 0.16, 0.21}, {-0.22, 0, -0.25}, 108},
    {-0.2, -0.02, {0.31, 0.11, 0.22}, {0.22, 0, -0.25}, 72},
    {0.2, 0.02, {0.21, 0.25, 0.5}, {0, 0.35, -0.25}, 0},
    {0.2, 0.02, {0.046, 0.046, 0.046}, {0, 0.1, -0.25}, 0},
    {0.1, 0.01, {0.046, 0.023, 0.02}, {-0.08, -0.65, -0.25}, 0},
    {0.1, 0.01, {0.046, 0.023, 0.02}, {0.06, -0.65, -0.25}, 90},
    {0.2, 0.02, {0.056, 0.04, 0.1}, {0.06, -0.105, 0.625}, 90},
    {-0.2, -0.02, {0.056, 0.056, 0.1}, {0, 0.1, 0.625}, 0},
}};

void check(ellipsoid const& e, std::int64_t i, char const* function) {
  auto const& h = e.half_axes;
  ISO_VALIDATE(is_finite(h) && h.x > 0 && h.y > 0 && h.z > 0,
               "{}: half axes of ellipsoid {} are [{}, {}, {}] (must be finite and positive); give "
               "three lengths in mm",
               function, i, h.x, h.y, h.z);
  ISO_VALIDATE(
      is_finite(e.centre),
      "{}: centre of ellipsoid {} is [{}, {}, {}] (must be finite); give three coordinates in mm",
      function, i, e.centre.x, e.centre.y, e.centre.z);
  ISO_VALIDATE(std::isfinite(e.angle) && std::isfinite(e.density),
               "{}: ellipsoid {} has angle {} and density {} (must be finite); give the angle in "
               "radians and the density as attenuation per mm",
               function, i, e.angle, e.density);
  ISO_VALIDATE(std::abs(e.angle) <= 1e5,
               "{}: ellipsoid {} has angle {} rad (at most 1e5 either way); take off whole turns",
               function, i, e.angle);
}

detail::ball_map to_ball(ellipsoid const& e) {
  vec3<double> const turn = detail::on_circle(e.angle);
  double const c = turn.x;
  double const s = turn.y;
  auto const& h = e.half_axes;
  detail::ball_map map{};
  map.centre = e.centre;
  map.xx = c / h.x;
  map.xy = s / h.x;
  map.yx = -s / h.y;
  map.yy = c / h.y;
  map.zz = 1 / h.z;
  map.norm = 1 / h.x + 1 / h.y + 1 / h.z;
  map.density = e.density;
  return map;
}

/// Length of the farthest image of the box +-half.
double radius(detail::ball_map const& m, vec3<double> half) {
  return norm(vec3<double>{std::abs(m.xx) * half.x + std::abs(m.xy) * half.y,
                           std::abs(m.yx) * half.x + std::abs(m.yy) * half.y, m.zz * half.z});
}

}  // namespace

std::vector<ellipsoid> shepp_logan(double half_size, shepp_logan_contrast contrast) {
  ISO_VALIDATE(std::isfinite(half_size) && half_size > 0,
               "iso::ct::shepp_logan: half size {} mm (must be finite and positive); give half the "
               "side of the phantom's cube",
               half_size);
  std::vector<ellipsoid> all;
  all.reserve(head.size());
  for (auto const& row : head) {
    all.push_back({half_size * row.centre, half_size * row.half_axes,
                   row.degrees / 180 * std::numbers::pi,
                   contrast == shepp_logan_contrast::modified ? row.modified : row.original});
  }
  return all;
}

namespace detail {

ellipsoid_list prepare(std::span<ellipsoid const> ellipsoids, char const* function) {
  ISO_VALIDATE(!ellipsoids.empty() && std::int64_t(ellipsoids.size()) <= max_ellipsoids,
               "{}: {} ellipsoids (takes from 1 to {}); add the results of several calls", function,
               ellipsoids.size(), max_ellipsoids);
  ellipsoid_list list;
  for (auto const& e : ellipsoids) {
    check(e, list.count, function);
    list.shapes[list.count++] = to_ball(e);
  }
  return list;
}

ellipsoid_list prepare(std::span<ellipsoid const> ellipsoids, grid const& g, char const* function) {
  ellipsoid_list list = prepare(ellipsoids, function);
  auto const& s = g.spacing;
  for (int i = 0; i < list.count; ++i) {
    ball_map& m = list.shapes[i];
    m.voxel_radius = radius(m, {0.5 * s.x, 0.5 * s.y, 0.5 * s.z});
    m.column_radius = radius(m, {0.5 * s.x, 0.5 * s.y, 16 * s.z});
    vec3<double> largest;
    for (int axis = 0; axis < 3; ++axis) {
      largest[axis] = std::abs(m.centre[axis]) + std::abs(g.origin[axis]) +
                      s[axis] * double(g.extent[axis] + 32);
    }
    m.slack = 64 * std::numeric_limits<double>::epsilon() * (1 + radius(m, largest));
  }
  return list;
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_CT_ELLIPSOIDS, )

}  // namespace iso::ct
