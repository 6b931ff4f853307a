// SPDX-License-Identifier: BSD-3-Clause
#include <iso/oracle/projections.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace iso::oracle {
namespace {

using real = long double;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr real infinity = std::numeric_limits<real>::infinity();

line in_voxels(grid const& g, vec3<double> from, point3 const& along, real first, real last) {
  line l{{}, {}, first, last, 0};
  for (std::size_t a = 0; a < 3; ++a) {
    l.from[a] = (real(from[int(a)]) - g.origin[int(a)]) / g.spacing[int(a)];
    l.along[a] = along[a] / g.spacing[int(a)];
    l.mm = std::hypot(l.mm, along[a]);
  }
  return l;
}

/// The k-th of n x n rays of a pixel.
line ray_of_pixel(ct::geometry const& scan, grid const& g, std::int64_t pixel, std::int64_t n,
                  std::int64_t k) {
  auto const& view = scan.views()[std::size_t(pixel / (scan.num_u() * scan.num_v()))];
  real const u = real(pixel / scan.num_v() % scan.num_u()) + (k / n + 0.5L) / n - 0.5L;
  real const v = real(pixel % scan.num_v()) + (k % n + 0.5L) / n - 0.5L;
  return ray_of(view, scan.kind(), g, u, v);
}

/// The value of f(ray) for one pixel, the mean over n x n rays of it.
template <class F>
real of_pixel(ct::geometry const& scan, grid const& g, std::int64_t pixel, std::int64_t n,
              F const& f) {
  real sum = 0;
  for (std::int64_t k = 0; k < n * n; ++k) {
    sum += f(ray_of_pixel(scan, g, pixel, n, k));
  }
  return sum / real(n * n);
}

/// f(place) of every stride-th place.
template <class F>
std::vector<double> every(std::int64_t stride, std::int64_t size, F const& f) {
  std::vector<double> result(std::size_t(size), unknown);
  for (std::int64_t i = 0; i < size; i += stride) {
    result[std::size_t(i)] = double(f(i));
  }
  return result;
}

std::int64_t pixels(ct::geometry const& scan) {
  return scan.num_views() * scan.num_u() * scan.num_v();
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

line ray_of(ct::view_vectors const& view, ct::beam kind, grid const& g, real u, real v) {
  bool const cone = kind == ct::beam::cone;
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

line limited(line l, grid const& g, ct::region within) {
  if (within == ct::region::box) {
    return l;
  }
  // From the cylinder's axis, in mm: |from + t along| = radius.
  real from[2];
  real along[2];
  real radius = infinity;
  for (std::size_t a = 0; a < 2; ++a) {
    real const h = g.spacing[int(a)];
    radius = std::min(radius, real(g.extent[a]) * h / 2);
    from[a] = (l.from[a] - real(g.extent[a] - 1) / 2) * h;
    along[a] = l.along[a] * h;
  }
  real const squared = along[0] * along[0] + along[1] * along[1];
  if (squared == 0) {
    l.last = std::hypot(from[0], from[1]) <= radius ? l.last : -infinity;
    return l;
  }
  real const nearest = -(from[0] * along[0] + from[1] * along[1]) / squared;
  real const distance = std::hypot(from[0] + nearest * along[0], from[1] + nearest * along[1]);
  if (distance > radius) {
    l.last = -infinity;
    return l;
  }
  real const half = std::sqrt((radius - distance) * (radius + distance) / squared);
  l.first = std::max(l.first, nearest - half);
  l.last = std::min(l.last, nearest + half);
  return l;
}

namespace {

/// Calls f(voxel, weight) for the voxels between which a point lies.
template <class F>
void share(grid const& g, point3 const& at, weighting weight, boundary edge, F const& f) {
  auto const& n = g.extent;
  index3 low;
  point3 share;
  for (std::size_t a = 0; a < 3; ++a) {
    auto const last = real(n[a] - 1);
    bool const inside =
        edge == boundary::zero ? at[a] > -1 && at[a] < last + 1 : at[a] >= 0 && at[a] <= last;
    if (!inside) {
      return;
    }
    low[a] = std::int64_t(std::floor(at[a]));
    real const d = at[a] - std::floor(at[a]);
    share[a] = weight == weighting::linear ? d : d * d * (3 - 2 * d);
  }
  for (int corner = 0; corner < 8; ++corner) {
    index3 voxel;
    real product = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      bool const upper = (corner >> a & 1) != 0;
      voxel[a] = low[a] + (upper ? 1 : 0);
      product *= upper ? share[a] : 1 - share[a];
      product = voxel[a] < 0 || voxel[a] >= n[a] ? 0 : product;
    }
    if (product != 0) {
      f(voxel, product);
    }
  }
}

std::size_t driving_axis(line const& l) {
  std::size_t m = 0;
  for (std::size_t a = 1; a < 3; ++a) {
    m = std::abs(l.along[a]) > std::abs(l.along[m]) ? a : m;
  }
  return m;
}

}  // namespace

template <class T>
real exact_sample(voxels<T> const& volume, point3 const& at, weighting weight, boundary edge) {
  real sum = 0;
  share(volume.grid, at, weight, edge, [&](index3 const& voxel, real product) {
    sum += product * volume.data(voxel[0], voxel[1], voxel[2]);
  });
  return sum;
}

template real exact_sample(voxels<float> const&, point3 const&, weighting, boundary);
template real exact_sample(voxels<double> const&, point3 const&, weighting, boundary);

template <class T>
joseph_integral joseph(voxels<T> const& volume, line const& l, weighting weight, boundary edge) {
  auto const& n = volume.grid.extent;
  std::size_t const m = driving_axis(l);
  joseph_integral result;
  auto const stay_from = [&](real distance) {
    result.margin = std::min(result.margin, std::abs(distance));
  };
  for (std::size_t a = 0; a < 3; ++a) {
    if (a != m) {
      stay_from(1 - std::abs(l.along[a] / l.along[m]));
    }
  }
  for (std::int64_t plane = 0; plane < n[m]; ++plane) {
    real const t = (real(plane) - l.from[m]) / l.along[m];
    point3 at;
    for (std::size_t a = 0; a < 3; ++a) {
      at[a] = a == m ? real(plane) : l.from[a] + t * l.along[a];
      if (a != m && edge == boundary::truncate) {
        stay_from(at[a]);
        stay_from(at[a] - real(n[a] - 1));
      }
    }
    for (real const end : {l.first, l.last}) {
      if (std::isfinite(end)) {
        stay_from((t - end) * l.along[m]);
      }
    }
    if (t >= l.first && t <= l.last) {
      result.value += exact_sample(volume, at, weight, edge);
    }
  }
  result.value *= l.mm / std::abs(l.along[m]);
  return result;
}
template joseph_integral joseph(voxels<float> const&, line const&, weighting, boundary);
template joseph_integral joseph(voxels<double> const&, line const&, weighting, boundary);

template <class T>
std::vector<double> exact_projections(voxels<T> const& volume, ct::geometry const& scan,
                                      ct::forward_project_options const& options,
                                      std::int64_t stride) {
  using ct::projector;
  auto const& g = volume.grid;
  if (options.method == projector::joseph_linear || options.method == projector::joseph_spline) {
    auto const weight =
        options.method == projector::joseph_linear ? weighting::linear : weighting::spline;
    return every(stride, pixels(scan), [&](std::int64_t i) {
      return of_pixel(scan, g, i, 1, [&](line const& whole) {
        line const l = limited(whole, g, options.within);
        return joseph(volume, l, weight, options.edge).value;
      });
    });
  }
  auto const lengths = [&](line const& l) {
    real sum = 0;
    walk(limited(l, g, options.within), g, [&](index3 const& voxel, real mm) {
      sum += mm * volume.data(voxel[0], voxel[1], voxel[2]);
    });
    return in_a_face(l) ? real(unknown) : sum;
  };
  return every(stride, pixels(scan),
               [&](std::int64_t i) { return of_pixel(scan, g, i, options.oversampling, lengths); });
}
template std::vector<double> exact_projections(voxels<float> const&, ct::geometry const&,
                                               ct::forward_project_options const&, std::int64_t);
template std::vector<double> exact_projections(voxels<double> const&, ct::geometry const&,
                                               ct::forward_project_options const&, std::int64_t);

namespace {

/// What a line gives to a voxel: Joseph's weight or the length of its chord, in mm.
real weight_of(line const& l, index3 const& voxel, grid const& g,
               ct::forward_project_options const& options) {
  using ct::projector;
  if (options.method != projector::joseph_linear && options.method != projector::joseph_spline) {
    line own = l;
    for (std::size_t a = 0; a < 3; ++a) {
      own.from[a] -= real(voxel[a]);
    }
    real sum = 0;
    walk(own, grid{{1, 1, 1}, {1, 1, 1}, {}}, [&](index3 const&, real mm) { sum += mm; });
    return sum;
  }
  std::size_t const m = driving_axis(l);
  real const t = (real(voxel[m]) - l.from[m]) / l.along[m];
  if (!(t >= l.first && t <= l.last)) {
    return 0;
  }
  point3 at;
  for (std::size_t a = 0; a < 3; ++a) {
    at[a] = a == m ? real(voxel[m]) : l.from[a] + t * l.along[a];
  }
  auto const kind =
      options.method == projector::joseph_linear ? weighting::linear : weighting::spline;
  real sum = 0;
  share(g, at, kind, options.edge,
        [&](index3 const& one, real product) { sum += one == voxel ? product : 0; });
  return sum * l.mm / std::abs(l.along[m]);
}

/// Pixels [first, last] along u and v whose rays may give something to a voxel: those between the
/// places where the corners of the cube of its neighbours' centres are seen, and one more. All of
/// them where a corner is not before the source.
struct pixel_window {
  std::int64_t first[2];
  std::int64_t last[2];
};

pixel_window window_of(ct::geometry const& scan, ct::view_vectors const& w, grid const& g,
                       index3 const& voxel) {
  bool const cone = scan.kind() == ct::beam::cone;
  std::int64_t const n[2] = {scan.num_u(), scan.num_v()};
  vec3<double> const normal = cross(w.u_step, w.v_step);
  vec3<double> const axes[2] = {cross(w.v_step, normal), cross(normal, w.u_step)};
  double const square = dot(normal, normal);
  double low[2] = {1e30, 1e30};
  double high[2] = {-1e30, -1e30};
  for (int corner = 0; corner < 8; ++corner) {
    vec3<double> x;
    for (int a = 0; a < 3; ++a) {
      double const i = double(voxel[std::size_t(a)]) + ((corner >> a & 1) != 0 ? 1 : -1);
      x[a] = g.origin[a] + i * g.spacing[a];
    }
    vec3<double> const along = cone ? x - w.source : w.source;
    vec3<double> const from = cone ? w.source : x;
    double const t = dot(normal, w.detector_origin - from) / dot(normal, along);
    if (cone && !(t > 0)) {
      return {{0, 0}, {n[0] - 1, n[1] - 1}};
    }
    vec3<double> const hit = from + t * along - w.detector_origin;
    for (int d = 0; d < 2; ++d) {
      double const place = dot(axes[d], hit) / square;
      low[d] = std::min(low[d], place);
      high[d] = std::max(high[d], place);
    }
  }
  pixel_window window;
  for (int d = 0; d < 2; ++d) {
    window.first[d] = std::int64_t(std::clamp(std::floor(low[d]) - 1, 0.0, double(n[d])));
    window.last[d] = std::int64_t(std::clamp(std::ceil(high[d]) + 1, -1.0, double(n[d] - 1)));
  }
  return window;
}

}  // namespace

template <class T>
std::vector<double> exact_back_projection(std::vector<T> const& values, ct::geometry const& scan,
                                          grid const& g, ct::forward_project_options const& options,
                                          std::int64_t stride) {
  using ct::projector;
  bool const is_joseph =
      options.method == projector::joseph_linear || options.method == projector::joseph_spline;
  std::int64_t const rays = is_joseph ? 1 : options.oversampling;
  // Many voxels ask for the same rays: those of small scans are made once.
  constexpr std::int64_t max_kept = std::int64_t(1) << 18;
  std::vector<line> kept;
  if (pixels(scan) * rays * rays <= max_kept) {
    for (std::int64_t n = 0; n < pixels(scan) * rays * rays; ++n) {
      kept.push_back(ray_of_pixel(scan, g, n / (rays * rays), rays, n % (rays * rays)));
    }
  }
  auto const weight_in = [&](std::int64_t pixel, index3 const& voxel) {
    if (kept.empty()) {
      return of_pixel(scan, g, pixel, rays,
                      [&](line const& l) { return weight_of(l, voxel, g, options); });
    }
    real sum = 0;
    for (std::int64_t k = 0; k < rays * rays; ++k) {
      sum += weight_of(kept[std::size_t(pixel * rays * rays + k)], voxel, g, options);
    }
    return sum / real(rays * rays);
  };
  return every(stride, g.size(), [&](std::int64_t place) {
    index3 const voxel = {place / (g.extent[1] * g.extent[2]), place / g.extent[2] % g.extent[1],
                          place % g.extent[2]};
    real sum = 0;
    for (std::int64_t view = 0; view < scan.num_views(); ++view) {
      auto const window = window_of(scan, scan.views()[std::size_t(view)], g, voxel);
      for (std::int64_t u = window.first[0]; u <= window.last[0]; ++u) {
        for (std::int64_t v = window.first[1]; v <= window.last[1]; ++v) {
          std::int64_t const pixel = (view * scan.num_u() + u) * scan.num_v() + v;
          sum += weight_in(pixel, voxel) * values[std::size_t(pixel)];
        }
      }
    }
    return sum;
  });
}
template std::vector<double> exact_back_projection(std::vector<float> const&, ct::geometry const&,
                                                   grid const&, ct::forward_project_options const&,
                                                   std::int64_t);
template std::vector<double> exact_back_projection(std::vector<double> const&, ct::geometry const&,
                                                   grid const&, ct::forward_project_options const&,
                                                   std::int64_t);

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

real exact_pixel(std::vector<ct::ellipsoid> const& bodies, ct::geometry const& scan,
                 std::int64_t place, std::int64_t subsamples) {
  auto const all = solids(bodies);
  return of_pixel(scan, grid{}, place, subsamples, [&](line const& l) {
    real sum = 0;
    for (auto const& one : all) {
      sum += one.body.density * chord(one, l);
    }
    return sum;
  });
}

real exact_voxel(std::vector<ct::ellipsoid> const& bodies, grid const& g, std::int64_t place,
                 std::int64_t samples) {
  auto const all = solids(bodies);
  index3 const voxel = {place / (g.extent[1] * g.extent[2]), place / g.extent[2] % g.extent[1],
                        place % g.extent[2]};
  real sum = 0;
  for (std::int64_t k = 0; k < samples * samples * samples; ++k) {
    index3 const point = {k / (samples * samples), k / samples % samples, k % samples};
    point3 at;
    for (std::size_t a = 0; a < 3; ++a) {
      real const where = real(voxel[a]) + (real(point[a]) + 0.5L) / samples - 0.5L;
      at[a] = g.origin[int(a)] + where * g.spacing[int(a)];
    }
    for (auto const& one : all) {
      point3 const p = one.point(at);
      sum += dot(p, p) <= 1 ? real(one.body.density) : 0;
    }
  }
  return sum / real(samples * samples * samples);
}

std::vector<double> exact_projections(std::vector<ct::ellipsoid> const& bodies,
                                      ct::geometry const& scan, std::int64_t subsamples,
                                      std::int64_t stride) {
  return every(stride, pixels(scan),
               [&](std::int64_t i) { return exact_pixel(bodies, scan, i, subsamples); });
}

std::vector<double> exact_raster(std::vector<ct::ellipsoid> const& bodies, grid const& g,
                                 std::int64_t samples, std::int64_t stride) {
  return every(stride, g.size(),
               [&](std::int64_t i) { return exact_voxel(bodies, g, i, samples); });
}

}  // namespace iso::oracle
