// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/shepp_logan.hpp
//! Makes phantoms of ellipsoids: their projections in closed form, and as voxels.
//! A Kokkos space that the build has not needs detail/shepp_logan_impl.hpp too.
#pragma once

#include <iso/core/concepts.hpp>
#include <iso/core/job.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/ct/staged_geometry.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace iso::ct {

/// A solid ellipsoid of one density. Where ellipsoids overlap, their densities add.
struct ellipsoid {
  vec3<double> centre{};   ///< mm
  vec3<double> half_axes;  ///< mm, along the body's own x, y, z
  double angle = 0;        ///< rad, about the body's z axis, from x to y; at most 1e5 either way
  double density = 1;      ///< 1/mm for attenuation, or any other unit
};

/// The largest number of ellipsoids that one call takes: they travel inside the kernel.
inline constexpr std::int64_t max_ellipsoids = 32;

enum class shepp_logan_contrast {
  modified,  ///< Yu, Ye and Wang 2004: values from 0 to 1
  original,  ///< Kak and Slaney: skull 2, brain 1.02
};

/// Returns the ten ellipsoids of the Shepp-Logan head in three dimensions, in a cube of 2
/// `half_size` mm about the isocentre. Lengths scale with `half_size`; densities do not.
/// Determinism: backend_to_backend; made on the host.
///
/// \throws iso::invalid_argument  a half size that is not finite and positive
/// \par Source  docs/algorithms/phantoms.md has the table and where it was checked.
std::vector<ellipsoid> shepp_logan(double half_size,
                                   shepp_logan_contrast contrast = shepp_logan_contrast::modified);

struct ellipsoid_projection_options {
  std::int64_t subsamples = 8;  ///< sub-rays a pixel, along u and along v; 1 to 64
};

/// Projects `ellipsoids`, each pixel the mean over subsamples x subsamples rays.
///
/// Sub-ray (i, j) of pixel (u, v) meets the detector at u + (i + 1/2) / subsamples - 1/2 and v
/// likewise. A cone ray runs from the source to its point of the detector and not beyond (one of no
/// length counts as zero); a parallel ray is a whole line. Enqueued on `exec`; fences for a job
/// alone. Overwrites `projections`.
/// Determinism: backend_to_backend. Computed in double for every T, and rounded once; along a ray
/// ellipsoids add in their order, over a pixel rays add with i outermost.
///
/// \param[in]  ellipsoids   1 to 32
/// \param[in]  geometry     views, u, v; lengths in mm
/// \param[out] projections  [views, u, v], density times mm
/// \param      control      asked between batches of pixels
/// \throws iso::invalid_argument  shape mismatch, subsamples out of range, or an ellipsoid that is
///                                not finite or has no size
/// \throws iso::cancelled         as job::step
template <execution_space Exec, real T>
void project_ellipsoids(Exec const& exec, std::span<ellipsoid const> ellipsoids,
                        staged_geometry<typename Exec::memory_space> const& geometry,
                        projection_view<T, typename Exec::memory_space> const& projections,
                        ellipsoid_projection_options const& options = {}, job const& control = {});

/// Does the same for ellipsoids in braces.
template <execution_space Exec, real T>
void project_ellipsoids(Exec const& exec, std::initializer_list<ellipsoid> ellipsoids,
                        staged_geometry<typename Exec::memory_space> const& geometry,
                        projection_view<T, typename Exec::memory_space> const& projections,
                        ellipsoid_projection_options const& options = {}, job const& control = {}) {
  project_ellipsoids<Exec, T>(exec, std::span(ellipsoids.begin(), ellipsoids.size()), geometry,
                              projections, options, control);
}

struct ellipsoid_raster_options {
  std::int64_t samples = 5;  ///< points a voxel, along each axis; 1 to 64
};

/// Rasterises `ellipsoids`, each voxel the mean over samples x samples x samples points.
///
/// Point i of voxel x lies at x + (i + 1/2) / samples - 1/2 voxels, along each axis; a point on a
/// surface is inside. A slab's voxels get the bits of the whole's. Enqueued on `exec`; fences for a
/// job alone. Overwrites `volume`.
/// Determinism: backend_to_backend. Points are counted in integers, and density times share added
/// in double in the ellipsoids' order, then rounded once. Voxels that a bound proves to be wholly
/// inside or outside of an ellipsoid are not sampled; the bound leaves room for rounding, so that
/// no bit depends on it.
///
/// \param[in]  ellipsoids  1 to 32
/// \param[out] volume      [nx, ny, nz] on its grid, or a slab of it, density
/// \param      control     asked between batches of voxels
/// \throws iso::invalid_argument  a volume that does not fit its grid, samples out of range, or an
///                                ellipsoid that is not finite or has no size
/// \throws iso::cancelled         as job::step
template <execution_space Exec, real T>
void rasterise_ellipsoids(Exec const& exec, std::span<ellipsoid const> ellipsoids,
                          volume_view<T, typename Exec::memory_space> const& volume,
                          ellipsoid_raster_options const& options = {}, job const& control = {});

/// Does the same for ellipsoids in braces.
template <execution_space Exec, real T>
void rasterise_ellipsoids(Exec const& exec, std::initializer_list<ellipsoid> ellipsoids,
                          volume_view<T, typename Exec::memory_space> const& volume,
                          ellipsoid_raster_options const& options = {}, job const& control = {}) {
  rasterise_ellipsoids<Exec, T>(exec, std::span(ellipsoids.begin(), ellipsoids.size()), volume,
                                options, control);
}

}  // namespace iso::ct
