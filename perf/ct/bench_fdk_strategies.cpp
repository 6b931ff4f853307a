// SPDX-License-Identifier: BSD-3-Clause
// The backprojections of a report of 2010 (W. E. Wei, Back-Projection on GPU: Improving the
// Performance, University of Michigan), beside the library's. Each takes one view a launch, adds to
// the volume in memory, and interpolates bilinearly in plain loads. Rows:
//
// - original: a thread a bar of voxels along z, in tiles of 16 x 16 bars.
// - strategy_1: a kernel for what the voxels of a bar share, stored to memory; a thread a voxel.
// - strategy_3: a thread a voxel, which computes all for itself.
// - strategy_4: as strategy_1, but the threads of a bar are one block, whose first thread loads the
//   shared numbers for all.
// - library_backprojection: weighted_backprojection_kernel within iso::ct::fdk, timed from fence to
//   fence around its launches.
// - library_fdk: the whole of iso::ct::fdk: weights, filter, backprojection.
//
// each as <row>/<backend>/<nx>x<ny>x<nz>, in float; the rows of `serial` are one thread. The
// report's strategy 2, projections in shared memory, gave wrong images there and is left out.
//
// The scan is the report's: 246 views of 224 x 200 pixels of 4.0956 x 4.3856 mm, 128 x 124 x 120
// voxels of 3.9062 mm; and twice as many of all at half the distances. It does not say where the
// source stood. Chosen here: 541 mm from the axis, 949 mm from a flat detector.
//
// Counters beside the usual: `gups`, 1e9 voxels times views a second. The model: readings read
// once, the volume written once; 25 operations an update, of which a bar's share (12) counts once a
// bar. It is of the report's kernels, not cases::reconstruction_work: the library's rows are held
// against the same work, so that all shares compare. `error`: relative l2 distance from the
// definition in double over some 2000 voxels; of the library's rows, which filter, from
// iso::ct::fdk in double. One so large that rounding cannot be its cause is an error of the
// benchmark.
#include "support/bench.hpp"

#include <iso/ct/fdk.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iso::perf {
namespace {

constexpr double source_axis = 541;
constexpr double source_detector = 949;
constexpr double most_error = 1e-4;
constexpr std::int64_t compared = 2000;

/// The report's scan, `fine` times as fine.
struct problem {
  ct::geometry scan;
  grid volume;

  explicit problem(std::int64_t fine)
      : scan(ct::circular_cone(detector(fine), source_axis, source_detector,
                               ct::even_angles(246 * fine / shrink(), 2 * std::numbers::pi))),
        volume(grid::centred({128 * fine / shrink(), 124 * fine / shrink(), 120 * fine / shrink()},
                             (3.9062 * double(shrink()) / double(fine)) * vec3<double>{1, 1, 1})) {}

  [[nodiscard]] double updates() const { return double(volume.size()) * double(scan.num_views()); }

 private:
  static std::int64_t shrink() { return smoke() ? 4 : 1; }
  static ct::flat_detector detector(std::int64_t fine) {
    double const pitch = double(shrink()) / double(fine);
    return {224 * fine / shrink(), 200 * fine / shrink(), 4.0956 * pitch, 4.3856 * pitch};
  }
};

/// A smooth reading that is zero at the detector's edges.
double reading(ct::geometry const& g, std::int64_t view, std::int64_t u, std::int64_t v) {
  double const x = double(u) / double(g.num_u() - 1);
  double const y = double(v) / double(g.num_v() - 1);
  return x * (1 - x) * y * (1 - y) * (1 + double(view % 7) / 7);
}

template <class T, class Space>
projection_view<T, Space> readings(ct::geometry const& g) {
  auto const p = make_projections<T, Space>("readings", g.num_views(), g.num_u(), g.num_v());
  auto const host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, p.data);
  T* at = host.data();
  for (std::int64_t view = 0; view < g.num_views(); ++view) {
    for (std::int64_t u = 0; u < g.num_u(); ++u) {
      for (std::int64_t v = 0; v < g.num_v(); ++v) {
        *at++ = T(reading(g, view, u, v));
      }
    }
  }
  Kokkos::deep_copy(p.data, host);
  return p;
}

