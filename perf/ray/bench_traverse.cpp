// SPDX-License-Identifier: BSD-3-Clause
// Radiological paths by every method, for rays that lie close together (cone views), for random
// ones, and for the same in the order of sort_rays.
//
// `plain` is a loop over rays that calls traverse<amanatides_woo> for each, one a thread: what a
// user would write, and the twin that the methods are to beat on the host. Counters beside the
// usual: `size`, the voxels n along each side, `ms_per_view`, for n^2 rays, `rays_per_second`,
// `voxels_per_second`, `twin_ms` and `ratio` (time of `plain` over time of this row, both medians
// of alternating runs), and for sorted rays `sort_ms`, which the time does not include. On the
// host, from turns of the same run: `processor_ms_per_view` and `scalar_processor_ms_per_view`, the
// least processor time of this row and of the method `amanatides_woo`, the faster of the two scalar
// walks, and `scalar_ratio`, the second over the first; `serial` rows are of one core. `error` is
// the largest difference of a path from double precision, over the longest of them; paths whose
// bits differ from the plain ones are an error of the benchmark.
#include "support/bench.hpp"

#include <iso/cases/paths.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

/// Processor seconds of all threads; the least of what it took is kept.
class processor_seconds {
 public:
  template <class Exec, class F>
  double take(Exec const& exec, F const& f) {
    std::clock_t const start = std::clock();
    double const seconds = seconds_of(exec, f);
    least_ = std::min(least_, double(std::clock() - start) / CLOCKS_PER_SEC);
    return seconds;
  }
  [[nodiscard]] double least() const { return least_; }

 private:
  double least_ = std::numeric_limits<double>::infinity();
};

template <class Exec, class T>
void measure(benchmark::State& state, bundle kind, sorting how, ray::traversal method) {
  Exec const exec;
  std::int64_t const n = smoke() ? 16 : backend::is_device<Exec> ? 512 : 256;
  std::int64_t const views = backend::is_device<Exec> && !smoke() ? 16 : 1;
  paths_problem<Exec, T> const problem(exec, n, views, kind, how);
  auto const plain = [&] { problem.plain(); };
  auto const run = [&] { problem.run({.method = method}); };
  plain();
  run();
  exec.fence("iso::perf: warm");
  if (!same_bits(problem.paths(), problem.plain_paths())) {
    fail(state, "paths differ in bits from those of the plain loop");
    return;
  }
  std::vector<double> seconds;
  std::vector<double> plain_seconds;
  processor_seconds own;
  processor_seconds scalar;
  for (auto _ : state) {
    seconds.push_back(own.take(exec, run));
    plain_seconds.push_back(seconds_of(exec, plain));
    if constexpr (!backend::is_device<Exec>) {
      scalar.take(exec, [&] { problem.run({.method = ray::traversal::amanatides_woo}); });
    }
    state.SetIterationTime(seconds.back());
  }
  double const time = median(seconds);
  double const voxels = problem.voxels();
  state.counters["ms_per_view"] = 1e3 * time * problem.rays_of_view() / problem.rays();
  state.counters["size"] = std::sqrt(problem.rays_of_view());
  state.counters["rays_per_second"] = problem.rays() / time;
  state.counters["voxels_per_second"] = voxels / time;
  state.counters["twin_ms"] = 1e3 * median(plain_seconds);
  state.counters["ratio"] = median(plain_seconds) / time;
  if constexpr (!backend::is_device<Exec>) {
    double const views = problem.rays() / problem.rays_of_view();
    state.counters["processor_ms_per_view"] = 1e3 * own.least() / views;
    state.counters["scalar_processor_ms_per_view"] = 1e3 * scalar.least() / views;
    state.counters["scalar_ratio"] = scalar.least() / own.least();
  }
  if (problem.sort_seconds() > 0) {
    state.counters["sort_ms"] = 1e3 * problem.sort_seconds();
  }
  // Each voxel that a ray crosses is a value read and an fma; what the caches save is not counted.
  auto const least = problem.work();
  model const work{least.cache_bytes, least.flops};
  auto const& ceilings = ceilings_of(exec);
  set_counters(state, time, work,
               {.bytes_per_second = ceilings.l2,
                .flops_per_second = sizeof(T) == 4 ? ceilings.fp32 : ceilings.fp64},
               problem.error());
}

template <class Exec, class T>
void add_rows_of(std::string const& backend_name, std::string const& type) {
  struct {
    char const* name;
    bundle kind;
    sorting how;
  } const bundles[] = {{"coherent", bundle::coherent, sorting::none},
                       {"shuffled", bundle::shuffled, sorting::none},
                       {"shuffled_sorted_by_ends", bundle::shuffled, sorting::by_ends},
                       {"shuffled_sorted_by_entry", bundle::shuffled, sorting::by_entry},
                       {"random", bundle::random, sorting::none},
                       {"sorted_by_ends", bundle::random, sorting::by_ends},
                       {"sorted_by_entry", bundle::random, sorting::by_entry}};
  std::pair<char const*, ray::traversal> const methods[] = {
      {"amanatides_woo", ray::traversal::amanatides_woo},
      {"branchless", ray::traversal::branchless},
      {"siddon", ray::traversal::siddon}};
  for (auto const& rays : bundles) {
    for (auto const& [method_name, method] : methods) {
      auto const name = std::string("traverse/") + rays.name + "/" + method_name + "/" +
                        backend_name + "/" + type;
      benchmark::RegisterBenchmark(name.c_str(),
                                   [rays, method = method](benchmark::State& state) {
                                     measure<Exec, T>(state, rays.kind, rays.how, method);
                                   })
          ->UseManualTime()
          ->Iterations(smoke()                    ? 1
                       : backend::is_device<Exec> ? 11
                                                  : 5)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

int const registered = add_rows_of_backends([]<class Exec>(std::string const& name) {
  add_rows_of<Exec, float>(name, "float");
  add_rows_of<Exec, double>(name, "double");
});

}  // namespace
}  // namespace iso::perf
