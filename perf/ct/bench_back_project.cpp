// SPDX-License-Identifier: BSD-3-Clause
// back_project beside the forward_project whose adjoint it is: N^3 voxels, cone views of the circle
// of cases::cone_scan, both in turn in one run. Rows:
//
//   back_project/<method>/<detector>/<precision>/<backend>/<N>
//
// <detector>: `pixels_as_voxels` has N x N pixels, `coarse` N/2 x N/2 of twice the width, `fine` 2N
// x 2N of half the width. `joseph_linear` is the gather, `joseph_linear_avx2` the same with
// registers of 32 bytes on a processor, `joseph_linear_general`, `joseph_spline` and `siddon` the
// scatter.
//
// Counters beside the usual: `views`; `forward_ms_per_view` and `ms_per_view` (the adjoint, its
// tables included), medians of alternating runs, and on a processor minima of the processor's time;
// `ratio`, the adjoint's over the forward's.
//
// The model: cases::projection_work, that of forward_project, with the volume and each pixel moved
// once.
//
// `error`: of some 2000 voxels, sum of |difference| from the plainest loops in long double over the
// sum of their values.
#include "support/bench.hpp"

#include <iso/backend/host_vectors.hpp>
#include <iso/cases/projection.hpp>

#include <benchmark/benchmark.h>

#include <string>
#include <type_traits>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

struct row {
  char const* name;
  ct::projector method;
  ct::joseph_path path;
  int host_vector_bytes = 64;
  bool is_slow = false;
};
std::vector<row> rows() {
  using ct::joseph_path;
  using ct::projector;
  return {
      {"joseph_linear", projector::joseph_linear, joseph_path::automatic},
      {"joseph_linear_avx2", projector::joseph_linear, joseph_path::automatic, 32},
      {"joseph_linear_general", projector::joseph_linear, joseph_path::general, 64, true},
      {"joseph_spline", projector::joseph_spline, joseph_path::automatic, 64, true},
      {"siddon", projector::siddon, joseph_path::automatic, 64, true},
  };
}

struct detector {
  char const* name;
  double pixels;  ///< a voxel, each way
};
constexpr detector detectors[] = {{"pixels_as_voxels", 1}, {"coarse", 0.5}, {"fine", 2}};

template <class Exec, class T>
void measure(benchmark::State& state, row const& what, double pixels, std::int64_t n,
             std::int64_t views) {
  Exec const exec;
  auto const volume = smooth_volume(n);
  auto const scan = cone_scan(n, views, pixels);
  measurable<Exec, T> const project(
      exec,
      projection_case<T>{volume, scan, {.method = what.method, .path = what.path}}.prepare(exec));
  measurable<Exec, T> const back_project(
      exec,
      back_projection_case<T>{
          {volume}, scan, volume.box, {.method = what.method, .path = what.path}}
          .prepare(exec));
  backend::set_host_vector_bytes(what.host_vector_bytes);
  project();
  back_project();
  stopwatch forward;
  stopwatch adjoint;
  auto const typical = [](stopwatch const& times) {
    return backend::is_device<Exec>               ? median(times.wall)
           : std::is_same_v<Exec, Kokkos::Serial> ? least(times.processor)
                                                  : least(times.wall);
  };
  for (auto _ : state) {
    forward.run(exec, project);
    adjoint.run(exec, back_project);
    state.SetIterationTime(std::is_same_v<Exec, Kokkos::Serial> ? adjoint.processor.back()
                                                                : adjoint.wall.back());
  }
  backend::set_host_vector_bytes(64);
  double const seconds = typical(adjoint);
  state.counters["views"] = double(views);
  state.counters["ms_per_view"] = 1e3 * seconds / double(views);
  state.counters["forward_ms_per_view"] = 1e3 * typical(forward) / double(views);
  state.counters["ratio"] = seconds / typical(forward);
  set_counters(state, exec, seconds, back_project.work(), back_project.error());
}

template <class Exec, class T>
void add_rows(std::string const& backend, std::string const& precision) {
  constexpr bool device = backend::is_device<Exec>;
  std::vector<std::int64_t> const sizes = smoke()  ? std::vector<std::int64_t>{32}
                                          : device ? std::vector<std::int64_t>{512, 1024}
                                                   : std::vector<std::int64_t>{256};
  for (auto const& each : rows()) {
    for (auto const& with : detectors) {
      for (auto const n : sizes) {
        bool const is_odd = with.pixels != 1 || sizeof(T) == 8;
        if ((device && (each.host_vector_bytes < 64 || (is_odd && n > 512))) ||
            (each.is_slow && (is_odd || n > 512))) {
          continue;
        }
        std::int64_t const views = smoke()                      ? 17
                                   : !device                    ? (each.is_slow ? 2 : 16)
                                   : each.is_slow               ? 32
                                   : n > 512 || with.pixels > 1 ? 90
                                                                : 360;
        add_row(
            std::string("back_project/") + each.name + "/" + with.name + "/" + precision + "/" +
                backend + "/" + std::to_string(n),
            each.is_slow ? 3
            : device     ? 5
                         : 4,
            [=](benchmark::State& state) { measure<Exec, T>(state, each, with.pixels, n, views); });
      }
    }
  }
}

int const registered = add_rows_of_backends([]<class Exec>(std::string const& name) {
  add_rows<Exec, float>(name, "float");
  add_rows<Exec, double>(name, "double");
});

}  // namespace
}  // namespace iso::perf
