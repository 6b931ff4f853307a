// SPDX-License-Identifier: BSD-3-Clause
#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace iso::jobs {
namespace {

using real = long double;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr real infinity = std::numeric_limits<real>::infinity();

/// from + t along, t in [first, last]: voxels, centres at whole numbers.
struct line {
  point3 from;
  point3 along;
  real first;
  real last;
  real mm;  ///< length of `along`
};

line in_voxels(grid const& g, vec3<double> from, point3 const& along, real first, real last) {
  line l{{}, {}, first, last, 0};
  for (std::size_t a = 0; a < 3; ++a) {
    l.from[a] = (real(from[int(a)]) - g.origin[int(a)]) / g.spacing[int(a)];
    l.along[a] = along[a] / g.spacing[int(a)];
    l.mm = std::hypot(l.mm, along[a]);
  }
  return l;
}

/// The ray of the point (u, v) of the detector.
line ray_of(ct::geometry const& scan, ct::view_vectors const& view, real u, real v, grid const& g) {
  bool const cone = scan.kind() == ct::beam::cone;
  point3 pixel;
  point3 along;
  for (int a = 0; a < 3; ++a) {
    auto const i = std::size_t(a);
    pixel[i] = real(view.detector_origin[a]) + u * view.u_step[a] + v * view.v_step[a];
    along[i] = cone ? pixel[i] - view.source[a] : real(view.source[a]);
  }
  auto l = in_voxels(g, view.source, along, cone ? 0 : -infinity, cone ? 1 : infinity);
  for (std::size_t a = 0; a < 3 && !cone; ++a) {
    l.from[a] = (pixel[a] - g.origin[int(a)]) / g.spacing[int(a)];
  }
  return l;
}

/// f(line, pixel's centre) of every stride-th pixel, the mean over n x n rays of it.
template <class F>
std::vector<double> of_pixels(ct::geometry const& scan, grid const& g, std::int64_t n,
                              std::int64_t stride, F const& f) {
  std::vector<double> result(std::size_t(scan.num_views() * scan.num_u() * scan.num_v()), unknown);
  for (std::size_t i = 0; i < result.size(); i += std::size_t(stride)) {
    auto const pixel = std::int64_t(i);
    auto const& view = scan.views()[std::size_t(pixel / (scan.num_u() * scan.num_v()))];
    real sum = 0;
    for (std::int64_t k = 0; k < n * n; ++k) {
      real const u = real(pixel / scan.num_v() % scan.num_u()) + (k / n + 0.5L) / n - 0.5L;
      real const v = real(pixel % scan.num_v()) + (k % n + 0.5L) / n - 0.5L;
      sum += f(ray_of(scan, view, u, v, g));
    }
    result[i] = double(sum / real(n * n));
  }
  return result;
}

/// Runs along a face between two voxels, as near as rounding.
bool in_a_face(line const& l) {
  for (std::size_t a = 0; a < 3; ++a) {
    real const place = l.from[a] + 0.5L;
    if (l.along[a] == 0 && std::abs(place - std::round(place)) < 1e-4L) {
      return true;
    }
  }
  return false;
}

/// The plane of one axis that the line crosses next after t.
real next_crossing(real from, real along, real t) {
  real const here = from + t * along;
  real const sign = along > 0 ? 1 : -1;
  real const plane = along > 0 ? std::floor(here) + 1 : std::ceil(here) - 1;
  real const at = (plane - from) / along;
  return at > t ? at : (plane + sign - from) / along;
}

/// Calls f(voxel, mm) for the voxels that the line crosses, one after another.
template <class F>
void walk(line const& l, grid const& g, F const& f) {
  real t = l.first;
  real last = l.last;
  for (std::size_t a = 0; a < 3; ++a) {
    real const from = l.from[a] + 0.5L;
    auto const n = real(g.extent[a]);
    if (l.along[a] == 0) {
      last = from >= 0 && from < n ? last : -infinity;
      continue;
    }
    t = std::max(t, std::min(-from / l.along[a], (n - from) / l.along[a]));
    last = std::min(last, std::max(-from / l.along[a], (n - from) / l.along[a]));
  }
  while (t < last) {
    real next = last;
    for (std::size_t a = 0; a < 3; ++a) {
      next =
          l.along[a] == 0 ? next : std::min(next, next_crossing(l.from[a] + 0.5L, l.along[a], t));
    }
    index3 voxel;
    for (std::size_t a = 0; a < 3; ++a) {
      auto const place = std::int64_t(std::floor(l.from[a] + 0.5L + (t + next) / 2 * l.along[a]));
      voxel[a] = std::clamp<std::int64_t>(place, 0, g.extent[a] - 1);
    }
    f(voxel, (next - t) * l.mm);
    t = next;
  }
}

std::size_t place_of(index3 const& n, index3 const& voxel) {
  return std::size_t((voxel[0] * n[1] + voxel[1]) * n[2] + voxel[2]);
}

real joseph(files::host_volume const& volume, line const& l, weighting weight, boundary edge) {
  std::size_t m = 0;
  for (std::size_t a = 1; a < 3; ++a) {
    m = std::abs(l.along[a]) > std::abs(l.along[m]) ? a : m;
  }
  real sum = 0;
  for (std::int64_t plane = 0; plane < volume.extent[m]; ++plane) {
    real const t = (real(plane) - l.from[m]) / l.along[m];
    if (t >= l.first && t <= l.last) {
      point3 at;
      for (std::size_t a = 0; a < 3; ++a) {
        at[a] = a == m ? real(plane) : l.from[a] + t * l.along[a];
      }
      sum += exact_sample(volume, at, weight, edge);
    }
  }
  return sum * l.mm / std::abs(l.along[m]);
}

/// An ellipsoid ready to be a unit ball in its own axes.
struct solid {
  explicit solid(ct::ellipsoid const& e)
      : body(e), cosine(std::cos(real(e.angle))), sine(std::sin(real(e.angle))) {}

