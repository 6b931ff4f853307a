// SPDX-License-Identifier: BSD-3-Clause
// Radiological paths by every method, for rays that lie close together (cone views), for random
// ones, and for the same in the order of sort_rays.
//
// `plain` is a loop over rays that calls traverse<amanatides_woo> for each, one a thread: what a
// user would write, and the twin that the methods are to beat on the host. Counters beside the
// usual: `size`, the voxels n along each side, `ms_per_view`, for n^2 rays, `rays_per_second`,
// `voxels_per_second`, `twin_ms` and `ratio` (time of `plain` over time of this row, both medians
// of alternating runs), and for sorted rays `sort_ms`, which the time does not include. On the
// host `processor_ms_per_view`, the least processor time; `serial` rows are of one core. `error`:
// of some 2000 rays, sum of |difference| from walks in long double over the sum of their paths;
// paths whose bits differ from the plain ones are an error of the benchmark.
#include "support/bench.hpp"

#include <iso/cases/paths.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ray/sort_rays.hpp>
#include <iso/ray/traverse.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

/// Cone views in the order of their pixels or in none; chords of a ball at random. How they are
/// sorted then.
enum class bundle { coherent, shuffled, random };
enum class sorting { none, by_ends, by_entry };

template <class T>
std::vector<ray::ray<T>> make_rays(bundle kind, std::int64_t n, std::int64_t views) {
  auto rays = cone_rays<T>(n, views);
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  auto const on_sphere = [&] {
    vec3<double> const p{normal(random), normal(random), normal(random)};
    return static_cast<vec3<T>>((0.87 * double(n) / norm(p)) * p);
  };
  if (kind == bundle::random) {
    std::generate(rays.begin(), rays.end(),
                  [&] { return ray::ray<T>::between(on_sphere(), on_sphere()); });
  } else if (kind == bundle::shuffled) {
    std::shuffle(rays.begin(), rays.end(), random);
  }
  return rays;
}

/// Sorts rays; returns the seconds of the second time.
template <class Exec, class T>
double sort(Exec const& exec, std::vector<ray::ray<T>>& rays, grid const& box,
            ray::ray_order order) {
  auto const there = load_rays(exec, rays);
  Kokkos::View<std::int64_t*, typename Exec::memory_space> const permutation("order", rays.size());
  workspace<typename Exec::memory_space> const scratch(
      ray::sort_rays_bytes_needed(exec, std::int64_t(rays.size())));
  auto const once = [&] { ray::sort_rays(exec, there, box, permutation, scratch, order); };
  once();
  double const seconds = seconds_of(exec, once);
  auto const from = rays;
  auto const places = fetch(exec, permutation);
  std::transform(places.begin(), places.end(), rays.begin(),
                 [&](std::int64_t i) { return from[std::size_t(i)]; });
  return seconds;
}

/// Enqueues the plain loop.
template <class Exec, class T>
void walk_plainly(Exec const& exec, ray::traversal_grid const& box, ray::ray<T> const* rays,
                  std::int64_t count, T const* values, T* paths) {
  Kokkos::parallel_for(
      "iso::perf::plain_path", flat_range(exec, count), KOKKOS_LAMBDA(std::int64_t i) {
        T sum = 0;
        ray::traverse<ray::amanatides_woo>(rays[i], box, [&](std::int64_t voxel, T length) {
          sum = Kokkos::fma(length, values[voxel], sum);
        });
        paths[i] = canonical(sum);
      });
}

template <class Exec, class T>
void measure(benchmark::State& state, bundle kind, sorting how, ray::traversal method) {
  Exec const exec;
  std::int64_t const n = smoke() ? 16 : backend::is_device<Exec> ? 512 : 256;
  std::int64_t const views = backend::is_device<Exec> && !smoke() ? 16 : 1;
  auto const input = smooth_volume(n);
  auto rays = make_rays<T>(kind, n, views);
  double const sort_seconds =
      how == sorting::none ? 0
                           : sort(exec, rays, input.box,
                                  how == sorting::by_ends ? ray::ray_order::entry_and_exit
                                                          : ray::ray_order::octant_then_entry);
  path_case<T> const what{input, std::make_shared<std::vector<ray::ray<T>> const>(rays), method};
  measurable<Exec, T> const run(exec, what.prepare(exec));
  auto const volume = input.on<T>(exec);
  auto const there = load_rays(exec, rays);
  Kokkos::View<T*, typename Exec::memory_space> const plain_paths("plain paths", rays.size());
  auto const plain = [&] {
    walk_plainly<Exec, T>(exec, ray::traversal_grid(input.box), there.data(),
                          std::int64_t(rays.size()), volume.data.data(), plain_paths.data());
  };
  plain();
  run();
  exec.fence("iso::perf: warm");
  if (!same_bits(run.result(), plain_paths)) {
    fail(state, "paths differ in bits from those of the plain loop");
    return;
  }
  stopwatch own;
  stopwatch by_plain;
  for (auto _ : state) {
    state.SetIterationTime(own.run(exec, run));
    by_plain.run(exec, plain);
  }
  double const time = median(own.wall);
  auto work = run.work();
  auto const count = double(rays.size());
  state.counters["ms_per_view"] = 1e3 * time / double(views);
  state.counters["size"] = double(n);
  state.counters["rays_per_second"] = count / time;
  state.counters["voxels_per_second"] = work.flops / 2 / time;
  state.counters["twin_ms"] = 1e3 * median(by_plain.wall);
  state.counters["ratio"] = median(by_plain.wall) / time;
  if constexpr (!backend::is_device<Exec>) {
    state.counters["processor_ms_per_view"] = 1e3 * least(own.processor) / double(views);
  }
  if (sort_seconds > 0) {
    state.counters["sort_ms"] = 1e3 * sort_seconds;
  }
  // Each voxel that a ray crosses is an fma, and a value read of the second cache.
  work.bytes = 0;
  double const share = min_seconds(work, ceilings_of(exec)) / time;
  work.bytes = work.cache_bytes;
  set_counters(state, exec, time, work, run.error());
  state.counters["share_of_ceiling"] = share;
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
  for (auto const& rays : bundles) {
    for (auto const& [method, text] : words(ray::traversal())) {
      if (method == ray::traversal::fastest) {
        continue;  // it is one of the others
      }
      add_row(std::string("traverse/") + rays.name + "/" + std::string(text) + "/" + backend_name +
                  "/" + type,
              backend::is_device<Exec> ? 11 : 5, [rays, method = method](benchmark::State& state) {
                measure<Exec, T>(state, rays.kind, rays.how, method);
              });
    }
  }
}

int const registered = add_rows_of_backends([]<class Exec>(std::string const& name) {
  add_rows_of<Exec, float>(name, "float");
  add_rows_of<Exec, double>(name, "double");
});

}  // namespace
}  // namespace iso::perf
