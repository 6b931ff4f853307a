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

#include <iso/core/numerics.hpp>
#include <iso/ray/radiological_path.hpp>
#include <iso/ray/sort_rays.hpp>
#include <iso/ray/traverse.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace iso::perf {
namespace {

/// Cone views in the order of their pixels or in none; chords of a ball at random. How they are
/// sorted then.
enum class bundle { coherent, shuffled, random };
enum class sorting { none, by_ends, by_entry };

template <class T>
using host_view = Kokkos::View<T*, Kokkos::HostSpace>;

/// Cone views of a centred volume of n voxels of 1 mm a side, source 2 n, detector 3 n away, n x n
/// pixels of 1.5 mm: v fastest, so that neighbours cross the same columns.
template <class T>
ray::ray<T> cone_ray(std::int64_t i, std::int64_t n) {
  double const angle = 0.7 + double(i / (n * n));
  double const c = std::cos(angle);
  double const s = std::sin(angle);
  double const u = (double(i / n % n) + 0.5 - 0.5 * double(n)) * 1.5;
  double const v = (double(i % n) + 0.5 - 0.5 * double(n)) * 1.5;
  double const far = double(n);
  vec3<double> const source{2 * far * c, 2 * far * s, 0};
  vec3<double> const pixel{-far * c - u * s, -far * s + u * c, v};
  return ray::ray<T>::between(static_cast<vec3<T>>(source), static_cast<vec3<T>>(pixel));
}

template <class T>
host_view<ray::ray<T>> make_rays(bundle kind, std::int64_t n, std::int64_t count) {
  host_view<ray::ray<T>> const rays("rays", std::size_t(count));
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  auto const on_sphere = [&] {
    vec3<double> const p{normal(random), normal(random), normal(random)};
    return static_cast<vec3<T>>((0.87 * double(n) / norm(p)) * p);
  };
  for (std::int64_t i = 0; i < count; ++i) {
    rays(std::size_t(i)) =
        kind == bundle::random ? ray::ray<T>::between(on_sphere(), on_sphere()) : cone_ray<T>(i, n);
  }
  if (kind == bundle::shuffled) {
    std::shuffle(rays.data(), rays.data() + count, random);
  }
  return rays;
}

template <class T>
struct fill_volume {
  T* data;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const hash = (std::uint64_t(i) + 1) * 0x9e3779b97f4a7c15ULL;
    data[i] = T(double(hash >> 40U) * 0x1p-24);
  }
};

template <class T>
struct plain_path {
  ray::traversal_grid grid;
  ray::ray<T> const* rays;
  T const* values;
  T* paths;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    T sum = 0;
    ray::traverse<ray::amanatides_woo>(rays[i], grid, [&](std::int64_t voxel, T length) {
      sum = Kokkos::fma(length, values[voxel], sum);
    });
    paths[i] = canonical(sum);
  }
};

template <class T>
struct permute_rays {
  ray::ray<T> const* from;
  std::int64_t const* order;
  ray::ray<T>* to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = from[order[i]]; }
};

template <class Exec, class T>
class paths_problem {
  using space = typename Exec::memory_space;
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

 public:
  paths_problem(Exec const& exec, bundle kind, sorting how)
      : exec_(exec),
        n_(smoke()                    ? 16
           : backend::is_device<Exec> ? 512
                                      : 256),
        count_(n_ * n_ * (backend::is_device<Exec> && !smoke() ? 16 : 1)),
        volume_(make_volume<T, space>("volume", grid::centred({n_, n_, n_}, {1, 1, 1}))),
        host_rays_(make_rays<T>(kind, n_, count_)),
        rays_("rays", std::size_t(count_)),
        paths_("paths", std::size_t(count_)),
        plain_paths_("plain paths", std::size_t(count_)) {
    Kokkos::parallel_for("iso::perf::fill_volume", policy(exec, 0, volume_.grid.size()),
                         fill_volume<T>{volume_.data.data()});
    Kokkos::deep_copy(exec, rays_, host_rays_);
    if (how != sorting::none) {
      sort(how == sorting::by_ends ? ray::ray_order::entry_and_exit
                                   : ray::ray_order::octant_then_entry);
    }
    exec.fence("iso::perf: rays are there");
  }

