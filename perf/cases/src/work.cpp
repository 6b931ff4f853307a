// SPDX-License-Identifier: BSD-3-Clause
#include <iso/cases/work.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace iso::cases {
namespace {

// Adds what the segment from a to b (voxels, box [0, n)) has inside the box.
void count_segment(vec3<double> a, vec3<double> d, grid const& box, double low, double high,
                   ray_counts& counts) {
  for (int axis = 0; axis < 3; ++axis) {
    double const width = double(box.extent[std::size_t(axis)]);
    if (d[axis] == 0) {
      if (a[axis] < 0 || a[axis] >= width) {
        return;
      }
      continue;
    }
    double const first = -a[axis] / d[axis];
    double const last = (width - a[axis]) / d[axis];
    low = std::max(low, std::min(first, last));
    high = std::min(high, std::max(first, last));
  }
  if (high > low) {
    std::array<double, 3> const crossed = {
        std::abs(d.x) * (high - low), std::abs(d.y) * (high - low), std::abs(d.z) * (high - low)};
    counts.joseph_samples += *std::max_element(crossed.begin(), crossed.end());
    counts.segments += crossed[0] + crossed[1] + crossed[2] + 1;
  }
}

}  // namespace

ray_counts count_rays(ct::geometry const& g, grid const& volume) {
  ray_counts counts;
  bool const cone = g.kind() == ct::beam::cone;
  double const far = 1e30;
  vec3<double> const half{0.5, 0.5, 0.5};
  for (auto const& view : g.views()) {
    for (std::int64_t u = 0; u < g.num_u(); ++u) {
      for (std::int64_t v = 0; v < g.num_v(); ++v) {
        auto const pixel = view.detector_origin + double(u) * view.u_step + double(v) * view.v_step;
        auto const from = volume.to_index(cone ? view.source : pixel) + half;
        auto const along = volume.to_index_vector(cone ? pixel - view.source : view.source);
        count_segment(from, along, volume, cone ? 0 : -far, cone ? 1 : far, counts);
      }
    }
  }
  return counts;
}

template <class T>
ray_counts count_rays(std::vector<ray::ray<T>> const& rays, grid const& volume) {
  ray_counts counts;
  vec3<double> const half{0.5, 0.5, 0.5};
  for (auto const& ray : rays) {
    count_segment(volume.to_index(static_cast<vec3<double>>(ray.origin)) + half,
                  volume.to_index_vector(static_cast<vec3<double>>(ray.direction)), volume,
                  double(ray.t_min), double(ray.t_max), counts);
  }
  return counts;
}
template ray_counts count_rays(std::vector<ray::ray<float>> const&, grid const&);
template ray_counts count_rays(std::vector<ray::ray<double>> const&, grid const&);

namespace {

/// Where a call's bytes come from, and how many a second.
struct level {
  char const* name;
  double rate;
};
level level_of(least_work const& least, ceilings::rates const& most, cache_sizes const& caches) {
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

std::vector<bound> bounds_of(least_work const& least, ceilings::rates const& most,
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

bound bound_of(least_work const& least, ceilings::rates const& most, cache_sizes const& caches) {
  bound largest;
  for (auto const& one : bounds_of(least, most, caches)) {
    largest = one.seconds > largest.seconds ? one : largest;
  }
  return largest;
}

}  // namespace iso::cases
