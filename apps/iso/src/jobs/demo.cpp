// SPDX-License-Identifier: BSD-3-Clause
#include "demo_runs.hpp"
#include "memory.hpp"

#include <iso/backend/registry.hpp>
#include <iso/jobs/demo.hpp>

#include <algorithm>

namespace iso::jobs {
namespace {

demo_plan plan_of(demo_request const& request) {
  ISO_VALIDATE(request.size >= 8 && request.size <= 1024, "demo: size {} (from 8 to 1024)",
               request.size);
  ISO_VALIDATE(request.views >= 1 && request.views <= 10000, "demo: {} views (from 1 to 10000)",
               request.views);
  double const width = 256;  // mm: the phantom's cube, whatever the number of voxels
  double const voxel = width / double(request.size);
  std::int64_t const n = request.size;
  // 10 degrees of cone: source at 1000 mm, detector at 1536 mm, pixels that see a voxel at the
  // axis.
  double const pixel = voxel * 1.536;
  auto const circle = [&](std::int64_t views) {
    return ct::circular_cone({n, n, pixel, pixel, 0, 0}, 1000, 1536,
                             ct::even_angles(views, 2 * std::numbers::pi));
  };
  return {grid::centred({n, n, n}, {voxel, voxel, voxel}), circle(request.views),
          circle(std::max<std::int64_t>(3 * request.views, 2 * n)), width};
}

/// Throws iso::out_of_memory before anything is measured: every backend needs two volumes and the
/// projections to reconstruct from in double, the host keeps the first backend's results in both
/// precisions.
void check_memory(demo_request const& request, demo_plan const& plan) {
  auto const& g = plan.reconstruction;
  std::int64_t const pixels = g.num_views() * g.num_u() * g.num_v();
  std::int64_t const voxels = plan.volume.size();
  for (auto const& name : request.backends) {
    backend::with_name(name, [&](auto tag) {
      typename decltype(tag)::execution_space const exec;
      check_free(exec, 8 * (2 * voxels + pixels), "iso demo");
    });
  }
  check_free(Kokkos::Serial(), 12 * (3 * voxels + 3 * pixels), "iso demo");
}

}  // namespace

demo_result demo(demo_request const& request, observer const& watch) {
  ISO_VALIDATE(!request.backends.empty(), "demo: no backend (choose at least one)");
  auto plan = plan_of(request);
  check_memory(request, plan);
  demo_state state(request, watch, std::move(plan));
  run_phantom<float>(state);
  run_phantom<double>(state);
  run_reconstruction<float>(state);
  run_reconstruction<double>(state);
  if (request.ct) {
    run_ct(state, *request.ct);
    run_ct_reconstruction(state, *request.ct);
  } else {
    state.result.notes.emplace_back(
        "no chest CT (scripts/get_example_data.sh of the source fetches it): only the phantom was "
        "projected");
  }
  run_dose(state);
  run_matrix(state);
  run_large(state);
  state.result.bits_agree = judge(state.result.records, request.backends.size());
  watch.step(1, "done");
  return {std::move(state.result), std::move(state.figures)};
}

}  // namespace iso::jobs
