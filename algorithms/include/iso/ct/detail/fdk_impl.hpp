// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/ct/fdk.hpp, for the files that instantiate them.
#pragma once

#include <iso/backend/for_each_index.hpp>
#include <iso/backend/registry.hpp>
#include <iso/ct/detail/launch_parts.hpp>
#include <iso/ct/detail/pixel_weight_kernel.hpp>
#include <iso/ct/detail/ramp_filter_kernel.hpp>
#include <iso/ct/detail/row_extension.hpp>
#include <iso/ct/detail/rows_seen.hpp>
#include <iso/ct/detail/validate_arrays.hpp>
#include <iso/ct/detail/weighted_backprojection_kernel.hpp>
#include <iso/ct/fdk.hpp>
#include <iso/detail/copied.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

namespace iso::ct {
namespace detail {

/// The number of views that are filtered and backprojected at a time: whole blocks of a voxel's
/// sum.
inline constexpr std::int64_t batch_views = 2 * block_views;

/// The number of outputs of the filter that share a tap, of its rows of 32 pixels, and of a group's
/// rows of 32 voxels. No bit depends on them.
template <class Exec>
struct fdk_tuning {
  static constexpr bool device = backend::is_device<Exec>;
  static constexpr int outputs = device ? 16 : 8;
  static constexpr int filter_rows = device ? 2 : 1;
  static constexpr int rows = device ? 4 : 32;
  static constexpr bool joins_columns = device;
};

/// The steps that a call does: fdk does both.
struct fdk_steps {
  bool filters;
  bool projects;
};

/// The parts of a call's scratch memory.
template <class T>
struct fdk_scratch {
  padded_images shape;
  std::int32_t reach;  ///< of the taps, either way
  T* taps;
  view_map<T>* maps;  ///< of backprojection
  T* weighted;        ///< of the filter
  T* filtered;
  T* joined;  ///< where a GPU reads two columns of pixels at once

  /// Lays out parts for a scan whose rows are extended.
  fdk_scratch(workspace_parts& memory, geometry const& g, bool joins_columns, fdk_steps steps)
      : shape{std::int32_t(g.num_u()), std::int32_t(g.num_v())},
        reach(mirrored_taps<T>::reach_of(shape.num_u)),
        taps(memory.take<T>({steps.filters ? mirrored_taps<T>::count(reach) : 0})),
        maps(memory.take<view_map<T>>({steps.projects ? g.num_views() : 0})),
        weighted(memory.take<T>({steps.filters ? shape.size(batch_views) : 0})),
        filtered(memory.take<T>({shape.size(batch_views)})),
        joined(
            memory.take<T>({steps.projects && joins_columns ? 2 * shape.size(batch_views) : 0})) {}
};

/// The rows of a batch's images that are filtered, in tiles of the filter: those that the volume's
/// planes are seen in. The others keep what they hold, and nobody reads them.
template <class Exec>
struct filtered_rows {
  static constexpr std::int32_t height = 32 * fdk_tuning<Exec>::filter_rows;

  std::int32_t first_tile;
  std::int32_t tiles;
  padded_rows rows;

