// SPDX-License-Identifier: BSD-3-Clause
#include <iso/oracle/superposition.hpp>

#include <iso/core/vec3.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace iso::oracle {
namespace {

constexpr double pi = std::numbers::pi;

struct node {
  double x;
  double weight;
};

/// Of Gauss and Legendre on [-1, 1].
std::vector<node> gauss_legendre(int count) {
  std::vector<node> out;
  for (int i = 0; i < count; ++i) {
    double x = std::cos(pi * (i + 0.75) / (count + 0.5));
    double slope = 1;
    for (int newton = 0; newton < 100; ++newton) {
      double before = 1;
      double value = x;
      for (int n = 2; n <= count; ++n) {
        double const next = ((2 * n - 1) * x * value - (n - 1) * before) / n;
        before = value;
        value = next;
      }
      slope = count * (x * value - before) / (x * x - 1);
      double const step = value / slope;
      x -= step;
      if (std::fabs(step) < 1e-15) {
        break;
      }
    }
    out.push_back({x, 2 / ((1 - x * x) * slope * slope)});
  }
  return out;
}

/// The integral of f from `low` to `high`.
template <class F>
double integral(std::vector<node> const& nodes, double low, double high, F const& f) {
  double sum = 0;
  for (node const& n : nodes) {
    sum += n.weight * f(0.5 * (low + high) + 0.5 * (high - low) * n.x);
  }
  return 0.5 * (high - low) * sum;
}

struct interval {
  double low;
  double high;

  /// Cut to where a + b r >= 0.
  void keep(double a, double b) {
    if (b > 0) {
      low = std::max(low, -a / b);
    } else if (b < 0) {
      high = std::min(high, -a / b);
    } else if (a < 0) {
      high = low;
    }
  }
};

/// All along one direction, in mm; z along the axis from the source.
struct dose_line {
  field_on_water const& field;
  dose::exponential_kernel const& kernel;
  dose::spectrum const& photons;
  dose::terma_options const& options;
  vec3<double> point;
  vec3<double> direction;

  [[nodiscard]] vec3<double> source_of(double r) const { return point - r * direction; }

  [[nodiscard]] double terma(double r) const {
    vec3<double> const q = source_of(r);
    double const distance = norm(q);
    // Of the way from the source, the part before the water.
    double outside = 0;
    for (half_space const& side : field.water) {
      double const rise = dot(side.normal, q);
      outside = rise < 0 ? std::max(outside, side.bound / rise) : outside;
    }
    return std::pow(field.source_distance / distance, 2) * released(0.1 * (1 - outside) * distance);
  }
  /// Gy, behind `depth` g/cm2, of one photon/cm2.
  [[nodiscard]] double released(double depth) const {
    double mu = 0;
    double mu_en = 0;
    double mu_before = 0;
    double mu_en_before = 0;
    for (dose::energy_bin const& b : photons.bins) {
      double const energy = b.fluence * b.energy;
      double const left = std::exp(-b.attenuation * depth);
      mu += energy * b.attenuation * left;
      mu_en += energy * b.absorption * left;
      mu_before += energy * b.attenuation;
      mu_en_before += energy * b.absorption;
    }
    double const gray = 1.602176634e-10;
    return gray * mu * (options.hardening_correction ? mu_en / mu * mu_before / mu_en_before : 1.0);
  }
  /// Where sources lie in the water and in the field.
  [[nodiscard]] interval irradiated() const {
    interval out{0, 1e9};
    vec3<double> const& u = direction;
    for (half_space const& water : field.water) {
      out.keep(water.bound - dot(water.normal, point), dot(water.normal, u));
    }
    double const slope = 0.5 * field.side / field.source_distance;
    for (double const sign : {-1.0, 1.0}) {
      out.keep(slope * point.z + sign * point.x, -slope * u.z - sign * u.x);
      out.keep(slope * point.z + sign * point.y, -slope * u.z - sign * u.y);
    }
    return out;
  }
  /// Behind which distance the angle between the direction and the photons' ray is above `theta`.
  /// It rises with the distance.
  [[nodiscard]] double angle_reaches(double theta) const {
    double const along = dot(point, direction);
    double const across = norm(point - along * direction);
    return along - across * std::cos(theta) / std::sin(theta);
  }
  [[nodiscard]] double of_row(dose::kernel_cone const& row, interval const& r,
                              std::vector<node> const& nodes) const {
    double sum = 0;
    double low = r.low;
    while (low < r.high) {
      // Octaves of the distance and 1 mm.
      double const high = std::min(r.high, 2 * low + 1);
      sum += integral(nodes, low, high, [&](double x) {
        double k = 0;
        for (std::size_t c = 0; c < std::size_t(kernel.num_terms); ++c) {
          k += row.terms[c].amplitude * std::exp(-0.1 * row.terms[c].rate * x);
        }
        return k * terma(x);
      });
      low = high;
    }
    return 0.1 * sum;
  }
  [[nodiscard]] double tilted(std::vector<node> const& nodes) const {
    interval const all = irradiated();
    double sum = 0;
    for (dose::kernel_cone const& row : kernel.cones) {
      interval const part{
          std::max(all.low, row.theta_low > 0 ? angle_reaches(row.theta_low) : all.low),
          std::min(all.high, row.theta_high < pi ? angle_reaches(row.theta_high) : all.high)};
      sum += of_row(row, part, nodes);
    }
    return sum;
  }
};

}  // namespace

double exact_water_dose(field_on_water const& field, dose::exponential_kernel const& kernel,
                        dose::spectrum const& photons, dose::terma_options const& options,
                        bool tilt, vec3<double> const& point, superposition_nodes const& nodes) {
  auto const polar = gauss_legendre(nodes.polar);
  auto const azimuths = gauss_legendre(nodes.azimuths);
  auto const radial = gauss_legendre(nodes.radial);
  // Angles count from the photons' ray, or from the axis where the kernel is not tilted: rows begin
  // and end at them.
  vec3<double> const pole = tilt ? (1 / norm(point)) * point : vec3<double>{0, 0, 1};
  vec3<double> const x_axis{1, 0, 0};
  vec3<double> const across = cross(cross(pole, x_axis), pole);
  vec3<double> const side = (1 / norm(across)) * across;
  vec3<double> const other = cross(pole, side);
  // On the axis of a slab the field is the same in each eighth of a turn.
  bool const upright = std::all_of(field.water.begin(), field.water.end(), [](half_space const& h) {
    return h.normal.x == 0 && h.normal.y == 0;
  });
  int const parts = upright && point.x == 0 && point.y == 0 ? 1 : 8;
  double sum = 0;
  for (dose::kernel_cone const& row : kernel.cones) {
    double const width = row.theta_high - row.theta_low;
    // A ray is soon beyond a row whose upper border is near: nodes are close together there.
    sum += integral(polar, 0, 1, [&](double x) {
      double const theta = row.theta_high - width * x * x * x;
      double const sine = std::sin(theta);
      double const cosine = std::cos(theta);
      auto const of_azimuth = [&](double phi) {
        vec3<double> const u =
            sine * std::cos(phi) * side + sine * std::sin(phi) * other + cosine * pole;
        dose_line const l{field, kernel, photons, options, point, u};
        return tilt ? l.tilted(radial) : l.of_row(row, l.irradiated(), radial);
      };
      double ring = 0;
      for (int part = 0; part < parts; ++part) {
        ring += integral(azimuths, part * pi / 4, (part + 1) * pi / 4, of_azimuth);
      }
      return 3 * width * x * x * sine * (8 / parts) * ring;
    });
  }
  return sum;
}

}  // namespace iso::oracle
