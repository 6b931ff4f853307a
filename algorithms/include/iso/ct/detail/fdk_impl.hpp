// SPDX-License-Identifier: BSD-3-Clause
//! The kernels and launches of iso/ct/fdk.hpp, for the files that instantiate them.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/ct/detail/pixel_weight_kernel.hpp>
#include <iso/ct/detail/ramp_filter_kernel.hpp>
#include <iso/ct/detail/row_extension.hpp>
#include <iso/ct/detail/validate_arrays.hpp>
#include <iso/ct/detail/weighted_backprojection_kernel.hpp>
#include <iso/ct/fdk.hpp>
#include <iso/detail/copied.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

namespace iso::ct {
namespace detail {

/// Views that are filtered and backprojected at a time: whole blocks of a voxel's sum.
inline constexpr std::int64_t batch_views = 2 * block_views;

/// Outputs of the filter that share a tap, its rows of 32 pixels, and rows of 32 voxels of a group.
/// No bit depends on them.
template <class Exec>
struct fdk_tuning {
  static constexpr bool device = backend::is_device<Exec>;
  static constexpr int outputs = device ? 16 : 8;
  static constexpr int filter_rows = device ? 2 : 1;
  static constexpr int rows = device ? 4 : 32;
  static constexpr bool joins_columns = device;
};

/// Where the parts of a call's scratch memory lie.
template <class T>
struct fdk_scratch {
  padded_images shape;
  std::int32_t reach;  ///< of the taps, either way
  T* taps;
  view_map<T>* maps;
  T* weighted;
  T* filtered;
  T* joined;  ///< where a GPU reads two columns of pixels at once