  /// What is left of a direction.
  [[nodiscard]] point3 direction(point3 const& d) const {
    return {(cosine * d[0] + sine * d[1]) / body.half_axes.x,
            (cosine * d[1] - sine * d[0]) / body.half_axes.y, d[2] / body.half_axes.z};
  }
  [[nodiscard]] point3 point(point3 const& p) const {
    return direction({p[0] - body.centre.x, p[1] - body.centre.y, p[2] - body.centre.z});
  }

  ct::ellipsoid body;
  real cosine;
  real sine;
};

std::vector<solid> solids(std::vector<ct::ellipsoid> const& bodies) {
  return {bodies.begin(), bodies.end()};
}

real dot(point3 const& a, point3 const& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

real chord(solid const& s, line const& l) {
  point3 const o = s.point(l.from);
  point3 const d = s.direction(l.along);
  real const middle = -dot(o, d) / dot(d, d);
  point3 const nearest = {o[0] + middle * d[0], o[1] + middle * d[1], o[2] + middle * d[2]};
  real const left = 1 - dot(nearest, nearest);
  if (left <= 0) {
    return 0;
  }
  real const half = std::sqrt(left / dot(d, d));
  real const first = std::max(l.first, middle - half);
  real const last = std::min(l.last, middle + half);
  return first < last ? (last - first) * l.mm : 0;
}

}  // namespace

template <class T, class Exact>
double relative_l1(std::vector<T> const& found, std::vector<Exact> const& exact) {
  real difference = 0;
  real size = 0;
  bool any = exact.empty();
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!std::isnan(exact[i])) {
      difference += std::abs(real(found[i]) - real(exact[i]));
      size += std::abs(real(exact[i]));
      any = true;
    }
  }
  return any && difference == 0 ? 0 : double(difference / size);
}
template double relative_l1(std::vector<float> const&, std::vector<double> const&);
template double relative_l1(std::vector<double> const&, std::vector<double> const&);
template double relative_l1(std::vector<float> const&, std::vector<long double> const&);
template double relative_l1(std::vector<double> const&, std::vector<long double> const&);

