// SPDX-License-Identifier: BSD-3-Clause
#include <iso/oracle/gamma.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace iso::oracle {
namespace {

using gamma::interpolation;
using point = std::array<double, 3>;

/// A cell's dose: its corners, x slowest, and how it goes between them.
struct cell_dose {
  std::array<double, 8> corner{};
  interpolation between = interpolation::trilinear;

  [[nodiscard]] double at(point const& u) const {
    double sum = 0;
    if (between == interpolation::trilinear) {
      for (std::size_t n = 0; n < 8; ++n) {
        sum += corner[n] * ((n & 4) != 0 ? u[0] : 1 - u[0]) * ((n & 2) != 0 ? u[1] : 1 - u[1]) *
               ((n & 1) != 0 ? u[2] : 1 - u[2]);
      }
      return sum;
    }
    // The tetrahedron is where the coordinates have one order: upwards along the largest first.
    std::array<std::size_t, 3> order = {0, 1, 2};
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return u[a] > u[b]; });
    double above = 1;
    std::size_t at = 0;
    for (std::size_t const axis : order) {
      sum += (above - u[axis]) * corner[at];
      above = u[axis];
      at += std::size_t(4) >> axis;
    }
    return sum + above * corner[at];
  }
};

/// One point against one cell; lengths in spacings.
struct cell_search {
  cell_dose cell;
  point from;                ///< the reference point
  point side;                ///< spacing over distance
  std::array<bool, 3> wide;  ///< the cell has this extent
  double dose;
  double difference;

  [[nodiscard]] double squared(point const& u) const {
    double const e = (cell.at(u) - dose) / difference;
    double sum = e * e;
    for (std::size_t k = 0; k < 3; ++k) {
      double const d = (u[k] - from[k]) * side[k];
      sum += d * d;
    }
    return sum;
  }
  /// The least along `axis` through u: dose is linear between the other coordinates' values.
  [[nodiscard]] double along(std::size_t axis, point u) const {
    if (!wide[axis]) {
      return squared(u);
    }
    std::array<double, 4> ends = {0, u[(axis + 1) % 3], u[(axis + 2) % 3], 1};
    std::sort(ends.begin(), ends.end());
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t n = 0; n < 3; ++n) {
      u[axis] = ends[n];
      double const low = (cell.at(u) - dose) / difference;
      best = std::min(best, squared(u));
      u[axis] = ends[n + 1];
      best = std::min(best, squared(u));
      if (ends[n + 1] > ends[n]) {
        double const slope = ((cell.at(u) - dose) / difference - low) / (ends[n + 1] - ends[n]);
        double const w = side[axis] * side[axis];
        u[axis] =
            std::clamp((w * from[axis] - slope * (low - slope * ends[n])) / (w + slope * slope),
                       ends[n], ends[n + 1]);
        best = std::min(best, squared(u));
      }
    }
    return best;
  }
  [[nodiscard]] double least() const {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t axis = 0; axis < 3; ++axis) {
      best = std::min(best, min_of_plane(axis));
    }
    return best;
  }
  /// Samples the two other coordinates; the grid about the best shrinks to two thirds at a time.
  [[nodiscard]] double min_of_plane(std::size_t axis) const {
    std::size_t const a = (axis + 1) % 3;
    std::size_t const b = (axis + 2) % 3;
    double best = std::numeric_limits<double>::infinity();
    double half = 0.5;
    point middle = {0.5, 0.5, 0.5};
    middle[a] = wide[a] ? 0.5 : 0;
    middle[b] = wide[b] ? 0.5 : 0;
    middle[axis] = 0;
    int parts = 16;
    while (half > 1e-9) {
      point next = middle;
      for (int i = wide[a] ? -parts : 0; i <= (wide[a] ? parts : 0); ++i) {
        for (int j = wide[b] ? -parts : 0; j <= (wide[b] ? parts : 0); ++j) {
          point u = middle;
          u[a] = std::clamp(middle[a] + half * i / parts, 0.0, 1.0);
          u[b] = std::clamp(middle[b] + half * j / parts, 0.0, 1.0);
          double const f = along(axis, u);
          if (f < best) {
            best = f;
            next = u;
          }
        }
      }
      middle = next;
      half *= parts == 16 ? 0.125 : 2.0 / 3;
      parts = 3;
    }
    return best;
  }
};

/// A whole search for one point.
struct dose_search {
  host_dose evaluated;
  gamma::gamma_options options;