  /// For a scan whose rows are extended.
  fdk_scratch(workspace_parts& memory, geometry const& g, bool joins_columns)
      : shape{std::int32_t(g.num_u()), std::int32_t(g.num_v())},
        reach(mirrored_taps<T>::reach_of(shape.num_u)),
        taps(memory.take<T>({mirrored_taps<T>::count(reach)})),
        maps(memory.take<view_map<T>>({g.num_views()})),
        weighted(memory.take<T>({shape.size(batch_views)})),
        filtered(memory.take<T>({shape.size(batch_views)})),
        joined(memory.take<T>({joins_columns ? 2 * shape.size(batch_views) : 0})) {}
};

/// Throws unless a padded image can be counted by 32 bits.
void validate_detector(geometry const& g, row_extension const& by);
/// Throws where a voxel lies at or behind a source, or on the wrong side of it.
void validate_depths(geometry const& g, iso::grid const& volume);

template <class T, class Exec>
void prepare_fdk(Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
                 iso::grid const& volume, fdk_scratch<T> const& s) {
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  geometry const& g = plan.geometry().host();
  Kokkos::parallel_for("iso::ct::fdk::taps", policy(exec, 0, mirrored_taps<T>::count(s.reach)),
                       mirrored_taps<T>{plan.taps(), s.taps, s.reach, plan.odd_taps_only()});
  Kokkos::parallel_for(
      "iso::ct::fdk::maps", policy(exec, 0, g.num_views()),
      view_map_kernel<T>{plan.geometry().views(), plan.weights(), s.maps, volume, g.kind()});
  // The filter writes no border.
  Kokkos::deep_copy(exec,
                    Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(
                        s.filtered, std::size_t(s.shape.size(batch_views))),
                    T(0));
}

/// Convolves the weighted views of a batch.
template <class Exec, class T, bool OddOnly>
void filter_views(Exec const& exec, fdk_scratch<T> const& s, std::int64_t count) {
  using tuning = fdk_tuning<Exec>;
  ramp_filter_kernel<T, tuning::outputs, tuning::filter_rows, OddOnly> const kernel{
      s.taps + s.reach, s.taps + 2 * s.reach + 1, s.weighted, s.filtered, s.shape};
  backend::for_each_lane_group("iso::ct::fdk::filter", exec, count * kernel.groups_per_view(),
                               kernel);
}

/// Adds the filtered views of a batch, of which `first` is the first, to the volume, or, where it
/// `begins`, to zeros.
template <bool Upright, class Exec, class T>
void back_project_views(Exec const& exec, fdk_scratch<T> const& s,
                        volume_view<T, typename Exec::memory_space> const& volume,
                        std::int64_t first, std::int64_t count, bool begins) {
  constexpr bool joins = Upright && fdk_tuning<Exec>::joins_columns;
  if constexpr (joins) {
    Kokkos::parallel_for(
        "iso::ct::fdk::join",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, s.shape.size(count)),
        join_columns_kernel<T>{s.filtered, s.joined, s.shape.pitch(), s.shape.size(count)});
  }
  weighted_backprojection_kernel<T, fdk_tuning<Exec>::rows, Upright, joins> const kernel{
      joins ? s.joined : s.filtered, s.maps + first, volume.data.data(), volume.grid, s.shape,
      std::int32_t(count),           begins};
  // Registers enough for a column's sums, warps enough to hide the loads.
  constexpr unsigned blocks = !Upright ? 0 : sizeof(T) == 4 ? 4 : 2;
  backend::for_each_lane_group<256, blocks>("iso::ct::fdk::back_project", exec, kernel.num_groups(),
                                            kernel);
}

/// Bytes for a scan whose rows are extended.
template <class Exec, class T>
std::int64_t fdk_scratch_bytes(geometry const& g) {
  workspace_parts parts("fdk");
  fdk_scratch<T>(parts, g, fdk_tuning<Exec>::joins_columns);
  return parts.bytes();
}

/// \param begins  voxels begin at +0; else the sum is added to them
template <execution_space Exec, real T>
void run_fdk(
    Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    volume_view<T, typename Exec::memory_space> const& volume,
    workspace<typename Exec::memory_space> const& scratch, job const& control, bool begins) {
  geometry const& g = plan.geometry().host();
  validate_arrays(volume, projections, {g.num_views(), plan.num_u(), g.num_v()}, scratch, "fdk");
  validate_depths(g, volume.grid);
  validate(scratch, fdk_scratch_bytes<Exec, T>(g), "fdk");
  Kokkos::Profiling::ScopedRegion const region("iso::ct::fdk");
  workspace_parts parts(scratch, "fdk");
  fdk_scratch<T> const s(parts, g, fdk_tuning<Exec>::joins_columns);
  prepare_fdk(exec, plan, volume.grid, s);
  auto const& factors = plan.factors();
  auto const next_row = std::int64_t(factors.size()) > g.num_u() ? g.num_u() : std::int64_t(0);
  for (std::int64_t first = 0; first < g.num_views(); first += batch_views) {
    std::int64_t const count = std::min(batch_views, g.num_views() - first);
    pixel_weight_kernel<T> const weight{plan.geometry().views(),
                                        projections.data.data(),
                                        s.weighted,
                                        factors.size() > 0 ? factors.data() : nullptr,
                                        next_row,
                                        plan.shares(),
                                        s.shape,
                                        std::int32_t(plan.num_u()),
                                        std::int32_t(plan.before()),
                                        g.kind(),
                                        first};
    Kokkos::parallel_for("iso::ct::fdk::weight",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                             exec, 0, count * s.shape.image_size()),
                         weight);
    if (plan.odd_taps_only()) {
      filter_views<Exec, T, true>(exec, s, count);
    } else {
      filter_views<Exec, T, false>(exec, s, count);
    }
    bool const starts = begins && first == 0;
    if (g.v_parallel_to_z()) {
      back_project_views<true>(exec, s, volume, first, count, starts);
    } else {
      back_project_views<false>(exec, s, volume, first, count, starts);
    }
    control.step(double(first + count) / double(g.num_views()));
  }
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
      factors_(iso::detail::copied<Space>(exec, "iso::ct::fdk_plan", weights.factors)),
      overlaps_(iso::detail::copied<Space>(exec, "iso::ct::fdk_plan", weights.overlaps)),
      begins_(iso::detail::copied<Space>(exec, "iso::ct::fdk_plan", weights.begins)),
      spare_(weights.spare),
      arc_(weights.arc),
      detector_(weights.detector) {}

template <execution_space Exec, real T>
std::int64_t fdk_bytes_needed(geometry const& g, fdk_options const& options) {
  auto const by = detail::extension_of(g, options.scan);
  detail::validate_detector(g, by);
  return detail::fdk_scratch_bytes<Exec, T>(detail::extended(g, by));
}

template <execution_space Exec, real T>
void fdk(
    Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    volume_view<T, typename Exec::memory_space> const& volume,
    workspace<typename Exec::memory_space> const& scratch, job const& control) {
  detail::run_fdk<Exec, T>(exec, plan, projections, volume, scratch, control, true);
}

template <execution_space Exec, real T>
void fdk_add(
    Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    volume_view<T, typename Exec::memory_space> const& volume,
    workspace<typename Exec::memory_space> const& scratch, job const& control) {
  detail::run_fdk<Exec, T>(exec, plan, projections, volume, scratch, control, false);
}

#define ISO_CT_FDK_CALL(linkage, function, Exec, T)                                    \
  linkage template void function<Exec, T>(                                             \
      Exec const&, fdk_plan<Exec::memory_space> const&,                                \
      projection_view<std::type_identity_t<T> const, Exec::memory_space> const&,       \
      volume_view<T, Exec::memory_space> const&, workspace<Exec::memory_space> const&, \
      job const&);
#define ISO_CT_FDK(linkage, Exec, T)         \
  ISO_CT_FDK_CALL(linkage, fdk, Exec, T)     \
  ISO_CT_FDK_CALL(linkage, fdk_add, Exec, T) \
  linkage template std::int64_t fdk_bytes_needed<Exec, T>(geometry const&, fdk_options const&);
#define ISO_CT_FDK_PLAN(Exec, ...)                             \
  __VA_ARGS__ template fdk_plan<Exec::memory_space>::fdk_plan( \
      Exec const&, iso::ct::geometry const&, fdk_options const&);
ISO_FOR_EACH_INSTANCE(ISO_CT_FDK, extern)
ISO_FOR_EACH_BACKEND(ISO_CT_FDK_PLAN, extern)

}  // namespace iso::ct
