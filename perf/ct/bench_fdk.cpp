// SPDX-License-Identifier: BSD-3-Clause
// fdk: N^3 voxels from N^2 pixels, cone views of a full circle (projection_problem.hpp), as many as
// N on a GPU and 64 on a processor, projections and volume in the backend's memory. Rows:
//
//   fdk/<window>/<precision>/<backend>/<N>
//   fdk_avx2/...                               a processor's registers of 32 bytes
//
// Counters beside the usual: `views`; `gups`, 1e9 voxels times views a second of a whole call;
// `gups_backprojection`, of the backprojection alone; `filter_share`, the filter's time over the
// backprojection's; `filter_share_of_fma`, its operations a second over the measured rate of fma
// (taps that are left out are not counted). The parts are timed in another call, with a fence about
// every kernel.
//
// The model. Bytes: each pixel read once, each voxel written once. Operations of an update: 15 =
// the height (an fma, 2), its integer part and fraction (2), three blends (9), the weight (2). Of
// the filter: two a tap.
//
// `error`: relative l2 distance of two slices from double precision.
#include "ct/projection_problem.hpp"
#include "support/bench.hpp"
#include "support/kernel_times.hpp"

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/ct/fdk.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

namespace iso::perf {
namespace {

constexpr double flops_per_update = 15;

template <class Exec, class T>
class fdk_problem {
 public:
  using space = typename Exec::memory_space;

  fdk_problem(Exec const& exec, std::int64_t n, std::int64_t views, ct::fdk_options const& options)
      : exec_(exec),
        options_(options),
        scan_(cone_scan(n, views)),
        projections_(projected<T>()),
        volume_(make_volume<T, space>("volume", grid::centred({n, n, n}, {1, 1, 1}), unit::per_mm)),
        plan_(exec, scan_, options),
        scratch_(ct::fdk_bytes_needed<Exec, T>(scan_, options)) {}

  void reconstruct() const { ct::fdk<Exec, T>(exec_, plan_, projections_, volume_, scratch_); }

  /// Of slices 2 / 5 and 1 / 2 of the way up.
  [[nodiscard]] double error() const {
    std::int64_t const n = scan_.num_u();
    auto const exact_pixels = projected<double>();
    ct::fdk_plan<space> const plan(exec_, scan_, options_);
    workspace<space> const scratch(ct::fdk_bytes_needed<Exec, double>(scan_, options_));
    auto const mine = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), volume_.data);
    double apart = 0;
    double size = 0;
    for (std::int64_t const k : {2 * n / 5, n / 2}) {
      auto thin = volume_.grid;
      thin.extent[2] = 1;
      thin.origin.z += double(k) * thin.spacing.z;
      auto const slice = make_volume<double, space>("slice", thin, unit::per_mm);
      ct::fdk<Exec, double>(exec_, plan, exact_pixels, slice, scratch);
      exec_.fence("iso::perf: the reference is there");
      auto const exact = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), slice.data);
      for (std::int64_t i = 0; i < n * n; ++i) {
        double const difference = double(mine.data()[i * n + k]) - exact.data()[i];
        apart += difference * difference;
        size += exact.data()[i] * exact.data()[i];
      }
    }
    return std::sqrt(apart / size);
  }

  /// Taps of a call that are not left out.
  [[nodiscard]] double taps() const {
    auto const n = double(scan_.num_u());
    double const a_pixel = plan_.odd_taps_only() ? n / 2 + 1 : n;
    return double(scan_.num_views()) * n * double(scan_.num_v()) * a_pixel;
  }
  [[nodiscard]] double updates() const {
    return double(scan_.num_views()) * double(volume_.grid.size());
  }
  [[nodiscard]] double bytes() const {
    return double(sizeof(T)) * (double(projections_.data.size()) + double(volume_.grid.size()));
  }

 private:
  template <class U>
  projection_view<U, space> projected() const {
    projection_problem<Exec, U> const problem(exec_, scan_.num_u(), scan_.num_views(), {});
    problem.project();
    exec_.fence("iso::perf: projections are there");
    return problem.projections();
  }

  Exec exec_;
  ct::fdk_options options_;
  ct::geometry scan_;
  projection_view<T, space> projections_;
  volume_view<T, space> volume_;
  ct::fdk_plan<space> plan_;
  workspace<space> scratch_;
};

template <class Exec, class T>
void measure(benchmark::State& state, ct::fdk_options const& options, std::int64_t n,
             std::int64_t views, int host_vector_bytes) {
  Exec const exec;
  backend::detail::set_host_vector_bytes(host_vector_bytes);
  fdk_problem<Exec, T> const problem(exec, n, views, options);
  auto const call = [&] { problem.reconstruct(); };
  double const seconds = time_calls(state, exec, call);
  auto const parts = kernel_times(call);
  backend::detail::set_host_vector_bytes(64);
  double const filter = parts.at("iso::ct::fdk::filter");
  double const back = parts.at("iso::ct::fdk::back_project");
  auto const& at_most = ceilings_of(exec);
  double const fma_flops = sizeof(T) == 4 ? at_most.fp32 : at_most.fp64;
  state.counters["views"] = double(views);
  state.counters["gups"] = 1e-9 * problem.updates() / seconds;
  state.counters["gups_backprojection"] = 1e-9 * problem.updates() / back;
  state.counters["filter_share"] = filter / back;
  state.counters["filter_share_of_fma"] = 2 * problem.taps() / filter / fma_flops;
  set_counters(state, seconds,
               {problem.bytes(), flops_per_update * problem.updates() + 2 * problem.taps()},
               {.bytes_per_second = at_most.read, .flops_per_second = fma_flops}, problem.error());
}

template <class Exec, class T>
void add(std::string const& name, std::string const& where, ct::fdk_options const& options,
         std::int64_t n, int host_vector_bytes = 64) {
  constexpr bool device = backend::is_device<Exec>;
  std::int64_t const views = smoke() ? 32 : device ? n : 64;
  benchmark::RegisterBenchmark((name + where + "/" + std::to_string(n)).c_str(),
                               [=](benchmark::State& state) {
                                 measure<Exec, T>(state, options, n, views, host_vector_bytes);
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(smoke()  ? 1
                   : device ? 5
                            : 3);
}

template <class Exec>
void add_rows_of(std::string const& name) {
  constexpr bool device = backend::is_device<Exec>;
  ct::fdk_options const ram_lak{};
  ct::fdk_options const hann{.window = ct::ramp_window::hann};
  std::vector<std::int64_t> const sizes = smoke()  ? std::vector<std::int64_t>{32}
                                          : device ? std::vector<std::int64_t>{256, 512, 1024}
                                                   : std::vector<std::int64_t>{128, 256};
  for (auto const n : sizes) {
    add<Exec, float>("fdk/ram_lak", "/float/" + name, ram_lak, n);
    if (!device) {
      add<Exec, float>("fdk_avx2/ram_lak", "/float/" + name, ram_lak, n, 32);
    }
    if (n <= 512) {
      add<Exec, float>("fdk/hann", "/float/" + name, hann, n);
      add<Exec, double>("fdk/ram_lak", "/double/" + name, ram_lak, n);
    }
  }
}

int const registered =
    add_rows_of_backends([]<class Exec>(std::string const& name) { add_rows_of<Exec>(name); });

}  // namespace
}  // namespace iso::perf
