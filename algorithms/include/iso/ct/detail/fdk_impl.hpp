// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/ct/detail/pixel_weight_kernel.hpp>
#include <iso/ct/detail/ramp_filter_kernel.hpp>
#include <iso/ct/detail/weighted_backprojection_kernel.hpp>
#include <iso/ct/fdk.hpp>

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
  static constexpr int rows = device ? 8 : 32;
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

  fdk_scratch(workspace_parts& memory, geometry const& g)
      : shape{std::int32_t(g.num_u()), std::int32_t(g.num_v())},
        reach(shape.num_u + mirrored_taps<T>::margin),
        taps(memory.take<T>({2 * std::int64_t(reach) + 1})),
        maps(memory.take<view_map<T>>({g.num_views()})),
        weighted(memory.take<T>({shape.size(batch_views)})),
        filtered(memory.take<T>({shape.size(batch_views)})) {}
};

/// Throws unless a padded image can be counted by 32 bits.
void validate_detector(geometry const& g);
/// Throws where a voxel lies at or behind a source, or on the wrong side of it.
void validate_depths(geometry const& g, iso::grid const& volume);

template <class T, class Exec>
void prepare_fdk(Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
                 iso::grid const& volume, fdk_scratch<T> const& s) {
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  geometry const& g = plan.geometry().host();
  Kokkos::parallel_for("iso::ct::fdk::taps", policy(exec, 0, 2 * s.reach + 1),
                       mirrored_taps<T>{plan.taps(), s.taps, s.reach});
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
      s.taps + s.reach, s.weighted, s.filtered, s.shape};
  backend::for_each_lane_group("iso::ct::fdk::filter", exec, count * kernel.groups_per_view(),
                               kernel);
}

/// Adds the filtered views of a batch, of which `first` is the first, to the volume.
template <bool Upright, class Exec, class T>
void back_project_views(Exec const& exec, fdk_scratch<T> const& s,
                        volume_view<T, typename Exec::memory_space> const& volume,
                        std::int64_t first, std::int64_t count) {
  weighted_backprojection_kernel<T, fdk_tuning<Exec>::rows, Upright> const kernel{
      s.filtered, s.maps + first,      volume.data.data(), volume.grid,
      s.shape,    std::int32_t(count), first == 0};
  backend::for_each_lane_group<256, Upright ? 4 : 0>("iso::ct::fdk::back_project", exec,
                                                     kernel.num_groups(), kernel);
}

}  // namespace detail

template <execution_space Exec, real T>
std::int64_t fdk_bytes_needed(geometry const& g) {
  detail::validate_detector(g);
  workspace_parts parts("fdk");
  detail::fdk_scratch<T>(parts, g);
  return parts.bytes();
}

template <execution_space Exec, real T>
void fdk(
    Exec const& exec, fdk_plan<typename Exec::memory_space> const& plan,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& projections,
    volume_view<T, typename Exec::memory_space> const& volume,
    workspace<typename Exec::memory_space> const& scratch, job const& control) {
  geometry const& g = plan.geometry().host();
  auto const& p = projections.data;
  validate(volume, "fdk");
  validate(projections, {g.num_views(), g.num_u(), g.num_v()}, "fdk");
  validate_contiguous(volume.data, "volume data", "fdk");
  validate_contiguous(p, "projections", "fdk");
  validate_apart(memory_of(volume.data, "volume data"), {memory_of(p, "projections")}, "fdk");
  detail::validate_depths(g, volume.grid);
  validate(scratch, fdk_bytes_needed<Exec, T>(g), "fdk");
  Kokkos::Profiling::ScopedRegion const region("iso::ct::fdk");
  workspace_parts parts(scratch, "fdk");
  detail::fdk_scratch<T> const s(parts, g);
  detail::prepare_fdk(exec, plan, volume.grid, s);
  for (std::int64_t first = 0; first < g.num_views(); first += detail::batch_views) {
    std::int64_t const count = std::min(detail::batch_views, g.num_views() - first);
    Kokkos::parallel_for("iso::ct::fdk::weight",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                             exec, 0, count * s.shape.image_size()),
                         detail::cosine_weight_kernel<T>{plan.geometry().views(), p.data(),
                                                         s.weighted, s.shape, g.kind(), first});
    if (plan.odd_taps_only()) {
      detail::filter_views<Exec, T, true>(exec, s, count);
    } else {
      detail::filter_views<Exec, T, false>(exec, s, count);
    }
    if (g.v_parallel_to_z()) {
      detail::back_project_views<true>(exec, s, volume, first, count);
    } else {
      detail::back_project_views<false>(exec, s, volume, first, count);
    }
    control.step(double(first + count) / double(g.num_views()));
  }
}

#define ISO_CT_FDK(linkage, Exec, T)                                                   \
  linkage template void fdk<Exec, T>(                                                  \
      Exec const&, fdk_plan<Exec::memory_space> const&,                                \
      projection_view<std::type_identity_t<T> const, Exec::memory_space> const&,       \
      volume_view<T, Exec::memory_space> const&, workspace<Exec::memory_space> const&, \
      job const&);
ISO_FOR_EACH_INSTANCE(ISO_CT_FDK, extern)

}  // namespace iso::ct
