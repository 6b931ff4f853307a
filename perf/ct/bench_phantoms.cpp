// SPDX-License-Identifier: BSD-3-Clause
// The Shepp-Logan head of 10 ellipsoids, its projections in closed form and its voxels. Rows:
//
//   project_ellipsoids/<precision>/<backend>/<N>     N^2 pixels, cone views (cases::cone_scan)
//   rasterise_ellipsoids/<precision>/<backend>/<N>   N^3 voxels
//
// both with as many rays a pixel and points a voxel as their options' defaults say. Counters beside
// the usual: `views`, `ms_per_view` and `rays_per_second`, of all sub-rays; `voxels_per_second`,
// and `cut_voxels`, the voxels that must be sampled, each counted for each ellipsoid.
//
// The models: cases::ellipsoid_work and cases::raster_work. Voxels that a surface cuts are counted
// from the results of one ellipsoid at a time: those that are neither zero nor one.
//
// `error`: sum of |difference| from the definition in long double over the sum of its values, over
// some 2000 pixels or voxels. One so large that rounding cannot be its cause is an error of the
// benchmark.
#include "support/bench.hpp"

#include <iso/cases/projection.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

// Rounding to float is 6e-8 at most. A voxel's point on a surface may fall on either side, and one
// such in what is compared is 1e-3.
constexpr double max_pixel_error = 1e-6;
constexpr double max_voxel_error = 1e-2;

/// Values above zero and below one.
template <class Exec, class T>
double count_parts(Exec const& exec, T const* values, std::int64_t size) {
  std::int64_t found = 0;
  Kokkos::parallel_reduce(
      "iso::perf::count_parts", flat_range(exec, size),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t& count) {
        count += values[i] > T(0) && values[i] < T(1) ? 1 : 0;
      },
      found);
  return double(found);
}

void check(benchmark::State& state, double error, double most) {
  if (!(error <= most)) {
    fail(state, "the result is not what the definition gives");
  }
}

template <class Exec, class T>
void project(benchmark::State& state, std::int64_t n, std::int64_t views) {
  Exec const exec;
  ellipsoid_projection_case<T> const what{ct::shepp_logan(0.5 * double(n)), cone_scan(n, views)};
  measurable<Exec, T> const call(exec, what.prepare(exec));
  double const seconds = time_calls(state, exec, call);
  double const rays = double(what.subsamples * what.subsamples * num_pixels(what.scan));
  double const error = call.error();
  state.counters["views"] = double(views);
  state.counters["ms_per_view"] = 1e3 * seconds / double(views);
  state.counters["rays_per_second"] = rays / seconds;
  set_counters(state, exec, seconds, call.work(), error);
  check(state, error, max_pixel_error);
}

template <class Exec, class T>
void rasterise(benchmark::State& state, std::int64_t n) {
  Exec const exec;
  raster_case<T> const what{ct::shepp_logan(0.5 * double(n)), grid::centred({n, n, n}, {1, 1, 1})};
  measurable<Exec, T> const call(exec, what.prepare(exec));
  double cut = 0;
  for (auto body : what.bodies) {
    body.density = 1;
    measurable<Exec, T> const alone(exec, raster_case<T>{{body}, what.volume}.prepare(exec));
    alone();
    cut += count_parts(exec, alone.result().data(), what.volume.size());
  }
  double const seconds = time_calls(state, exec, call);
  double const points = std::pow(double(what.samples), 3);
  double const error = call.error();
  state.counters["voxels_per_second"] = double(what.volume.size()) / seconds;
  state.counters["cut_voxels"] = cut;
  set_counters(state, exec, seconds, raster_work<T>(what.volume, points * cut), error);
  check(state, error, max_voxel_error);
}

template <class Exec, class T>
void add_rows_of(std::string const& where) {
  constexpr bool device = backend::is_device<Exec>;
  std::vector<std::int64_t> const sizes = smoke()  ? std::vector<std::int64_t>{32}
                                          : device ? std::vector<std::int64_t>{256, 512, 1024}
                                                   : std::vector<std::int64_t>{128, 256};
  for (auto const n : sizes) {
    auto const row = where + std::to_string(n);
    std::int64_t const views = smoke() || !device ? 4 : 90;
    add_row("project_ellipsoids/" + row, device ? 7 : 3,
            [=](benchmark::State& state) { project<Exec, T>(state, n, views); });
    add_row("rasterise_ellipsoids/" + row, device ? 7 : 3,
            [=](benchmark::State& state) { rasterise<Exec, T>(state, n); });
  }
}

int const registered = add_rows_of_backends([]<class Exec>(std::string const& name) {
  add_rows_of<Exec, float>("float/" + name + "/");
  add_rows_of<Exec, double>("double/" + name + "/");
});

}  // namespace
}  // namespace iso::perf
