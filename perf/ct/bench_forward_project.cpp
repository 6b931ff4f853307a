// SPDX-License-Identifier: BSD-3-Clause
// forward_project: N^3 voxels to N^2 pixels, cone views of a circle (cases::cone_scan),
// every method, sum, precision and backend. Rows:
//
//   forward_project/<method>/<sum>/<precision>/<backend>/<N>          many views a call (`views`)
//   forward_project_one_view/<method>/<sum>/<precision>/cuda/<N>      one view a call
//   forward_project[_one_view]/raw_twin/ordered/float/cuda/<N>        by hand: raw_joseph_cuda.cpp
//
// `joseph_linear` and `joseph_spline` take the fast path, those with `_general` the general one,
// and those with `_avx2` have registers of 32 bytes on a processor. `_tilted` is the same of a
// detector rolled by one degree and pitched by two, which the general path takes.
// `_cylinder` limits the rays to region::cylinder, `_2x2` averages four rays a pixel, and
// `joseph_texture` (CUDA) is forward_project_texture, whose arrays are made beforehand.
// `reproducible` finds the largest voxel first, within the time; `reproducible_given_maximum` is
// told.
//
// Counters beside the usual: `views`; `ms_per_view`; `samples`, those that the rays take
// (num_samples), and `samples_per_second`; `share_of_l2`: of the time, what the bytes would need at
// the speed of the level-2 cache, for where slabs keep the volume there, views share what is read
// of memory and `share_of_ceiling` may pass 1. The twin's: `ratio`, its time over ours (medians of
// alternating runs), and `ours_ms_per_view`; numbers that differ in a bit from ours are an error.
//
// The model: cases::projection_work. `bytes` counts the volume once a view, and each pixel written
// once, as if memory gave all of it.
//
// `error`: of some 2000 pixels, sum of |difference| from the plainest loops in long double over the
// sum of their values.
#include "ct/raw_joseph.hpp"
#include "support/bench.hpp"

#include <iso/cases/projection.hpp>
#include <iso/ct/detail/forward_project_impl.hpp>
#include <iso/ct/forward_project_texture.hpp>

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

/// Host rows are to take seconds, not minutes: those without a fast path see fewer views.
enum class pace { fast, slow };

struct row {
  char const* name;
  ct::forward_project_options options;
  pace on_host;
  int host_vector_bytes = 64;
  bool tilted = false;
};

std::vector<row> rows() {
  using ct::projector;
  using iso::summation;
  return {
      {"joseph_linear/ordered", {}, pace::fast},
      {"joseph_linear_avx2/ordered", {}, pace::fast, 32},
      {"joseph_linear_tilted/ordered", {}, pace::slow, 64, true},
      {"joseph_linear_tilted_avx2/ordered", {}, pace::slow, 32, true},
      {"joseph_linear/reproducible", {.sum = summation::reproducible}, pace::fast},
      {"joseph_linear_tilted/reproducible", {.sum = summation::reproducible}, pace::slow, 64, true},
      {"joseph_linear/reproducible_given_maximum",
       {.sum = summation::reproducible, .max_abs = field_maximum},
       pace::fast},
      {"joseph_linear_general/ordered", {.path = ct::joseph_path::general}, pace::slow},
      {"joseph_linear_cylinder/ordered", {.within = ct::region::cylinder}, pace::fast},
      {"joseph_linear_cylinder_tilted/ordered",
       {.within = ct::region::cylinder},
       pace::slow,
       64,
       true},
      {"joseph_spline/ordered", {.method = projector::joseph_spline}, pace::fast},
      {"joseph_spline_general/ordered",
       {.method = projector::joseph_spline, .path = ct::joseph_path::general},
       pace::slow},
      {"joseph_spline_tilted/ordered", {.method = projector::joseph_spline}, pace::slow, 64, true},
      {"amanatides_woo/ordered", {.method = projector::amanatides_woo}, pace::slow},
      {"amanatides_woo_tilted/ordered",
       {.method = projector::amanatides_woo},
       pace::slow,
       64,
       true},
      {"branchless/ordered", {.method = projector::branchless}, pace::slow},
      {"branchless_tilted/ordered", {.method = projector::branchless}, pace::slow, 64, true},
      {"siddon/ordered", {.method = projector::siddon}, pace::slow},
      {"siddon_tilted/ordered", {.method = projector::siddon}, pace::slow, 64, true},
      {"branchless_cylinder/ordered",
       {.method = projector::branchless, .within = ct::region::cylinder},
       pace::slow},
      {"branchless_cylinder_tilted/ordered",
       {.method = projector::branchless, .within = ct::region::cylinder},
       pace::slow,
       64,
       true},
      {"branchless_2x2_cylinder/ordered",
       {.method = projector::branchless, .within = ct::region::cylinder, .oversampling = 2},
       pace::slow},
      {"branchless_2x2_cylinder_tilted/ordered",
       {.method = projector::branchless, .within = ct::region::cylinder, .oversampling = 2},
       pace::slow,
       64,
       true},
  };
}

