// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/ct/forward_project.hpp, for files that instantiate them.
#pragma once

#include <iso/backend/for_each_index.hpp>
#include <iso/backend/registry.hpp>
#include <iso/ct/detail/forward_project_exact_impl.hpp>
#include <iso/ct/detail/forward_project_tuning.hpp>
#include <iso/ct/detail/joseph_fast_kernel.hpp>
#include <iso/ct/detail/joseph_general_kernel.hpp>
#include <iso/ct/detail/joseph_groups.hpp>
#include <iso/ct/detail/launch_parts.hpp>
#include <iso/ct/detail/validate_arrays.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/detail/job_parts.hpp>
#include <iso/detail/max_abs.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

namespace iso::ct {
namespace detail {

/// The largest finite |voxel| of a volume, and 1 where some are not finite, else 0.
struct voxel_range {
  double most;
  std::int32_t beyond;
};

/// Throws, naming `function`, unless planes along every axis can be counted.
void validate_planes(iso::grid const& volume, char const* function = "iso::ct::forward_project");

/// The division of the fast path's work.
struct joseph_plan {
  std::int32_t planes;       ///< of the driving axis, whichever drives
  std::int32_t slab_planes;  ///< a launch
  std::int32_t images;       ///< of sums kept apart, one a block; 0: none

  std::int32_t whole_rows;  ///< a detector is filled up to a multiple of so many rows

  template <class Exec>
  static joseph_plan make(geometry const& g, iso::grid const& volume, std::int32_t slab_planes,
                          bool partial = false) {
    constexpr joseph_tuning tuned = joseph_tuning_of<Exec>;
    validate_planes(volume);
    auto const most = std::int32_t(std::max(volume.extent[0], volume.extent[1]));
    if (slab_planes > 0) {
      return {most, slab_planes, 0, tuned.whole_rows};
    }
    if (!partial && g.num_views() < tuned.few_views && most > block_planes) {
      return {most, most, (most + block_planes - 1) / block_planes, tuned.whole_rows};
    }
    auto const blocks = std::int32_t(tuned.slab_columns / most / block_planes);
    return {most, tuned.slab_columns == 0 ? most : std::max(blocks, 1) * block_planes, 0,
            tuned.whole_rows};
  }
};

/// The parts of a call's scratch memory.
template <class T>
struct joseph_scratch {
  std::int64_t rows = 0;  ///< of 32 pixels a column of rays
  voxel_range* voxels = nullptr;
  ray_sum_scale<T>* scale = nullptr;
  joseph_ray_column<T>* ray_columns = nullptr;
  joseph_range* row_ranges = nullptr;
  std::uint32_t* flags = nullptr;
  T* parts = nullptr;
  index_view* views = nullptr;

  joseph_scratch() = default;
  joseph_scratch(workspace_parts& memory, geometry const& g, joseph_plan const& plan)
      : rows(((g.num_v() - 1) / (32 * plan.whole_rows) + 1) * plan.whole_rows),
        voxels(memory.take<voxel_range>({1})),
        scale(memory.take<ray_sum_scale<T>>({1})),
        ray_columns(memory.take<joseph_ray_column<T>>({g.num_views(), g.num_u()})),
        row_ranges(memory.take<joseph_range>({g.num_views(), g.num_u(), rows})),
        flags(memory.take<std::uint32_t>(
            {g.num_views(), std::max(g.num_u() * rows * std::max(plan.images, 1),
                                     g.num_v() * ((g.num_u() + 31) / 32))})),
        parts(memory.take<T>({g.num_views(), g.num_u(), g.num_v(), plan.images})),
        views(memory.take<index_view>({g.num_views()})) {}
};

/// The parts of a call's scratch memory by exact lengths, for reproducible sums. Of partial sums
/// the flags are elsewhere.
template <class T>
struct exact_scratch {
  voxel_range* voxels = nullptr;
  ray_sum_scale<T>* scale = nullptr;
  std::uint32_t* flags = nullptr;

  exact_scratch() = default;
  exact_scratch(workspace_parts& memory, geometry const& g, bool partial)
      : voxels(memory.take<voxel_range>({1})),
        scale(memory.take<ray_sum_scale<T>>({1})),
        flags(memory.take<std::uint32_t>(
            {partial ? 0 : g.num_views(), g.num_u(), (g.num_v() + 31) / 32})) {}
};

/// The parts of a call's scratch memory, by method and sum.
template <class T>
struct projection_scratch {
  joseph_scratch<T> joseph;
  exact_scratch<T> exact;

