// SPDX-License-Identifier: BSD-3-Clause
//! \file  ct/phantom_oracle.hpp
//! A pixel and a voxel of a phantom of ellipsoids from their definitions
//! (docs/algorithms/phantoms.md) in extended precision, with nothing skipped.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/core/vec3.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace iso::perf {

using extended = long double;

/// vec3's operators are for GPUs too, which have no extended precision.
struct extended_vec {
  extended x, y, z;

  friend extended_vec operator+(extended_vec a, extended_vec b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  friend extended_vec operator-(extended_vec a, extended_vec b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend extended_vec operator*(extended s, extended_vec a) { return {s * a.x, s * a.y, s * a.z}; }
};

inline extended_vec widened(vec3<double> a) { return {a.x, a.y, a.z}; }

inline extended product(extended_vec a, extended_vec b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// A direction in the coordinates in which the ellipsoid is the unit ball.
inline extended_vec turned(ct::ellipsoid const& e, extended_vec d) {
  extended const c = std::cos(extended(e.angle));
  extended const s = std::sin(extended(e.angle));
  return {(c * d.x + s * d.y) / e.half_axes.x, (c * d.y - s * d.x) / e.half_axes.y,
          d.z / e.half_axes.z};
}

/// Sub-ray or point i of `n`, in pixels or voxels from the middle.
inline extended offset(std::int64_t i, std::int64_t n) {
  return (extended(i) + 0.5L) / extended(n) - 0.5L;
}

/// Length of the stretch from `source` to `source + ray` inside the ellipsoid, by the roots of the
/// quadratic |p + t d|^2 = 1.
inline extended chord(ct::ellipsoid const& e, extended_vec source, extended_vec ray) {
  auto const p = turned(e, source - widened(e.centre));
  auto const d = turned(e, ray);
  extended const a = product(d, d);
  extended const b = product(p, d);
  extended const discriminant = b * b - a * (product(p, p) - 1);
  if (discriminant <= 0) {
    return 0;
  }
  extended const root = std::sqrt(discriminant);
  extended const first = std::max((-b - root) / a, extended(0));
  extended const last = std::min((-b + root) / a, extended(1));
  return std::max(last - first, extended(0)) * std::sqrt(product(ray, ray));
}

/// Of cone views; `place` counts through [views, u, v].
inline extended exact_pixel(std::vector<ct::ellipsoid> const& bodies, ct::geometry const& g,
                            std::int64_t place, std::int64_t subsamples) {
  auto const& view = g.views()[std::size_t(place / (g.num_u() * g.num_v()))];
  auto const u = extended(place / g.num_v() % g.num_u());
  auto const v = extended(place % g.num_v());
  auto const source = widened(view.source);
  extended sum = 0;
  for (std::int64_t i = 0; i < subsamples; ++i) {
    for (std::int64_t j = 0; j < subsamples; ++j) {
      auto const pixel = widened(view.detector_origin) +
                         (u + offset(i, subsamples)) * widened(view.u_step) +
                         (v + offset(j, subsamples)) * widened(view.v_step);
      for (auto const& e : bodies) {
        sum += e.density * chord(e, source, pixel - source);
      }
    }
  }
  return sum / extended(subsamples * subsamples);
}

/// `place` counts through [nx, ny, nz].
inline extended exact_voxel(std::vector<ct::ellipsoid> const& bodies, grid const& g,
                            std::int64_t place, std::int64_t samples) {
  extended_vec const voxel{extended(place / (g.extent[1] * g.extent[2])),
                           extended(place / g.extent[2] % g.extent[1]),
                           extended(place % g.extent[2])};
  extended sum = 0;
  for (auto const& e : bodies) {
    std::int64_t inside = 0;
    for (std::int64_t i = 0; i < samples * samples * samples; ++i) {
      extended_vec const at{voxel.x + offset(i / (samples * samples), samples),
                            voxel.y + offset(i / samples % samples, samples),
                            voxel.z + offset(i % samples, samples)};
      extended_vec const point{g.origin.x + g.spacing.x * at.x, g.origin.y + g.spacing.y * at.y,
                               g.origin.z + g.spacing.z * at.z};
      auto const q = turned(e, point - widened(e.centre));
      inside += product(q, q) <= 1 ? 1 : 0;
    }
    sum += e.density * extended(inside);
  }
  return sum / extended(samples * samples * samples);
}

}  // namespace iso::perf
