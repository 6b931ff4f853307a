// SPDX-License-Identifier: BSD-3-Clause
//! Holds launches of dose_engine::lattice for an exponential kernel.
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/core/job.hpp>
#include <iso/dose/detail/convolution_scratch.hpp>
#include <iso/dose/detail/lattice/tuning.hpp>
#include <iso/dose/detail/lattice/walk_kernels.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace iso::dose::detail {

template <class T, class Kernel, class Exec>
void walk_items(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                item_walk<typename Exec::memory_space> const& walk,
                convolution_scratch<T, Kernel, Exec> const& s) {
  auto const& tables = plan.storage();
  auto const launch = [&](auto rows) {
    lattice_item_kernel<T, Kernel::terms, decltype(rows)::value> kernel{walk.items.data(),
                                                                        tables.lines.data(),
                                                                        tables.planes.data(),
                                                                        s.terms,
                                                                        {},
                                                                        code_of(plan),
                                                                        {},
                                                                        {}};
    for (int copy = 0; copy < 2; ++copy) {
      kernel.voxels[copy] = s.joined[copy];
      kernel.sums[copy] = s.sums[copy];
      kernel.first_element[copy] = std::int32_t(tables.layout.at(copy, 0, 0, 0));
    }
    constexpr unsigned blocks = lattice_tuning<Exec>::template blocks<T>(decltype(rows)::value);
    backend::for_each_lane_group<128, blocks>("iso::dose::convolve", exec,
                                              std::int64_t(walk.items.extent(0)), kernel,
                                              plan.options().shape);
  };
  if (walk.rows == 8) {
    launch(backend::constant<8>());
  } else {
    launch(backend::constant<4>());
  }
}

template <class T, class Kernel, class Exec>
void walk_slabs(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                slab_walk const& walk, convolution_scratch<T, Kernel, Exec> const& s,
                job const& control) {
  using tuning = lattice_tuning<Exec>;
  auto const& tables = plan.storage();
  auto const threads = std::int32_t(exec.concurrency());
  lattice_slab_kernel<T, Kernel::terms> kernel{};
  kernel.lines = tables.lines.data();
  kernel.planes = tables.planes.data();
  kernel.terms = s.terms;
  for (int copy = 0; copy < 2; ++copy) {
    std::int64_t const first = tables.layout.at(copy, 0, 0, 0);
    kernel.terma[copy] = s.voxels[copy] + first;
    kernel.density[copy] = s.densities[copy] + first;
    kernel.near[copy] = s.near[copy] + first;
    kernel.sums[copy] = s.sums[copy] + first;
  }
  kernel.states = s.states;
  kernel.state_size = walk.state_size;
  for (std::size_t which = 0; which < walk.classes.size(); ++which) {
    lattice_class const& lines = walk.classes[which];
    if (lines.first == lines.last) {
      continue;
    }
    lattice_schedule const schedule(lines.last - lines.first, threads, tuning::max_bundle);
    kernel.bundle = schedule.bundle;
    auto const planes = std::int32_t(plan.region().extent[which / 2]);
    kernel.slabs = (planes + kernel.slab_planes - 1) / kernel.slab_planes;
    for (std::int32_t first = lines.first; first < lines.last; first += schedule.lines()) {
      kernel.first_line = first;
      kernel.last_line = std::min(first + schedule.lines(), lines.last);
      for (kernel.step = 0; kernel.step < kernel.slabs + schedule.bundles - 1; ++kernel.step) {
        backend::for_each_lane_group("iso::dose::convolve", exec, schedule.bundles, kernel);
      }
      control.step(double(kernel.last_line) / double(plan.num_directions()));
    }
  }
}

}  // namespace iso::dose::detail
