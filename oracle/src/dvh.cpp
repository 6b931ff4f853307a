// SPDX-License-Identifier: BSD-3-Clause
#include <iso/oracle/dvh.hpp>

#include <algorithm>
#include <cmath>

namespace iso::oracle {
namespace {

double const pi = std::acos(-1.0);

/// Returns the area of a disc with x >= level.
double segment_area(double radius, double level) {
  if (level <= -radius) {
    return pi * radius * radius;
  }
  if (level >= radius) {
    return 0;
  }
  return radius * radius * std::acos(level / radius) -
         level * std::sqrt(radius * radius - level * level);
}

}  // namespace

double ideal_body::radius(double z) const {
  double const r = 0.5 * diameter;
  if (std::fabs(z) > 0.5 * height) {
    return 0;
  }
  switch (what) {
    case shape::sphere:
      return std::sqrt(std::max(r * r - z * z, 0.0));
    case shape::cylinder:
      return r;
    case shape::cone:
      return r * (0.5 - z / height);
  }
  return 0;
}

double ideal_body::volume() const { return volume_above_z(-0.5 * height); }

double ideal_body::volume_above_z(double level) const {
  double const r = 0.5 * diameter;
  double const h = std::clamp(0.5 * height - level, 0.0, height);
  switch (what) {
    case shape::sphere:
      return pi * h * h * (3 * r - h) / 3;
    case shape::cylinder:
      return pi * r * r * h;
    case shape::cone:
      return pi * r * r * h * h * h / (3 * height * height);
  }
  return 0;
}

double ideal_body::volume_above_x(double level) const {
  if (what == shape::sphere) {
    return volume_above_z(level);
  }
  if (what == shape::cylinder) {
    return height * segment_area(0.5 * diameter, level);
  }
  // z = (3 s - s^3) / 2 times half the height makes the ends smooth; midpoint rule.
  int const steps = 20000;
  double sum = 0;
  for (int n = 0; n < steps; ++n) {
    double const s = -1 + (2 * n + 1.0) / steps;
    sum += segment_area(radius(0.25 * height * (3 * s - s * s * s)), level) * 1.5 * (1 - s * s);
  }
  return sum * height / steps;
}

dvh::structure contours_of(ideal_body const& body, double spacing, int points) {
  dvh::structure s{"body", {}};
  auto const planes = int(std::lround(body.height / spacing));
  // A polygon on the circle has less area than it.
  double const turn = 2 * pi / points;
  double const outwards = std::sqrt(turn / std::sin(turn));
  for (int n = 0; n < planes; ++n) {
    double const z = (n + 0.5) * spacing - 0.5 * body.height;
    double const r = outwards * body.radius(z);
    dvh::contour c;
    for (int m = 0; m < points; ++m) {
      c.points.push_back({r * std::cos(turn * m), r * std::sin(turn * m), z});
    }
    s.contours.push_back(c);
  }
  return s;
}

double gaussian_volume(double radius, double maximum, double width, double level) {
  if (level > maximum) {
    return 0;
  }
  double const r = std::min(radius, width * std::sqrt(2 * std::log(maximum / level)));
  return 4 * pi / 3 * r * r * r;
}

}  // namespace iso::oracle
