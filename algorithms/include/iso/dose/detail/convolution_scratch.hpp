// SPDX-License-Identifier: BSD-3-Clause
//! Holds where the parts of a convolution's scratch lie, and fills its copies of the region.
#pragma once

#include <iso/core/workspace.hpp>
#include <iso/dose/convolution_plan.hpp>
#include <iso/dose/detail/copy_kernels.hpp>
#include <iso/dose/detail/lattice/schedule.hpp>
#include <iso/dose/detail/lattice/tuning.hpp>
#include <iso/dose/detail/table/tuning.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <variant>

namespace iso::dose::detail {

template <class T, class Kernel, class Exec>
struct convolution_scratch {
  using space = typename Exec::memory_space;
  using word = typename fixed_point<T>::word;
  lattice_range* range;
  cone_terms<T, Kernel::terms>* terms;  ///< null for a table
  /// The copies of the region, the second only for the lattice: joined, or in three arrays.
  backend::pack<T, 2>* joined[2];
  T* voxels[2];  ///< what they release
  T* densities[2];
  T* near[2];  ///< the lattice's: 1 / the distance from the source
  word* sums[2];
  T* states;
  T* rays[2];     ///< tables: changes of TERMA along them, and depth
  T* samples[5];  ///< non_voxel: TERMA and density by samples and by rays; dose

  convolution_scratch(workspace_parts& memory, Exec const& exec,
                      convolution_plan<T, space> const& plan)
      : range(memory.take<lattice_range>({1})),
        terms(nullptr),
        joined{},
        voxels{},
        densities{},
        near{},
        sums{},
        states(nullptr),
        rays{},
        samples{} {
    auto const& s = plan.storage();
    auto const* const slabs = std::get_if<slab_walk>(&s.walk);
    auto const* const tiles = std::get_if<tile_walk<space>>(&s.walk);
    auto const* const back = std::get_if<back_walk>(&s.walk);
    bool const join = std::holds_alternative<item_walk<space>>(s.walk) ||
                      (tiles != nullptr && table_tuning<Exec>::joined);
    bool const by_rays = plan.options().engine == dose_engine::non_voxel;
    if constexpr (!std::is_same_v<Kernel, tabulated>) {
      terms = memory.take<cone_terms<T, Kernel::terms>>({plan.num_directions()});
    }
    for (int copy = 0; copy < (back == nullptr ? 2 : 1); ++copy) {
      std::int64_t const size = s.layout.size[copy];
      if (join) {
        joined[copy] = memory.take<backend::pack<T, 2>>({size});
      } else {
        voxels[copy] = memory.take<T>({size});
        densities[copy] = memory.take<T>({size});
        near[copy] = back == nullptr ? memory.take<T>({size}) : nullptr;
      }
      if (back == nullptr || by_rays) {
        sums[copy] = memory.take<word>({size});
      }
    }
    if (slabs != nullptr) {
      auto const threads = std::int32_t(exec.concurrency());
      states = memory.take<T>(
          {max_lines_at_once(slabs->classes, threads, lattice_tuning<Exec>::max_bundle),
           Kernel::terms, slabs->state_size});
    }
    if (tiles != nullptr) {
      for (int n = 0; n < 2; ++n) {
        rays[n] = memory.take<T>({tiles->batches.max_tiles, tiles->batches.max_planes + n, 32});
      }
    }
    if (by_rays) {
      for (T*& part : samples) {
        part = memory.take<T>({back->max_samples});
      }
    }
  }
};

/// Returns the nearness of the voxels of a plan's region.
template <class T, class Space>
voxel_nearness<T> nearness_of(convolution_plan<T, Space> const& plan) {
  iso::grid const& region = plan.region();
  voxel_nearness<T> out{};
  for (int axis = 0; axis < 3; ++axis) {
    double const half = 0.5 * double(region.extent[std::size_t(axis)] - 1);
    out.half[axis] = T(half);
    out.spacing[axis] = T(region.spacing[axis]);
    out.from_source[axis] =
        T(region.origin[axis] + region.spacing[axis] * half - plan.frame().source[axis]);
  }
  return out;
}

template <class T, class Space>
voxel_code<T> code_of(convolution_plan<T, Space> const& plan) {
  iso::grid const& region = plan.region();
  double least = 0;  // squares of distances
  double most = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double const reach = 0.5 * double(region.extent[std::size_t(axis)] - 1) * region.spacing[axis];
    double const middle = std::fabs(region.origin[axis] + reach - plan.frame().source[axis]);
    double const nearest = std::max(middle - reach, 0.0);
    double const furthest = middle + reach;
    least += nearest * nearest;
    most += furthest * furthest;
  }
  return voxel_code<T>::between(1 / std::sqrt(most), 1 / std::sqrt(least));
}

/// Fills a copy of the region.
template <int Copy, class T, class Kernel, class Exec>
void copy_region(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                 boxed_volume<T const> const& terma, boxed_volume<T const> const& density,
                 convolution_scratch<T, Kernel, Exec> const& s) {
  // A table is read plane by plane, and planes without TERMA are passed over.
  T const least = std::is_same_v<Kernel, tabulated> ? T(0) : min_terma<T>;
  lattice_copy_kernel<T, Copy> const kernel{
      plan.storage().layout,
      terma,
      density,
      s.range,
      nearness_of(plan),
      code_of(plan),
      least,
      {s.joined[Copy], s.voxels[Copy], s.densities[Copy], s.near[Copy], s.sums[Copy]}};
  backend::for_each_lane_group("iso::dose::convolve: copy", exec, kernel.num_groups(), kernel);
}

}  // namespace iso::dose::detail
