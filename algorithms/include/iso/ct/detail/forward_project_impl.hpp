// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/ct/detail/forward_project_dda_kernel.hpp>
#include <iso/ct/detail/joseph_fast_kernel.hpp>
#include <iso/ct/detail/joseph_general_kernel.hpp>
#include <iso/ct/forward_project.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

namespace iso::ct {
namespace detail {

/// Where the parts of a call's scratch memory lie.
template <class T>
struct joseph_scratch {
  double* max_abs;
  order_free_scale<T>* scale;
  joseph_fan<T>* fans;
  std::uint32_t* flags;
  std::int64_t bytes;

  joseph_scratch(std::byte* base, geometry const& g, int rows) {
    std::int64_t used = 0;
    auto const take = [&](std::int64_t size) {
      std::byte* const at = base == nullptr ? nullptr : base + used;
      used += (size + 255) / 256 * 256;
      return at;
    };
    std::int64_t const lines = g.num_views() * g.num_u();
    std::int64_t const bands = (g.num_v() + 32 * rows - 1) / (32 * rows);
    max_abs = reinterpret_cast<double*>(take(sizeof(double)));
    scale = reinterpret_cast<order_free_scale<T>*>(take(sizeof(order_free_scale<T>)));
    fans = reinterpret_cast<joseph_fan<T>*>(take(lines * std::int64_t(sizeof(joseph_fan<T>))));
    flags = reinterpret_cast<std::uint32_t*>(take(lines * bands * rows * 4));
    bytes = used;
  }
};

/// Pixels a lane carries: two share the work across z.
inline constexpr int joseph_rows = 2;
/// Fans that a processor's thread walks together (4, 8, 16 and 32 tried).
inline constexpr int host_fans = 16;

/// The fast kernel may run: v along z, no ray so steep that z would drive, coordinates that T
/// resolves to better than a sixteenth of a voxel, and byte distances of 32 bits.
bool fast_path_applies(geometry const& g, iso::grid const& volume, std::int64_t value_bytes);

/// Driving planes a launch when the caller leaves it open. On a GPU, what a band of all views reads
/// of a slab should stay in the level-2 cache: 128 planes were fastest on an H200 at 512^3 (64,
/// 128, 192 and 512 tried) and at 1024^3 (128 and 192). A few views gain nothing from slabs, nor
/// does a processor.
inline constexpr std::int32_t device_slab_planes = 2 * block_planes;
inline constexpr std::int64_t few_views = 8;

/// Throws unless every option lies in its range.
void validate_options(forward_project_options const& options);

void validate_forward_project(geometry const& g, iso::grid const& volume,
                              std::int64_t const (&shape)[3], std::int64_t scratch_bytes,
                              std::int64_t needed_bytes);

/// Kernels count on rows without gaps between them.
void validate_contiguous(bool volume, bool projections);

/// Largest finite |voxel|, left in the execution space's memory.
template <class T>
struct max_abs_kernel {
  T const* volume;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& most) const {
    double const x = Kokkos::fabs(double(volume[i]));
    if (is_finite(x) && x > most) {
      most = x;
    }
  }
};

template <class T>
struct scale_kernel {
  double const* max_abs;
  order_free_scale<T>* scale;
  double given;
  double terms;
  KOKKOS_FUNCTION void operator()(int) const {
    *scale = order_free_scale<T>(max_abs != nullptr ? *max_abs : given, terms);
  }
};

template <class Exec, class T>
void prepare_order_free(Exec const& exec,
                        volume_view<T const, typename Exec::memory_space> const& v,
                        joseph_scratch<T> const& s, std::optional<double> max_abs) {
  auto const& n = v.grid.extent;
  if (!max_abs) {
    Kokkos::View<double, typename Exec::memory_space, Kokkos::MemoryUnmanaged> const out(s.max_abs);
    Kokkos::parallel_reduce(
        "iso::ct::forward_project::max_abs",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, v.grid.size()),
        max_abs_kernel<T>{v.data.data()}, Kokkos::Max<double, typename Exec::memory_space>(out));
  }
  double const terms = double(std::max({n[0], n[1], n[2]}));
  Kokkos::parallel_for(
      "iso::ct::forward_project::scale", Kokkos::RangePolicy<Exec>(exec, 0, 1),
      scale_kernel<T>{max_abs ? nullptr : s.max_abs, s.scale, max_abs.value_or(0), terms});
}

