// SPDX-License-Identifier: BSD-3-Clause
// Dose-volume figures of a sphere of 1 mm voxels in a hill of 2 mm voxels, as many voxels in its
// diameter as along each side of the dose; shares and dose in the backend's memory. Rows:
//
//   dvh/<precision>/<backend>/<voxels along a side>   curve of 100 bins, mean, D95, D50, D2
//   dvh_curve/float/...       a curve of 1000 bins alone
//   dvh_figures/float/...     the four figures alone
//   dvh_fractions/host/...    contours to shares, in double, on the host
//
// Counter beside the usual: `ns_a_voxel`, of the sphere's box.
//
// The model: shares and dose read once. `error`: relative l1 distance from the closed forms of the
// ideal sphere, which contours and interpolant are off.
#include "support/bench.hpp"

#include <iso/cases/dvh.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

template <class Exec, class T>
void measure(benchmark::State& state, sphere_case<T> const& what) {
  Exec const exec;
  measurable<Exec, T> const call(exec, what.prepare(exec));
  double const seconds = time_calls(state, exec, call);
  state.counters["ns_a_voxel"] = 1e9 * seconds / double(what.cells().size());
  set_counters(state, exec, seconds, call.work(), call.error());
}

void measure_fractions(benchmark::State& state, std::int64_t side) {
  Kokkos::DefaultHostExecutionSpace const exec;
  sphere_case<double> const what{side};
  auto const contours = what.contours();
  auto const cells = what.cells();
  double const seconds = time_calls(
      state, exec, [&] { benchmark::DoNotOptimize(dvh::voxel_fractions(contours, cells)); });
  state.counters["ns_a_voxel"] = 1e9 * seconds / double(cells.size());
}

std::vector<std::int64_t> sizes_of(bool device) {
  return smoke()  ? std::vector<std::int64_t>{16}
         : device ? std::vector<std::int64_t>{64, 128, 256}
                  : std::vector<std::int64_t>{32, 64, 128};
}

template <class Exec>
void add_rows_of(std::string const& name) {
  constexpr bool device = backend::is_device<Exec>;
  int const iterations = device ? 15 : 5;
  for (std::int64_t const n : sizes_of(device)) {
    std::string const end = "/" + name + "/" + std::to_string(n);
    add_row("dvh/float" + end, iterations,
            [=](benchmark::State& state) { measure<Exec, float>(state, {.side = n}); });
    add_row("dvh/double" + end, iterations,
            [=](benchmark::State& state) { measure<Exec, double>(state, {.side = n}); });
    add_row("dvh_curve/float" + end, iterations, [=](benchmark::State& state) {
      measure<Exec, float>(state, {.side = n, .bins = 1000, .with_figures = false});
    });
    add_row("dvh_figures/float" + end, iterations,
            [=](benchmark::State& state) { measure<Exec, float>(state, {.side = n, .bins = 0}); });
  }
}

int const registered = [] {
  for (std::int64_t const n : sizes_of(false)) {
    add_row("dvh_fractions/host/" + std::to_string(n), 3,
            [=](benchmark::State& state) { measure_fractions(state, n); });
  }
  return add_rows_of_backends([]<class Exec>(std::string const& name) { add_rows_of<Exec>(name); });
}();

}  // namespace
}  // namespace iso::perf