  void plain() const {
    Kokkos::parallel_for("iso::perf::plain_path", policy(exec_, 0, count_),
                         plain_path<T>{ray::traversal_grid(volume_.grid), rays_.data(),
                                       volume_.data.data(), plain_paths_.data()});
  }
  void run(ray::traversal method) const {
    ray::radiological_path(exec_, rays_, volume_, paths_, {.method = method});
  }

  [[nodiscard]] bool as_plain() const { return same_bits(paths_, plain_paths_); }
  [[nodiscard]] double rays() const { return double(count_); }
  [[nodiscard]] double rays_of_view() const { return double(n_ * n_); }
  [[nodiscard]] double sort_seconds() const { return sort_seconds_; }

  /// Voxels crossed by all rays, from every 61st of them.
  [[nodiscard]] double voxels() const {
    double sum = 0;
    double counted = 0;
    for (std::int64_t i = 0; i < count_; i += 61) {
      sum += ray::traverse<ray::branchless>(
          host_rays_(std::size_t(i)), ray::traversal_grid(volume_.grid), [](std::int64_t, T) {});
      ++counted;
    }
    return sum / counted * double(count_);
  }

  [[nodiscard]] double error() const {
    auto const values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), volume_.data);
    auto const rays = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), rays_);
    auto const paths = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), paths_);
    double worst = 0;
    double longest = 0;
    for (std::size_t i = 0; i < std::size_t(count_); i += 997) {
      auto const& r = rays(i);
      double exact = 0;
      ray::traverse<ray::siddon>(ray::ray<double>{static_cast<vec3<double>>(r.origin),
                                                  static_cast<vec3<double>>(r.direction),
                                                  double(r.t_min), double(r.t_max)},
                                 ray::traversal_grid(volume_.grid),
                                 [&](std::int64_t voxel, double length) {
                                   exact += length * double(values.data()[voxel]);
                                 });
      worst = std::max(worst, std::abs(exact - double(paths(i))));
      longest = std::max(longest, exact);
    }
    return worst / longest;
  }

 private:
  void sort(ray::ray_order order) {
    Kokkos::View<std::int64_t*, space> const permutation("order", std::size_t(count_));
    workspace<space> const scratch(ray::sort_rays_bytes_needed(count_));
    auto const once = [&] {
      ray::sort_rays(exec_, rays_, volume_.grid, permutation, scratch, order);
    };
    once();
    sort_seconds_ = seconds_of(exec_, once);
    Kokkos::View<ray::ray<T>*, space> const sorted("sorted rays", std::size_t(count_));
    Kokkos::parallel_for("iso::perf::permute_rays", policy(exec_, 0, count_),
                         permute_rays<T>{rays_.data(), permutation.data(), sorted.data()});
    exec_.fence("iso::perf: rays are sorted");
    rays_ = sorted;
  }

  Exec exec_;
  std::int64_t n_;
  std::int64_t count_;
  volume_view<T, space> volume_;
  host_view<ray::ray<T>> host_rays_;
  Kokkos::View<ray::ray<T>*, space> rays_;
  Kokkos::View<T*, space> paths_;
  Kokkos::View<T*, space> plain_paths_;
  double sort_seconds_ = 0;
};

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
  paths_problem<Exec, T> const problem(exec, kind, how);
  auto const plain = [&] { problem.plain(); };
  auto const run = [&] { problem.run(method); };
  plain();
  run();
  exec.fence("iso::perf: warm");
  if (!problem.as_plain()) {
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
      scalar.take(exec, [&] { problem.run(ray::traversal::amanatides_woo); });
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
  model const work{voxels * sizeof(T) + problem.rays() * (sizeof(ray::ray<T>) + sizeof(T)),
                   2 * voxels};
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
