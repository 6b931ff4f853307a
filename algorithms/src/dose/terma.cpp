// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/detail/terma_impl.hpp>

#include <iso/core/check.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace iso::dose {
namespace detail {

std::vector<double> curve_of(spectrum const& s, terma_options const& options) {
  validate(s, "iso::dose::terma_plan");
  std::vector<double> out;
  double const h = depth_curve::step;
  auto const slope = [&](double d) {
    double const e = 1e-3;
    return h * (terma_at(s, d + e, options) - terma_at(s, d - e, options)) / (2 * e);
  };
  double value = terma_at(s, 0, options);
  double rise = slope(0);
  for (std::int32_t i = 0; i < depth_curve::intervals; ++i) {
    double const next = terma_at(s, (i + 1) * h, options);
    double const next_rise = slope((i + 1) * h);
    double const step = next - value;
    for (double const c :
         {value, rise, 3 * step - 2 * rise - next_rise, rise + next_rise - 2 * step}) {
      out.push_back(c);
    }
    value = next;
    rise = next_rise;
  }
  // A cubic of this length holds megavoltage beams; photons of a few keV are absorbed within it.
  double most = 0;
  for (std::int32_t i = 0; i < depth_curve::intervals; ++i) {
    double const exact = terma_at(s, (i + 0.5) * h, options);
    double const* const c = out.data() + std::size_t(4 * i);
    double const found = c[0] + 0.5 * (c[1] + 0.5 * (c[2] + 0.5 * c[3]));
    most = std::max(most, std::fabs(found - exact) / std::max(exact, 1e-9 * out[0]));
  }
  ISO_VALIDATE(most <= 1e-6,
               "iso::dose::terma_plan: a spectrum whose TERMA is off by {} between depths {} g/cm2 "
               "apart (at most 1e-6); leave out bins of low energy",
               most, h);
  return out;
}

voxel_shadow shadow_of(iso::grid const& g, vec3<double> const& axis) {
  std::array<double, 3> sides{std::fabs(axis.x) * g.spacing.x, std::fabs(axis.y) * g.spacing.y,
                              std::fabs(axis.z) * g.spacing.z};
  std::sort(sides.begin(), sides.end());
  double const smaller = std::sqrt(sides[0] * sides[0] + sides[1] * sides[1]);
  return {std::max(sides[2], smaller), std::min(sides[2], smaller)};
}

void validate_source(beam_frame const& frame, iso::grid const& density, std::int64_t max_planes) {
  auto const& n = density.extent;
  ISO_VALIDATE(n[0] <= max_planes && n[1] <= max_planes && n[2] <= max_planes,
               "iso::dose::terma: density of [{}, {}, {}] voxels (at most {} along an axis are "
               "counted exactly); use double",
               n[0], n[1], n[2], max_planes);
  vec3<double> const p = density.to_index(frame.source);
  bool inside = true;
  for (int axis = 0; axis < 3; ++axis) {
    inside = inside && p[axis] > -0.5 && p[axis] < double(n[std::size_t(axis)]) - 0.5;
  }
  ISO_VALIDATE(!inside,
               "iso::dose::terma: the source lies within the density's volume, at ({}, {}, {}) mm "
               "(a beam must come from outside); move the source away, or crop the volume",
               frame.source.x, frame.source.y, frame.source.z);
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_DOSE_TERMA, )
ISO_FOR_EACH_BACKEND(ISO_DOSE_TERMA_PLAN)

}  // namespace iso::dose