std::int64_t many_views(bool device, std::int64_t n, pace on_host) {
  if (smoke()) {
    return 4;
  }
  if (device) {
    return n <= 512 ? 360 : 90;
  }
  if (on_host == pace::fast) {
    return n <= 128 ? 90 : n <= 256 ? 45 : 4;
  }
  return n <= 128 ? 12 : n <= 256 ? 4 : 1;
}

template <class T>
projection_case<T> scan_of(std::int64_t n, std::int64_t views,
                           ct::forward_project_options const& options, bool is_tilted = false) {
  auto const scan = cone_scan(n, views);
  return {smooth_volume(n), is_tilted ? tilted(scan) : scan, options};
}

/// A device's call of one view is not long beside a launch.
template <class Exec>
int calls_for(std::int64_t views) {
  return backend::is_device<Exec> && views == 1 && !smoke() ? 20 : 1;
}

template <class Exec, class T>
void set_projection_counters(benchmark::State& state, projection_case<T> const& what,
                             measurable<Exec, T> const& call, double seconds) {
  auto const views = double(what.scan.num_views());
  double const samples = num_samples(what.scan, what.volume.box, what.options);
  auto work = call.work();
  work.bytes = work.cache_bytes;
  Exec const exec;
  state.counters["views"] = views;
  state.counters["ms_per_view"] = 1e3 * seconds / views;
  state.counters["samples"] = samples;
  state.counters["samples_per_second"] = samples / seconds;
  state.counters["share_of_l2"] = work.bytes / ceilings_of(exec).l2 / seconds;
  set_counters(state, exec, seconds, work, call.error());
}

template <class Exec, class T>
void measure(benchmark::State& state, row const& row, std::int64_t n, std::int64_t views) {
  Exec const exec;
  auto const what = scan_of<T>(n, views, row.options, row.tilted);
  measurable<Exec, T> const call(exec, what.prepare(exec));
  backend::set_host_vector_bytes(row.host_vector_bytes);
  double const seconds = time_calls(state, exec, call, calls_for<Exec>(views));
  backend::set_host_vector_bytes(64);
  set_projection_counters(state, what, call, seconds);
}

/// Rows forward_project/<name> and on a device forward_project_one_view/<name>: run(state, views).
template <class Exec, class F>
void add_rows_of_views(std::string const& name, std::int64_t n, pace on_host, F const& run) {
  constexpr bool device = backend::is_device<Exec>;
  std::int64_t const views = many_views(device, n, on_host);
  add_row("forward_project/" + name,
          device                  ? 9
          : on_host == pace::fast ? 3
                                  : 1,
          [=](benchmark::State& state) { run(state, views); });
  if (device) {
    add_row("forward_project_one_view/" + name, 9, [=](benchmark::State& state) { run(state, 1); });
  }
}

#if ISO_HAS_CUDA
/// Texture units, their arrays made beforehand.
void measure_texture(benchmark::State& state, std::int64_t n, std::int64_t views, ct::region within,
                     bool is_tilted) {
  Kokkos::Cuda const exec;
  auto const what = scan_of<float>(n, views, {.within = within}, is_tilted);
  auto const scan = ct::stage(exec, what.scan);
  measurable<Kokkos::Cuda, float> const call(exec, what.prepare(exec));
  backend::texture_volume const volume(exec, what.volume.on<float>(exec));
  exec.fence("iso::perf: the textures are there");
  auto const pixels = projections_at<float, Kokkos::CudaSpace>(call.result().data(), what.scan);
  double const seconds = time_calls(
      state, exec,
      [&] { ct::forward_project_texture(exec, scan, volume, pixels, {.within = within}); },
      calls_for<Kokkos::Cuda>(views));
  set_projection_counters(state, what, call, seconds);
}

