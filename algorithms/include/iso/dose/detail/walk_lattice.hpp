// SPDX-License-Identifier: BSD-3-Clause
//! Holds launches of dose_engine::lattice.
#pragma once

#include <iso/backend/for_each_index.hpp>
#include <iso/core/job.hpp>
#include <iso/dose/detail/convolution_scratch.hpp>
#include <iso/dose/detail/lattice_kernels.hpp>
#include <iso/dose/detail/table_lattice_kernel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace iso::dose::detail {

template <class T, int Terms, class Exec>
void walk_items(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                convolution_scratch<T, Terms, Exec> const& s) {
  auto const& tables = plan.storage();
  auto const launch = [&](auto rows) {
    lattice_item_kernel<T, Terms, decltype(rows)::value> kernel{tables.items.data(),
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
    // As many registers as hold the rows, and no more: what a warp waits for, others hide.
    constexpr unsigned blocks = sizeof(T) == 8 ? 0 : decltype(rows)::value == 8 ? 5 : 7;
    backend::for_each_lane_group<128, blocks>("iso::dose::convolve", exec,
                                              std::int64_t(tables.items.extent(0)), kernel,
                                              plan.options().shape);
  };
  if (tables.rows == 8) {
    launch(backend::constant<8>());
  } else {
    launch(backend::constant<4>());
  }
}

template <class T, int Terms, class Exec>
void walk_slabs(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                convolution_scratch<T, Terms, Exec> const& s, job const& control) {
  using tuning = lattice_tuning<Exec>;
  auto const& tables = plan.storage();
  auto const threads = std::int32_t(exec.concurrency());
  lattice_slab_kernel<T, Terms> kernel{};
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
  kernel.state_size = tables.state_size;
  for (std::size_t which = 0; which < tables.classes.size(); ++which) {
    lattice_class const& lines = tables.classes[which];
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

/// Follows the lattice's lines by a table.
template <class T, int Terms, class Exec>
void follow_table(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                  convolution_scratch<T, Terms, Exec> const& s, job const& control) {
  using tuning = lattice_tuning<Exec>;
  auto const& tables = plan.storage();
  table_rays<T> rays{tables.items.data(),       tables.lines.data(), tables.planes.data(),
                     tables.batches.max_planes, s.rays[0],           s.rays[1]};
  table_trace_kernel<T, tuning::by_items> trace{rays, code_of(plan), {}, {}, {}, {}};
  constexpr bool together = tuning::table_bytes > 0;
  table_dose_kernel<T, tuning::table_planes, together> dose{
      rays, tables.directions.data(), tables.bins.data(), {}};
  for (int copy = 0; copy < 2; ++copy) {
    std::int64_t const first = tables.layout.at(copy, 0, 0, 0);
    if constexpr (tuning::by_items) {
      trace.joined[copy] = s.joined[copy] + first;
    } else {
      trace.terma[copy] = s.voxels[copy] + first;
      trace.density[copy] = s.densities[copy] + first;
      trace.near[copy] = s.near[copy] + first;
    }
    dose.sums[copy] = s.sums[copy] + first;
  }
  std::int64_t begin = 0;
  for (std::int64_t const end : tables.batches.ends) {
    trace.rays.tiles = tables.items.data() + begin;
    dose.rays.tiles = trace.rays.tiles;
    backend::for_each_lane_group("iso::dose::convolve: trace", exec, end - begin, trace);
    // Small registers for many warps: what each waits for is a look-up.
    constexpr unsigned blocks = backend::is_device<Exec> && sizeof(T) == 4 ? 12 : 0;
    backend::for_each_lane_group<128, blocks, backend::sharing::on_demand>(
        "iso::dose::convolve", exec, (end - begin) * dose.groups_per_tile(), dose,
        plan.options().shape);
    begin = end;
    control.step(double(end) / double(tables.batches.ends.back()));
  }
}

/// Walks the lattice's lines.
template <class T, int Terms, class Exec>
void walk_lattice(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                  boxed_volume<T const> const& terma, boxed_volume<T const> const& density,
                  boxed_volume<T> const& dose, convolution_scratch<T, Terms, Exec> const& s,
                  job const& control) {
  using word = typename fixed_point<T>::word;
  auto const& tables = plan.storage();
  copy_region<0>(exec, plan, terma, density, s);
  copy_region<1>(exec, plan, terma, density, s);
  // convolve_terms is asked for two terms where there are none.
  if (Terms == 2 && plan.is_table()) {
    if constexpr (Terms == 2) {
      follow_table(exec, plan, s, control);
    }
  } else {
    backend::for_each_index(
        "iso::dose::convolve: terms", exec, plan.num_directions(),
        cone_terms_kernel<lattice_line<T>, T, Terms>{tables.lines.data(), s.range, T(1), s.terms});
    if (tables.by_items()) {
      walk_items<T, Terms>(exec, plan, s);
    } else {
      walk_slabs<T, Terms>(exec, plan, s, control);
    }
  }
  auto const bias = word(word(plan.num_directions()) * fixed_point<T>::magic_bits);
  lattice_join_kernel<T> const join{
      tables.layout, {s.sums[0], s.sums[1]}, bias, plan.unit(), s.range, dose};
  backend::for_each_lane_group("iso::dose::convolve: join", exec, join.num_groups(), join);
  control.step(1);
}

}  // namespace iso::dose::detail
