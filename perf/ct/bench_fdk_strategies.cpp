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
// bar. It is of the report's kernels, not cases::reconstruction_work: the library's row is held
// against the same work, so that all shares compare. `error`: of some 2000 voxels, sum of
// |difference| from the definition in double over the sum of its values; of the library's row,
// which filters, from the plainest loops. One so large that rounding cannot be its cause is an
// error of the benchmark.
#include "support/bench.hpp"

#include <iso/cases/loops.hpp>
#include <iso/cases/projection.hpp>
#include <iso/cases/reconstruction.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <cstdint>
#include <numbers>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

constexpr double source_axis = 541;
constexpr double source_detector = 949;
constexpr double max_error = 1e-4;

/// Of a head that every view sees whole.
input_projections readings() { return {.bodies = ct::shepp_logan(180)}; }

/// The sum over views of (R / depth)^2 times the reading where the ray through x meets the
/// detector.
double exact_voxel(ct::geometry const& g, std::vector<float> const& pixels, vec3<double> x) {
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
    float const* const p = &pixels[std::size_t((view * g.num_u() + i) * g.num_v() + j)];
    float const* const q = p + g.num_v();
    sum +=
        ((1 - a) * ((1 - b) * p[0] + b * p[1]) + a * ((1 - b) * q[0] + b * q[1])) / (depth * depth);
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

enum class strategy { original, one, three, four };

/// Adds a view, with room for the shared numbers of all bars.
template <class Exec>
void add_view(Exec const& exec, strategy which, one_view const& view, bar* bars) {
  using flat = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int32_t>>;
  std::int32_t const columns = view.nx * view.ny;
  if (which == strategy::one || which == strategy::four) {
    Kokkos::parallel_for(
        "strategy::bars", flat(exec, 0, columns),
        KOKKOS_LAMBDA(std::int32_t n) { bars[n] = view.shared(n / view.ny, n % view.ny); });
  }
  if (which == strategy::original) {
    using tiles = Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>, Kokkos::IndexType<std::int32_t>>;
    Kokkos::parallel_for(
        "strategy::original", tiles(exec, {0, 0}, {view.nx, view.ny}, {16, 16}),
        KOKKOS_LAMBDA(std::int32_t i, std::int32_t j) {
          bar const b = view.shared(i, j);
          float* const voxels = view.volume + (i * view.ny + j) * view.nz;
          for (std::int32_t k = 0; k < view.nz; ++k) {
            voxels[k] += view.voxel(b, k);
          }
        });
  } else if (which == strategy::one) {
    Kokkos::parallel_for(
        "strategy::one", flat(exec, 0, view.voxels()), KOKKOS_LAMBDA(std::int32_t n) {
          view.volume[n] += view.voxel(bars[n / view.nz], n % view.nz);
        });
  } else if (which == strategy::three) {
    Kokkos::parallel_for(
        "strategy::three", flat(exec, 0, view.voxels()), KOKKOS_LAMBDA(std::int32_t n) {
          std::int32_t const column = n / view.nz;
          bar const b = view.shared(column / view.ny, column % view.ny);
          view.volume[n] += view.voxel(b, n % view.nz);
        });
  } else {
    int const threads = backend::is_device<Exec> ? (view.nz + 31) / 32 * 32 : 1;
    Kokkos::TeamPolicy<Exec> policy(exec, columns, threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(sizeof(bar) + alignof(bar)));
    Kokkos::parallel_for(
        "strategy::four", policy,
        KOKKOS_LAMBDA(typename Kokkos::TeamPolicy<Exec>::member_type const& team) {
          auto* const b = static_cast<bar*>(team.team_shmem().get_shmem(sizeof(bar)));
          Kokkos::single(Kokkos::PerTeam(team), [&] { *b = bars[team.league_rank()]; });
          team.team_barrier();
          float* const voxels = view.volume + std::int32_t(team.league_rank()) * view.nz;
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, view.nz),
                               [&](std::int32_t k) { voxels[k] += view.voxel(*b, k); });
        });
  }
}

/// The report's scan, `fine` times as fine, and the backprojection of all its views onto zeros.
struct strategy_case {
  ct::geometry scan;
  grid volume;
  strategy which;

  strategy_case(double fine, strategy what)
      : scan(ct::circular_cone({scaled(224, fine), scaled(200, fine), 4.0956 / fine, 4.3856 / fine},
                               source_axis, source_detector,
                               ct::even_angles(scaled(246, fine), 2 * std::numbers::pi))),
        volume(grid::centred({scaled(128, fine), scaled(124, fine), scaled(120, fine)},
                             (3.9062 / fine) * vec3<double>{1, 1, 1})),
        which(what) {}