  /// Has all rows, and the border.
  explicit filtered_rows(padded_images const& shape)
      : first_tile(0), tiles((shape.num_v + height - 1) / height), rows{0, shape.pitch()} {}
  /// \param volume  some planes of a grid
  template <class Volume>
  filtered_rows(padded_images const& shape, geometry const& g, Volume const& volume,
                std::int64_t first, std::int64_t count)
      : filtered_rows(shape) {
    if (volume.planes() != all_planes(volume.grid)) {
      row_range const seen = rows_seen(g, volume.grid, volume.planes(), first, count);
      first_tile = std::int32_t(seen.first) / height;
      tiles = (std::int32_t(seen.last) + height - 1) / height - first_tile;
      rows = {padded_images::border + height * first_tile, height * tiles};
    }
  }
};

/// Throws unless 32 bits can count the numbers of a padded image.
void validate_detector(geometry const& g, row_extension const& by);

template <class T, class Exec>
void prepare_filter(Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
                    fdk_scratch<T> const& s) {
  backend::for_each_index("iso::ct::fdk::taps", exec, mirrored_taps<T>::count(s.reach),
                          mirrored_taps<T>{plan.taps(), s.taps, s.reach, plan.odd_taps_only()});
}

template <class T, class Exec>
void prepare_back_projection(Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
                             iso::grid const& volume, fdk_scratch<T> const& s) {
  geometry const& g = plan.geometry().host();
  backend::for_each_index(
      "iso::ct::fdk::maps", exec, g.num_views(),
      view_map_kernel<T>{plan.geometry().views(), plan.weights(), s.maps, volume, g.kind()});
  // Neither the filter nor a copy of its results writes the border.
  auto const clear = [&](T* images, std::int64_t count) {
    Kokkos::deep_copy(exec,
                      Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(
                          images, std::size_t(count)),
                      T(0));
  };
  std::int64_t const numbers = s.shape.size(batch_views);
  clear(s.filtered, numbers);
  if constexpr (fdk_tuning<Exec>::joins_columns) {
    clear(s.joined, 2 * numbers);
  }
}

/// Convolves the weighted views of a batch.
template <bool OddOnly, class Exec, class T>
void convolve_views(Exec const& exec, fdk_scratch<T> const& s, std::int64_t count,
                    filtered_rows<Exec> const& by, step_range const& part) {
  using tuning = fdk_tuning<Exec>;
  ramp_filter_kernel<T, tuning::outputs, tuning::filter_rows, OddOnly> kernel{
      s.taps + s.reach, s.taps + 2 * s.reach + 1, s.weighted, s.filtered, s.shape, by.first_tile,
      by.tiles};
  // Sixteen products of a pixel and a tap take about as long as a sample.
  double const samples = double(count * s.shape.columns()) * by.rows.count * s.shape.num_u / 16;
  launch_parts(exec, count * kernel.groups_per_view(), samples, part,
               [&](std::int64_t begin, std::int64_t groups) {
                 kernel.first_group = begin;
                 backend::for_each_lane_group("iso::ct::fdk::filter", exec, groups, kernel);
               });
}

/// Weights and filters `count` views from `first` on, into s.filtered.
template <class Exec, class T>
void filter_views(Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
                  T const* projections, fdk_scratch<T> const& s, std::int64_t first,
                  std::int64_t count, filtered_rows<Exec> const& by, step_range const& part) {
  geometry const& g = plan.geometry().host();
  auto const& factors = plan.redundancy_weights();
  auto const next_row = std::int64_t(factors.size()) > g.num_u() ? g.num_u() : std::int64_t(0);
  pixel_weight_kernel<T> const weight{plan.geometry().views(),
                                      projections,
                                      s.weighted,
                                      factors.size() > 0 ? factors.data() : nullptr,
                                      next_row,
                                      plan.shares(),
                                      s.shape,
                                      by.rows,
                                      std::int32_t(plan.num_u()),
                                      std::int32_t(plan.before()),
                                      g.kind(),
                                      first};
  backend::for_each_index("iso::ct::fdk::weight", exec, count * s.shape.columns() * by.rows.count,
                          weight);
  if (plan.odd_taps_only()) {
    convolve_views<true>(exec, s, count, by, part);
  } else {
    convolve_views<false>(exec, s, count, by, part);
  }
}

/// Adds the views of s.filtered, of which `first` is the first, to the volume, or, where it
/// `begins`, to zeros.
template <bool Upright, class Exec, class T>
void add_views(Exec const& exec, fdk_scratch<T> const& s,
               volume_view<T, typename Exec::memory_space> const& volume, std::int64_t first,
               std::int64_t count, bool begins, filtered_rows<Exec> const& by,
               step_range const& part) {
  constexpr bool joins = fdk_tuning<Exec>::joins_columns;
  if constexpr (joins) {
    backend::for_each_index("iso::ct::fdk::join", exec, count * s.shape.columns() * by.rows.count,
                            join_columns_kernel<T>{s.filtered, s.joined, s.shape.pitch(),
                                                   s.shape.size(count), by.rows});
  }
  weighted_backprojection_kernel<T, fdk_tuning<Exec>::rows, Upright, joins> kernel{
      joins ? s.joined : s.filtered,
      s.maps + first,
      volume.data.data(),
      volume.grid,
      volume.planes(),
      s.shape,
      std::int32_t(count),
      begins};
  // Registers enough for a column's sums, warps enough to hide the loads.
  constexpr unsigned blocks = sizeof(T) == 4 ? 4 : 2;
  double const samples = double(volume.data.size()) * double(count);
  launch_parts(exec, kernel.num_groups(), samples, part,
               [&](std::int64_t begin, std::int64_t groups) {
                 kernel.first_group = begin;
                 backend::for_each_lane_group<256, blocks>("iso::ct::fdk::back_project", exec,
                                                           groups, kernel);
               });
}

template <class Exec, class T>
void back_project_views(Exec const& exec, fdk_scratch<T> const& s, bool upright,
                        volume_view<T, typename Exec::memory_space> const& volume,
                        std::int64_t first, std::int64_t count, bool begins,
                        filtered_rows<Exec> const& by, step_range const& part) {
  if (upright) {
    add_views<true>(exec, s, volume, first, count, begins, by, part);
  } else {
    add_views<false>(exec, s, volume, first, count, begins, by, part);
  }
}

/// Calls f(first, count, part) for each batch of views, `part` being its steps of the job.
template <class F>
void for_each_batch(std::int64_t num_views, job const& control, F const& f) {
  for (std::int64_t first = 0; first < num_views; first += batch_views) {
    std::int64_t const count = std::min(batch_views, num_views - first);
    f(first, count,
      step_range{control, double(first) / double(num_views),
                 double(first + count) / double(num_views)});
  }
}

/// Returns the bytes for a scan whose rows are extended.
template <class Exec, class T>
std::int64_t fdk_scratch_bytes(geometry const& g, fdk_steps steps, char const* function) {
  workspace_parts parts(function);
  fdk_scratch<T>(parts, g, fdk_tuning<Exec>::joins_columns, steps);
  return parts.bytes();
}
/// Returns those for one whose rows are not.
template <class Exec, class T>
std::int64_t fdk_bytes(geometry const& g, fdk_options const& options, fdk_steps steps,
                       char const* function) {
  auto const by = extension_of(g, options.scan);
  validate_detector(g, by);
  return fdk_scratch_bytes<Exec, T>(extended(g, by), steps, function);
}
template <class Exec, class T>
fdk_scratch<T> fdk_scratch_on(workspace<typename Exec::memory_space> const& scratch,
                              geometry const& g, fdk_steps steps, char const* function) {
  validate(scratch, fdk_scratch_bytes<Exec, T>(g, steps, function), function);
  workspace_parts parts(scratch, function);
  return {parts, g, fdk_tuning<Exec>::joins_columns, steps};
}

}  // namespace detail

template <class Space>
template <execution_space Exec>
fdk_plan<Space>::fdk_plan(Exec const& exec, iso::ct::geometry const& g, fdk_options const& options)
    : fdk_plan(exec, g, options, weigh_scan(g, options.scan)) {}

template <class Space>
template <execution_space Exec>
fdk_plan<Space>::fdk_plan(Exec const& exec, iso::ct::geometry const& g, fdk_options const& options,
                          scan_weights const& weights)
    : views_(exec, detail::extended(g, {weights.before, weights.after})),
      num_u_(g.num_u()),
      before_(weights.before),
      taps_(iso::detail::copied<Space>(exec, "iso::ct::fdk_plan",
                                       ramp_taps(views_.host().num_u(), options))),
      weights_(iso::detail::copied<Space>(exec, "iso::ct::fdk_plan", weights.angles)),
      odd_taps_only_(options.window == ramp_window::ram_lak && options.cutoff == 1),
      redundancy_weights_(
          iso::detail::copied<Space>(exec, "iso::ct::fdk_plan", weights.redundancy_weights)),
      overlaps_(iso::detail::copied<Space>(exec, "iso::ct::fdk_plan", weights.overlaps)),
      begins_(iso::detail::copied<Space>(exec, "iso::ct::fdk_plan", weights.begins)),
      spare_(weights.spare),
      arc_(weights.arc),
      detector_(weights.detector) {}

template <real T, execution_space Exec>
std::int64_t fdk_bytes_needed(Exec const&, geometry const& g, fdk_options const& options) {
  return detail::fdk_bytes<Exec, T>(g, options, {true, true}, "iso::ct::fdk");
}

template <execution_space Exec, real T>
void fdk(
    Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    volume_view<T, typename Exec::memory_space> const& volume,
    workspace<typename Exec::memory_space> const& scratch, onto to, job const& control) {
  geometry const& g = plan.geometry().host();
  detail::validate_arrays(volume, projections, {g.num_views(), plan.num_u(), g.num_v()}, scratch,
                          "iso::ct::fdk");
  detail::validate_depths(g, volume.grid, "iso::ct::fdk");
  validate(to, "iso::ct::fdk");
  auto const s = detail::fdk_scratch_on<Exec, T>(scratch, g, {true, true}, "iso::ct::fdk");
  Kokkos::Profiling::ScopedRegion const region("iso::ct::fdk");
  detail::prepare_filter(exec, plan, s);
  detail::prepare_back_projection(exec, plan, volume.grid, s);
  detail::for_each_batch(
      g.num_views(), control,
      [&](std::int64_t first, std::int64_t count, detail::step_range const& part) {
        detail::filtered_rows<Exec> const rows(s.shape, g, volume, first, count);
        detail::filter_views(exec, plan, projections.data.data(), s, first, count, rows,
                             part.beginning());
        detail::back_project_views(exec, s, g.v_parallel_to_z(), volume, first, count,
                                   to == onto::zero && first == 0, rows, part);
      });
}

template <real T, execution_space Exec>
std::int64_t filter_projections_bytes_needed(Exec const&, geometry const& g,
                                             fdk_options const& options) {
  return detail::fdk_bytes<Exec, T>(g, options, {true, false}, "iso::ct::filter_projections");
}

template <execution_space Exec, real T>
void filter_projections(
    Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    projection_view<T, typename Exec::memory_space> const& filtered,
    workspace<typename Exec::memory_space> const& scratch, job const& control) {
  char const* const function = "iso::ct::filter_projections";
  geometry const& g = plan.geometry().host();
  validate(projections, {g.num_views(), plan.num_u(), g.num_v()}, function);
  validate(filtered, {g.num_views(), g.num_u(), g.num_v()}, function);
  validate_contiguous(projections.data, "projections", function);
  validate_contiguous(filtered.data, "filtered", function);
  memory_range const read = memory_of(projections.data, "projections");
  memory_range const work{scratch.data(), std::uint64_t(scratch.size()), "scratch"};
  validate_apart(memory_of(filtered.data, "filtered"), {read, work}, function);
  validate_apart(work, {read}, function);
  auto const s = detail::fdk_scratch_on<Exec, T>(scratch, g, {true, false}, function);
  Kokkos::Profiling::ScopedRegion const region("iso::ct::filter_projections");
  detail::prepare_filter(exec, plan, s);
  std::int64_t const pixels = g.num_u() * g.num_v();
  detail::for_each_batch(
      g.num_views(), control,
      [&](std::int64_t first, std::int64_t count, detail::step_range const& part) {
        detail::filter_views(exec, plan, projections.data.data(), s, first, count,
                             detail::filtered_rows<Exec>(s.shape), part.beginning());
        backend::for_each_index("iso::ct::filter_projections::copy", exec, count * pixels,
                                detail::padding_kernel<T, false>{
                                    s.filtered, filtered.data.data() + first * pixels, s.shape});
        control.step(part.to);
      });
}

template <real T, execution_space Exec>
std::int64_t weighted_back_project_bytes_needed(Exec const&, geometry const& g,
                                                fdk_options const& options) {
  return detail::fdk_bytes<Exec, T>(g, options, {false, true}, "iso::ct::weighted_back_project");
}

template <execution_space Exec, real T>
void weighted_back_project(
    Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& filtered,
    volume_view<T, typename Exec::memory_space> const& volume,
    workspace<typename Exec::memory_space> const& scratch, onto to, job const& control) {
  char const* const function = "iso::ct::weighted_back_project";
  geometry const& g = plan.geometry().host();
  detail::validate_arrays(volume, filtered, {g.num_views(), g.num_u(), g.num_v()}, scratch,
                          function);
  detail::validate_depths(g, volume.grid, function);
  validate(to, function);
  auto const s = detail::fdk_scratch_on<Exec, T>(scratch, g, {false, true}, function);
  Kokkos::Profiling::ScopedRegion const region("iso::ct::weighted_back_project");
  detail::prepare_back_projection(exec, plan, volume.grid, s);
  std::int64_t const pixels = g.num_u() * g.num_v();
  detail::for_each_batch(
      g.num_views(), control,
      [&](std::int64_t first, std::int64_t count, detail::step_range const& part) {
        backend::for_each_index("iso::ct::weighted_back_project::copy", exec, count * pixels,
                                detail::padding_kernel<T, true>{
                                    s.filtered, filtered.data.data() + first * pixels, s.shape});
        detail::back_project_views(exec, s, g.v_parallel_to_z(), volume, first, count,
                                   to == onto::zero && first == 0,
                                   detail::filtered_rows<Exec>(s.shape), part);
      });
}

#define ISO_CT_FDK_CALL(linkage, function, Exec, T)                                          \
  linkage template void function<Exec, T>(                                                   \
      Exec const&, fdk_plan<Exec::memory_space> const&,                                      \
      projection_view<std::type_identity_t<T> const, Exec::memory_space> const&,             \
      volume_view<T, Exec::memory_space> const&, workspace<Exec::memory_space> const&, onto, \
      job const&);
#define ISO_CT_FDK(linkage, Exec, T)                                                       \
  ISO_CT_FDK_CALL(linkage, fdk, Exec, T)                                                   \
  ISO_CT_FDK_CALL(linkage, weighted_back_project, Exec, T)                                 \
  linkage template std::int64_t fdk_bytes_needed<T, Exec>(Exec const&, geometry const&,    \
                                                          fdk_options const&);             \
  linkage template std::int64_t filter_projections_bytes_needed<T, Exec>(                  \
      Exec const&, geometry const&, fdk_options const&);                                   \
  linkage template void filter_projections<Exec, T>(                                       \
      Exec const&, fdk_plan<Exec::memory_space> const&,                                    \
      projection_view<std::type_identity_t<T> const, Exec::memory_space> const&,           \
      projection_view<T, Exec::memory_space> const&, workspace<Exec::memory_space> const&, \
      job const&);                                                                         \
  linkage template std::int64_t weighted_back_project_bytes_needed<T, Exec>(               \
      Exec const&, geometry const&, fdk_options const&);
#define ISO_CT_FDK_PLAN(Exec, ...)                             \
  __VA_ARGS__ template fdk_plan<Exec::memory_space>::fdk_plan( \
      Exec const&, iso::ct::geometry const&, fdk_options const&);
ISO_FOR_EACH_INSTANCE(ISO_CT_FDK, extern)
ISO_FOR_EACH_BACKEND(ISO_CT_FDK_PLAN, extern)

}  // namespace iso::ct
