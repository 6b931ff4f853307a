// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/cones.hpp>

#include <iso/core/check.hpp>
#include <iso/detail/angles.hpp>

#include "cosine_range.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <utility>

namespace iso::dose {
namespace {

constexpr double pi = std::numbers::pi;

double solid_angle(double theta_low, double theta_high) {
  return 2 * pi * (iso::detail::cosine_of(theta_low) - iso::detail::cosine_of(theta_high));
}

/// The energy that is absorbed within a radius in each row of a kernel, per sr and for each term.
struct row_energies {
  struct row {
    double theta_low;
    double theta_high;
    std::array<double, max_kernel_terms> energy;
  };
  std::size_t num_terms;
  std::vector<row> rows;

  row_energies(exponential_kernel const& k, double radius) : num_terms(std::size_t(k.num_terms)) {
    for (kernel_cone const& cone : k.cones) {
      rows.push_back({cone.theta_low, cone.theta_high, {}});
      for (std::size_t c = 0; c < num_terms; ++c) {
        kernel_term const& t = cone.terms[c];
        rows.back().energy[c] = -t.amplitude / t.rate * math::expm1(-t.rate * radius);
      }
    }
  }
  row_energies(tabulated_kernel const& k, double radius) : num_terms(1) {
    for (tabulated_cone const& cone : k.cones) {
      double const absorbed = absorbed_within({k.radii, {cone}}, radius);
      rows.push_back({cone.theta_low,
                      cone.theta_high,
                      {absorbed / solid_angle(cone.theta_low, cone.theta_high)}});
    }
  }
};

/// The energies of the rows as a smooth function of the angle: linear in the logarithm between the
/// middles of the rows.
class smooth_energy {
 public:
  explicit smooth_energy(row_energies const& rows) : num_terms_(rows.num_terms) {
    for (auto const& row : rows.rows) {
      middle_.push_back(0.5 * (row.theta_low + row.theta_high));
      std::array<double, max_kernel_terms> logs{};
      for (std::size_t c = 0; c < num_terms_; ++c) {
        logs[c] = math::log(std::fabs(row.energy[c]));  // never of 0: iso::dose::validate
      }
      log_.push_back(logs);
      sign_ = middle_.size() == 1 ? row.energy : sign_;
    }
  }

  /// Returns the absolute value of the energy of a term at an angle, per sr.
  [[nodiscard]] double size(std::size_t term, double theta) const {
    theta = std::fabs(theta);
    theta = theta > pi ? 2 * pi - theta : theta;
    if (middle_.size() < 2) {
      return math::exp(log_.front()[term]);
    }
    auto const above = std::upper_bound(middle_.begin(), middle_.end(), theta) - middle_.begin();
    auto const i =
        std::size_t(std::clamp<std::ptrdiff_t>(above - 1, 0, std::ptrdiff_t(middle_.size()) - 2));
    double const f = std::clamp((theta - middle_[i]) / (middle_[i + 1] - middle_[i]), -0.5, 1.5);
    return math::exp(log_[i][term] * (1 - f) + log_[i + 1][term] * f);
  }
  /// Returns the sum of the terms at an angle, with their signs.
  [[nodiscard]] double sum(double theta) const {
    double e = 0;
    for (std::size_t c = 0; c < num_terms_; ++c) {
      e += std::copysign(size(c, theta), sign_[c]);
    }
    return e;
  }

 private:
  std::size_t num_terms_;
  std::vector<double> middle_;
  std::vector<std::array<double, max_kernel_terms>> log_;
  std::array<double, max_kernel_terms> sign_{};
};

/// The kernel's energy as a function of the angle, in thin rings.
struct rings {
  std::vector<double> theta;  ///< borders
  std::vector<double> energy;
  double total = 0;

  explicit rings(row_energies const& rows) {
    std::size_t const count = 3072;
    smooth_energy const energy_at(rows);
    for (std::size_t i = 0; i <= count; ++i) {
      theta.push_back(pi * double(i) / double(count));
    }
    for (std::size_t i = 0; i < count; ++i) {
      double const low = iso::detail::cosine_of(theta[i]);
      double const high = iso::detail::cosine_of(theta[i + 1]);
      energy.push_back((low - high) * energy_at.sum(0.5 * (theta[i] + theta[i + 1])));
      total += energy.back();
    }
  }