/// The sum over views of (R / depth)^2 times the reading where the ray through x meets the
/// detector.
double exact_voxel(ct::geometry const& g, vec3<double> x) {
  double sum = 0;
  for (std::int64_t view = 0; view < g.num_views(); ++view) {
    auto const& w = g.views()[std::size_t(view)];
    vec3<double> const n = cross(w.u_step, w.v_step);
    double const depth = dot(n, x - w.source) / -dot(n, w.source);
    double const t = dot(n, w.detector_origin - w.source) / dot(n, x - w.source);
    vec3<double> const hit = w.source + t * (x - w.source) - w.detector_origin;
    double const u = dot(hit, w.u_step) / dot(w.u_step, w.u_step);
    double const v = dot(hit, w.v_step) / dot(w.v_step, w.v_step);
    if (!(u >= 0 && u < double(g.num_u() - 1) && v >= 0 && v < double(g.num_v() - 1))) {
      continue;
    }
    auto const i = std::int64_t(u);
    auto const j = std::int64_t(v);
    double const a = u - double(i);
    double const b = v - double(j);
    sum += ((1 - a) * ((1 - b) * reading(g, view, i, j) + b * reading(g, view, i, j + 1)) +
            a * ((1 - b) * reading(g, view, i + 1, j) + b * reading(g, view, i + 1, j + 1))) /
           (depth * depth);
  }
  return sum;
}

/// What the voxels of a bar share in a view: where they are seen along u, the weight, and the
/// magnification.
struct bar {
  float u;
  float weight;
  float magnification;
};

/// One view and the volume that it is added to.
struct one_view {
  float const* image;  ///< [u][v]
  float* volume;       ///< [x][y][z]
  std::int32_t nx;
  std::int32_t ny;
  std::int32_t nz;
  std::int32_t nu;
  std::int32_t nv;
  float spacing;
  float pitch_u;
  float pitch_v;
  float radius;
  float distance;
  float cosine;
  float sine;

  KOKKOS_FUNCTION bar shared(std::int32_t i, std::int32_t j) const {
    float const x = (float(i) - 0.5f * float(nx - 1)) * spacing;
    float const y = (float(j) - 0.5f * float(ny - 1)) * spacing;
    float const depth = radius - (x * cosine + y * sine);
    float const across = y * cosine - x * sine;
    float const magnification = distance / depth;
    float const weight = radius / depth;
    return {across * magnification / pitch_u + 0.5f * float(nu - 1), weight * weight,
            magnification};
  }

  KOKKOS_FUNCTION float voxel(bar const& b, std::int32_t k) const {
    float const z = (float(k) - 0.5f * float(nz - 1)) * spacing;
    float const v = z * b.magnification / pitch_v + 0.5f * float(nv - 1);
    if (!(b.u >= 0 && b.u < float(nu - 1) && v >= 0 && v < float(nv - 1))) {
      return 0;
    }
    auto const i = std::int32_t(b.u);
    auto const j = std::int32_t(v);
    float const a = b.u - float(i);
    float const c = v - float(j);
    float const* const p = image + i * nv + j;
    return b.weight *
           ((1 - a) * ((1 - c) * p[0] + c * p[1]) + a * ((1 - c) * p[nv] + c * p[nv + 1]));
  }

  KOKKOS_FUNCTION std::int32_t voxels() const { return nx * ny * nz; }
};

struct bar_adder {
  one_view view;
  KOKKOS_FUNCTION void operator()(std::int32_t i, std::int32_t j) const {
    bar const b = view.shared(i, j);
    float* const voxels = view.volume + (i * view.ny + j) * view.nz;
    for (std::int32_t k = 0; k < view.nz; ++k) {
      voxels[k] += view.voxel(b, k);
    }
  }
};

struct bar_finder {
  one_view view;
  bar* bars;
  KOKKOS_FUNCTION void operator()(std::int32_t n) const {
    bars[n] = view.shared(n / view.ny, n % view.ny);
  }
};

struct voxel_of_bar_adder {
  one_view view;
  bar const* bars;
  KOKKOS_FUNCTION void operator()(std::int32_t n) const {
    view.volume[n] += view.voxel(bars[n / view.nz], n % view.nz);
  }
};

struct voxel_adder {
  one_view view;
  KOKKOS_FUNCTION void operator()(std::int32_t n) const {
    std::int32_t const column = n / view.nz;
    view.volume[n] += view.voxel(view.shared(column / view.ny, column % view.ny), n % view.nz);
  }
};

template <class Exec>
struct block_adder {
  using policy = Kokkos::TeamPolicy<Exec>;
  using member = typename policy::member_type;

  one_view view;
  bar const* bars;

  KOKKOS_FUNCTION void operator()(member const& team) const {
    auto* const b = static_cast<bar*>(team.team_shmem().get_shmem(sizeof(bar)));
    Kokkos::single(Kokkos::PerTeam(team), [&] { *b = bars[team.league_rank()]; });
    team.team_barrier();
    float* const voxels = view.volume + std::int32_t(team.league_rank()) * view.nz;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, view.nz),
                         [&](std::int32_t k) { voxels[k] += view.voxel(*b, k); });
  }
};

enum class strategy { original, one, three, four };

/// Enqueues the backprojection of all views onto zeros.
template <class Exec>
class backprojector {
 public:
  using space = typename Exec::memory_space;