  [[nodiscard]] double value(std::int64_t i, std::int64_t j, std::int64_t k) const {
    auto const& n = evaluated.grid.extent;
    return evaluated.data(std::min(i, n[0] - 1), std::min(j, n[1] - 1), std::min(k, n[2] - 1));
  }
  [[nodiscard]] double least(vec3<double> const& mm, double dose, double difference,
                             double distance) const {
    auto const& n = evaluated.grid.extent;
    vec3<double> const at = evaluated.grid.to_index(mm);
    double best = options.max_gamma * options.max_gamma;
    std::int64_t begin[3];
    std::int64_t end[3];
    for (int axis = 0; axis < 3; ++axis) {
      double const reach = options.max_gamma * distance / evaluated.grid.spacing[axis];
      begin[axis] =
          std::clamp<std::int64_t>(std::int64_t(std::floor(at[axis] - reach)) - 1, 0, n[axis] - 1);
      end[axis] =
          std::clamp<std::int64_t>(std::int64_t(std::floor(at[axis] + reach)) + 1, 0, n[axis] - 1);
    }
    // The nearest in dose and distance first: they rule out most of the others.
    std::vector<cell_search> cells;
    std::vector<std::pair<double, std::size_t>> floors;
    for (std::int64_t i = begin[0]; i <= end[0]; ++i) {
      for (std::int64_t j = begin[1]; j <= end[1]; ++j) {
        for (std::int64_t k = begin[2]; k <= end[2]; ++k) {
          cell_search s{{},   {at.x - double(i), at.y - double(j), at.z - double(k)},
                        {},   {i + 1 < n[0], j + 1 < n[1], k + 1 < n[2]},
                        dose, difference};
          for (int axis = 0; axis < 3; ++axis) {
            s.side[std::size_t(axis)] = evaluated.grid.spacing[axis] / distance;
          }
          if (options.between == interpolation::grid_points) {
            s.wide = {};
          }
          s.cell.between = options.between;
          for (std::size_t c = 0; c < 8; ++c) {
            s.cell.corner[c] = value(i + (s.wide[0] && (c & 4) != 0 ? 1 : 0),
                                     j + (s.wide[1] && (c & 2) != 0 ? 1 : 0),
                                     k + (s.wide[2] && (c & 1) != 0 ? 1 : 0));
          }
          double const floor = floor_of(s);
          if (floor < best) {
            floors.emplace_back(floor, cells.size());
            cells.push_back(s);
          }
        }
      }
    }
    std::sort(floors.begin(), floors.end());
    for (auto const& [floor, n_th] : floors) {
      if (floor >= best) {
        break;
      }
      best = std::min(best, cells[n_th].least());
    }
    return std::sqrt(best);
  }
  /// What no point of the cell is below.
  static double floor_of(cell_search const& s) {
    auto const [low, high] = std::minmax_element(s.cell.corner.begin(), s.cell.corner.end());
    double const gap = (std::clamp(s.dose, *low, *high) - s.dose) / s.difference;
    double sum = gap * gap;
    for (std::size_t k = 0; k < 3; ++k) {
      double const d = (s.from[k] - std::clamp(s.from[k], 0.0, s.wide[k] ? 1.0 : 0.0)) * s.side[k];
      sum += d * d;
    }
    return sum;
  }
};

}  // namespace

double dose_at(host_dose const& dose, interpolation between, vec3<double> const& at) {
  auto const& n = dose.grid.extent;
  std::int64_t low[3];
  point u{};
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = std::clamp<std::int64_t>(std::int64_t(std::floor(at[axis])), 0,
                                         std::max<std::int64_t>(n[axis] - 2, 0));
    u[std::size_t(axis)] = at[axis] - double(low[axis]);
  }
  dose_search const whole{dose, {}};
  cell_dose cell{{}, between};
  for (std::size_t c = 0; c < 8; ++c) {
    cell.corner[c] = whole.value(low[0] + ((c & 4) != 0 ? 1 : 0), low[1] + ((c & 2) != 0 ? 1 : 0),
                                 low[2] + ((c & 1) != 0 ? 1 : 0));
  }
  return cell.at(u);
}

std::vector<double> exact_gamma(host_dose const& reference, host_dose const& evaluated,
                                gamma::criterion const& limits, gamma::gamma_options const& options,
                                std::int64_t stride) {
  auto const& g = reference.grid;
  double const* const dose = reference.data.data();
  double const most = *std::max_element(dose, dose + g.size());
  bool const given = options.normalise == gamma::normalisation::given;
  double const floor = options.cut_off * (given ? options.given_dose : most);
  dose_search const search{evaluated, options};
  std::vector<double> found(std::size_t(g.size()), std::nan(""));
  std::int64_t compared = 0;
  for (std::int64_t n = 0; n < g.size(); ++n) {
    if (dose[n] >= floor && compared++ % stride == 0) {
      double const unit = given                                              ? options.given_dose
                          : options.normalise == gamma::normalisation::local ? dose[n]
                                                                             : most;
      std::int64_t const row = n / g.extent[2];
      vec3<double> const mm{g.origin.x + g.spacing.x * double(row / g.extent[1]),
                            g.origin.y + g.spacing.y * double(row % g.extent[1]),
                            g.origin.z + g.spacing.z * double(n % g.extent[2])};
      found[std::size_t(n)] =
          search.least(mm, dose[n], limits.dose_difference * unit, limits.distance);
    }
  }
  return found;
}

}  // namespace iso::oracle
