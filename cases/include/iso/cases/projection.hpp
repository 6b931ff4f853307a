// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/projection.hpp
//! Runs forward projection of a volume, its adjoint, and the phantoms' exact projections.
#pragma once

#include <iso/cases/inputs.hpp>
#include <iso/cases/operation.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/oracle/projections.hpp>

#include <cstdint>
#include <vector>

namespace iso::cases {

inline std::int64_t num_pixels(ct::geometry const& g) {
  return g.num_views() * g.num_u() * g.num_v();
}

template <class T>
struct projection_case {
  input_volume volume;
  ct::geometry scan;
  ct::forward_project_options options = {};

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const voxels = volume.on<T>(exec);
    auto const staged = ct::stage(exec, scan);
    auto const wanted = options;
    workspace<space> const work(
        ct::forward_project_bytes_needed<T>(exec, scan, voxels.grid, wanted));
    return {num_pixels(scan),
            [=](Exec const& on, variant const& v, T* out) {
              auto here = wanted;
              here.shape = {v.groups};
              here.slab_planes = v.slab;
              here.path = v.path == ct::joseph_path::automatic ? wanted.path : v.path;
              ct::forward_project<Exec, T>(on, staged, voxels,
                                           projections_at<T, space>(out, staged.host()),
                                           wrap_workspace<space>(work.data(), work.size()), here);
            },
            projection_work<T>(wanted, scan, voxels.grid),
            [=](std::int64_t count) {
              auto const values = fetch(exec, voxels.data);
              return oracle::exact_projections(
                  wrap_volume<Kokkos::HostSpace>(values.data(), voxels.grid), staged.host(), wanted,
                  stride_for(num_pixels(staged.host()), count));
            }};
  }
};

/// The adjoint on the pixels of `projections`.
template <class T>
struct back_projection_case {
  input_projections projections;
  ct::geometry scan;
  grid volume;
  ct::back_project_options options = {};

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const staged = ct::stage(exec, scan);
    auto const pixels = projections.on<T>(exec, scan);
    auto const g = volume;
    auto const wanted = options;
    workspace<space> const work(ct::back_project_bytes_needed<T>(exec, scan, g, wanted));
    return {
        g.size(),
        [=](Exec const& on, variant const& how, T* out) {
          auto chosen = wanted;
          chosen.shape.groups_per_launch = how.groups;
          ct::back_project<Exec, T>(on, staged, pixels, wrap_volume<space>(out, g),
                                    wrap_workspace<space>(work.data(), work.size()), chosen);
        },
        projection_work<T>({.method = wanted.method}, scan, g),
        [=](std::int64_t count) {
          return oracle::exact_back_projection<T>(
              fetch(exec, pixels.data), staged.host(), g,
              {.method = wanted.method, .edge = wanted.edge, .oversampling = wanted.oversampling},
              stride_for(g.size(), count));
        }};
  }
};

template <class T>
struct ellipsoid_projection_case {
  std::vector<ct::ellipsoid> bodies;
  ct::geometry scan;
  std::int64_t subsamples = 4;  ///< rays of a pixel each way

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const staged = ct::stage(exec, scan);
    auto const with = *this;
    return {num_pixels(scan),
            [=](Exec const& on, variant const&, T* out) {
              ct::project_ellipsoids<Exec, T>(on, with.bodies, staged,
                                              projections_at<T, space>(out, staged.host()),
                                              {std::int32_t(with.subsamples)});
            },
            ellipsoid_work<T>(bodies, scan, subsamples),
            [=](std::int64_t count) {
              return oracle::exact_projections(with.bodies, with.scan, with.subsamples,
                                               stride_for(num_pixels(with.scan), count));
            }};
  }
};

template <class T>
struct raster_case {
  std::vector<ct::ellipsoid> bodies;
  grid volume;
  std::int64_t samples = 5;  ///< points of a voxel each way

  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    using space = typename Exec::memory_space;
    auto const with = *this;
    return {volume.size(),
            [=](Exec const& on, variant const&, T* out) {
              ct::rasterise_ellipsoids<Exec, T>(on, with.bodies,
                                                wrap_volume<space>(out, with.volume),
                                                {std::int32_t(with.samples)});
            },
            raster_work<T>(volume),
            [=](std::int64_t count) {
              return oracle::exact_raster(with.bodies, with.volume, with.samples,
                                          stride_for(with.volume.size(), count));
            }};
  }
};

}  // namespace iso::cases
