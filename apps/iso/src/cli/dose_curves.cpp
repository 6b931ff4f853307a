// SPDX-License-Identifier: BSD-3-Clause
#include "dose_output.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

namespace iso::cli {
namespace {

using point = std::array<double, 3>;

point moved(point const& from, double distance, point const& along) {
  return {from[0] + distance * along[0], from[1] + distance * along[1],
          from[2] + distance * along[2]};
}

/// Where the line enters and leaves the volume, as distances from `from`; empty where it misses.
std::optional<std::array<double, 2>> crossing(files::host_volume const& v, point const& from,
                                              point const& along) {
  double enter = -std::numeric_limits<double>::infinity();
  double leave = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < 3; ++a) {
    double const low = v.origin[a] - 0.5 * v.spacing[a];
    double const high = low + v.spacing[a] * double(v.extent[a]);
    if (along[a] == 0) {
      if (from[a] < low || from[a] > high) {
        return std::nullopt;
      }
      continue;
    }
    double const first = (low - from[a]) / along[a];
    double const second = (high - from[a]) / along[a];
    enter = std::max(enter, std::min(first, second));
    leave = std::min(leave, std::max(first, second));
  }
  return enter < leave ? std::optional(std::array{enter, leave}) : std::nullopt;
}

class curve_table {
 public:
  explicit curve_table(jobs::dose_result const& result) : result_(result) {
    auto const& s = result.dose.spacing;
    step_ = 0.5 * std::min({s[0], s[1], s[2]});
  }

  /// Samples of `from + s along`, s from `first` to `last` in half voxels; the s of the largest
  /// dose.
  double add(std::size_t beam, char const* curve, point const& from, point const& along,
             double first, double last) {
    double most = -1;
    double at = first;
    // A margin may be wider than any volume.
    auto const inside = crossing(result_.dose, from, along);
    if (!inside) {
      return at;
    }
    first = std::max(first, (*inside)[0] - step_);
    last = std::min(last, (*inside)[1] + step_);
    // Counted from s = 0, so that profiles have a sample on the axis.
    for (auto n = std::int64_t(std::ceil(first / step_)); double(n) * step_ <= last; ++n) {
      double const s = double(n) * step_;
      point const p = moved(from, s, along);
      auto const dose = value_at(result_.dose, p);
      auto const density = value_at(result_.density, p);
      if (!dose || !density) {
        continue;
      }
      fmt::format_to(std::back_inserter(text_), "{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.9g}\n",
                     beam, curve, s, p[0], p[1], p[2], *density, *dose);
      if (*dose > most) {
        most = *dose;
        at = s;
      }
    }
    return at;
  }
  [[nodiscard]] std::string text() const {
    return "# dose of the whole plan in Gy, for the plan's weights in photons/cm2; density in "
           "g/cm3, "
           "lengths in mm\n"
           "# depth_dose: position behind the surface of the volume along the beam's axis; inline "
           "and crossline: along the collimator's y and x from the axis, at the isocentre and at "
           "the maximum of the depth dose\n"
           "beam,curve,position_mm,x_mm,y_mm,z_mm,density_g_cm3,dose_gy\n" +
           text_;
  }

 private:
  jobs::dose_result const& result_;
  double step_;
  std::string text_;
};

}  // namespace

std::optional<double> value_at(files::host_volume const& v, std::array<double, 3> const& p) {
  std::array<std::int64_t, 3> low{};
  std::array<double, 3> part{};
  for (std::size_t a = 0; a < 3; ++a) {
    double const index = (p[a] - v.origin[a]) / v.spacing[a];
    auto const last = double(v.extent[a] - 1);
    if (!(index >= -0.5 && index <= last + 0.5)) {
      return std::nullopt;
    }
    double const within = std::clamp(index, 0.0, last);
    low[a] = std::min(std::int64_t(within), std::max<std::int64_t>(v.extent[a] - 2, 0));
    part[a] = within - double(low[a]);
  }
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::int64_t at = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      bool const upper = (corner >> a & 1) != 0;
      weight *= upper ? part[a] : 1 - part[a];
      at = at * v.extent[a] + std::min(low[a] + (upper ? 1 : 0), v.extent[a] - 1);
    }
    sum += weight > 0 ? weight * double(v.values[std::size_t(at)]) : 0;
  }
  return sum;
}

std::string dose_curves(files::plan const& plan, jobs::dose_result const& result) {
  curve_table table(result);
  for (std::size_t i = 0; i < plan.beams.size(); ++i) {
    auto const& beam = plan.beams[i].beam;
    auto const& placed = result.beams[i];
    auto const inside = crossing(result.dose, placed.source, placed.along);
    if (!inside) {
      continue;
    }
    point const surface = moved(placed.source, (*inside)[0], placed.along);
    double const deepest =
        table.add(i + 1, "depth_dose", surface, placed.along, 0, (*inside)[1] - (*inside)[0]);
    auto const across = [&](char const* curve, point const& from, double distance,
                            std::size_t axis) {
      double const scale = distance / beam.source_distance;
      auto const& f = beam.fluence;
      double const margin = plan.options.margin;
      double const low = (axis == 0 ? f.x_low : f.y_low) * scale - margin;
      double const high = (axis == 0 ? f.x_high() : f.y_high()) * scale + margin;
      table.add(i + 1, curve, from, axis == 0 ? placed.x : placed.y, low, high);
    };
    double const maximum = (*inside)[0] + deepest;
    point const isocentre = {beam.isocentre.x, beam.isocentre.y, beam.isocentre.z};
    across("inline_isocentre", isocentre, beam.source_distance, 1);
    across("crossline_isocentre", isocentre, beam.source_distance, 0);
    across("inline_maximum", moved(placed.source, maximum, placed.along), maximum, 1);
    across("crossline_maximum", moved(placed.source, maximum, placed.along), maximum, 0);
  }
  return table.text();
}

}  // namespace iso::cli
