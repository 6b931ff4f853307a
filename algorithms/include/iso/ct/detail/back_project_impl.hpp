// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/ct/back_project.hpp, for the files that instantiate them.
#pragma once

#include <iso/backend/for_each_index.hpp>
#include <iso/backend/registry.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/detail/back_project_brick_kernel.hpp>
#include <iso/ct/detail/back_project_mark_kernel.hpp>
#include <iso/ct/detail/back_project_register_kernel.hpp>
#include <iso/ct/detail/back_project_step.hpp>
#include <iso/ct/detail/back_project_tile_kernel.hpp>
#include <iso/ct/detail/back_project_tuning.hpp>
#include <iso/ct/detail/chords.hpp>
#include <iso/ct/detail/forward_project_impl.hpp>
#include <iso/ct/detail/rows_seen.hpp>
#include <iso/detail/max_abs.hpp>
#include <iso/detail/timed_batches.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

namespace iso::ct {
namespace detail {

/// Throws unless every option lies in its range, and the batch of `count` views in the scan.
void validate_options(back_project_options const& options, geometry const& g, std::int64_t count);

/// The division of a gather's work.
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

/// The parts of a gather's scratch memory.
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
    t.image_v = t.num_v;
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
      // Rows a power of two apart would crowd into few of a cache's sets. Windows of registers read
      // beyond a row, and pick nothing there: only behind the last one they need room.
      t.rays.pitch = (t.num_v + 15) / 16 * 16 + 128 / std::int32_t(sizeof(T));
      std::int64_t const count = std::int64_t(t.num_views) * t.num_u * t.rays.pitch +
                                 ray_window_registers * 64 / std::int64_t(sizeof(T));
      t.rays.slopes = memory.take<T>({count});
      t.rays.bases = memory.take<T>({count});
      t.rays.values = memory.take<T>({count});
    }
  }
};

/// The sums of a scatter, and its division of the volume.
template <class T, class Exec>
struct scatter_plan {
  sum_words words;
  brick_layout bricks;
  bool far;  ///< coordinates of T are off by more than clipping by division may be

  static scatter_plan make(geometry const& g, iso::grid const& volume, slab const& planes,
                           back_project_options const& options) {
    auto const& n = volume.extent;
    bool const far = std::max({n[0], n[1], n[2]}) > std::int64_t(1) << (sizeof(T) == 4 ? 15 : 20);
    auto const words =
        choose_words<T>(bound_rays(g, volume, options.method), far ? 3 : options.words);
    brick_layout const bricks = with_shape<Exec>(words.count, [&](auto shape) {
      return brick_layout(volume, planes, decltype(shape)::most);
    });
    return {words, bricks, far};
  }
};

/// The parts of a scatter's scratch memory.
template <class T, class Samples>
struct scatter_scratch {
  brick_ray<T, Samples>* rays;
  pixel_rectangle* rectangles;
  double* most;
  product_grid* products;

  scatter_scratch(workspace_parts& memory, geometry const& g, brick_layout const& bricks)
      : rays(memory.take<brick_ray<T, Samples>>(
            {std::min<std::int64_t>(block_views, g.num_views()), g.num_u(), g.num_v()})),
        rectangles(memory.take<pixel_rectangle>({bricks.size(), block_views})),
        most(memory.take<double>({1})),
        products(memory.take<product_grid>({1})) {}
};

/// Calls f(samples) with what a projector's rays give voxels, as a type.
template <class F>
auto with_samples(projector method, F const& f) {
  return !is_joseph(method)                   ? f(exact_chords())
         : method == projector::joseph_spline ? f(spline_weight())
                                              : f(linear_weight());
}

struct clear_flag_kernel {
  std::uint32_t* flag;
  KOKKOS_FUNCTION void operator()(int) const { *flag = 0; }
};

struct clear_number_kernel {
  double* number;
  KOKKOS_FUNCTION void operator()(int) const { *number = 0; }
};

template <class Exec, class T>
void make_tables(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
                 iso::grid const& volume, T const* pixels, std::int64_t first_view,
                 back_project_tables<T> const& t, gather_plan<T> const& plan,
                 region within = region::box) {
  Kokkos::View<view_vectors const*, typename Exec::memory_space, Kokkos::MemoryUnmanaged> const
  views(g.views().data() + first_view, std::size_t(t.num_views));
  beam const kind = g.host().kind();
  std::int64_t const ray_columns = std::int64_t(t.num_views) * t.num_u;
  backend::for_each_index("iso::ct::back_project::no_flag", exec, 1, clear_flag_kernel{t.unsafe});
  backend::for_each_index(
      "iso::ct::back_project::ray_columns", exec, ray_columns,
      ray_column_kernel<T>{views, t.ray_columns, volume, kind, t.num_u, within});
  backend::for_each_index("iso::ct::back_project::candidates", exec, ray_columns * t.groups,
                          ray_column_table_kernel<T>{t, volume, plan.min_candidates});
  backend::for_each_index("iso::ct::back_project::rays", exec, ray_columns * t.num_v,
                          ray_table_kernel<T>{t, pixels, volume});
  backend::for_each_index("iso::ct::back_project::u_ranges", exec,
                          std::int64_t(t.num_views) * t.tiles_x * t.tiles_y,
                          u_range_kernel<T>{views, t, volume, kind, plan.edge});
}

