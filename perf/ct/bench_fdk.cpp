// SPDX-License-Identifier: BSD-3-Clause
// fdk: N^3 voxels from N^2 pixels, cone views of a full circle (cases::cone_scan), as many
// as N on a GPU and 64 on a processor, projections and volume in the backend's memory. Rows:
//
//   fdk/<window>/<precision>/<backend>/<N>
//   fdk_avx2/...                               a processor's registers of 32 bytes
//   fdk_tilted/..., fdk_avx2_tilted/...        a detector rolled by one degree and pitched by two
//
// Counters beside the usual: `views`; `gups`, 1e9 voxels times views a second of a whole call;
// `gups_backprojection`, of the backprojection alone; `filter_share`, the filter's time over the
// backprojection's; `filter_share_of_fma`, its operations a second over the measured rate of fma
// (taps that are left out are not counted). The parts are timed in another call, with a fence about
// every kernel.
//
// The model: cases::reconstruction_work.
//
// `error`: of some 2000 voxels of two slices, sum of |difference| from the plainest loops in double
// over the sum of their values.
#include "support/bench.hpp"

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/cases/reconstruction.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

namespace iso::perf {

using namespace cases;

namespace {

/// What a row has beside its numbers.
struct row {
  ct::fdk_options options = {};
  bool tilted = false;
  int host_vector_bytes = 64;
};

template <class Exec, class T>
void measure(benchmark::State& state, row const& row, std::int64_t n, std::int64_t views) {
  Exec const exec;
  auto const& options = row.options;
  backend::set_host_vector_bytes(row.host_vector_bytes);
  auto const volume = smooth_volume(n);
  auto const scan = cone_scan(n, views);
  fdk_case<T> const what{{volume}, row.tilted ? tilted(scan) : scan, volume.box, options};
  measurable<Exec, T> const call(exec, what.prepare(exec));
  double const updates = double(views) * double(volume.box.size());
  double const taps =
      filter_taps(ct::fdk_plan<typename Exec::memory_space>(exec, what.scan, options), what.scan);
  double const seconds = time_calls(state, exec, call);
  auto const parts = kernel_times(call);
  backend::set_host_vector_bytes(64);
  double const filter = parts.at("iso::ct::fdk::filter").wall;
  double const back = parts.at("iso::ct::fdk::back_project").wall;
  auto const& at_most = ceilings_of(exec);
  double const fma_flops = sizeof(T) == 4 ? at_most.fp32 : at_most.fp64;
  state.counters["views"] = double(views);
  state.counters["gups"] = 1e-9 * updates / seconds;
  state.counters["gups_backprojection"] = 1e-9 * updates / back;
  state.counters["filter_share"] = filter / back;
  state.counters["filter_share_of_fma"] = 2 * taps / filter / fma_flops;
  set_counters(state, exec, seconds, call.work(), call.error());
}

template <class Exec, class T>
void add(std::string const& name, std::string const& where, row const& row, std::int64_t n) {
  constexpr bool device = backend::is_device<Exec>;
  std::int64_t const views = smoke() ? 32 : device ? n : 64;
  add_row(name + where + "/" + std::to_string(n), device ? 5 : 3,
          [=](benchmark::State& state) { measure<Exec, T>(state, row, n, views); });
}

template <class Exec>
void add_rows_of(std::string const& name) {
  constexpr bool device = backend::is_device<Exec>;
  row const ram_lak{};
  row const hann{.options = {.window = ct::ramp_window::hann}};
  std::vector<std::int64_t> const sizes = smoke()  ? std::vector<std::int64_t>{32}
                                          : device ? std::vector<std::int64_t>{256, 512, 1024}
                                                   : std::vector<std::int64_t>{128, 256};
  for (auto const n : sizes) {
    add<Exec, float>("fdk/ram_lak", "/float/" + name, ram_lak, n);
    if (!device) {
      add<Exec, float>("fdk_avx2/ram_lak", "/float/" + name, {.host_vector_bytes = 32}, n);
      add<Exec, float>("fdk_avx2_tilted/ram_lak", "/float/" + name,
                       {.tilted = true, .host_vector_bytes = 32}, n);
    }
    add<Exec, float>("fdk_tilted/ram_lak", "/float/" + name, {.tilted = true}, n);
    if (n <= 512) {
      add<Exec, float>("fdk/hann", "/float/" + name, hann, n);
      add<Exec, double>("fdk/ram_lak", "/double/" + name, ram_lak, n);
      add<Exec, double>("fdk_tilted/ram_lak", "/double/" + name, {.tilted = true}, n);
    }
  }
}

int const registered =
    add_rows_of_backends([]<class Exec>(std::string const& name) { add_rows_of<Exec>(name); });

}  // namespace
}  // namespace iso::perf
