// SPDX-License-Identifier: BSD-3-Clause
//! The operations that `iso verify` runs, each ready to be run again and again on one backend.
#pragma once

#include "scan.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/core/math.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ray/radiological_path.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

namespace iso::jobs {

/// What must not change a bit.
struct variant {
  std::int64_t groups = 0;  ///< lane groups a launch; 0: all
  std::int32_t slab = 0;    ///< driving planes a launch; 0: chosen
  ct::joseph_path path = ct::joseph_path::automatic;
};

/// An operation with its inputs where `Exec` reads them: run(exec, variant, out) enqueues it.
template <class Exec, class T>
struct prepared {
  std::int64_t size = 0;
  std::function<void(Exec const&, variant const&, T* out)> run;
};

/// A number of 64 bits that looks random: splitmix64 of the index.
KOKKOS_INLINE_FUNCTION std::uint64_t scrambled(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// In [-1, 1), exact in float and double.
KOKKOS_INLINE_FUNCTION double in_unit(std::uint64_t index) {
  return double(std::int64_t(scrambled(index) >> 40) - (std::int64_t(1) << 23)) / double(1 << 23);
}

enum class function { exp, expm1, log, sincos };

/// Every second argument has any bits whatever, the others lie in [-100, 100).
template <class T>
struct math_kernel {
  T* out;
  function which;

  KOKKOS_FUNCTION static T argument(std::int64_t i) {
    if (i % 2 == 0) {
      return Kokkos::bit_cast<T>(bits_of<T>(scrambled(std::uint64_t(i))));
    }
    return T(100) * T(in_unit(std::uint64_t(i)));
  }
  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.each([&](int lane) {
      std::int64_t const i = index * backend::lanes + lane;
      T const x = argument(i);
      T sine = T(0);
      T cosine = T(0);
      switch (which) {
        case function::exp:
          sine = math::exp(x);
          break;
        case function::expm1:
          sine = math::expm1(x);
          break;
        case function::log:
          sine = math::log(x);
          break;
        case function::sincos:
          math::sincos(x, sine, cosine);
          break;
      }
      out[2 * i] = sine;
      out[2 * i + 1] = cosine;
    });
  }
};

/// Sums of rows of 0 to 199 products in the lane group's order.
template <class T>
struct row_kernel {
  T* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t row) const {
    typename Group::template per_lane<T> sum(T(0));
    std::int64_t const begin = row * 200;
    group.strided(begin, begin + row * 7919 % 200, [&](int lane, std::int64_t i) {
      T const a = T(in_unit(std::uint64_t(i)));
      T const b = T(in_unit(std::uint64_t(i) + 0x100000000ULL));
      sum[lane] = Kokkos::fma(a, b, sum[lane]);
    });
    T const total = group.sum(sum);
    group.each([&](int lane) {
      if (lane == 0) {
        out[row] = total;
      }
    });
  }
};

template <class T>
struct math_case {
  function which;
  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    std::int64_t const groups = 2048;
    auto const chosen = which;
    return {2 * groups * backend::lanes, [=](Exec const& exec, variant const& v, T* out) {
              backend::for_each_lane_group("iso::jobs::verify::math", exec, groups,
                                           math_kernel<T>{out, chosen}, {v.groups});
            }};
  }
};

template <class T>
struct row_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    std::int64_t const rows = 8192;
    return {rows, [=](Exec const& exec, variant const& v, T* out) {
              backend::for_each_lane_group("iso::jobs::verify::rows", exec, rows,
                                           row_kernel<T>{out}, {v.groups});
            }};
  }
};

/// Voxels that look random, more than two blocks of driving planes along x and y.
files::host_volume verify_volume();
/// The views that verify projects: 9 of 45 x 50 pixels.
ct::geometry verify_cone();
ct::geometry verify_parallel();
/// No view has v along z.
ct::geometry verify_tilted();

template <class T>
std::vector<ray::ray<T>> verify_rays(grid const& g, std::int64_t count);

template <class T>
struct path_case {
  ray::traversal method;
  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const volume = load<T>(exec, verify_volume());
    auto const host = verify_rays<T>(volume.grid, 8192);
    Kokkos::View<ray::ray<T>*, space> const rays(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::jobs::rays"), host.size());
    Kokkos::deep_copy(exec, rays,
                      Kokkos::View<ray::ray<T> const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          host.data(), host.size()));
    exec.fence("iso::jobs::verify: rays");
    auto const chosen = method;
    return {std::int64_t(host.size()), [=](Exec const& on, variant const& v, T* out) {
              Kokkos::View<T*, space> const paths(out, rays.extent(0));
              ray::radiological_path(on, rays, volume_view<T const, space>(volume), paths,
                                     {chosen, {v.groups}});
            }};
  }
};

inline std::int64_t pixels(ct::geometry const& g) { return g.num_views() * g.num_u() * g.num_v(); }

template <class T>
struct projection_case {
  ct::geometry scan;
  ct::projector method;
  ct::summation sum;
  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const volume = load<T>(exec, verify_volume());
    auto const staged = ct::stage(exec, scan);
    ct::forward_project_options options;
    options.method = method;
    options.sum = sum;
    workspace<space> const work(
        ct::forward_project_bytes_needed<Exec, T>(scan, volume.grid, options));
    return {pixels(scan), [=](Exec const& on, variant const& v, T* out) {
              auto here = options;
              here.shape = {v.groups};
              here.slab_planes = v.slab;
              here.path = v.path;
              ct::forward_project<Exec, T>(
                  on, staged, volume, projections_at<T, space>(out, staged.host()), work, here);
            }};
  }
};

template <class T>
struct analytic_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const staged = ct::stage(exec, verify_cone());
    auto const phantom = ct::shepp_logan(60);
    return {pixels(staged.host()), [=](Exec const& on, variant const&, T* out) {
              ct::project_ellipsoids<Exec, T>(on, phantom, staged,
                                              projections_at<T, space>(out, staged.host()), {3});
            }};
  }
};

template <class T>
struct raster_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    using space = typename Exec::memory_space;
    auto const phantom = ct::shepp_logan(60);
    auto const g = grid::centred({48, 40, 44}, {2.5, 3, 2.75});
    return {g.size(), [=](Exec const& on, variant const&, T* out) {
              ct::rasterise_ellipsoids<Exec, T>(on, phantom, volume_at<T, space>(out, g), {3});
            }};
  }
};

}  // namespace iso::jobs