  template <class Exec>
  static projection_scratch make(workspace_parts& memory, geometry const& g,
                                 iso::grid const& volume, forward_project_options const& options,
                                 bool partial = false) {
    projection_scratch s;
    if (is_joseph(options.method)) {
      s.joseph = {memory, g, joseph_plan::make<Exec>(g, volume, options.slab_planes, partial)};
    } else if (partial || options.sum == summation::reproducible) {
      s.exact = {memory, g, partial};
    }
    return s;
  }
};

/// Returns whether the general kernel's lanes are better neighbours along u than along v: there are
/// enough of them, or they reach voxels that are nearer to each other along z, and so in memory.
bool lanes_go_along_u(geometry const& g, iso::grid const& volume);

/// Returns whether an upright scan has so few rows of pixels, or rows and planes of voxels, that a
/// processor is faster by the general path.
bool is_thin(geometry const& g, iso::grid const& volume);

/// Returns whether the general kernel may walk with 32 rays together: its offsets in the planes
/// that are held take 31 bits, its coordinates 22.
bool lanes_may_walk(iso::grid const& volume, slab const& held);

/// Throws unless every option lies in its range.
void validate_options(forward_project_options const& options);

struct clear_range_kernel {
  voxel_range* found;
  KOKKOS_FUNCTION void operator()(int) const { *found = {0, 0}; }
};

/// The magnitude and number of a ray's terms: voxels times at most `largest`, the number at most
/// `count`.
struct ray_terms {
  double largest;
  double count;

  template <class T>
  static ray_terms of(iso::grid const& whole, forward_project_options const& options) {
    auto const& n = whole.extent;
    return is_joseph(options.method) ? ray_terms{1, double(std::max({n[0], n[1], n[2]}))}
                                     : ray_terms{chord_unit::of<T>(whole).longest,
                                                 chords_of_pixel(whole, options.oversampling)};
  }
  /// Returns the scale of sums of voxels of at most `most`.
  template <class T>
  [[nodiscard]] KOKKOS_FUNCTION reproducible_scale<T> scale(double most) const {
    return {most * largest, count};
  }
};

template <class T>
struct scale_kernel {
  voxel_range const* voxels;
  ray_sum_scale<T>* scale;
  double given;  ///< largest |voxel|; below zero: the one that was found
  ray_terms terms;
  KOKKOS_FUNCTION void operator()(int) const {
    double const found = voxels->most;
    double const most = given < 0 ? found : given;
    // Blends take the differences of two blends: four times the largest voxel is still finite.
    *scale = {terms.scale<T>(most),
              voxels->beyond == 0 && found <= most && is_finite(T(4) * T(found))};
  }
};

/// Finds the scale of reproducible sums of a volume. A largest voxel that is given sets the unit;
/// the search still says whether samples must be looked at for what is not finite.
template <class Exec, class T>
void prepare_reproducible(Exec const& exec,
                          volume_view<T const, typename Exec::memory_space> const& v,
                          voxel_range* voxels, ray_sum_scale<T>* scale,
                          forward_project_options const& options) {
  backend::for_each_index("iso::ct::forward_project: no voxels yet", exec, 1,
                          clear_range_kernel{voxels});
  if (is_joseph(options.method) || !options.max_abs) {  // sums of chords always look
    iso::detail::max_abs_kernel<T, true> const kernel{v.data.data(), v.grid.size(), 1,
                                                      &voxels->most, &voxels->beyond};
    backend::for_each_lane_group("iso::ct::forward_project: range of voxels", exec,
                                 kernel.num_groups, kernel);
  }
  backend::for_each_index("iso::ct::forward_project::scale", exec, 1,
                          scale_kernel<T>{voxels, scale, options.max_abs.value_or(-1),
                                          ray_terms::of<T>(v.grid, options)});
}

/// Prepares what all rays share, ready for the fast kernel.
template <class T, class Exec>
joseph_images<T> prepare_ray_columns(Exec const& exec,
                                     staged_geometry<typename Exec::memory_space> const& g,
                                     iso::grid const& volume, slab const& own,
                                     plane_range const& rows, T* projections,
                                     joseph_scratch<T> const& s, region within = region::box) {
  geometry const& host = g.host();
  joseph_images<T> const images{projections,
                                s.ray_columns,
                                s.row_ranges,
                                s.scale,
                                s.flags,
                                std::int32_t(host.num_views()),
                                std::int32_t(host.num_u()),
                                std::int32_t(host.num_v()),
                                std::int32_t(s.rows)};
  backend::for_each_index(
      "iso::ct::forward_project::ray_columns", exec, images.num_ray_columns(),
      ray_column_kernel<T>{g.views(), s.ray_columns, volume, host.kind(), images.num_u, within});
  backend::for_each_index(
      "iso::ct::forward_project::row_ranges", exec,
      images.num_ray_columns() * (rows.last - rows.first),
      joseph_range_kernel<T>{
          s.ray_columns, s.row_ranges, images.rows, rows, images.num_v, {volume, own}});
  return images;
}

/// What a launch of Joseph's kernels reads, and which samples it adds.
template <class T, class Space>
struct joseph_field {
  volume_view<T const, Space> volume;
  slab own;                   ///< the planes whose samples are added
  bool partial;               ///< the sums of rays are taken up and left in the output as words
  joseph_groups groups = {};  ///< of partial sums: which rays share samples
  /// The v of the pixels whose rays may have such samples; last < 0: all of them.
  plane_range v = {0, -1};

