// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/oracle/projections.hpp
//! Computes projections, voxels and paths in long double by the plainest loops, from definitions.
//!
//! Where an array is long, only every `stride`-th element is computed; the others are NaN, which
//! relative_l1 leaves out. So are those that rounding may decide: rays in a face between voxels.
#pragma once

#include <iso/core/interpolation.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/region.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ray/ray.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace iso::oracle {

using index3 = std::array<std::int64_t, 3>;
using point3 = std::array<long double, 3>;

/// Voxels on the host.
template <class T>
using voxels = volume_view<T const, Kokkos::HostSpace>;

enum class weighting { linear, spline };

/// The line from + t along, t in [first, last]; in voxels, centres at whole numbers.
struct line {
  point3 from;
  point3 along;
  long double first;
  long double last;
  long double mm;  ///< length of `along`
};

/// Returns the ray of the point (u, v) of a view's detector: from the source, or through the point.
line ray_of(ct::view_vectors const& view, ct::beam kind, grid const& g, long double u,
            long double v);

/// Returns what a region of the volume leaves of a line; first > last where that is nothing.
line limited(line l, grid const& g, ct::region within);

/// Samples a volume between its voxels' centres; `at` in voxels.
template <class T>
long double exact_sample(voxels<T> const& volume, point3 const& at, weighting weight,
                         boundary edge);

struct joseph_integral {
  long double value = 0;
  /// Says how far the line stays, in voxels, from every place where rounding could decide: an end
  /// in a plane, two driving axes and, with boundary::truncate, the outermost centres.
  long double margin = std::numeric_limits<long double>::infinity();
};

/// Computes Joseph's sum along a line: Graetz 2020 (arXiv:1609.00958), algorithm 1.
template <class T>
joseph_integral joseph(voxels<T> const& volume, line const& l, weighting weight, boundary edge);

/// Returns what a projection asks for: Joseph's sums, or the exact lengths in voxels.
template <class T>
std::vector<double> exact_projections(voxels<T> const& volume, ct::geometry const& scan,
                                      ct::forward_project_options const& options,
                                      std::int64_t stride = 1);

/// Returns what the rays of a scan give to the voxels: the transpose of exact_projections, [nx, ny,
/// nz]. `pixels` is [views, u, v].
template <class T>
std::vector<double> exact_back_projection(std::vector<T> const& pixels, ct::geometry const& scan,
                                          grid const& volume,
                                          ct::forward_project_options const& options,
                                          std::int64_t stride = 1);

/// Returns the sums of length times f(voxel) along every ray.
template <class T>
std::vector<double> exact_paths(grid const& box, std::vector<ray::ray<T>> const& rays,
                                std::function<double(index3 const&)> const& f);

/// Computes one pixel and one voxel of ellipsoids, as iso/ct/shepp_logan.hpp defines them; `place`
/// is the linear index in [views, u, v] and [nx, ny, nz].
long double exact_pixel(std::vector<ct::ellipsoid> const& bodies, ct::geometry const& scan,
                        std::int64_t place, std::int64_t subsamples);
long double exact_voxel(std::vector<ct::ellipsoid> const& bodies, grid const& g, std::int64_t place,
                        std::int64_t samples);

/// Returns all of them.
std::vector<double> exact_projections(std::vector<ct::ellipsoid> const& bodies,
                                      ct::geometry const& scan, std::int64_t subsamples,
                                      std::int64_t stride = 1);
std::vector<double> exact_raster(std::vector<ct::ellipsoid> const& bodies, grid const& g,
                                 std::int64_t samples, std::int64_t stride = 1);

}  // namespace iso::oracle
