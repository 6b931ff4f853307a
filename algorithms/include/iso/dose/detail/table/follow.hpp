// SPDX-License-Identifier: BSD-3-Clause
//! Holds launches of dose_engine::lattice for a tabulated kernel.
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/core/job.hpp>
#include <iso/dose/detail/convolution_scratch.hpp>
#include <iso/dose/detail/table/kernels.hpp>
#include <iso/dose/detail/table/tuning.hpp>

#include <cstdint>

namespace iso::dose::detail {

/// Follows the lattice's lines by a table.
template <class T, class Exec>
void follow_table(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                  tile_walk<typename Exec::memory_space> const& walk,
                  convolution_scratch<T, tabulated, Exec> const& s, job const& control) {
  using tuning = table_tuning<Exec>;
  auto const& tables = plan.storage();
  table_rays<T> rays{walk.tiles.data(),       tables.lines.data(), tables.planes.data(),
                     walk.batches.max_planes, s.rays[0],           s.rays[1]};
  table_trace_kernel<T, tuning::joined> trace{rays, code_of(plan), {}, {}, {}, {}};
  constexpr bool together = tuning::bytes > 0;
  table_dose_kernel<T, tuning::planes, together> dose{
      rays, tables.directions.data(), tables.bins.data(), {}};
  for (int copy = 0; copy < 2; ++copy) {
    std::int64_t const first = tables.layout.at(copy, 0, 0, 0);
    if constexpr (tuning::joined) {
      trace.joined[copy] = s.joined[copy] + first;
    } else {
      trace.terma[copy] = s.voxels[copy] + first;
      trace.density[copy] = s.densities[copy] + first;
      trace.near[copy] = s.near[copy] + first;
    }
    dose.sums[copy] = s.sums[copy] + first;
  }
  std::int64_t begin = 0;
  for (std::int64_t const end : walk.batches.ends) {
    trace.rays.tiles = walk.tiles.data() + begin;
    dose.rays.tiles = trace.rays.tiles;
    backend::for_each_lane_group("iso::dose::convolve: trace", exec, end - begin, trace);
    constexpr unsigned blocks = tuning::template blocks<T>;
    backend::for_each_lane_group<128, blocks, backend::sharing::on_demand>(
        "iso::dose::convolve", exec, (end - begin) * dose.groups_per_tile(), dose,
        plan.options().shape);
    begin = end;
    control.step(double(end) / double(walk.batches.ends.back()));
  }
}

}  // namespace iso::dose::detail
