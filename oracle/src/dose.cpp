// SPDX-License-Identifier: BSD-3-Clause
#include <iso/oracle/dose.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <variant>

namespace iso::oracle {
namespace {

/// Where a segment from a (parameter 0) to b (1) crosses the planes of a grid, ascending, within
/// the grid.
std::vector<double> crossings(grid const& g, vec3<double> const& a, vec3<double> const& b) {
  double first = 0;
  double last = 1;
  std::vector<double> inner;
  for (int axis = 0; axis < 3; ++axis) {
    double const low = g.origin[axis] - 0.5 * g.spacing[axis];
    auto const count = g.extent[std::size_t(axis)];
    double const d = b[axis] - a[axis];
    if (d == 0) {
      bool const inside = a[axis] >= low && a[axis] < low + g.spacing[axis] * double(count);
      last = inside ? last : -1;
      continue;
    }
    double const t0 = (low - a[axis]) / d;
    double const t1 = (low + g.spacing[axis] * double(count) - a[axis]) / d;
    first = std::max(first, std::min(t0, t1));
    last = std::min(last, std::max(t0, t1));
    for (std::int64_t n = 0; n <= count; ++n) {
      inner.push_back((low + g.spacing[axis] * double(n) - a[axis]) / d);
    }
  }
  std::vector<double> out;
  if (first >= last) {
    return out;
  }
  out = {first, last};
  std::copy_if(inner.begin(), inner.end(), std::back_inserter(out),
               [&](double t) { return t > first && t < last; });
  std::sort(out.begin(), out.end());
  return out;
}

/// Calls f(voxel, from, to) with the distances from a, mm, for each voxel between a and b.
template <class F>
void for_each_chord(grid const& g, vec3<double> const& a, vec3<double> const& b, F const& f) {
  auto const t = crossings(g, a, b);
  double const length = norm(b - a);
  for (std::size_t n = 0; n + 1 < t.size(); ++n) {
    if (t[n + 1] <= t[n]) {
      continue;
    }
    vec3<double> const middle = g.to_index(a + (0.5 * (t[n] + t[n + 1])) * (b - a));
    std::int64_t at[3];
    for (int axis = 0; axis < 3; ++axis) {
      at[axis] =
          std::clamp<std::int64_t>(std::llround(middle[axis]), 0, g.extent[std::size_t(axis)] - 1);
    }
    f((at[0] * g.extent[1] + at[1]) * g.extent[2] + at[2], t[n] * length, t[n + 1] * length);
  }
}

/// The same for a line of the lattice from the middle of voxel `start` against `d`. Lines have no
/// displacement in the plane, or between the planes, next to the isocentre.
template <class F>
void for_each_step(grid const& g, vec3<double> const& isocentre, std::int64_t start,
                   vec3<double> const& d, F const& f) {
  vec3<double> const by = g.to_index_vector(d);
  int march = 0;
  for (int axis = 1; axis < 3; ++axis) {
    march = std::fabs(by[axis]) > std::fabs(by[march]) ? axis : march;
  }
  std::int64_t at[3] = {start / g.extent[2] / g.extent[1], start / g.extent[2] % g.extent[1],
                        start % g.extent[2]};
  double const length = 1 / std::fabs(by[march]);
  // Planes are counted from where lines enter the grid.
  std::int64_t const k = by[march] > 0 ? at[march] : g.extent[std::size_t(march)] - 1 - at[march];
  double const at_isocentre = g.to_index(isocentre)[march];
  double const last = double(g.extent[std::size_t(march)] - 1);
  double const anchor =
      0.5 * double(std::llround(2 * (by[march] > 0 ? at_isocentre : last - at_isocentre) - 0.137));
  double slope[3];
  for (int axis = 0; axis < 3; ++axis) {
    slope[axis] = double(std::llround(by[axis] / std::fabs(by[march]) * 16384)) / 16384;
  }
  for (std::int64_t before = k; before >= 0; --before) {
    std::int64_t index = 0;
    for (int axis = 0; axis < 3; ++axis) {
      std::int64_t const n =
          axis == march ? (by[march] > 0 ? before : g.extent[std::size_t(march)] - 1 - before)
                        : at[axis] + std::llround(slope[axis] * (double(before) - anchor)) -
                              std::llround(slope[axis] * (double(k) - anchor));
      if (n < 0 || n >= g.extent[std::size_t(axis)]) {
        return;
      }
      index = index * g.extent[std::size_t(axis)] + n;
    }
    double const end = (double(k - before) + 0.5) * length;
    f(index, before == k ? 0.0 : end - length, end);
  }
}

vec3<double> middle_of(grid const& g, std::int64_t voxel) {
  std::int64_t const k = voxel % g.extent[2];
  std::int64_t const row = voxel / g.extent[2];
  return {g.origin.x + g.spacing.x * double(row / g.extent[1]),
          g.origin.y + g.spacing.y * double(row % g.extent[1]),
          g.origin.z + g.spacing.z * double(k)};
}

/// The distribution function of the sum of two uniform ones of widths a and b, as a second
/// difference of squares; of one where the other has none.
long double below(long double x, long double a, long double b) {
  if (b < 1e-9L * a) {
    return std::clamp<long double>(x / a + 0.5L, 0, 1);
  }
  auto const square = [](long double t) { return t > 0 ? t * t : 0; };
  long double const outer = (a + b) / 2;
  long double const inner = (a - b) / 2;
  return (square(x + outer) - square(x + inner) - square(x - inner) + square(x - outer)) /
         (2 * a * b);
}

/// The sides of a voxel as they stand along an axis: the largest, and the two others joined; or the
/// other way round.
std::array<double, 2> widths_along(grid const& g, vec3<double> const& axis) {
  std::vector<double> w;
  for (int n = 0; n < 3; ++n) {
    w.push_back(std::fabs(axis[n] * g.spacing[n]));
  }
  std::sort(w.begin(), w.end());
  double const joined = std::hypot(w[0], w[1]);
  return {std::max(w[2], joined), std::min(w[2], joined)};
}

/// Mean fluence over a voxel whose middle is seen at (x, y).
double mean_fluence(dose::fluence_map const& f, double x, double y,
                    std::array<double, 2> const& wide, std::array<double, 2> const& high,
                    double scale) {
  auto const shared = [&](double low, double size, double at, std::array<double, 2> const& w) {
    return below(low + size - at, w[0] * scale, w[1] * scale) -
           below(low - at, w[0] * scale, w[1] * scale);
  };
  long double sum = 0;
  for (std::int64_t i = 0; i < f.columns; ++i) {
    for (std::int64_t j = 0; j < f.rows; ++j) {
      sum += f.values[std::size_t(i * f.rows + j)] *
             shared(f.x_low + f.pixel_x * double(i), f.pixel_x, x, wide) *
             shared(f.y_low + f.pixel_y * double(j), f.pixel_y, y, high);
    }
  }
  return double(sum);
}

/// What a cone's table absorbs within `radius`.
double within(dose::tabulated_cones const& cones, std::size_t cone, double radius) {
  auto const& absorbed = cones.within[cone];
  double low = 0;
  double before = 0;
  for (std::size_t j = 0; j < absorbed.size(); ++j) {
    if (radius < cones.radii[j]) {
      return before + (absorbed[j] - before) * (radius - low) / (cones.radii[j] - low);
    }
    low = cones.radii[j];
    before = absorbed[j];
  }
  return before;
}

/// What a step behind `depth`, g/cm2, absorbs of what is released by a term of a cone.
double absorbed(dose::exponential_cones const& cones, std::size_t cone, std::size_t term,
                double released, double depth, double step) {
  auto const& t = cones.terms[cone];
  return t.energy[term] * released *
         (std::exp(-t.rate[term] * depth) - std::exp(-t.rate[term] * (depth + step)));
}
double absorbed(dose::tabulated_cones const& cones, std::size_t cone, std::size_t, double released,
                double depth, double step) {
  return released * (within(cones, cone, depth + step) - within(cones, cone, depth));
}

}  // namespace

std::vector<double> exact_terma(dose::beam const& b, dose::spectrum const& s,
                                dose::terma_options const& options, host_density const& density,
                                grid const& region, std::int64_t stride) {
  auto const frame = dose::frame_of(b);
  std::vector<double> out(std::size_t(region.size()), std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t v = 0; v < region.size(); v += stride) {
    vec3<double> const p = middle_of(region, v);
    auto const at = frame.of(p);
    double const scale = frame.source_distance / at.depth;
    double const fluence = at.depth > 0
                               ? mean_fluence(b.fluence, at.x, at.y, widths_along(region, frame.x),
                                              widths_along(region, frame.y), scale)
                               : 0;
    double path = 0;
    for_each_chord(density.grid, frame.source, p, [&](std::int64_t voxel, double from, double to) {
      path += density.data.data()[voxel] * (to - from);
    });
    double const distance = norm(p - frame.source);
    out[std::size_t(v)] = b.weight * fluence * std::pow(frame.source_distance / distance, 2) *
                          dose::terma_at(s, 0.1 * path, options);
  }
  return out;
}

std::vector<double> exact_dose(dose::beam const& b, dose::cone_set const& cones, bool tilt,
                               host_density const& terma, host_density const& density,
                               std::int64_t stride, transport by) {
  auto const frame = dose::frame_of(b);
  grid const& g = terma.grid;
  double const reach =
      norm(vec3<double>{g.spacing.x * double(g.extent[0]), g.spacing.y * double(g.extent[1]),
                        g.spacing.z * double(g.extent[2])});
  std::vector<double> out(std::size_t(g.size()), std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t v = 0; v < g.size(); v += stride) {
    out[std::size_t(v)] = 0;
  }
  auto const* const sums = std::get_if<dose::exponential_cones>(&cones.absorbed);
  auto const terms = std::size_t(sums != nullptr ? sums->num_terms : 1);
  for (std::size_t m = 0; m < cones.cones.size(); ++m) {
    auto const& cone = cones.cones[m];
    auto const fit = tilt ? cone.tilt : dose::cone_tilt{};
    for (int azimuth = 0; azimuth < cones.azimuths; ++azimuth) {
      vec3<double> const own = cones.direction(m, azimuth);
      vec3<double> const d = own.x * frame.x + own.y * frame.y + own.z * frame.along;
      for (std::int64_t v = 0; v < g.size(); v += stride) {
        vec3<double> const p = middle_of(g, v);
        double depth = 0;  // radiological, g/cm2
        auto const take = [&](std::int64_t voxel, double from, double to) {
          double const step = 0.1 * density.data.data()[voxel] * (to - from);
          vec3<double> const ray =
              (by == transport::lines ? p - (0.5 * (from + to)) * d : middle_of(g, voxel)) -
              frame.source;
          double const delta = dot(ray, d) / norm(ray) - own.z;
          for (std::size_t c = 0; c < terms; ++c) {
            double const released = terma.data.data()[voxel] * fit.factor(c, delta);
            out[std::size_t(v)] += std::visit(
                [&](auto const& of) { return absorbed(of, m, c, released, depth, step); },
                cones.absorbed);
          }
          depth += step;
        };
        if (by == transport::lines) {
          for_each_chord(g, p, p - reach * d, take);
        } else {
          for_each_step(g, b.isocentre, v, d, take);
        }
      }
    }
  }
  return out;
}

}  // namespace iso::oracle
