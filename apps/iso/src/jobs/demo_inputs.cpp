// SPDX-License-Identifier: BSD-3-Clause
#include "demo_inputs.hpp"

#include <iso/dose/slab_phantom.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

namespace iso::jobs {
namespace {

/// Points in the box between two corners.
grid points_between(vec3<double> const& low, vec3<double> const& high) {
  constexpr double apart = 2;  // mm
  grid g;
  for (int axis = 0; axis < 3; ++axis) {
    g.extent[std::size_t(axis)] = std::llround((high[axis] - low[axis]) / apart);
    g.spacing[axis] = apart;
    g.origin[axis] = low[axis] + 0.5 * apart;
  }
  return g;
}

constexpr double slices = 4;  // mm between contours

}  // namespace

ct::geometry circle(std::int64_t num_u, std::int64_t num_v, double pixel, std::int64_t views) {
  return ct::circular_cone({num_u, num_v, pixel, pixel, 0, 0}, 1000, 1000 * demo_magnification,
                           ct::even_angles(views, 2 * std::numbers::pi));
}

head_scan::head_scan(std::int64_t n, std::int64_t views)
    : box(grid::centred({n, n, n}, (256 / double(n)) * vec3<double>{1, 1, 1})),
      projection(circle(n, n, demo_magnification * 256 / double(n), views)),
      reconstruction(
          circle(n, n, demo_magnification * 256 / double(n), std::max(3 * views, 2 * n))) {}

cases::irradiation slab_irradiation(std::int64_t voxels) {
  double const voxel = dose::slab_phantom_width / double(voxels);
  cases::irradiation one;
  one.patient = dose::slab_phantom_grid(voxel);
  one.margin = dose::default_margin;
  auto const slabs = dose::slab_phantom();
  auto const& n = one.patient.extent;
  std::vector<double> density(std::size_t(one.patient.size()));
  for (std::size_t v = 0; v < density.size(); ++v) {
    auto const layer = double(v / std::size_t(n[2]) % std::size_t(n[1]));
    density[v] = dose::mean_density(slabs, layer * voxel, (layer + 1) * voxel);
  }
  one.given = std::make_shared<std::vector<double> const>(std::move(density));
  one.field.isocentre = {0, 100, 0};
  one.field.fluence = dose::fluence_map::rectangle(-50, 50, -50, 50);
  one.region = dose::region_around(one.field, one.patient, one.margin);
  return one;
}

cases::organ target_of(dose::beam const& field, double diameter) {
  oracle::ideal_body const ball{oracle::ideal_body::shape::sphere, diameter, diameter};
  auto contours = oracle::contours_of(ball, slices, 90);
  contours.name = "target";
  auto const& middle = field.isocentre;
  for (auto& contour : contours.contours) {
    for (auto& p : contour.points) {
      p = p + middle;
    }
  }
  double const radius = 0.5 * diameter;
  vec3<double> const corner{radius, radius, radius};
  return {std::move(contours),
          [=](vec3<double> const& p) { return dot(p - middle, p - middle) <= radius * radius; },
          points_between(middle - corner, middle + corner)};
}

cases::organ layer_of(std::string const& name, std::size_t number) {
  constexpr double x = 60;
  constexpr double half = 30;
  double near = 0;
  auto const slabs = dose::slab_phantom();
  for (std::size_t n = 0; n < number; ++n) {
    near += slabs[n].thickness;
  }
  double const far = near + slabs[number].thickness;
  dvh::structure s{name, {}};
  for (double z = 0.5 * slices - half; z < half; z += slices) {
    s.contours.push_back({{{-x, near, z}, {x, near, z}, {x, far, z}, {-x, far, z}}});
  }
  return {std::move(s), [](vec3<double> const&) { return true; },
          points_between({-x, near, -half}, {x, far, half})};
}

synthetic::pencil_beams pencil_field(std::int64_t size) {
  std::int64_t const n = std::clamp<std::int64_t>(size, 16, 64);
  double const voxel = 192 / double(n);
  synthetic::pencil_beams field;
  field.voxels = grid::centred({n, n, n}, {voxel, voxel, voxel});
  field.entrance = 96;
  field.radius = 30;
  field.slabs = {{20, 1.0}, {10, 1.6}, {25, 0.3}};
  return field;
}

std::vector<double> spot_weights(synthetic::pencil_beams const& field) {
  std::vector<double> weights;
  for (auto const& spot : synthetic::plan_of(field).spots) {
    weights.push_back(spot.layer == 0 ? 0.08 : 0.02);
  }
  return weights;
}

}  // namespace iso::jobs