  [[nodiscard]] double updates() const { return double(volume.size()) * double(scan.num_views()); }
  [[nodiscard]] min_work work() const {
    return {(double(num_pixels(scan)) + double(volume.size())) * sizeof(float),
            13 * updates() + 12 * updates() / double(volume.extent[2]), arithmetic::fp32};
  }

  template <class Exec>
  prepared<Exec, float> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const with = *this;
    auto const images = readings().on<float>(exec, scan);
    Kokkos::View<bar*, space> const bars("bars", std::size_t(volume.extent[0] * volume.extent[1]));
    return {volume.size(),
            [=](Exec const& on, variant const&, float* out) {
              Kokkos::deep_copy(on, wrap_volume<space>(out, with.volume).data, 0.F);
              for (std::int64_t n = 0; n < with.scan.num_views(); ++n) {
                add_view(on, with.which, with.view(n, images.data.data(), out), bars.data());
              }
            },
            work(),
            [=](std::int64_t count) {
              auto const pixels = fetch(exec, images.data);
              auto const& g = with.volume;
              auto const& e = g.extent;
              return some_of(g.size(), count, [&](std::int64_t n) {
                vec3<double> const voxel{double(n / e[2] / e[1]), double(n / e[2] % e[1]),
                                         double(n % e[2])};
                return exact_voxel(with.scan, pixels, g.origin + g.spacing.x * voxel);
              });
            }};
  }

 private:
  static std::int64_t scaled(std::int64_t n, double fine) { return std::int64_t(fine * double(n)); }
  [[nodiscard]] one_view view(std::int64_t n, float const* images, float* out) const {
    auto const& w = scan.views()[std::size_t(n)];
    auto const& e = volume.extent;
    return {images + n * scan.num_u() * scan.num_v(),
            out,
            std::int32_t(e[0]),
            std::int32_t(e[1]),
            std::int32_t(e[2]),
            std::int32_t(scan.num_u()),
            std::int32_t(scan.num_v()),
            float(volume.spacing.x),
            float(norm(w.u_step)),
            float(norm(w.v_step)),
            float(source_axis),
            float(source_detector),
            float(w.source.x / source_axis),
            float(w.source.y / source_axis)};
  }
};

/// A strategy, or the library's FDK on the same scan, of which its backprojection is timed.
template <class Exec, class Case>
void run(benchmark::State& state, strategy_case const& p, Case const& what) {
  Exec const exec;
  measurable<Exec, float> const call(exec, what.prepare(exec));
  call();
  std::vector<double> times;
  for (auto _ : state) {
    times.push_back(std::is_same_v<Case, strategy_case>
                        ? seconds_of(exec, call)
                        : kernel_times(call).at("iso::ct::fdk::back_project").wall);
    state.SetIterationTime(times.back());
  }
  double const seconds = median(times);
  double const error = call.error();
  state.counters["gups"] = 1e-9 * p.updates() / seconds;
  state.counters["ms"] = 1e3 * seconds;
  set_counters(state, exec, seconds, p.work(), error);
  if (!(error <= max_error)) {
    fail(state, "the result is not what the definition gives");
  }
}

template <class Exec>
void add_rows(std::string const& where) {
  constexpr bool device = backend::is_device<Exec>;
  for (double const fine : smoke() ? std::vector<double>{0.25} : std::vector<double>{1, 2}) {
    auto const e = strategy_case(fine, strategy::original).volume.extent;
    auto const row = "/" + where + "/" + std::to_string(e[0]) + "x" + std::to_string(e[1]) + "x" +
                     std::to_string(e[2]);
    int const iterations = device ? 9 : fine <= 1 ? 3 : 1;
    for (auto const& [name, which] :
         {std::pair{"original", strategy::original}, std::pair{"strategy_1", strategy::one},
          std::pair{"strategy_3", strategy::three}, std::pair{"strategy_4", strategy::four}}) {
      add_row(name + row, iterations, [fine, what = which](benchmark::State& state) {
        strategy_case const p(fine, what);
        run<Exec>(state, p, p);
      });
    }
    add_row("library_backprojection" + row, iterations, [=](benchmark::State& state) {
      strategy_case const p(fine, strategy::original);
      run<Exec>(state, p, fdk_case<float>{readings(), p.scan, p.volume});
    });
  }
}

int const registered =
    add_rows_of_backends([]<class Exec>(std::string const& name) { add_rows<Exec>(name); });

}  // namespace
}  // namespace iso::perf
