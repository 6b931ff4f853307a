// SPDX-License-Identifier: BSD-3-Clause
#include <iso/oracle/dvh.hpp>
#include <iso/oracle/interpolation.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

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

constexpr int steps_of_body = 3000;

/// Adds f(radius, z) at the middles of short steps between nodes, times the steps' height.
template <class F>
double integral(turned_body const& body, F const& f) {
  double sum = 0;
  int const steps = steps_of_body / int(body.z.size()) + 1;  // between two nodes
  for (std::size_t n = 1; n < body.z.size(); ++n) {
    double const height = body.z[n] - body.z[n - 1];
    for (int m = 0; m < steps && height > 0; ++m) {
      double const t = (m + 0.5) / steps;
      sum += f((1 - t) * body.radius[n - 1] + t * body.radius[n], body.z[n - 1] + t * height) *
             (height / steps);
    }
  }
  return sum;
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
  int const steps = 3000;
  double sum = 0;
  for (int n = 0; n < steps; ++n) {
    double const s = -1 + (2 * n + 1.0) / steps;
    sum += segment_area(radius(0.25 * height * (3 * s - s * s * s)), level) * 1.5 * (1 - s * s);
  }
  return sum * height / steps;
}

double turned_body::radius_at(double at) const {
  for (std::size_t n = 1; n < z.size(); ++n) {
    if (at >= z[n - 1] && at <= z[n] && z[n] > z[n - 1]) {
      double const t = (at - z[n - 1]) / (z[n] - z[n - 1]);
      return (1 - t) * radius[n - 1] + t * radius[n];
    }
  }
  return 0;
}

std::vector<double> shares_in(std::function<double(double)> const& radius_at, grid const& g,
                              std::int64_t stride) {
  constexpr int samples = 24;
  std::vector<double> all(std::size_t(g.size()), std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t n = 0; n < g.size(); n += stride) {
    std::int64_t const at[3] = {n / (g.extent[1] * g.extent[2]), n / g.extent[2] % g.extent[1],
                                n % g.extent[2]};
    auto const place = [&](int axis, double part) {
      return g.origin[axis] + g.spacing[axis] * (double(at[axis]) - 0.5 + part);
    };
    double const low = place(1, 0);
    double const high = place(1, 1);
    double sum = 0;
    for (int k = 0; k < samples; ++k) {
      double const r = radius_at(place(2, (k + 0.5) / samples));
      for (int i = 0; i < samples; ++i) {
        double const x = place(0, (i + 0.5) / samples);
        double const half = std::sqrt(std::max(r * r - x * x, 0.0));
        sum += std::max(std::min(high, half) - std::max(low, -half), 0.0) / g.spacing.y;
      }
    }
    all[std::size_t(n)] = sum / (samples * samples);
  }
  return all;
}

double turned_body::volume() const { return volume_above_z(z.front()); }

double turned_body::volume_above_z(double level) const {
  double sum = 0;
  for (std::size_t n = 1; n < z.size(); ++n) {
    double const height = z[n] - z[n - 1];
    double const t = height > 0 ? std::clamp((level - z[n - 1]) / height, 0.0, 1.0) : 1.0;
    double const a = (1 - t) * radius[n - 1] + t * radius[n];
    double const b = radius[n];
    sum += pi / 3 * (1 - t) * height * (a * a + a * b + b * b);
  }
  return sum;
}

double turned_body::volume_above_x(double level) const {
  return integral(*this, [&](double r, double) { return segment_area(r, level); });
}

double turned_body::volume_within(double ball) const {
  return integral(*this, [&](double r, double at) {
    return pi * std::min(r * r, std::max(ball * ball - at * at, 0.0));
  });
}

turned_body convention_of(ideal_body const& body, double spacing) {
  turned_body t;
  auto const planes = int(std::lround(body.height / spacing));
  for (int n = 0; n < planes; ++n) {
    double const z = (n + 0.5) * spacing - 0.5 * body.height;
    if (n == 0) {
      t.z.push_back(z - 0.5 * spacing);
      t.radius.push_back(body.radius(z));
    }
    t.z.push_back(z);
    t.radius.push_back(body.radius(z));
    if (n == planes - 1) {
      t.z.push_back(z + 0.5 * spacing);
      t.radius.push_back(body.radius(z));
    }
  }
  return t;
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

std::vector<double> sampled_doses(volume_view<double const, Kokkos::HostSpace> const& dose,
                                  grid const& points,
                                  std::function<bool(vec3<double> const&)> const& inside) {
  std::vector<double> doses;
  for (std::int64_t n = 0; n < points.size(); ++n) {
    std::int64_t const at[3] = {n / (points.extent[1] * points.extent[2]),
                                n / points.extent[2] % points.extent[1], n % points.extent[2]};
    vec3<double> p;
    for (int axis = 0; axis < 3; ++axis) {
      p[axis] = points.origin[axis] + points.spacing[axis] * double(at[axis]);
    }
    if (inside(p)) {
      doses.push_back(trilinear(dose, dose.grid.to_index(p)));
    }
  }
  std::sort(doses.rbegin(), doses.rend());
  return doses;
}

}  // namespace iso::oracle
