// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/ct/back_project.hpp, for the files that instantiate them.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/detail/back_project_register_kernel.hpp>
#include <iso/ct/detail/back_project_scatter_kernel.hpp>
#include <iso/ct/detail/back_project_tile_kernel.hpp>
#include <iso/ct/detail/back_project_tuning.hpp>
#include <iso/ct/detail/forward_project_impl.hpp>
#include <iso/detail/max_abs.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <cmath>

namespace iso::ct {
namespace detail {

/// Throws unless every option lies in its range, and the batch of `count` views in the scan.
void validate_options(back_project_options const& options, geometry const& g, std::int64_t count);

/// Returns whether backprojection is by gather. Its bits depend on this, so that no backend may
/// differ.
bool gathers(geometry const& g, iso::grid const& volume, std::int64_t value_bytes,
             back_project_options const& options);

/// Describes how a gather cuts its work up.
template <class T>
struct gather_plan {
  std::int64_t views;  ///< of a batch: whole blocks
  std::int32_t edge;   ///< of a tile of columns
  bool lines;          ///< rays as quads
  std::int32_t min_candidates;

  template <class Exec>
  static gather_plan make(geometry const& g) {
    constexpr auto tuned = back_project_tuning_of<Exec, T>;
    constexpr bool device = backend::is_device<Exec>;
    std::int64_t const block_bytes =
        g.num_u() * g.num_v() * block_views * std::int64_t(sizeof(pixel_ray_line<T>));
    std::int64_t const blocks =
        std::clamp(tuned.max_ray_bytes / block_bytes, std::int64_t(1),
                   std::max((g.num_views() + block_views - 1) / block_views, std::int64_t(1)));
    return {blocks * block_views, device ? candidate_planes : tuned.tile_edge, device,
            tuned.min_candidates};
  }
};

/// Describes where the parts of a gather's scratch memory lie.
template <class T>
struct gather_scratch {
  back_project_tables<T> tables;

  gather_scratch(workspace_parts& memory, geometry const& g, iso::grid const& volume,
                 gather_plan<T> const& plan)
      : tables{} {
    auto const& n = volume.extent;
    auto& t = tables;
    t.num_views = std::int32_t(std::min(plan.views, g.num_views()));
    t.num_u = std::int32_t(g.num_u());
    t.num_v = std::int32_t(g.num_v());
    t.groups = std::int32_t((std::max(n[0], n[1]) + candidate_planes - 1) / candidate_planes);
    t.tiles_x = std::int32_t((n[0] + plan.edge - 1) / plan.edge);
    t.tiles_y = std::int32_t((n[1] + plan.edge - 1) / plan.edge);
    t.unsafe = memory.take<std::uint32_t>({1});
    t.ray_columns = memory.take<joseph_ray_column<T>>({t.num_views, t.num_u});
    t.columns = memory.take<ray_column_walk<T>>({t.num_views, t.num_u});
    t.candidates = memory.take<ray_candidates<T>>({t.num_views, t.num_u, t.groups});
    t.u_ranges = memory.take<plane_range>({t.num_views, t.tiles_x, t.tiles_y});
    if (plan.lines) {
      t.rays.lines = memory.take<pixel_ray_line<T>>({t.num_views, t.num_u, t.num_v});
    } else {
      // Behind each row, room for two registers of 64 bytes.
      t.rays.pitch = (t.num_v + 15) / 16 * 16 + 128 / std::int32_t(sizeof(T));
      t.rays.slopes = memory.take<T>({t.num_views, t.num_u, t.rays.pitch});
      t.rays.bases = memory.take<T>({t.num_views, t.num_u, t.rays.pitch});
      t.rays.values = memory.take<T>({t.num_views, t.num_u, t.rays.pitch});
    }
  }
};

/// Describes where the parts of a scatter's scratch memory lie.
template <class T>
struct scatter_scratch {
  fixed_point_sums<T> sums;
  pixel_range* pixels;
  product_grids* grids;