  backprojector(Exec const& exec, problem const& p)
      : exec_(exec),
        problem_(p),
        images_(readings<float, space>(p.scan)),
        volume_(make_volume<float, space>("volume", p.volume)),
        bars_("bars", std::size_t(p.volume.extent[0] * p.volume.extent[1])) {}

  void operator()(strategy which) const {
    Kokkos::deep_copy(exec_, volume_.data, 0.f);
    for (std::int64_t view = 0; view < problem_.scan.num_views(); ++view) {
      add(which, at(view));
    }
  }
  [[nodiscard]] auto const& volume() const { return volume_; }

 private:
  [[nodiscard]] one_view at(std::int64_t view) const {
    auto const& w = problem_.scan.views()[std::size_t(view)];
    auto const& g = problem_.volume;
    return {images_.data.data() + view * problem_.scan.num_u() * problem_.scan.num_v(),
            volume_.data.data(),
            std::int32_t(g.extent[0]),
            std::int32_t(g.extent[1]),
            std::int32_t(g.extent[2]),
            std::int32_t(problem_.scan.num_u()),
            std::int32_t(problem_.scan.num_v()),
            float(g.spacing.x),
            float(norm(w.u_step)),
            float(norm(w.v_step)),
            float(source_axis),
            float(source_detector),
            float(w.source.x / source_axis),
            float(w.source.y / source_axis)};
  }

  void add(strategy which, one_view const& view) const {
    using flat = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int32_t>>;
    std::int32_t const columns = view.nx * view.ny;
    if (which == strategy::one || which == strategy::four) {
      Kokkos::parallel_for("strategy::bars", flat(exec_, 0, columns),
                           bar_finder{view, bars_.data()});
    }
    if (which == strategy::original) {
      using tiles = Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>, Kokkos::IndexType<std::int32_t>>;
      Kokkos::parallel_for("strategy::original", tiles(exec_, {0, 0}, {view.nx, view.ny}, {16, 16}),
                           bar_adder{view});
    } else if (which == strategy::one) {
      Kokkos::parallel_for("strategy::one", flat(exec_, 0, view.voxels()),
                           voxel_of_bar_adder{view, bars_.data()});
    } else if (which == strategy::three) {
      Kokkos::parallel_for("strategy::three", flat(exec_, 0, view.voxels()), voxel_adder{view});
    } else {
      int const threads = backend::is_device<Exec> ? (view.nz + 31) / 32 * 32 : 1;
      typename block_adder<Exec>::policy policy(exec_, columns, threads);
      policy.set_scratch_size(0, Kokkos::PerTeam(sizeof(bar) + alignof(bar)));
      Kokkos::parallel_for("strategy::four", policy, block_adder<Exec>{view, bars_.data()});
    }
  }

  Exec exec_;
  problem problem_;
  projection_view<float, space> images_;
  volume_view<float, space> volume_;
  Kokkos::View<bar*, space> bars_;
};

/// Relative l2 distance of some voxels, evenly spread, from exact(index of the voxel).
template <class View, class F>
double distance(View const& view, F const& exact) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  auto const size = std::int64_t(host.size());
  std::int64_t const step = (size / compared) | 1;
  double apart = 0;
  double all = 0;
  for (std::int64_t n = step / 2; n < size; n += step) {
    double const must = exact(n);
    double const difference = double(host.data()[n]) - must;
    apart += difference * difference;
    all += must * must;
  }
  return std::sqrt(apart / all);
}

template <class Exec>
void report(benchmark::State& state, Exec const& exec, problem const& p, double seconds,
            double flops, double error) {
  auto const& c = ceilings_of(exec);
  double const pixels = double(p.scan.num_views() * p.scan.num_u() * p.scan.num_v());
  state.counters["gups"] = 1e-9 * p.updates() / seconds;
  state.counters["ms"] = 1e3 * seconds;
  set_counters(state, seconds,
               {.bytes = (pixels + double(p.volume.size())) * sizeof(float), .flops = flops},
               {.bytes_per_second = c.read, .flops_per_second = c.fp32}, error);
  if (!(error <= most_error)) {
    fail(state, "the result is not what the definition gives");
  }
}

double flops_of(problem const& p) {
  return 13 * p.updates() + 12 * p.updates() / double(p.volume.extent[2]);
}

template <class Exec>
void run_strategy(benchmark::State& state, strategy which, std::int64_t fine) {
  Exec const exec;
  problem const p(fine);
  backprojector<Exec> const back(exec, p);
  double const seconds = time_calls(state, exec, [&] { back(which); });
  auto const& e = p.volume.extent;
  double const error = distance(back.volume().data, [&](std::int64_t n) {
    vec3<double> const index{double(n / e[2] / e[1]), double(n / e[2] % e[1]), double(n % e[2])};
    return exact_voxel(p.scan, p.volume.origin + p.volume.spacing.x * index);
  });
  report(state, exec, p, seconds, flops_of(p), error);
}