  /// Returns the borders of `n` cones that hold the same share of the energy.
  [[nodiscard]] std::vector<double> borders(std::size_t n) const {
    std::vector<double> out{0};
    double sum = 0;
    double wanted = 0;
    std::size_t i = 0;
    for (std::size_t m = 0; m + 1 < n; ++m) {
      wanted += 1.0 / double(n) * total;
      while (i + 1 < energy.size() && sum + energy[i] < wanted) {
        sum += energy[i++];
      }
      out.push_back(theta[i] + (theta[i + 1] - theta[i]) * (wanted - sum) / energy[i]);
    }
    out.push_back(pi);
    return out;
  }
};

/// Returns the borders of `n` cones, rad, from 0 to pi.
std::vector<double> borders_of(row_energies const& rows, std::size_t n, cone_placing placing) {
  if (placing == cone_placing::equal_energy) {
    return rings(rows).borders(n);
  }
  std::vector<double> out;
  for (std::size_t m = 0; m <= n; ++m) {
    out.push_back(iso::detail::angle_of_cosine(1 - 2 * double(m) / double(n)));
  }
  return out;
}

/// Calls f(row, a, b) for the part from a to b of each row that lies between two angles.
template <class Row, class F>
void for_each_part(std::vector<Row> const& rows, double low, double high, F const& f) {
  for (Row const& row : rows) {
    double const a = std::max(row.theta_low, low);
    double const b = std::min(row.theta_high, high);
    if (a < b) {
      f(row, a, b);
    }
  }
}

/// The mean cosine of a cone's parts by their energy.
struct mean_cosine {
  double energy = 0;
  double moment = 0;

  void add(double part, double low, double high) {
    energy += part;
    moment += part * 0.5 * (iso::detail::cosine_of(low) + iso::detail::cosine_of(high));
  }
  /// Returns the mean cosine. Where no energy is absorbed, it is that of the middle between the
  /// cone's borders.
  [[nodiscard]] double value(double low, double high) const {
    return energy > 0 ? moment / energy
                      : 0.5 * (iso::detail::cosine_of(low) + iso::detail::cosine_of(high));
  }
};

/// Returns what a direction between two angles absorbs, made of the parts of rows that lie there.
exponential_cones::cone_terms collapse(exponential_kernel const& k, double low, double high,
                                       int azimuths, mean_cosine& mean) {
  exponential_cones::cone_terms out{};
  std::array<double, max_kernel_terms> apex{};
  auto const terms = std::size_t(k.num_terms);
  for_each_part(k.cones, low, high, [&](kernel_cone const& row, double a, double b) {
    double const omega = solid_angle(a, b);
    double energy = 0;
    for (std::size_t c = 0; c < terms; ++c) {
      kernel_term const& t = row.terms[c];
      apex[c] += omega * t.amplitude;
      out.energy[c] += omega * t.amplitude / t.rate;
      energy += omega * t.amplitude / t.rate;
    }
    mean.add(energy, a, b);
  });
  for (std::size_t c = 0; c < terms; ++c) {
    out.rate[c] = apex[c] / out.energy[c];
    out.energy[c] /= azimuths;
  }
  return out;
}

/// Does the same within each radius of a table.
std::vector<double> collapse(tabulated_kernel const& k, double low, double high, int azimuths,
                             mean_cosine& mean) {
  std::vector<double> out(k.radii.size(), 0);
  for_each_part(k.cones, low, high, [&](tabulated_cone const& row, double a, double b) {
    double const share = solid_angle(a, b) / solid_angle(row.theta_low, row.theta_high);
    double within = 0;
    for (std::size_t j = 0; j < k.radii.size(); ++j) {
      within += share * row.fraction[j];
      out[j] += within / azimuths;
    }
    mean.add(within, a, b);
  });
  return out;
}

}  // namespace

vec3<double> cone_set::direction(std::size_t cone, int azimuth) const {
  double const c = cones[cone].cosine;
  double const s = std::sqrt((1 - c) * (1 + c));
  int const quarter = azimuths % 4 == 0 ? azimuths / 4 : azimuths;
  double const angle = 2 * pi * (azimuth % quarter + 0.25) / azimuths;
  double x = s * iso::detail::cosine_of(angle);
  double y = s * iso::detail::sine_of(angle);
  for (int turn = 0; turn < azimuth / quarter; ++turn) {
    x = std::exchange(y, x) * -1;
  }
  return {x, y, c};
}

namespace {

exponential_cones without_cones(exponential_kernel const& k) { return {k.num_terms, {}}; }
tabulated_cones without_cones(tabulated_kernel const& k) { return {k.radii, {}}; }

void add_cone(exponential_cones& to, exponential_cones::cone_terms const& of_cone) {
  to.terms.push_back(of_cone);
}
void add_cone(tabulated_cones& to, std::vector<double>&& of_cone) {
  to.within.push_back(std::move(of_cone));
}

/// Returns the cones of a kernel, without their tilts.
/// \param radius  the distance, cm, within which the energy decides where the borders lie
template <class Kernel>
cone_set collapsed(Kernel const& k, double radius, cone_options const& options) {
  check_fields(options, "iso::dose::make_cones");
  std::vector<double> const borders =
      borders_of(row_energies(k, radius), std::size_t(options.cones), options.placing);
  cone_set out{options.azimuths, {}, {}};
  auto absorbed = without_cones(k);
  for (std::size_t m = 0; m + 1 < borders.size(); ++m) {
    double const low = borders[m];
    double const high = borders[m + 1];
    mean_cosine mean;
    add_cone(absorbed, collapse(k, low, high, options.azimuths, mean));
    out.cones.push_back({low, high, mean.value(low, high)});
  }
  out.absorbed = std::move(absorbed);
  return out;
}

/// Returns the solution of a symmetric, positive definite system, by Cholesky's method.
template <std::size_t N>
std::array<double, N> solved(std::array<std::array<double, N>, N> m, std::array<double, N> x) {
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = m[i][j];
      for (std::size_t k = 0; k < j; ++k) {
        sum -= m[i][k] * m[j][k];
      }
      m[i][j] = i == j ? std::sqrt(sum) : sum / m[j][j];
    }
    for (std::size_t k = 0; k < i; ++k) {
      x[i] -= m[i][k] * x[k];
    }
    x[i] /= m[i][i];
  }
  for (std::size_t i = N; i-- > 0;) {
    for (std::size_t k = i + 1; k < N; ++k) {
      x[i] -= m[k][i] * x[k];
    }
    x[i] /= m[i][i];
  }
  return x;
}