  scatter_scratch(workspace_parts& memory, iso::grid const& volume)
      : sums{}, pixels(memory.take<pixel_range>({1})), grids(memory.take<product_grids>({1})) {
    sums = {memory.take<std::uint64_t>({volume.size(), fixed_point_sums<T>::words}),
            memory.take<std::uint32_t>({(volume.size() + 31) / 32}), grids};
  }
};

struct clear_flag_kernel {
  std::uint32_t* flag;
  KOKKOS_FUNCTION void operator()(int) const { *flag = 0; }
};

template <class Exec, class T>
void make_tables(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
                 iso::grid const& volume, T const* pixels, std::int64_t first_view,
                 back_project_tables<T> const& t, gather_plan<T> const& plan,
                 region within = region::box) {
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::View<view_vectors const*, typename Exec::memory_space, Kokkos::MemoryUnmanaged> const
  views(g.views().data() + first_view, std::size_t(t.num_views));
  beam const kind = g.host().kind();
  std::int64_t const ray_columns = std::int64_t(t.num_views) * t.num_u;
  Kokkos::parallel_for("iso::ct::back_project::no_flag", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                       clear_flag_kernel{t.unsafe});
  Kokkos::parallel_for("iso::ct::back_project::ray_columns", policy(exec, 0, ray_columns),
                       ray_column_kernel<T>{views, t.ray_columns, volume, kind, t.num_u, within});
  Kokkos::parallel_for("iso::ct::back_project::candidates", policy(exec, 0, ray_columns * t.groups),
                       ray_column_table_kernel<T>{t, volume, plan.min_candidates});
  Kokkos::parallel_for("iso::ct::back_project::rays", policy(exec, 0, ray_columns * t.num_v),
                       ray_table_kernel<T>{t, pixels, volume});
  Kokkos::parallel_for("iso::ct::back_project::u_ranges",
                       policy(exec, 0, std::int64_t(t.num_views) * t.tiles_x * t.tiles_y),
                       u_range_kernel<T>{views, t, volume, kind, plan.edge});
}

template <class Exec, class T>
void launch_gather(Exec const& exec, back_project_tables<T> const& t,
                   back_project_volume<T> const& out, backend::launch_shape shape) {
  constexpr auto tuned = back_project_tuning_of<Exec, T>;
  auto const launch = [&](auto const& kernel) {
    backend::for_each_lane_group<128, tuned.min_blocks>("iso::ct::back_project", exec,
                                                        kernel.num_groups(), kernel, shape);
  };
  if constexpr (backend::is_device<Exec>) {
    launch(back_project_register_kernel<T, tuned.heights>{t, out});
  } else {
    launch(back_project_tile_kernel<T, tuned.tile_edge, tuned.tile_rows>{t, out});
  }
}

template <class Exec, class T>
void gather(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
            projection_view<T const, typename Exec::memory_space> const& projections,
            volume_view<T, typename Exec::memory_space> const& volume,
            workspace<typename Exec::memory_space> const& scratch,
            back_project_options const& options, job const& control) {
  auto const plan = gather_plan<T>::template make<Exec>(g.host());
  workspace_parts parts(scratch, "iso::ct::back_project");
  gather_scratch<T> s(parts, g.host(), volume.grid, plan);
  auto const count = std::int64_t(projections.data.extent(0));
  back_project_volume<T> out{
      volume.data.data(), volume.grid, {volume.grid, options.edge}, options.edge, false};
  for (std::int64_t first = 0; first < count; first += plan.views) {
    s.tables.num_views = std::int32_t(std::min(plan.views, count - first));
    T const* const pixels = projections.data.data() + first * g.host().num_u() * g.host().num_v();
    make_tables(exec, g, volume.grid, pixels, options.first_view + first, s.tables, plan,
                options.within);
    out.begins = first == 0 && options.onto == onto::zero;
    launch_gather(exec, s.tables, out, options.shape);
    control.step(double(first + s.tables.num_views) / double(count));
  }
}

/// Bounds what rays add to one voxel, mm: a step or a chord is no longer than a voxel's diagonal,
/// but for rounding.
inline double longest_step(iso::grid const& g) { return 2 * norm(g.spacing); }

template <class Exec, class T>
void scatter(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
             projection_view<T const, typename Exec::memory_space> const& projections,
             volume_view<T, typename Exec::memory_space> const& volume,
             workspace<typename Exec::memory_space> const& scratch,
             back_project_options const& options, job const& control) {
  using space = typename Exec::memory_space;
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  workspace_parts parts(scratch, "iso::ct::back_project");
  scatter_scratch<T> const s(parts, volume.grid);
  geometry const& host = g.host();
  auto const count = std::int64_t(projections.data.extent(0));
  std::int64_t const per_view = host.num_u() * host.num_v();
  double const rays = double(per_view) * block_views * options.oversampling * options.oversampling;
  for (std::int64_t first = 0; first < count; first += block_views) {
    std::int64_t const views = std::min<std::int64_t>(block_views, count - first);
    T const* const pixels = projections.data.data() + first * per_view;
    Kokkos::parallel_for("iso::ct::back_project::clear", policy(exec, 0, volume.grid.size()),
                         clear_sums_kernel<T>{s.sums, s.pixels});
    iso::detail::max_abs_kernel<T, true> const range{pixels, views * per_view, 1, &s.pixels->most,
                                                     &s.pixels->beyond};
    backend::for_each_lane_group("iso::ct::back_project: range of pixels", exec, range.num_groups,
                                 range);
    Kokkos::parallel_for("iso::ct::back_project::grids", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                         product_grids_kernel{s.pixels, s.grids, longest_step(volume.grid), rays});
    Kokkos::View<view_vectors const*, space, Kokkos::MemoryUnmanaged> const of_block(
        g.views().data() + options.first_view + first, std::size_t(views));
    block_pixels<T> const block{of_block, pixels, host.kind(), host.num_u(), host.num_v()};
    auto const launch = [&](auto const& kernel) {
      backend::for_each_lane_group("iso::ct::back_project", exec, views * block.groups_per_view(),
                                   kernel, options.shape);
    };
    if (!is_joseph(options.method)) {
      launch(chord_scatter_kernel<T>{block,
                                     s.sums,
                                     ray::traversal_grid(volume.grid),
                                     {volume.grid, options.within},
                                     options.oversampling});
    } else if (options.method == projector::joseph_spline) {
      launch(joseph_scatter_kernel<T, spline_weight>{block, s.sums, volume.grid, options.edge,
                                                     options.within});
    } else {
      launch(joseph_scatter_kernel<T, linear_weight>{block, s.sums, volume.grid, options.edge,
                                                     options.within});
    }
    Kokkos::parallel_for(
        "iso::ct::back_project::add", policy(exec, 0, volume.grid.size()),
        add_sums_kernel<T>{s.sums, volume.data.data(), first == 0 && options.onto == onto::zero});
    control.step(double(first + views) / double(count));
  }
}

}  // namespace detail

template <real T, execution_space Exec>
std::int64_t back_project_bytes_needed(Exec const&, geometry const& g, iso::grid const& volume,
                                       back_project_options const& options) {
  detail::validate_planes(volume, "iso::ct::back_project");
  workspace_parts parts("iso::ct::back_project");
  if (detail::gathers(g, volume, sizeof(T), options)) {
    detail::gather_scratch<T>(parts, g, volume, detail::gather_plan<T>::template make<Exec>(g));
  } else {
    detail::scatter_scratch<T>(parts, volume);
  }
  return parts.bytes();
}

template <execution_space Exec, real T>
void back_project(
    Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    volume_view<T, typename Exec::memory_space> const& volume,
    workspace<typename Exec::memory_space> const& scratch, back_project_options const& options,
    job const& control) {
  geometry const& host = g.host();
  auto const count = std::int64_t(projections.data.extent(0));
  detail::validate_options(options, host, count);
  detail::validate_arrays(volume, projections, {count, host.num_u(), host.num_v()}, scratch,
                          "iso::ct::back_project");
  validate(scratch, back_project_bytes_needed<T>(exec, host, volume.grid, options),
           "iso::ct::back_project");
  Kokkos::Profiling::ScopedRegion const region("iso::ct::back_project");
  if (detail::gathers(host, volume.grid, sizeof(T), options)) {
    detail::gather<Exec, T>(exec, g, projections, volume, scratch, options, control);
  } else {
    detail::scatter<Exec, T>(exec, g, projections, volume, scratch, options, control);
  }
}

#define ISO_BACK_PROJECT(linkage, Exec, T)                                             \
  linkage template void back_project<Exec, T>(                                         \
      Exec const&, staged_geometry<Exec::memory_space> const&,                         \
      projection_view<std::type_identity_t<T> const, Exec::memory_space> const&,       \
      volume_view<T, Exec::memory_space> const&, workspace<Exec::memory_space> const&, \
      back_project_options const&, job const&);                                        \
  linkage template std::int64_t back_project_bytes_needed<T, Exec>(                    \
      Exec const&, geometry const&, iso::grid const&, back_project_options const&);
ISO_FOR_EACH_INSTANCE(ISO_BACK_PROJECT, extern)

}  // namespace iso::ct
