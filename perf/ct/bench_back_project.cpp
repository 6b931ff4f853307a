// SPDX-License-Identifier: BSD-3-Clause
// back_project beside the forward_project whose adjoint it is: N^3 voxels, cone views of the circle
// of cases::cone_scan, both in turn in one run. Rows:
//
//   back_project/<method>/<detector>/<precision>/<backend>/<N>
//
// <detector>: `pixels_as_voxels` has N x N pixels, `coarse` N/2 x N/2 of twice the width, `fine` 2N
// x 2N of half the width; `slices` is pixels_as_voxels with voxels of 1 x 1 x 3 mm, N/3 along z;
// `tilted` is pixels_as_voxels rolled by one degree and pitched by two, and `tilted_coarse`,
// `tilted_fine` and `tilted_slices` are the others so. `joseph_linear` upright is the gather,
// `joseph_linear_avx2` the same with registers of 32 bytes on a processor; every other row is the
// scatter, `joseph_linear_general` that of upright scans, `joseph_linear_two_words` with two words
// a voxel.
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
  std::int32_t words = 0;
};
std::vector<row> rows() {
  using ct::joseph_path;
  using ct::projector;
  return {
      {"joseph_linear", projector::joseph_linear, joseph_path::automatic},
      {"joseph_linear_avx2", projector::joseph_linear, joseph_path::automatic, 32},
      {"joseph_linear_general", projector::joseph_linear, joseph_path::general},
      {"joseph_linear_two_words", projector::joseph_linear, joseph_path::general, 64, 2},
      {"joseph_spline", projector::joseph_spline, joseph_path::automatic},
      {"siddon", projector::siddon, joseph_path::automatic},
  };
}

struct detector {
  char const* name;
  double pixels;  ///< a voxel, each way
  bool tilted = false;
  std::int64_t slice = 1;  ///< the height of a voxel, mm
};
constexpr detector detectors[] = {{"pixels_as_voxels", 1},
                                  {"coarse", 0.5},
                                  {"fine", 2},
                                  {"tilted", 1, true},
                                  {"tilted_coarse", 0.5, true},
                                  {"tilted_fine", 2, true},
                                  {"slices", 1, false, 3},
                                  {"tilted_slices", 1, true, 3}};

template <class Exec, class T>
void measure(benchmark::State& state, row const& what, detector const& with, std::int64_t n,
             std::int64_t views) {
  Exec const exec;
  auto volume = smooth_volume(n);
  if (with.slice > 1) {
    std::int64_t const slices = (n + with.slice - 1) / with.slice;
    volume.box = grid::centred({n, n, slices}, {1, 1, double(with.slice)});
  }
  auto scan = cone_scan(n, views, with.pixels);
  if (with.tilted) {
    scan = cases::tilted(scan);
  }
  measurable<Exec, T> const project(
      exec,
      projection_case<T>{volume, scan, {.method = what.method, .path = what.path}}.prepare(exec));
  measurable<Exec, T> const back_project(
      exec, back_projection_case<T>{{volume},
                                    scan,
                                    volume.box,
                                    {.method = what.method, .path = what.path, .words = what.words}}
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
  state.counters["ns_per_voxel"] = 1e9 * seconds / double(views) / double(volume.box.size());
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
        bool const gathers = each.method == ct::projector::joseph_linear &&
                             each.path == ct::joseph_path::automatic && !with.tilted;
        bool const is_odd = with.pixels != 1 || with.slice != 1 || sizeof(T) == 8;
        // Scatters: linear Joseph's on all detectors, on the others one each way.
        bool const is_common = gathers || each.method == ct::projector::joseph_linear || !is_odd;
        bool const is_vector_row = each.host_vector_bytes < 64;
        if (!is_common || (is_vector_row && device) || (device && is_odd && n > 512) ||
            (each.words > 0 && (!with.tilted || is_odd))) {
          continue;
        }
        std::int64_t const views = smoke()                                  ? 17
                                   : !device                                ? 16
                                   : !gathers || n > 512 || with.pixels > 1 ? (n > 512 ? 32 : 64)
                                                                            : 360;
        add_row(std::string("back_project/") + each.name + "/" + with.name + "/" + precision + "/" +
                    backend + "/" + std::to_string(n),
                device ? 5 : 4,
                [=](benchmark::State& state) { measure<Exec, T>(state, each, with, n, views); });
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
