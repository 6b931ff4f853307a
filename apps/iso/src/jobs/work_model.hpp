// SPDX-License-Identifier: BSD-3-Clause
//! The least that an operation must move and compute, for its share of the measured ceilings.
#pragma once

#include <iso/ceilings/ceilings.hpp>
#include <iso/core/grid.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ray/ray.hpp>

#include <cstdint>
#include <vector>

namespace iso::jobs {

enum class arithmetic { fp32, fp64 };

/// That of numbers of T.
template <class T>
inline constexpr arithmetic arithmetic_of = sizeof(T) == 8 ? arithmetic::fp64 : arithmetic::fp32;

/// Of one call: each input read once, each output written once, an fma as two operations. A call
/// may be faster than this allows where its data lie in a cache.
struct least_work {
  double bytes = 0;
  double flops = 0;
  arithmetic unit = arithmetic::fp64;
};

/// Seconds that it takes at the ceilings: the larger of what its bytes and its operations want.
double least_seconds(least_work const& least, ceilings::rates const& most);

/// Samples and voxel segments of rays through a grid.
struct ray_counts {
  double joseph_samples = 0;  ///< driving planes inside the box
  double segments = 0;        ///< voxels crossed
};

ray_counts count_rays(ct::geometry const& g, grid const& volume);
template <class T>
ray_counts count_rays(std::vector<ray::ray<T>> const& rays, grid const& volume);

/// Volume and projections moved once, and for each Joseph sample three blends of three operations
/// and an addition, for each voxel crossed one fma for the sum, one for the next crossing and a
/// difference.
template <class T>
least_work projection_work(ct::forward_project_options const& options, ray_counts const& counts,
                           ct::geometry const& g, grid const& volume) {
  bool const joseph = options.method == ct::projector::joseph_linear ||
                      options.method == ct::projector::joseph_spline;
  double const rays = double(options.oversampling) * double(options.oversampling);
  double const values =
      double(volume.size()) + double(g.num_views()) * double(g.num_u()) * double(g.num_v());
  return {values * sizeof(T), joseph ? 10 * counts.joseph_samples : 5 * rays * counts.segments,
          arithmetic_of<T>};
}

/// Projections written, and for each sub-ray and body the solution of a quadratic equation, about
/// twenty operations, in double for every T.
template <class T>
least_work ellipsoid_work(std::size_t bodies, ct::geometry const& g, std::int64_t subsamples) {
  double const pixels = double(g.num_views()) * double(g.num_u()) * double(g.num_v());
  return {pixels * sizeof(T), 20 * pixels * double(subsamples * subsamples) * double(bodies),
          arithmetic::fp64};
}

/// Each pixel read and each voxel written once; for each voxel and view fifteen operations (the
/// height, its integer part, three blends, the weighted sum), for each tap of the filter an fma.
template <class T>
least_work reconstruction_work(ct::geometry const& g, grid const& volume) {
  double const pixels = double(g.num_views()) * double(g.num_u()) * double(g.num_v());
  double const voxels = double(volume.size());
  return {(pixels + voxels) * sizeof(T),
          15 * double(g.num_views()) * voxels + 2 * pixels * double(g.num_u()), arithmetic_of<T>};
}

}  // namespace iso::jobs
