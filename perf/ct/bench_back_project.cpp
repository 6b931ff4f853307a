// SPDX-License-Identifier: BSD-3-Clause
// back_project beside the forward_project whose adjoint it is: N^3 voxels, cone views of the circle
// of projection_problem.hpp, both in turn in one run. Rows:
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
// The model. Bytes: the volume and each pixel once. Operations: as many as forward_project's, 11 a
// sample of a Joseph ray and 5 a voxel crossed.
//
// `error`: relative l2 distance of the volume from the same in double precision.
#include "ct/projection_problem.hpp"
#include "support/bench.hpp"

#include <iso/ct/back_project.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>
#include <vector>

namespace iso::perf {
namespace {

struct variant {
  char const* name;
  ct::projector method;
  ct::joseph_path path;
  double flops_per_sample;
  int host_vector_bytes = 64;
  bool is_slow = false;
};
std::vector<variant> variants() {
  using ct::joseph_path;
  using ct::projector;
  return {
      {"joseph_linear", projector::joseph_linear, joseph_path::automatic, 11},
      {"joseph_linear_avx2", projector::joseph_linear, joseph_path::automatic, 11, 32},
      {"joseph_linear_general", projector::joseph_linear, joseph_path::general, 11, 64, true},
      {"joseph_spline", projector::joseph_spline, joseph_path::automatic, 15, 64, true},
      {"siddon", projector::siddon, joseph_path::automatic, 5, 64, true},
  };
}

struct detector {
  char const* name;
  double pixels;  ///< a voxel, each way
};
constexpr detector detectors[] = {{"pixels_as_voxels", 1}, {"coarse", 0.5}, {"fine", 2}};

ct::geometry scan_of(std::int64_t n, double pixels, std::int64_t views) {
  auto const count = std::int64_t(double(n) * pixels);
  double const pitch = 6.7 / 5.7 / pixels;
  double const first = views < 45 ? 0.4 : 0.0;
  return ct::circular_cone({.num_u = count, .num_v = count, .pitch_u = pitch, .pitch_v = pitch},
                           5.7 * double(n), 6.7 * double(n),
                           ct::even_angles(views, 8 * std::atan(1.0), first));
}

template <class T>
struct difference_kernel {
  T const* found;
  double const* exact;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& apart, double& size) const {
    double const d = double(found[i]) - exact[i];
    apart += d * d;
    size += exact[i] * exact[i];
  }
};

/// A volume and projections, and both operators between them.
template <class Exec, class T>
class pair_problem {
 public:
  using space = typename Exec::memory_space;

  pair_problem(Exec const& exec, std::int64_t n, double pixels, std::int64_t views,
               variant const& what)
      : exec_(exec),
        what_(what),
        g_(ct::stage(exec, scan_of(n, pixels, views))),
        volume_(make_volume<T, space>("volume", grid::centred({n, n, n}, {1, 1, 1}))),
        result_(make_volume<T, space>("result", volume_.grid)),
        projections_(
            make_projections<T, space>("projections", views, g_.host().num_u(), g_.host().num_v())),
        scratch_(std::max(
            ct::forward_project_bytes_needed<Exec, T>(g_.host(), volume_.grid, forward_options()),
            ct::back_project_bytes_needed<Exec, T>(g_.host(), volume_.grid, back_options()))) {
    Kokkos::parallel_for(
        "iso::perf::smooth_field",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec_, 0, volume_.grid.size()),
        smooth_field<T>{volume_.data.data(), n});
    exec_.fence("iso::perf: the volume is there");
  }

  void project() const {
    ct::forward_project<Exec, T>(exec_, g_, volume_, projections_, scratch_, forward_options());
  }
  void back_project() const {
    ct::back_project<Exec, T>(exec_, g_, projections_, result_, scratch_, back_options());
  }

