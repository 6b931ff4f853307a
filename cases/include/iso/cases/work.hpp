// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/work.hpp
//! States the least that each operation must move and compute: the models behind every share of a
//! ceiling, in `iso verify`, `iso demo`, `iso sweep` and the benchmark programs. Elsewhere are only
//! those of kernels that are not this library's: of cuSPARSE with vectors of other types
//! (perf/sparse/peer_cusparse.hpp) and of a report's backprojections (bench_fdk_strategies.cpp).
#pragma once

#include <iso/ceilings/ceilings.hpp>
#include <iso/core/grid.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ray/ray.hpp>
#include <iso/sparse/csr.hpp>

#include <cstdint>
#include <vector>

namespace iso::cases {

enum class arithmetic { fp32, fp64 };

/// The arithmetic of numbers of T.
template <class T>
inline constexpr arithmetic arithmetic_of = sizeof(T) == 8 ? arithmetic::fp64 : arithmetic::fp32;

/// The memory ceiling that an operation is held against: reads alone where it mostly reads.
enum class stream { read, copy, triad };

/// The work of one call. An fma is two operations; comparisons are not counted.
struct min_work {
  double bytes = 0;  ///< from and to memory: each input read once, each output written once
  double flops = 0;
  arithmetic unit = arithmetic::fp64;
  /// Counts bytes from the second cache, where rays or views share what memory gives once. 0: no
  /// more than `bytes`.
  double cache_bytes = 0;
  stream memory = stream::read;
  /// Counts all that a call touches, where calls in a row touch nothing else: a loop over arrays.
  /// Where that fits a cache, `bytes` come from there. 0: from memory, whatever fits.
  double working_set = 0;
};

/// The caches' bytes of what computes, all cores together; 0: there is none, or nobody tells.
struct cache_sizes {
  double l1 = 0;
  double l2 = 0;
};

/// The ceiling that bounds an operation.
struct bound {
  char const* name = "";  ///< of iso::ceilings::rates: read, copy, triad, l1, l2, fp32 or fp64;
                          ///< empty where nothing is known
  double seconds = 0;     ///< that the operation takes there
};

/// Returns what the bytes, the cache's bytes and the operations want, each where there are any.
std::vector<bound> bounds_of(min_work const& least, ceilings::rates const& most,
                             cache_sizes const& caches = {});

/// Returns the largest of what the bytes, the cache's bytes and the operations want. A call may be
/// faster where its data lie in a cache and it has no `working_set`.
bound bound_of(min_work const& least, ceilings::rates const& most, cache_sizes const& caches = {});

/// Returns the seconds of that bound.
inline double min_seconds(min_work const& least, ceilings::rates const& most) {
  return bound_of(least, most).seconds;
}

/// Counts samples (Joseph) or voxels crossed (exact methods) of all sub-rays of a scan: an estimate
/// from about 50000 rays, evenly spread, good to three digits.
double num_samples(ct::geometry const& g, grid const& volume,
                   ct::forward_project_options const& options);

/// Counts the voxels crossed by `count` rays, from every `every`-th of them.
template <class T>
double voxels_crossed(ray::ray<T> const* rays, std::int64_t count, grid const& volume,
                      std::int64_t every = 1);

/// Counts a sample of linear Joseph: the coordinate along z (an fma, 2), its integer part and
/// fraction (2), one blend of two columns (a difference and an fma, 3; the sample above shares the
/// other), the blend along z (3), the sum (1). Smooth weights add the weight along z (4; the other
/// one belongs to a column). A voxel of the exact methods: the next crossing (an fma), a chord's
/// length, the sum (an fma).
inline double flops_per_sample(ct::projector method) {
  return method == ct::projector::joseph_linear   ? 11
         : method == ct::projector::joseph_spline ? 15
                                                  : 5;
}

/// Models forward projection or its adjoint, `samples` counted with all sub-rays. Memory: volume
/// and pixels once. Cache: the volume once a view.
template <class T>
min_work projection_work(ct::projector method, double samples, ct::geometry const& g,
                         grid const& volume) {
  double const views = double(g.num_views());
  double const pixels = views * double(g.num_u()) * double(g.num_v());
  double const voxels = double(volume.size());
  return {(voxels + pixels) * sizeof(T), flops_per_sample(method) * samples, arithmetic_of<T>,
          (views * voxels + pixels) * sizeof(T)};
}

template <class T>
min_work projection_work(ct::forward_project_options const& options, ct::geometry const& g,
                         grid const& volume) {
  return projection_work<T>(options.method, num_samples(g, volume, options), g, volume);
}

/// Models so many projections and adjoints of one scan, one after the other: an iterative method's,
/// whose other work is not counted.
template <class T>
min_work iteration_work(double projections, ct::geometry const& g, grid const& volume) {
  auto work = projection_work<T>(ct::forward_project_options{}, g, volume);
  work.bytes *= projections;
  work.flops *= projections;
  work.cache_bytes *= projections;
  return work;
}

/// Counts of what rays meet of ellipsoids.
struct ellipsoid_counts {
  double chords = 0;  ///< ellipsoids that a ray meets, summed over all rays
  double rays = 0;    ///< that meet any
};

/// Counts one ray a pixel: an estimate as num_samples.
ellipsoid_counts count_chords(std::vector<ct::ellipsoid> const& bodies, ct::geometry const& g);

/// Counts the projections written. 38 operations a sub-ray and ellipsoid that it meets: its
/// direction in the ball's coordinates (7), the moment (9), three scalar products (15), the
/// discriminant (1) and its root (1), both ends (3), the sum (2). 17 a sub-ray that meets any: its
/// pixel (6), direction (3), length (6), the sum (2). In double for every T. A root counts as one;
/// tests that tell what need not be looked at count nothing.
template <class T>
min_work ellipsoid_work(std::vector<ct::ellipsoid> const& bodies, ct::geometry const& g,
                        std::int64_t subsamples) {
  double const pixels = double(g.num_views()) * double(g.num_u()) * double(g.num_v());
  auto const [chords, rays] = count_chords(bodies, g);
  return {pixels * sizeof(T), double(subsamples * subsamples) * (38 * chords + 17 * rays),
          arithmetic::fp64};
}

/// Counts voxels written. 21 operations a point, `points` in voxels that the surface of an
/// ellipsoid cuts: the point (6), its place in the ball (10), the radius (5). 0: not counted.
template <class T>
min_work raster_work(grid const& volume, double points = 0) {
  return {double(volume.size()) * sizeof(T), 21 * points, arithmetic::fp64};
}

/// Counts an update of filtered backprojection: the height (an fma, 2), its integer part and
/// fraction (2), three blends (9), the weight (2).
inline constexpr double flops_per_update = 15;

/// Counts each pixel read and each voxel written once; an update a voxel and view, an fma a tap of
/// the filter, `taps` in all.
template <class T>
min_work reconstruction_work(ct::geometry const& g, grid const& volume, double taps) {
  double const pixels = double(g.num_views()) * double(g.num_u()) * double(g.num_v());
  double const voxels = double(volume.size());
  return {(pixels + voxels) * sizeof(T),
          flops_per_update * double(g.num_views()) * voxels + 2 * taps, arithmetic_of<T>};
}

/// Does so with all taps of a filter as wide as the detector.
template <class T>
min_work reconstruction_work(ct::geometry const& g, grid const& volume) {
  double const pixels = double(g.num_views()) * double(g.num_u()) * double(g.num_v());
  return reconstruction_work<T>(g, volume, pixels * double(g.num_u()));
}

/// Counts TERMA and density read, dose read and written, once; of the lattice's exponentials 35
/// operations a voxel and direction (tilt 11, two terms of 12). A line that is followed back has no
/// such number, since a voxel's share depends on how far it goes: `directions` is 0 then.
template <class T>
min_work convolution_work(double voxels, double directions) {
  return {4 * double(sizeof(T)) * voxels, 35 * voxels * directions, arithmetic_of<T>};
}

/// Counts density read, TERMA written. Operations depend on the spectrum and are not counted.
template <class T>
min_work terma_work(double density_voxels, double terma_voxels) {
  return {double(sizeof(T)) * (density_voxels + terma_voxels), 0, arithmetic_of<T>};
}

/// Counts both doses and the range of every evaluated cell read, gamma and status written, once.
/// Operations depend on the doses and are not counted.
template <class T>
min_work gamma_work(double points, double evaluated, double criteria) {
  return {double(sizeof(T)) * ((1 + criteria) * points + 3 * evaluated) + points, 0,
          arithmetic_of<T>};
}

/// Models radiological paths of `rays` rays that cross `crossed` of the `voxels` voxels of a
/// volume. From the second cache a value a voxel crossed; an fma each.
template <class T>
min_work path_work(double rays, double voxels, double crossed) {
  double const ends = rays * double(sizeof(ray::ray<T>) + sizeof(T));
  return {voxels * sizeof(T) + ends, 2 * crossed, arithmetic_of<T>, crossed * sizeof(T) + ends};
}

/// Counts an fma an entry and vector.
inline double product_flops(double entries, double vectors) { return 2 * entries * vectors; }

/// Models y = alpha A x + beta y with `vectors` vectors of T: the matrix, x and y once.
template <class T>
min_work product_work(sparse::matrix_shape const& shape, std::int64_t vectors = 1,
                      double beta = 0) {
  double const numbers = double((beta == 0 ? 1 : 2) * shape.num_rows + shape.num_cols);
  return {double(shape.bytes) + double(sizeof(T)) * numbers * double(vectors),
          product_flops(double(shape.num_entries), double(vectors)), arithmetic_of<T>};
}

/// Models a loop over arrays of floats: each element read or written once, in triad an fma each.
inline min_work stream_work(stream kind, double elements) {
  double const arrays = kind == stream::read ? 1 : kind == stream::copy ? 2 : 3;
  return {arrays * elements * sizeof(float),
          kind == stream::triad ? 2 * elements : 0,
          arithmetic::fp32,
          0,
          kind,
          arrays * elements * sizeof(float)};
}

/// Models `chains` chains of `steps` fma each, whose ends are written.
template <class T>
min_work chain_work(double chains, double steps) {
  return {chains * sizeof(T), 2 * steps * chains, arithmetic_of<T>};
}

}  // namespace iso::cases