/// The twin and forward_project in turn, with the slabs that forward_project chooses itself.
void measure_twin(benchmark::State& state, std::int64_t n, std::int64_t views) {
  Kokkos::Cuda const exec;
  auto const what = scan_of<float>(n, views, {});
  auto const scan = ct::stage(exec, what.scan);
  auto const volume = what.volume.on<float>(exec);
  measurable<Kokkos::Cuda, float> const ours(exec, what.prepare(exec));
  auto const result = make_projections<float, Kokkos::CudaSpace>("twin", views, n, n);
  Kokkos::View<ct::detail::joseph_ray_column<float>*, Kokkos::CudaSpace> const ray_columns(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "ray_columns"), std::size_t(views * n));
  Kokkos::View<ct::detail::joseph_range*, Kokkos::CudaSpace> const row_ranges(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "row_ranges"),
      std::size_t(views * n * raw_joseph_arrays::rows(n)));
  raw_joseph_arrays const arrays{scan.views().data(), volume.data.data(), result.data.data(),
                                 ray_columns.data(),  row_ranges.data(),  volume.grid,
                                 std::int32_t(views), std::int32_t(n),    std::int32_t(n)};
  auto const slab =
      ct::detail::joseph_plan::make<Kokkos::Cuda>(what.scan, volume.grid, 0).slab_planes;
  auto const twin = [&] { raw_joseph(exec, arrays, slab); };
  int const calls = calls_for<Kokkos::Cuda>(views);
  ours();
  twin();
  stopwatch our_times;
  stopwatch twin_times;
  for (auto _ : state) {
    our_times.run(exec, ours, calls);
    state.SetIterationTime(twin_times.run(exec, twin, calls));
  }
  double const seconds = median(twin_times.wall);
  set_projection_counters(state, what, ours, seconds);
  state.counters["ratio"] = seconds / median(our_times.wall);
  state.counters["ours_ms_per_view"] = 1e3 * median(our_times.wall) / double(views);
  if (!same_bits(ours.result(), result.data)) {
    fail(state, "the twin and forward_project differ in bits");
  }
}

void add_cuda_rows(std::int64_t n) {
  auto const where = "/ordered/float/cuda/" + std::to_string(n);
  for (auto const within : {ct::region::box, ct::region::cylinder}) {
    for (bool const is_tilted : {false, true}) {
      std::string const name = std::string("joseph_texture") +
                               (within == ct::region::box ? "" : "_cylinder") +
                               (is_tilted ? "_tilted" : "");
      add_rows_of_views<Kokkos::Cuda>(name + where, n, pace::fast,
                                      [=](benchmark::State& state, std::int64_t views) {
                                        measure_texture(state, n, views, within, is_tilted);
                                      });
    }
  }
  add_rows_of_views<Kokkos::Cuda>(
      "raw_twin" + where, n, pace::fast,
      [=](benchmark::State& state, std::int64_t views) { measure_twin(state, n, views); });
}
#endif

template <class Exec, class T>
void add_variants(std::string const& where, std::int64_t n) {
  constexpr bool device = backend::is_device<Exec>;
  for (auto const& each : rows()) {
    // A GPU has no such registers; that a maximum is given is for its single view.
    if (device ? each.host_vector_bytes < 64 : each.options.max_abs.has_value()) {
      continue;
    }
    add_rows_of_views<Exec>(each.name + where + std::to_string(n), n, each.on_host,
                            [=](benchmark::State& state, std::int64_t views) {
                              measure<Exec, T>(state, each, n, views);
                            });
  }
}

int const registered = add_rows_of_backends([]<class Exec>(std::string const& name) {
  constexpr bool device = backend::is_device<Exec>;
  std::vector<std::int64_t> const sizes = smoke()  ? std::vector<std::int64_t>{32}
                                          : device ? std::vector<std::int64_t>{128, 256, 512, 1024}
                                                   : std::vector<std::int64_t>{128, 256, 512};
  for (auto const n : sizes) {
    add_variants<Exec, float>("/float/" + name + "/", n);
    add_variants<Exec, double>("/double/" + name + "/", n);
#if ISO_HAS_CUDA
    if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
      add_cuda_rows(n);
    }
#endif
  }
});

}  // namespace
}  // namespace iso::perf