/// Adds a batch of views, fractions `from` to `to` of the whole call, whose samples are so many.
template <class Exec, class T>
void launch_gather(Exec const& exec, back_project_tables<T> const& t,
                   back_project_volume<T> const& out, double samples, double from, double to,
                   launch_shape shape, job const& control) {
  constexpr auto tuned = back_project_tuning_of<Exec, T>;
  if constexpr (backend::is_device<Exec>) {
    auto const launch = [&](auto const& kernel) {
      backend::for_each_lane_group<128, tuned.min_blocks>("iso::ct::back_project", exec,
                                                          kernel.num_groups(), kernel, shape);
    };
    if (out.by.weights != nullptr) {
      launch(back_project_register_kernel<T, tuned.heights, true>{t, out});
    } else {
      launch(back_project_register_kernel<T, tuned.heights, false>{t, out});
    }
    control.step(to);
  } else {
    back_project_tile_kernel<T, tuned.tile_edge, tuned.tile_rows> kernel{t, out};
    launch_parts(exec, kernel.num_groups(), samples, {control, from, to},
                 [&](std::int64_t first, std::int64_t count) {
                   kernel.first_tile = first;
                   backend::for_each_lane_group<128, tuned.min_blocks>("iso::ct::back_project",
                                                                       exec, count, kernel, shape);
                 });
  }
}

template <class Exec, class T>
void gather(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
            projection_view<T const, typename Exec::memory_space> const& projections,
            volume_view<T, typename Exec::memory_space> const& volume,
            workspace<typename Exec::memory_space> const& scratch,
            back_project_options const& options, onto to, voxel_step<T> const& by,
            job const& control) {
  auto const plan = gather_plan<T>::template make<Exec>(g.host());
  workspace_parts parts(scratch, "iso::ct::back_project");
  gather_scratch<T> s(parts, g.host(), volume.grid, plan);
  auto const count = std::int64_t(projections.data.extent(0));
  back_project_volume<T> out{volume.data.data(),
                             volume.grid,
                             volume.planes(),
                             {volume.grid, options.edge},
                             options.edge,
                             false,
                             by};
  for (std::int64_t first = 0; first < count; first += plan.views) {
    s.tables.num_views = std::int32_t(std::min(plan.views, count - first));
    row_range const rows = rows_met(g.host(), volume.grid, volume.planes(),
                                    options.first_view + first, s.tables.num_views);
    s.tables.first_v = std::int32_t(rows.first);
    s.tables.num_v = std::int32_t(rows.count());
    T const* const pixels = projections.data.data() + first * g.host().num_u() * g.host().num_v();
    make_tables(exec, g, volume.grid, pixels, options.first_view + first, s.tables, plan,
                options.within);
    out.begins = first == 0 && to == onto::zero;
    launch_gather(exec, s.tables, out, s.tables.num_views * samples_of_view(g.host(), volume.grid),
                  double(first) / double(count), double(first + s.tables.num_views) / double(count),
                  options.shape, control);
  }
}

/// Runs kernel(i) for i from 0 to `count`. On a processor, where rays of a block of views may take
/// seconds, `control` is asked on the way.
template <class Exec, class Kernel>
void for_each_ray(char const* label, Exec const& exec, std::int64_t count, job const& control,
                  Kernel const& kernel) {
  if constexpr (backend::is_device<Exec>) {
    backend::for_each_index(label, exec, count, kernel);
  } else {
    iso::detail::for_each_index_in_batches(label, exec, count, iso::detail::asked_only(control),
                                           kernel);
  }
}