/// Times the launches of one label, from fence to fence.
class launch_clock {
 public:
  explicit launch_clock(std::string_view label) {
    state() = {label, false, 0, {}};
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
        [](char const* name, std::uint32_t, std::uint64_t*) {
          if (std::string_view(name) == state().label) {
            Kokkos::fence("iso::perf: before a launch");
            state().runs = true;
            state().start = clock::now();
          }
        });
    Kokkos::Tools::Experimental::set_end_parallel_for_callback([](std::uint64_t) {
      if (state().runs) {
        Kokkos::fence("iso::perf: after a launch");
        state().seconds += std::chrono::duration<double>(clock::now() - state().start).count();
        state().runs = false;
      }
    });
  }
  ~launch_clock() {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    Kokkos::Tools::Experimental::set_end_parallel_for_callback(nullptr);
  }
  launch_clock(launch_clock const&) = delete;
  launch_clock& operator=(launch_clock const&) = delete;

  /// Seconds since the last call.
  static double take() { return std::exchange(state().seconds, 0); }

 private:
  using clock = std::chrono::steady_clock;
  struct times {
    std::string_view label;
    bool runs;
    double seconds;
    clock::time_point start;
  };
  static times& state() {
    static times t{};
    return t;
  }
};

/// iso::ct::fdk in T: its volume, and the call.
template <class Exec, class T>
struct library_fdk {
  using space = typename Exec::memory_space;

  Exec exec;
  ct::fdk_plan<space> plan;
  projection_view<T, space> images;
  volume_view<T, space> volume;
  workspace<space> scratch;

  library_fdk(Exec const& on, problem const& p)
      : exec(on),
        plan(on, p.scan),
        images(readings<T, space>(p.scan)),
        volume(make_volume<T, space>("volume", p.volume)),
        scratch(ct::fdk_bytes_needed<Exec, T>(p.scan)) {}

  void operator()() const { ct::fdk<Exec, T>(exec, plan, images, volume, scratch); }
};

template <class Exec>
double library_error(Exec const& exec, problem const& p, library_fdk<Exec, float> const& run) {
  library_fdk<Exec, double> const twin(exec, p);
  twin();
  exec.fence("iso::perf: fdk in double");
  auto const truth = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), twin.volume.data);
  return distance(run.volume.data, [&](std::int64_t n) { return truth.data()[n]; });
}

template <class Exec>
void run_library(benchmark::State& state, bool whole, std::int64_t fine) {
  Exec const exec;
  problem const p(fine);
  library_fdk<Exec, float> const run(exec, p);
  double seconds = 0;
  double flops = flops_of(p);
  if (whole) {
    seconds = time_calls(state, exec, run);
    flops += 2 * double(p.scan.num_views() * p.scan.num_u() * p.scan.num_u() * p.scan.num_v());
  } else {
    run();
    exec.fence("iso::perf: warm");
    launch_clock const timing("iso::ct::fdk::back_project");
    std::vector<double> all;
    for (auto _ : state) {
      run();
      all.push_back(launch_clock::take());
      state.SetIterationTime(all.back());
    }
    seconds = median(std::move(all));
    if (seconds == 0) {
      fail(state, "no launch has the label of the library's backprojection");
      return;
    }
  }
  report(state, exec, p, seconds, flops, library_error(exec, p, run));
}

template <class Exec>
void add_rows(std::string const& where) {
  constexpr bool device = backend::is_device<Exec>;
  std::vector<std::int64_t> const sizes =
      smoke() ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{1, 2};
  for (auto const fine : sizes) {
    auto const& e = problem(fine).volume.extent;
    auto const row = "/" + where + "/" + std::to_string(e[0]) + "x" + std::to_string(e[1]) + "x" +
                     std::to_string(e[2]);
    auto const add = [&](std::string const& name, auto const& f) {
      benchmark::RegisterBenchmark((name + row).c_str(), f)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Iterations(smoke()     ? 1
                       : device    ? 9
                       : fine == 1 ? 3
                                   : 1);
    };
    auto const strategy_row = [&](std::string const& name, strategy which) {
      add(name, [=](benchmark::State& state) { run_strategy<Exec>(state, which, fine); });
    };
    strategy_row("original", strategy::original);
    strategy_row("strategy_1", strategy::one);
    strategy_row("strategy_3", strategy::three);
    strategy_row("strategy_4", strategy::four);
    add("library_backprojection",
        [=](benchmark::State& state) { run_library<Exec>(state, false, fine); });
    add("library_fdk", [=](benchmark::State& state) { run_library<Exec>(state, true, fine); });
  }
}

int const registered =
    add_rows_of_backends([]<class Exec>(std::string const& name) { add_rows<Exec>(name); });

}  // namespace
}  // namespace iso::perf
