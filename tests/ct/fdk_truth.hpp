// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/ct/fdk_truth.hpp
//! Scans with source and detector anywhere, and bodies whose line integrals are closed forms,
//! without the library's projectors.
#pragma once

#include "fdk_support.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace fdk_truth {

using namespace fdk_support;
using iso::vec3;

/// How a detector stands in every view. Angles in degrees.
struct pose {
  double yaw = 0;         ///< about v
  double pitch = 0;       ///< about the yawed u
  double roll = 0;        ///< about the normal
  double skew = 0;        ///< of v towards u
  double detector_u = 0;  ///< mm, of the detector's middle
  double detector_v = 0;
  double source_u = 0;  ///< mm, of the source aside of the line through the axis
  double source_v = 0;

  friend bool operator==(pose const&, pose const&) = default;
};

struct scan_size {
  std::int64_t views = 180;
  std::int64_t num_u = 160;
  std::int64_t num_v = 64;
  double pitch = 1.2;
  double source_axis = 300;
  double source_detector = 450;
};

inline geometry posed(beam kind, pose const& p, std::vector<double> const& angles,
                      scan_size const& size = {}) {
  auto const degrees = [](double x) { return x * pi / 180; };
  auto const turned = [&](vec3<double> a, vec3<double> b, double angle) {
    return std::cos(degrees(angle)) * a + std::sin(degrees(angle)) * b;
  };
  std::vector<view_vectors> views;
  for (double const angle : angles) {
    vec3<double> const out{std::cos(angle), std::sin(angle), 0};
    vec3<double> const aside{-std::sin(angle), std::cos(angle), 0};
    vec3<double> const up{0, 0, 1};
    vec3<double> const yawed = turned(aside, out, p.yaw);
    vec3<double> const normal = turned(out, -1.0 * aside, p.yaw);
    vec3<double> const pitched = turned(up, normal, p.pitch);
    vec3<double> const u = turned(yawed, pitched, p.roll);
    vec3<double> const v = turned(pitched, -1.0 * yawed, p.roll) + std::tan(degrees(p.skew)) * u;
    vec3<double> const middle =
        (size.source_axis - size.source_detector) * out + p.detector_u * aside + p.detector_v * up;
    vec3<double> const du = size.pitch * u;
    vec3<double> const dv = size.pitch * v;
    views.push_back(
        {kind == beam::cone ? size.source_axis * out + p.source_u * aside + p.source_v * up
                            : -1.0 * out,
         middle - (0.5 * double(size.num_u - 1)) * du - (0.5 * double(size.num_v - 1)) * dv, du,
         dv});
  }
  return {kind, size.num_u, size.num_v, std::move(views)};
}

enum class shape {
  gaussian,  ///< round
  column,    ///< a Gaussian across z, the same at all heights
  ball,      ///< uniform
};

struct body {
  vec3<double> centre;
  double width;  ///< mm: standard deviation, or radius
  double height;
  shape form = shape::gaussian;

  [[nodiscard]] vec3<double> level(vec3<double> x) const {
    return form == shape::column ? vec3<double>{x.x, x.y, 0} : x;
  }
  [[nodiscard]] double at(vec3<double> x) const {
    vec3<double> const off = level(x - centre);
    double const squared = dot(off, off);
    return form != shape::ball       ? height * std::exp(-0.5 * squared / (width * width))
           : squared < width * width ? height
                                     : 0.0;
  }
  /// Along the line through `from`.
  [[nodiscard]] double integral(vec3<double> from, vec3<double> along) const;
};

inline std::vector<body> gaussians() {
  return {{{0, 0, 0}, 12, 1}, {{20, -9, 5}, 10, 0.8}, {{-16, 17, -7}, 9, -0.4}};
}
inline std::vector<body> columns() {
  return {{{0, 0, 0}, 12, 1, shape::column},
          {{20, -9, 0}, 10, 0.8, shape::column},
          {{-16, 17, 0}, 9, -0.4, shape::column}};
}
inline std::vector<body> one_ball() { return {{{5, -4, 1}, 24, 1, shape::ball}}; }

/// Line integrals through the pixels' centres: of double, and rounded from it.
template <class T>
stack<T> exact_stack(geometry const& g, std::vector<body> const& bodies);

/// By what the bodies come back multiplied: the least squares' factor over the voxels that `counts`
/// (of the truth there) chooses, and what then remains, of the largest value.
struct comparison {
  double scale;
  double root_mean_square;
  double largest;  ///< |found - truth|
};

template <class T, class Counts>
comparison compared(std::vector<T> const& found, grid const& g, std::vector<body> const& bodies,
                    Counts const& counts) {
  double product = 0;
  double square = 0;
  double differences = 0;
  double largest = 0;
  double count = 0;
  for (std::int64_t n = 0; n < g.size(); ++n) {
    vec3<double> const x{g.origin.x + double(n / g.extent[2] / g.extent[1]) * g.spacing.x,
                         g.origin.y + double(n / g.extent[2] % g.extent[1]) * g.spacing.y,
                         g.origin.z + double(n % g.extent[2]) * g.spacing.z};
    if (!counts(x)) {
      continue;
    }
    double truth = 0;
    for (body const& b : bodies) {
      truth += b.at(x);
    }
    double const value = double(found[std::size_t(n)]);
    product += value * truth;
    square += truth * truth;
    differences += (value - truth) * (value - truth);
    largest = std::max(largest, std::abs(value - truth));
    ++count;
  }
  return {product / square, std::sqrt(differences / count), largest};
}

}  // namespace fdk_truth