/// Adds a block of views, one ray a pixel, to the volume: fractions `from` to `to` of the call.
template <class Exec, class T, class Samples>
void scatter_block(Exec const& exec, block_rays const& block, T const* pixels, double share,
                   scatter_plan<T, Exec> const& plan, scatter_scratch<T, Samples> const& s,
                   T* volume, slab const& planes, bool begins, voxel_step<T> const& by,
                   double samples, double from, double to, launch_shape shape, job const& control) {
  auto const views = std::int64_t(block.views.extent(0));
  std::int64_t const count = views * block.num_u * block.num_v;
  for_each_ray("iso::ct::back_project::rays", exec, count, control,
               brick_ray_kernel<T, Samples>{block, pixels, share, s.products, s.rays});
  auto const& n = block.g.extent;
  constexpr bool steps = !std::is_same_v<Samples, exact_chords>;
  double const rounding =
      0.01 + double(std::max({n[0], n[1], n[2]})) * (sizeof(T) == 4 ? 0x1p-21 : 0x1p-50);
  backend::for_each_index(
      "iso::ct::back_project::rectangles", exec, plan.bricks.size() * views,
      brick_rectangle_kernel{block, plan.bricks, steps ? 1.0 : 0.5, steps, rounding, s.rectangles});
  with_shape<Exec>(plan.words.count, [&](auto kind) {
    using brick = decltype(kind);
    // In floating point one word is for float, in double one would not do.
    if constexpr (sizeof(T) == 4 || brick::words > 1) {
      brick_kernel<T, Samples, brick> kernel{plan.bricks,
                                             s.rectangles,
                                             s.rays,
                                             s.products,
                                             volume,
                                             block.num_u,
                                             block.num_v,
                                             std::int32_t(views),
                                             plan.words.low_bits,
                                             plan.far,
                                             begins,
                                             by};
      launch_parts(exec, plan.bricks.size(), samples, {control, from, to},
                   [&](std::int64_t first, std::int64_t count) {
                     kernel.first_brick = first;
                     backend::for_each_team<brick::threads, brick::teams>(
                         "iso::ct::back_project", exec, count, kernel, shape);
                   });
    }
  });
  for_each_ray("iso::ct::back_project::not_finite", exec, count, control,
               mark_kernel<T, Samples>{block, pixels, s.products, volume, planes});
}

template <class Exec, class T, class Samples>
void scatter(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
             projection_view<T const, typename Exec::memory_space> const& projections,
             volume_view<T, typename Exec::memory_space> const& volume,
             workspace<typename Exec::memory_space> const& scratch,
             back_project_options const& options, onto to, voxel_step<T> const& by,
             job const& control) {
  using space = typename Exec::memory_space;
  geometry const& host = g.host();
  auto const plan = scatter_plan<T, Exec>::make(host, volume.grid, volume.planes(), options);
  workspace_parts parts(scratch, "iso::ct::back_project");
  scatter_scratch<T, Samples> const s(parts, host, plan.bricks);
  auto const count = std::int64_t(projections.data.extent(0));
  std::int64_t const per_view = host.num_u() * host.num_v();
  std::int32_t const side = options.oversampling;
  double const share = 1.0 / (side * side);
  if (!options.max_abs) {
    backend::for_each_index("iso::ct::back_project::no_reading", exec, 1,
                            clear_number_kernel{s.most});
    iso::detail::max_abs_kernel<T, false> const range{projections.data.data(), count * per_view, 1,
                                                      s.most, nullptr};
    backend::for_each_lane_group("iso::ct::back_project: largest reading", exec, range.num_groups,
                                 range);
  }
  backend::for_each_index(
      "iso::ct::back_project::products", exec, 1,
      product_grid_kernel{options.max_abs ? nullptr : s.most, options.max_abs.value_or(0),
                          longest_step<T>(volume.grid), share, plan.words.capacity, s.products});
  for (std::int64_t first = 0; first < count; first += block_views) {
    std::int64_t const views = std::min<std::int64_t>(block_views, count - first);
    Kokkos::View<view_vectors const*, space, Kokkos::MemoryUnmanaged> const of_block(
        g.views().data() + options.first_view + first, std::size_t(views));
    for (std::int32_t part = 0; part < side * side; ++part) {
      std::int32_t const part_u = part / side;
      block_rays const block{of_block,
                             host.kind(),
                             host.num_u(),
                             host.num_v(),
                             (part_u + 0.5) / side - 0.5,
                             (part - part_u * side + 0.5) / side - 0.5,
                             volume.grid,
                             options.edge,
                             options.within,
                             ray::traversal_grid(volume.grid),
                             {volume.grid, options.within}};
      auto const done = [&](std::int32_t parts_done) {
        return (double(first) + double(views) * parts_done / (side * side)) / double(count);
      };
      scatter_block(exec, block, projections.data.data() + first * per_view, share, plan, s,
                    volume.data.data(), volume.planes(),
                    first == 0 && part == 0 && to == onto::zero, by,
                    double(views) * samples_of_view(host, volume.grid, options.method), done(part),
                    done(part + 1), options.shape, control);
    }
  }
}