long double exact_sample(files::host_volume const& volume, point3 const& at, weighting weight,
                         boundary edge) {
  index3 low;
  point3 share;
  for (std::size_t a = 0; a < 3; ++a) {
    auto const last = real(volume.extent[a] - 1);
    bool const inside =
        edge == boundary::zero ? at[a] > -1 && at[a] < last + 1 : at[a] >= 0 && at[a] <= last;
    if (!inside) {
      return 0;
    }
    low[a] = std::int64_t(std::floor(at[a]));
    real const d = at[a] - std::floor(at[a]);
    share[a] = weight == weighting::linear ? d : d * d * (3 - 2 * d);
  }
  real sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    index3 voxel;
    real product = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      bool const upper = (corner >> a & 1) != 0;
      voxel[a] = low[a] + (upper ? 1 : 0);
      product *= upper ? share[a] : 1 - share[a];
      product = voxel[a] < 0 || voxel[a] >= volume.extent[a] ? 0 : product;
    }
    sum += product == 0 ? 0 : product * volume.values[place_of(volume.extent, voxel)];
  }
  return sum;
}

std::vector<double> exact_projections(files::host_volume const& volume, ct::geometry const& scan,
                                      ct::forward_project_options const& options,
                                      std::int64_t stride) {
  using ct::projector;
  auto const g = make_grid(volume);
  if (options.method == projector::joseph_linear || options.method == projector::joseph_spline) {
    auto const weight =
        options.method == projector::joseph_linear ? weighting::linear : weighting::spline;
    return of_pixels(scan, g, 1, stride,
                     [&](line const& l) { return joseph(volume, l, weight, options.edge); });
  }
  return of_pixels(scan, g, options.oversampling, stride, [&](line const& l) {
    real sum = 0;
    walk(l, g, [&](index3 const& voxel, real mm) {
      sum += mm * volume.values[place_of(volume.extent, voxel)];
    });
    return in_a_face(l) ? real(unknown) : sum;
  });
}

template <class T>
std::vector<double> exact_paths(grid const& box, std::vector<ray::ray<T>> const& rays,
                                std::function<double(index3 const&)> const& f) {
  std::vector<double> result;
  for (auto const& ray : rays) {
    point3 const along = {ray.direction.x, ray.direction.y, ray.direction.z};
    auto const l =
        in_voxels(box, static_cast<vec3<double>>(ray.origin), along, ray.t_min, ray.t_max);
    real sum = 0;
    walk(l, box, [&](index3 const& voxel, real mm) { sum += mm * f(voxel); });
    result.push_back(in_a_face(l) ? unknown : double(sum));
  }
  return result;
}
template std::vector<double> exact_paths(grid const&, std::vector<ray::ray<float>> const&,
                                         std::function<double(index3 const&)> const&);
template std::vector<double> exact_paths(grid const&, std::vector<ray::ray<double>> const&,
                                         std::function<double(index3 const&)> const&);

std::vector<double> exact_projections(std::vector<ct::ellipsoid> const& bodies,
                                      ct::geometry const& scan, std::int64_t subsamples,
                                      std::int64_t stride) {
  return of_pixels(scan, grid{}, subsamples, stride, [all = solids(bodies)](line const& l) {
    real sum = 0;
    for (auto const& one : all) {
      sum += one.body.density * chord(one, l);
    }
    return sum;
  });
}

std::vector<double> exact_raster(std::vector<ct::ellipsoid> const& bodies, grid const& g,
                                 std::int64_t samples, std::int64_t stride) {
  auto const all = solids(bodies);
  std::vector<double> result(std::size_t(g.size()), unknown);
  for (std::int64_t i = 0; i < g.size(); i += stride) {
    index3 const voxel = {i / (g.extent[1] * g.extent[2]), i / g.extent[2] % g.extent[1],
                          i % g.extent[2]};
    real sum = 0;
    for (std::int64_t k = 0; k < samples * samples * samples; ++k) {
      index3 const point = {k / (samples * samples), k / samples % samples, k % samples};
      point3 at;
      for (std::size_t a = 0; a < 3; ++a) {
        real const place = real(voxel[a]) + (real(point[a]) + 0.5L) / samples - 0.5L;
        at[a] = g.origin[int(a)] + place * g.spacing[int(a)];
      }
      for (auto const& one : all) {
        point3 const p = one.point(at);
        sum += dot(p, p) <= 1 ? real(one.body.density) : 0;
      }
    }
    result[std::size_t(i)] = double(sum / real(samples * samples * samples));
  }
  return result;
}

}  // namespace iso::jobs
