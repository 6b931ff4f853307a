// SPDX-License-Identifier: BSD-3-Clause
//! Holds where the parts of a convolution's scratch lie, and fills its copies of the region.
#pragma once

#include <iso/core/workspace.hpp>
#include <iso/dose/convolution_plan.hpp>
#include <iso/dose/detail/copy_kernels.hpp>
#include <iso/dose/detail/lattice/schedule.hpp>
#include <iso/dose/detail/lattice/tuning.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace iso::dose::detail {

template <class T, int Terms, class Exec>
struct convolution_scratch {
  using word = typename fixed_point<T>::word;
  lattice_range* range;
  cone_terms<T, Terms>* terms;
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
                      convolution_plan<T, typename Exec::memory_space> const& plan)
      : range(memory.take<lattice_range>({1})),
        terms(memory.take<cone_terms<T, Terms>>({plan.num_directions()})),
        joined{},
        voxels{},
        densities{},
        near{},
        sums{},
        states(nullptr),
        rays{},
        samples{} {
    auto const& s = plan.storage();
    auto const engine = plan.options().engine;
    bool const by_items = s.by_items();
    for (int copy = 0; copy < (engine == dose_engine::lattice ? 2 : 1); ++copy) {
      std::int64_t const size = s.layout.size[copy];
      if (by_items || (engine == dose_engine::lattice && lattice_tuning<Exec>::by_items)) {
        joined[copy] = memory.take<backend::pack<T, 2>>({size});
      } else {
        voxels[copy] = memory.take<T>({size});
        densities[copy] = memory.take<T>({size});
        near[copy] = engine == dose_engine::lattice ? memory.take<T>({size}) : nullptr;
      }
      if (engine == dose_engine::lattice || engine == dose_engine::non_voxel) {
        sums[copy] = memory.take<word>({s.layout.size[copy]});
      }
    }
    if (engine == dose_engine::lattice && !plan.is_table() && !by_items) {
      auto const threads = std::int32_t(exec.concurrency());
      states =
          memory.take<T>({max_lines_at_once(s.classes, threads, lattice_tuning<Exec>::max_bundle),
                          Terms, s.state_size});
    }
    if (engine == dose_engine::lattice && plan.is_table()) {
      for (int n = 0; n < 2; ++n) {
        rays[n] = memory.take<T>({s.batches.max_tiles, s.batches.max_planes + n, 32});
      }
    }
    if (engine == dose_engine::non_voxel) {
      for (T*& part : samples) {
        part = memory.take<T>({s.max_samples});
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
template <int Copy, class T, int Terms, class Exec>
void copy_region(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                 boxed_volume<T const> const& terma, boxed_volume<T const> const& density,
                 convolution_scratch<T, Terms, Exec> const& s) {
  // A table is read plane by plane, and planes without TERMA are passed over.
  T const least = !plan.is_table() ? min_terma<T> : T(0);
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