/// Backprojects onto `volume`, or steps by its sums where `by` has weights.
template <execution_space Exec, real T>
void back_project_by(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
                     projection_view<T const, typename Exec::memory_space> const& projections,
                     volume_view<T, typename Exec::memory_space> const& volume,
                     workspace<typename Exec::memory_space> const& scratch,
                     back_project_options const& options, onto to, voxel_step<T> const& by,
                     job const& control) {
  geometry const& host = g.host();
  auto const count = std::int64_t(projections.data.extent(0));
  validate_options(options, host, count);
  validate(to, "iso::ct::back_project");
  validate_arrays(volume, projections, {count, host.num_u(), host.num_v()}, scratch,
                  "iso::ct::back_project");
  validate(scratch, back_project_bytes_needed<T>(exec, host, volume.grid, volume.planes(), options),
           "iso::ct::back_project");
  Kokkos::Profiling::ScopedRegion const region("iso::ct::back_project");
  if (gathers(host, volume.grid, sizeof(T), options)) {
    gather<Exec, T>(exec, g, projections, volume, scratch, options, to, by, control);
  } else {
    with_samples(options.method, [&]<class Samples>(Samples) {
      scatter<Exec, T, Samples>(exec, g, projections, volume, scratch, options, to, by, control);
    });
  }
}

template <execution_space Exec, real T>
void back_project_step(
    Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    volume_view<T, typename Exec::memory_space> const& x,
    workspace<typename Exec::memory_space> const& scratch, back_project_options const& options,
    voxel_step<std::type_identity_t<T>> const& by, job const& control) {
  auto const count = std::int64_t(projections.data.extent(0));
  ISO_VALIDATE(steps_at_once(count, options),
               "iso::ct::back_project: {} views at once, {} rays a pixel each way (a step takes "
               "one block of {}); use iso::ct::back_project, which has no such limit",
               count, options.oversampling, block_views);
  back_project_by<Exec, T>(exec, g, projections, x, scratch, options, onto::zero, by, control);
}

}  // namespace detail

template <real T, execution_space Exec>
std::int64_t back_project_bytes_needed(Exec const& exec, geometry const& g, iso::grid const& volume,
                                       back_project_options const& options) {
  return back_project_bytes_needed<T>(exec, g, volume, all_planes(volume), options);
}

template <real T, execution_space Exec>
std::int64_t back_project_bytes_needed(Exec const&, geometry const& g, iso::grid const& volume,
                                       slab const& planes, back_project_options const& options) {
  detail::validate_planes(volume, "iso::ct::back_project");
  validate(planes, volume, "iso::ct::back_project");
  workspace_parts parts("iso::ct::back_project");
  if (detail::gathers(g, volume, sizeof(T), options)) {
    detail::gather_scratch<T>(parts, g, volume, detail::gather_plan<T>::template make<Exec>(g));
  } else {
    auto const plan = detail::scatter_plan<T, Exec>::make(g, volume, planes, options);
    detail::with_samples(options.method, [&]<class Samples>(Samples) {
      detail::scatter_scratch<T, Samples>(parts, g, plan.bricks);
    });
  }
  return parts.bytes();
}

template <execution_space Exec, real T>
void back_project(
    Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    volume_view<T, typename Exec::memory_space> const& volume,
    workspace<typename Exec::memory_space> const& scratch, back_project_options const& options,
    onto to, job const& control) {
  detail::back_project_by<Exec, T>(exec, g, projections, volume, scratch, options, to, {}, control);
}

#define ISO_BACK_PROJECT(linkage, Exec, T)                                             \
  linkage template void back_project<Exec, T>(                                         \
      Exec const&, staged_geometry<Exec::memory_space> const&,                         \
      projection_view<std::type_identity_t<T> const, Exec::memory_space> const&,       \
      volume_view<T, Exec::memory_space> const&, workspace<Exec::memory_space> const&, \
      back_project_options const&, onto, job const&);                                  \
  linkage template void detail::back_project_step<Exec, T>(                            \
      Exec const&, staged_geometry<Exec::memory_space> const&,                         \
      projection_view<std::type_identity_t<T> const, Exec::memory_space> const&,       \
      volume_view<T, Exec::memory_space> const&, workspace<Exec::memory_space> const&, \
      back_project_options const&, detail::voxel_step<std::type_identity_t<T>> const&, \
      job const&);                                                                     \
  linkage template std::int64_t back_project_bytes_needed<T, Exec>(                    \
      Exec const&, geometry const&, iso::grid const&, back_project_options const&);    \
  linkage template std::int64_t back_project_bytes_needed<T, Exec>(                    \
      Exec const&, geometry const&, iso::grid const&, slab const&, back_project_options const&);
ISO_FOR_EACH_INSTANCE(ISO_BACK_PROJECT, extern)

}  // namespace iso::ct