  /// Returns the pieces of `size` pixels along v that have such pixels.
  [[nodiscard]] plane_range pieces(std::int64_t num_v, std::int32_t size) const {
    std::int32_t const last = v.last < 0 ? std::int32_t(num_v) : v.last;
    return {v.first / size, (last + size - 1) / size};
  }

  [[nodiscard]] iso::grid const& grid() const { return volume.grid; }
  [[nodiscard]] plane_range held() const {
    return {std::int32_t(volume.planes().first), std::int32_t(volume.planes().last)};
  }
  /// Returns where voxel (0, 0, 0) is, or would be before the planes that are held.
  [[nodiscard]] T const* origin() const { return volume.data.data() - volume.first_plane; }
  [[nodiscard]] slab_place place(plane_range launched, std::int32_t planes) const {
    return partial ? slab_place::middle : place_of(launched, planes);
  }
};

template <class Exec, class T, class Sum, class Weight>
void project_fast(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
                  joseph_field<T, typename Exec::memory_space> const& of, T* projections,
                  joseph_scratch<T> const& s, forward_project_options const& options,
                  job const& control) {
  auto const plan = joseph_plan::make<Exec>(g.host(), of.grid(), options.slab_planes, of.partial);
  constexpr joseph_tuning tuned = joseph_tuning_of<Exec>;
  plane_range const tiles = of.pieces(g.host().num_v(), 32 * tuned.rows);
  if (tiles.empty()) {
    return;
  }
  auto const rows = std::int32_t(s.rows);
  joseph_images<T> const images =
      prepare_ray_columns(exec, g, of.grid(), of.own,
                          {tiles.first * tuned.rows, std::min(tiles.last * tuned.rows, rows)},
                          projections, s, options.within);
  joseph_fast_kernel<T, Sum, tuned.ray_columns, tuned.rows, Weight> kernel{
      {of.origin(), of.grid(), {of.grid(), options.edge}, of.held()},
      images,
      tiles,
      {},
      slab_place::only};
  auto const launch = [&] {
    backend::for_each_lane_group<tuned.threads, tuned.min_blocks>(
        "iso::ct::forward_project", exec, kernel.num_groups(), kernel, options.shape);
  };
  if (plan.images > 0) {
    kernel.images.pixels = s.parts;
    kernel.slab = {0, plan.planes};
    kernel.place = slab_place::split;
    launch();
    backend::for_each_index("iso::ct::forward_project::join", exec,
                            images.num_ray_columns() * images.num_v,
                            joseph_join_kernel<T, Sum>{images, s.parts, of.grid(), plan.images});
    control.step(1);
    return;
  }
  for (std::int32_t first = 0; first < plan.planes; first += plan.slab_planes) {
    kernel.slab = {first, std::min(plan.planes, first + plan.slab_planes)};
    kernel.place = of.place(kernel.slab, plan.planes);
    launch();
    control.step(double(kernel.slab.last) / plan.planes);
  }
}

template <class Exec, class T, class Sum, class Weight>
void project_general(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
                     joseph_field<T, typename Exec::memory_space> const& of,
                     joseph_groups const& groups, T* projections, joseph_scratch<T> const& s,
                     forward_project_options const& options, job const& control) {
  geometry const& host = g.host();
  backend::for_each_index("iso::ct::forward_project::views", exec, host.num_views(),
                          index_view_kernel{g.views(), s.views, of.grid(), host.kind()});
  joseph_general_kernel<T, Sum, Weight, joseph_general_lines<Exec>> kernel{
      s.views,
      host.num_views(),
      of.origin(),
      projections,
      s.scale,
      s.flags,
      of.grid(),
      options.edge,
      {of.grid(), options.edge},
      of.held(),
      {of.grid(), of.own},
      options.within,
      host.kind(),
      host.num_u(),
      host.num_v(),
      groups.along_u,
      lanes_may_walk(of.grid(), of.volume.planes()),
      {},
      slab_place::only};
  // Pieces of lines come one after the other, so that those without samples are left out.
  plane_range const pieces = kernel.lanes_along_u
                                 ? plane_range{0, std::int32_t((host.num_u() + 31) / 32)}
                                 : of.pieces(host.num_v(), 32);
  if (pieces.empty()) {
    return;
  }
  auto const plan = joseph_plan::make<Exec>(host, of.grid(), options.slab_planes, of.partial);
  auto const& n = of.grid().extent;
  auto const planes = std::int32_t(std::max({n[0], n[1], n[2]}));
  bool const in_slabs = plan.images == 0 && plan.slab_planes < plan.planes;
  std::int32_t const chosen =
      options.slab_planes > 0 ? plan.slab_planes : joseph_general_slab * plan.slab_planes;
  std::int32_t const step = in_slabs ? chosen : planes;
  for (std::int32_t first = 0; first < planes; first += step) {
    kernel.slab = {first, std::min(planes, first + step)};
    kernel.place = of.place(kernel.slab, planes);
    kernel.last_launch = kernel.slab.last == planes;
    double const from = double(kernel.slab.first) / planes;
    double const to = double(kernel.slab.last) / planes;
    double const samples =
        (to - from) * double(host.num_views()) * samples_of_view(host, of.grid());
    launch_parts(exec, kernel.num_lines() * (pieces.last - pieces.first), samples,
                 {control, from, to}, [&](std::int64_t begin, std::int64_t count) {
                   kernel.first_group = kernel.num_lines() * pieces.first + begin;
                   backend::for_each_lane_group<128, joseph_general_min_blocks<T>>(
                       "iso::ct::forward_project", exec, count, kernel, options.shape);
                 });
  }
}

template <class Exec, class T, class Sum>
void project_joseph(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
                    joseph_field<T, typename Exec::memory_space> const& of, T* projections,
                    joseph_scratch<T> const& s, forward_project_options const& options,
                    job const& control) {
  // Partial sums have one plan of groups for all backends.
  bool const thin = !backend::is_device<Exec> && is_thin(g.host(), of.grid());
  joseph_groups const groups =
      of.partial
          ? of.groups
          : groups_of(g.host(), of.grid(), thin ? joseph_path::general : options.path, sizeof(T));
  auto const project_with = [&]<class Weight>(Weight) {
    if (groups.fast) {
      project_fast<Exec, T, Sum, Weight>(exec, g, of, projections, s, options, control);
    } else {
      project_general<Exec, T, Sum, Weight>(exec, g, of, groups, projections, s, options, control);
    }
  };
  if (options.method == projector::joseph_spline) {
    project_with(spline_weight{});
  } else {
    project_with(linear_weight{});
  }
}

template <class Exec, class T>
void project_views(Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
                   volume_view<T const, typename Exec::memory_space> const& volume, T* projections,
                   projection_scratch<T> const& s, forward_project_options const& options,
                   job const& control) {
  bool const reproducible = options.sum == summation::reproducible;
  if (!is_joseph(options.method) && reproducible) {
    return project_exact_sums<Exec, T>(exec, g, volume, volume.planes(),
                                       {projections, s.exact.flags, s.exact.scale, false}, options,
                                       control);
  }
  switch (options.method) {
    case projector::amanatides_woo:
      return project_exact<ray::amanatides_woo>(exec, g, volume, projections, options, control);
    case projector::branchless:
      return project_exact<ray::branchless>(exec, g, volume, projections, options, control);
    case projector::siddon:
      return project_exact<ray::siddon>(exec, g, volume, projections, options, control);
    case projector::exact:
      return project_exact<ray::detail::fastest_walk<Exec>>(exec, g, volume, projections, options,
                                                            control);
    case projector::joseph_linear:
    case projector::joseph_spline:
      break;
  }
  joseph_field<T, typename Exec::memory_space> const whole{volume, volume.planes(), false};
  if (reproducible) {
    project_joseph<Exec, T, reproducible_sum<T>>(exec, g, whole, projections, s.joseph, options,
                                                 control);
  } else {
    project_joseph<Exec, T, ordered_sum<T>>(exec, g, whole, projections, s.joseph, options,
                                            control);
  }
}

}  // namespace detail

template <real T, execution_space Exec>
std::int64_t forward_project_bytes_needed(Exec const&, geometry const& g, iso::grid const& volume,
                                          forward_project_options const& options) {
  workspace_parts parts("iso::ct::forward_project");
  detail::projection_scratch<T>::template make<Exec>(parts, g, volume, options);
  return parts.bytes();
}

template <execution_space Exec, real T>
void forward_project(
    Exec const& exec, staged_geometry<typename Exec::memory_space> const& g,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& volume,
    projection_view<T, typename Exec::memory_space> const& projections,
    workspace<typename Exec::memory_space> const& scratch, forward_project_options const& options,
    job const& control) {
  auto const& p = projections.data;
  detail::validate_options(options);
  validate(volume, "iso::ct::forward_project");
  detail::validate_arrays(volume, projections,
                          {g.host().num_views(), g.host().num_u(), g.host().num_v()}, scratch,
                          "iso::ct::forward_project");
  detail::validate_planes(volume.grid);
  validate(scratch, forward_project_bytes_needed<T>(exec, g.host(), volume.grid, options),
           "iso::ct::forward_project");
  Kokkos::Profiling::ScopedRegion const region("iso::ct::forward_project");
  workspace_parts parts(scratch, "iso::ct::forward_project");
  auto const s =
      detail::projection_scratch<T>::template make<Exec>(parts, g.host(), volume.grid, options);
  if (options.sum == summation::reproducible) {
    bool const chords = !detail::is_joseph(options.method);
    detail::prepare_reproducible<Exec, T>(exec, volume, chords ? s.exact.voxels : s.joseph.voxels,
                                          chords ? s.exact.scale : s.joseph.scale, options);
  }
  std::int64_t const views = g.host().num_views();
  std::int64_t const batch = detail::parts_a_launch(
      exec, views, double(views) * detail::samples_of_view(g.host(), volume.grid, options.method));
  if (batch == views) {
    return detail::project_views(exec, g, volume, p.data(), s, options, control);
  }
  for (std::int64_t first = 0; first < views; first += batch) {
    std::int64_t const count = std::min(batch, views - first);
    job const part = iso::detail::part_of(control, double(first) / double(views),
                                          double(first + count) / double(views));
    detail::project_views(exec, g.subset(first, count), volume,
                          p.data() + first * g.host().num_u() * g.host().num_v(), s, options, part);
  }
}

#define ISO_FORWARD_PROJECT(linkage, Exec, T)                                                     \
  linkage template void forward_project<Exec, T>(                                                 \
      Exec const&, staged_geometry<Exec::memory_space> const&,                                    \
      volume_view<std::type_identity_t<T> const, Exec::memory_space> const&,                      \
      projection_view<T, Exec::memory_space> const&, workspace<Exec::memory_space> const&,        \
      forward_project_options const&, job const&);                                                \
  linkage template std::int64_t forward_project_bytes_needed<T, Exec>(                            \
      Exec const&, geometry const&, iso::grid const&, forward_project_options const&);            \
  linkage template void detail::project_joseph<Exec, T, detail::reproducible_sum<T>>(             \
      Exec const&, staged_geometry<Exec::memory_space> const&,                                    \
      detail::joseph_field<T, Exec::memory_space> const&, T*, detail::joseph_scratch<T> const&,   \
      forward_project_options const&, job const&);                                                \
  linkage template void detail::project_exact_sums<Exec, T>(                                      \
      Exec const&, staged_geometry<Exec::memory_space> const&,                                    \
      volume_view<T const, Exec::memory_space> const&, slab const&, detail::exact_sums<T> const&, \
      forward_project_options const&, job const&);
ISO_FOR_EACH_INSTANCE(ISO_FORWARD_PROJECT, extern)

}  // namespace iso::ct