template <class Exec, class T, class Sum>
void project_fast(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
                  volume_view<T const, typename Exec::memory_space> const& volume, T* projections,
                  joseph_scratch<T> const& s, forward_project_options const& options,
                  job const& control) {
  geometry const& host = g.host();
  std::int64_t const lines = host.num_views() * host.num_u();
  Kokkos::parallel_for("iso::ct::forward_project::fans",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, lines),
                       joseph_fan_kernel<T>{g.views(), s.fans, volume.grid, host.kind(),
                                            std::int32_t(host.num_u())});
  auto const most = std::int32_t(std::max(volume.grid.extent[0], volume.grid.extent[1]));
  constexpr bool on_device = backend::is_device<Exec>;
  std::int32_t const automatic =
      on_device && host.num_views() >= few_views ? device_slab_planes : most;
  std::int32_t const planes = options.slab_planes > 0 ? options.slab_planes : automatic;
  joseph_fast_kernel<T, Sum, on_device ? 1 : host_fans, joseph_rows> kernel{
      volume.data.data(),
      projections,
      s.fans,
      s.scale,
      s.flags,
      volume.grid,
      options.edge,
      std::int32_t(host.num_views()),
      std::int32_t(host.num_u()),
      std::int32_t(host.num_v()),
      {},
      false,
      false};
  for (std::int32_t first = 0; first < most; first += planes) {
    kernel.slab = {first, std::min(most, first + planes)};
    kernel.first_slab = first == 0;
    kernel.last_slab = kernel.slab.last == most;
    backend::for_each_lane_group<256, 4>("iso::ct::forward_project", exec, kernel.num_groups(),
                                         kernel, options.shape);
    control.step(double(kernel.slab.last) / most);
  }
}

template <class Exec, class T, class Sum, class Weight>
void project_general(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
                     volume_view<T const, typename Exec::memory_space> const& volume,
                     T* projections, joseph_scratch<T> const& s,
                     forward_project_options const& options, job const& control) {
  geometry const& host = g.host();
  joseph_general_kernel<T, Sum, Weight> const kernel{g.views(),   volume.data.data(), projections,
                                                     s.scale,     volume.grid,        options.edge,
                                                     host.kind(), host.num_u(),       host.num_v()};
  backend::for_each_lane_group("iso::ct::forward_project", exec,
                               host.num_views() * host.num_u() * kernel.bands(), kernel,
                               options.shape);
  control.step(1);
}

template <class Exec, class T, class Sum>
void project_joseph(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
                    volume_view<T const, typename Exec::memory_space> const& volume, T* projections,
                    joseph_scratch<T> const& s, forward_project_options const& options,
                    job const& control) {
  if (options.method == projector::joseph_spline) {
    project_general<Exec, T, Sum, spline_weight>(exec, g, volume, projections, s, options, control);
  } else if (options.path == ct::joseph_path::automatic &&
             fast_path_applies(g.host(), volume.grid, sizeof(T))) {
    project_fast<Exec, T, Sum>(exec, g, volume, projections, s, options, control);
  } else {
    project_general<Exec, T, Sum, linear_weight>(exec, g, volume, projections, s, options, control);
  }
}