  /// Of what back_project() left.
  [[nodiscard]] double error() const {
    if constexpr (sizeof(T) == 8) {
      return 0;
    } else {
      using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
      auto const& scan = g_.host();
      auto const pixels = make_projections<double, space>("pixels in double", scan.num_views(),
                                                          scan.num_u(), scan.num_v());
      Kokkos::deep_copy(exec_, pixels.data, projections_.data);
      auto const exact = make_volume<double, space>("volume in double", volume_.grid);
      workspace<space> const scratch(
          ct::back_project_bytes_needed<Exec, double>(scan, volume_.grid, back_options()));
      ct::back_project<Exec, double>(exec_, g_, pixels, exact, scratch, back_options());
      double apart = 0;
      double size = 0;
      Kokkos::parallel_reduce("iso::perf::difference", policy(exec_, 0, volume_.grid.size()),
                              difference_kernel<T>{result_.data.data(), exact.data.data()}, apart,
                              size);
      return std::sqrt(apart / size);
    }
  }
  [[nodiscard]] double samples() const {
    return num_samples(g_.host(), volume_.grid, forward_options());
  }
  [[nodiscard]] double bytes() const {
    return double(sizeof(T)) * (double(volume_.data.size()) + double(projections_.data.size()));
  }

 private:
  [[nodiscard]] ct::forward_project_options forward_options() const {
    return {.method = what_.method, .path = what_.path};
  }
  [[nodiscard]] ct::back_project_options back_options() const {
    return {.method = what_.method, .path = what_.path};
  }

  Exec exec_;
  variant what_;
  ct::staged_geometry<space> g_;
  volume_view<T, space> volume_;
  volume_view<T, space> result_;
  projection_view<T, space> projections_;
  workspace<space> scratch_;
};

/// Seconds of one call: of the clock on a GPU, of this process' processors on a host of one thread.
template <class Exec, class F>
double seconds_of_call(Exec const& exec, F const& f) {
  if constexpr (std::is_same_v<Exec, Kokkos::Serial>) {
    std::clock_t const start = std::clock();
    f();
    return double(std::clock() - start) / CLOCKS_PER_SEC;
  }
  return seconds_of(exec, f);
}

template <class Exec, class T>
void measure(benchmark::State& state, variant const& what, double pixels, std::int64_t n,
             std::int64_t views) {
  Exec const exec;
  pair_problem<Exec, T> const problem(exec, n, pixels, views, what);
  backend::detail::set_host_vector_bytes(what.host_vector_bytes);
  problem.project();
  problem.back_project();
  std::vector<double> forward;
  std::vector<double> adjoint;
  for (auto _ : state) {
    forward.push_back(seconds_of_call(exec, [&] { problem.project(); }));
    adjoint.push_back(seconds_of_call(exec, [&] { problem.back_project(); }));
    state.SetIterationTime(adjoint.back());
  }
  backend::detail::set_host_vector_bytes(64);
  auto const typical = [](std::vector<double> const& seconds) {
    return backend::is_device<Exec> ? median(seconds)
                                    : *std::min_element(seconds.begin(), seconds.end());
  };
  double const seconds = typical(adjoint);
  auto const& at_most = ceilings_of(exec);
  state.counters["views"] = double(views);
  state.counters["ms_per_view"] = 1e3 * seconds / double(views);
  state.counters["forward_ms_per_view"] = 1e3 * typical(forward) / double(views);
  state.counters["ratio"] = seconds / typical(forward);
  set_counters(state, seconds, {problem.bytes(), problem.samples() * what.flops_per_sample},
               {.bytes_per_second = at_most.read,
                .flops_per_second = sizeof(T) == 4 ? at_most.fp32 : at_most.fp64},
               problem.error());
}

template <class Exec, class T>
void add_rows(std::string const& backend, std::string const& precision) {
  constexpr bool device = backend::is_device<Exec>;
  std::vector<std::int64_t> const sizes = smoke()  ? std::vector<std::int64_t>{32}
                                          : device ? std::vector<std::int64_t>{512, 1024}
                                                   : std::vector<std::int64_t>{256};
  for (auto const& each : variants()) {
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
        std::string const row = std::string("back_project/") + each.name + "/" + with.name + "/" +
                                precision + "/" + backend + "/" + std::to_string(n);
        benchmark::RegisterBenchmark(
            row.c_str(),
            [=](benchmark::State& state) { measure<Exec, T>(state, each, with.pixels, n, views); })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond)
            ->Iterations(smoke()        ? 1
                         : each.is_slow ? 3
                         : device       ? 5
                                        : 4);
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
