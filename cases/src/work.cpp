// SPDX-License-Identifier: BSD-3-Clause
#include <iso/cases/work.hpp>

#include <iso/ct/detail/ellipsoid_kernel.hpp>
#include <iso/ct/detail/forward_project_dda_kernel.hpp>
#include <iso/ct/detail/joseph_path.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ray/traverse.hpp>

#include <algorithm>
#include <cmath>

namespace iso::cases {
namespace {

/// Of all rays of a scan about 50000, evenly spread.
constexpr std::int64_t rays_looked_at = 50000;

/// f(view, u, v) of those; returns how many rays each stands for.
template <class F>
double for_some_pixels(ct::geometry const& g, F const& f) {
  std::int64_t const rays = g.num_views() * g.num_u() * g.num_v();
  // Odd, so that every residue of the rows' lengths has its turn.
  std::int64_t const step = std::max<std::int64_t>(1, rays / rays_looked_at) | 1;
  double counted = 0;
  for (std::int64_t i = 0; i < rays; i += step) {
    f(g.views()[std::size_t(i / (g.num_u() * g.num_v()))], double(i / g.num_v() % g.num_u()),
      double(i % g.num_v()));
    ++counted;
  }
  return double(rays) / counted;
}

/// Planes of the driving axis where the ray's point lies less than a spacing outside the voxels'
/// centres: what the sum of boundary::zero is made of.
double joseph_samples(ct::detail::index_view const& w, ct::beam kind, grid const& g, double u,
                      double v, ct::region within) {
  auto const line = ct::detail::make_line<double>(w, kind, g, u, v, within);
  double low = line.planes.first;
  double high = line.planes.last - 1;
  for (int c = 0; c < 2; ++c) {
    auto const [slope, base] = line.across[c];
    auto const n = double(g.extent[std::size_t(ct::detail::other_axis(line.axis, c))]);
    if (slope == 0) {
      high = base > -1 && base < n ? high : low - 1;
      continue;
    }
    double const a = (-1 - base) / slope;
    double const b = (n - base) / slope;
    low = std::max(low, std::min(a, b));
    high = std::min(high, std::max(a, b));
  }
  return std::max(0.0, std::floor(high) - std::ceil(low) + 1);
}

/// From a place, or along a direction, to the coordinates of the ellipsoid's unit ball.
vec3<double> in_ball(ct::ellipsoid const& body, vec3<double> d) {
  double const c = std::cos(body.angle);
  double const s = std::sin(body.angle);
  return {(c * d.x + s * d.y) / body.half_axes.x, (c * d.y - s * d.x) / body.half_axes.y,
          d.z / body.half_axes.z};
}

template <ct::beam Kind>
bool meets(ct::ellipsoid const& body, vec3<double> from, vec3<double> along) {
  ct::detail::ball_ray<Kind> const ray{in_ball(body, from - body.centre), in_ball(body, along)};
  return ray.chord() > 0;
}

}  // namespace

double num_samples(ct::geometry const& g, grid const& volume,
                   ct::forward_project_options const& options) {
  ct::detail::ray_limits const limits(volume, options.within);
  double sum = 0;
  double const each = for_some_pixels(g, [&](ct::view_vectors const& view, double u, double v) {
    if (ct::detail::is_joseph(options.method)) {
      sum += joseph_samples(ct::detail::to_index(view, volume, g.kind()), g.kind(), volume, u, v,
                            options.within);
    } else {
      sum += double(ray::traverse<ray::branchless>(
          limits.clipped(ct::detail::pixel_ray(view, g.kind(), u, v)), ray::traversal_grid(volume),
          [](std::int64_t, double) {}));
    }
  });
  return each * sum * double(options.oversampling * options.oversampling);
}

template <class T>
double voxels_crossed(ray::ray<T> const* rays, std::int64_t count, grid const& volume,
                      std::int64_t every) {
  double sum = 0;
  double counted = 0;
  for (std::int64_t i = 0; i < count; i += every) {
    sum += double(ray::traverse<ray::branchless>(rays[i], ray::traversal_grid(volume),
                                                 [](std::int64_t, T) {}));
    ++counted;
  }
  return sum / counted * double(count);
}
template double voxels_crossed(ray::ray<float> const*, std::int64_t, grid const&, std::int64_t);
template double voxels_crossed(ray::ray<double> const*, std::int64_t, grid const&, std::int64_t);

ellipsoid_counts count_chords(std::vector<ct::ellipsoid> const& bodies, ct::geometry const& g) {
  ellipsoid_counts counts;
  double const each = for_some_pixels(g, [&](ct::view_vectors const& view, double u, double v) {
    auto const pixel = view.detector_origin + u * view.u_step + v * view.v_step;
    auto const met = std::count_if(bodies.begin(), bodies.end(), [&](auto const& body) {
      return g.kind() == ct::beam::cone
                 ? meets<ct::beam::cone>(body, view.source, pixel - view.source)
                 : meets<ct::beam::parallel>(body, pixel, view.source);
    });
    counts.chords += double(met);
    counts.rays += met > 0 ? 1 : 0;
  });
  return {each * counts.chords, each * counts.rays};
}

namespace {

/// Where a call's bytes come from, and how many a second.
struct level {
  char const* name;
  double rate;
};
level level_of(min_work const& least, ceilings::rates const& most, cache_sizes const& caches) {
  double const set = least.working_set;
  if (set > 0 && set <= caches.l1 && most.l1 > 0) {
    return {"l1", most.l1};
  }
  if (set > 0 && set <= caches.l2 && most.l2 > 0) {
    return {"l2", most.l2};
  }
  switch (least.memory) {
    case stream::copy:
      return {"copy", most.copy};
    case stream::triad:
      return {"triad", most.triad};
    case stream::read:
      break;
  }
  return {"read", most.read};
}

}  // namespace

std::vector<bound> bounds_of(min_work const& least, ceilings::rates const& most,
                             cache_sizes const& caches) {
  bool const is_single = least.unit == arithmetic::fp32;
  std::vector<bound> all;
  auto const add = [&](char const* name, double wanted, double rate) {
    if (wanted > 0 && rate > 0) {
      all.push_back({name, wanted / rate});
    }
  };
  auto const [level, rate] = level_of(least, most, caches);
  add(level, least.bytes, rate);
  add("l2", least.cache_bytes, most.l2);
  add(is_single ? "fp32" : "fp64", least.flops, is_single ? most.fp32 : most.fp64);
  return all;
}

bound bound_of(min_work const& least, ceilings::rates const& most, cache_sizes const& caches) {
  bound largest;
  for (auto const& one : bounds_of(least, most, caches)) {
    largest = one.seconds > largest.seconds ? one : largest;
  }
  return largest;
}

}  // namespace iso::cases