/// Fits the tilt of a cone.
/// \param energy_at  the energy that the fit preserves, as a function of the angle
cone_tilt fitted_tilt(smooth_energy const& energy_at, std::size_t num_terms,
                      transport_cone const& cone) {
  double const theta = iso::detail::angle_of_cosine(cone.cosine);
  double const sine = std::sqrt((1 - cone.cosine) * (1 + cone.cosine));
  detail::cosine_range const range(cone.cosine, max_tilt);
  cone_tilt out{};
  out.least = range.least - cone.cosine;
  out.most = range.most - cone.cosine;
  double const scale = std::max(out.most, -out.least);
  for (std::size_t c = 0; c < num_terms; ++c) {
    // The energy that a kernel tilted by `delta` sends into the cone.
    auto const sent = [&](double delta) {
      int const parts = 24;
      double sum = 0;
      for (int i = 0; i < parts; ++i) {
        double const t = cone.theta_low + (cone.theta_high - cone.theta_low) * (i + 0.5) / parts;
        sum += iso::detail::sine_of(t) * energy_at.size(c, t + delta);
      }
      return sum;
    };
    double const untilted = sent(0);
    // Least squares over a disc of rays. Small fields have only rays near the axis, where
    // deviations are small and must stay small. The weight of a ray is therefore 1 / (its distance
    // from the axis)^4.
    std::array<std::array<double, tilt_degree>, tilt_degree> normal{};
    std::array<double, tilt_degree> right{};
    int const radii = 24;
    int const angles = 24;
    for (int i = 0; i < radii; ++i) {
      double const r = max_tilt * (i + 0.5) / radii;
      double const weight = 1 / (r * r * r);  // a ring has as many rays as r
      for (int j = 0; j < angles; ++j) {
        double const across = r * iso::detail::cosine_of(2 * pi * (j + 0.5) / angles);
        double const mu =
            std::clamp((sine * across + cone.cosine) / std::sqrt(1 + r * r), -1.0, 1.0);
        double const change = sent(iso::detail::angle_of_cosine(mu) - theta) / untilted - 1;
        double const d = (mu - cone.cosine) / scale;
        double row[tilt_degree];
        double power = 1;
        for (double& x : row) {
          power *= d;
          x = power;
        }
        for (std::size_t p = 0; p < tilt_degree; ++p) {
          right[p] += weight * change * row[p];
          for (std::size_t q = 0; q < tilt_degree; ++q) {
            normal[p][q] += weight * row[p] * row[q];
          }
        }
      }
    }
    out.coefficients[c] = solved(normal, right);
    double power = 1;
    for (double& x : out.coefficients[c]) {
      power *= scale;
      x /= power;
    }
  }
  return out;
}

template <class Kernel>
cone_set with_tilts(cone_set cones, Kernel const& k) {
  row_energies const rows(k, tilt_radius);
  smooth_energy const energy(rows);
  for (transport_cone& cone : cones.cones) {
    cone.tilt = fitted_tilt(energy, rows.num_terms, cone);
  }
  return cones;
}

}  // namespace

double cone_tilt::factor(std::size_t term, double delta) const {
  double const d = std::clamp(delta, least, most);
  auto const& c = coefficients[term];
  double sum = 0;
  for (std::size_t p = tilt_degree; p-- > 0;) {
    sum = (sum + c[p]) * d;
  }
  return 1 + sum;
}

cone_set make_cones(exponential_kernel const& k, cone_options const& options) {
  validate(k, "iso::dose::make_cones");
  return with_tilts(collapsed(k, std::numeric_limits<double>::infinity(), options), k);
}

cone_set make_cones(tabulated_kernel const& k, cone_options const& options) {
  validate(k, "iso::dose::make_cones");
  return with_tilts(collapsed(k, k.radii.back(), options), k);
}

cone_set make_cones(point_kernel const& k, cone_options const& options) {
  return std::visit([&](auto const& kernel) { return make_cones(kernel, options); }, k);
}

}  // namespace iso::dose