template <class Method, class Exec, class T>
void project_exact(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
                   volume_view<T const, typename Exec::memory_space> const& volume, T* projections,
                   forward_project_options const& options, job const& control) {
  auto const launch = [&]<class Index>(Index) {
    geometry const& host = g.host();
    // 32 registers in float: many rays in flight hide the wait for scattered voxels.
    constexpr unsigned blocks = sizeof(T) == 4 ? 8 : 5;
    forward_project_dda_kernel<Method, Index, T> kernel{ray::traversal_grid(volume.grid),
                                                        g.views().data(),
                                                        volume.data.data(),
                                                        projections,
                                                        host.num_u(),
                                                        host.num_v(),
                                                        host.kind(),
                                                        options.oversampling};
    std::int32_t const parts = options.oversampling * options.oversampling;
    for (kernel.part = 0; kernel.part < parts; ++kernel.part) {
      backend::for_each_lane_group<256, blocks>("iso::ct::forward_project", exec,
                                                host.num_views() * kernel.groups_per_view(), kernel,
                                                options.shape);
      control.step(double(kernel.part + 1) / parts);
    }
  };
  if (volume.grid.size() < std::int64_t(1) << 31) {
    launch(std::int32_t());
  } else {
    launch(std::int64_t());
  }
}

inline bool is_joseph(projector method) {
  return method == projector::joseph_linear || method == projector::joseph_spline;
}

}  // namespace detail

template <execution_space Exec, real T>
std::int64_t forward_project_bytes_needed(geometry const& g, iso::grid const&,
                                          forward_project_options const& options) {
  return detail::is_joseph(options.method)
             ? detail::joseph_scratch<T>(nullptr, g, detail::joseph_rows).bytes
             : 0;
}

template <execution_space Exec, real T>
void forward_project(
    Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& volume,
    projection_view<T, typename Exec::memory_space> const& projections,
    workspace<typename Exec::memory_space> const& scratch, forward_project_options const& options,
    job const& control) {
  validate(volume, "forward_project");
  auto const& p = projections.data;
  detail::validate_options(options);
  detail::validate_contiguous(volume.data.span_is_contiguous(), p.span_is_contiguous());
  detail::validate_forward_project(
      g.host(), volume.grid,
      {std::int64_t(p.extent(0)), std::int64_t(p.extent(1)), std::int64_t(p.extent(2))},
      scratch.size(), forward_project_bytes_needed<Exec, T>(g.host(), volume.grid, options));
  Kokkos::Profiling::ScopedRegion const region("iso::ct::forward_project");
  if (options.method == projector::amanatides_woo) {
    return detail::project_exact<ray::amanatides_woo>(exec, g, volume, p.data(), options, control);
  }
  if (options.method == projector::branchless) {
    return detail::project_exact<ray::branchless>(exec, g, volume, p.data(), options, control);
  }
  if (options.method == projector::siddon) {
    return detail::project_exact<ray::siddon>(exec, g, volume, p.data(), options, control);
  }
  detail::joseph_scratch<T> const s(scratch.data(), g.host(), detail::joseph_rows);
  if (options.sum == summation::order_free) {
    detail::prepare_order_free(exec, volume, s, options.max_abs);
    detail::project_joseph<Exec, T, detail::order_free_sum<T>>(exec, g, volume, p.data(), s,
                                                               options, control);
  } else {
    detail::project_joseph<Exec, T, detail::ordered_sum<T>>(exec, g, volume, p.data(), s, options,
                                                            control);
  }
}

#ifndef ISO_INSTANTIATE_FORWARD_PROJECT
#define ISO_EXTERN extern
#else
#define ISO_EXTERN
#endif
#define ISO_FORWARD_PROJECT(Exec, T)                                                       \
  ISO_EXTERN template void forward_project<Exec, T>(                                       \
      Exec const&, staged_geometry<Exec::memory_space> const&,                             \
      volume_view<std::type_identity_t<T> const, Exec::memory_space> const&,               \
      projection_view<T, Exec::memory_space> const&, workspace<Exec::memory_space> const&, \
      forward_project_options const&, job const&);
#define ISO_FORWARD_PROJECT_BOTH(Exec) \
  ISO_FORWARD_PROJECT(Exec, float) ISO_FORWARD_PROJECT(Exec, double)
ISO_FOR_EACH_BACKEND(ISO_FORWARD_PROJECT_BOTH)
#undef ISO_FORWARD_PROJECT_BOTH
#undef ISO_FORWARD_PROJECT
#undef ISO_EXTERN

}  // namespace iso::ct
