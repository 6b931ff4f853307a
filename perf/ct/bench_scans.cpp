// SPDX-License-Identifier: BSD-3-Clause
// forward_project, back_project and fdk of scans of many kinds, each beside the same call of an
// upright scan, in turn in one run: N^3 voxels of 1 mm and as many pixels a side, 32 views, float.
// What a real scan costs beyond an ideal one can be read off a row. Rows:
//
//   scans/<scan>/float/<backend>/<N>
//
// <scan>: `upright` (cases::cone_scan beside itself: how far two equal calls lie apart); `yaw`,
// `pitch` and `roll`, its detector turned by 3, 1.7 and 0.6 degrees; `aside`, its detector moved by
// a quarter of its width; `helix`; `parallel`; `laminography`, its axis tilted by 29 degrees;
// `along_z`, by 80, so that z drives all rays; `slices`, upright with voxels of 1 x 1 x 3 mm, a
// third as many; `coarse` and `fine`, upright with pixels of twice and half a voxel; `fan`, one row
// of pixels and one plane of voxels, N views. All beside upright, as are those that end in `_roll`,
// whose detectors are turned as roll's; but `fan_roll`, by 0.1 degrees so that its rays stay within
// the plane's voxels, stands beside fan. `spline` and `exact`: upright, by these projectors, beside
// linear Joseph; `spline_pitch`, `spline_roll`, `exact_pitch` and `exact_roll` beside the upright
// scan by the same projector. `two_threads` and `two_threads_roll` (OpenMP): upright's and roll's
// scans by two threads, each beside itself by one; a quiet machine with two cores is wanted.
//
// Counters beside the usual: `forward_ms`, `adjoint_ms`, `fdk_ms`, of a view, medians (on a
// processor minima, Serial's of its processor time); `forward_ns`, of a pixel and plane,
// `adjoint_ns` and `fdk_ns`, of a voxel and view; `forward_ratio`, `adjoint_ratio`, `fdk_ratio`, of
// these over those of the scan beside. FDK's are 0 where it takes no such scan, or the row is of a
// projector.
//
// On a processor 512^3 voxels have rows of upright's and roll's scan alone, with 16 views: whether
// a sample takes as long as at 256^3.
//
// The model: cases::projection_work.
//
// `error`: the largest of the errors of the calls, as their own benchmarks have them.
#include "support/bench.hpp"

#include <iso/cases/projection.hpp>
#include <iso/cases/reconstruction.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <numbers>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

using T = float;
constexpr double degree = std::numbers::pi / 180;

struct scanned {
  ct::geometry scan;
  grid box;
  bool fdk = true;
  ct::projector method = ct::projector::joseph_linear;
};
using maker = std::function<scanned(std::int64_t n, std::int64_t views)>;
scanned upright(std::int64_t n, std::int64_t views);

/// A scan and the one beside it, and the threads that do their work: 0 where it is not chosen.
struct kind {
  char const* name;
  maker make;
  maker beside = upright;
  int threads = 0;
  int threads_beside = 0;
};

grid cube(std::int64_t n) { return grid::centred({n, n, n}, {1, 1, 1}); }
scanned turned(std::int64_t n, std::int64_t views, ct::detector_turn const& by) {
  return {ct::turn_detector(cone_scan(n, views), by), cube(n)};
}
scanned upright(std::int64_t n, std::int64_t views) { return {cone_scan(n, views), cube(n)}; }
scanned pitched(std::int64_t n, std::int64_t views) {
  return turned(n, views, {.pitch = 1.7 * degree});
}
scanned rolled_cone(std::int64_t n, std::int64_t views) {
  return turned(n, views, {.roll = 0.6 * degree});
}
/// The scan by another projector, which FDK has nothing to do with.
maker by(ct::projector method, maker const& make) {
  return [=](std::int64_t n, std::int64_t views) {
    scanned all = make(n, views);
    all.fdk = false;
    all.method = method;
    return all;
  };
}
ct::geometry rolled(ct::geometry const& scan, double degrees = 0.6) {
  return ct::turn_detector(scan, {.roll = degrees * degree});
}
/// Parallel rays whose pixels are as wide as voxels.
ct::geometry parallel(std::int64_t n, std::int64_t views) {
  return ct::circular_parallel({.num_u = n, .num_v = n, .pitch_u = 1, .pitch_v = 1},
                               ct::even_angles(views, std::numbers::pi, 0.4));
}
ct::geometry aside(std::int64_t n, std::int64_t views) {
  double const pitch = 6.7 / 5.7;
  return ct::circular_cone(
      {.num_u = n, .num_v = n, .pitch_u = pitch, .pitch_v = pitch, .offset_u = 0.25 * double(n)},
      5.7 * double(n), 6.7 * double(n), ct::even_angles(views, 2 * std::numbers::pi, 0.4));
}
ct::geometry wound(std::int64_t n, std::int64_t views) {
  auto const angles = ct::even_angles(views, 2 * std::numbers::pi, 0.4);
  double const pitch = 6.7 / 5.7;
  return ct::helix(ct::circular_cone({.num_u = n, .num_v = n, .pitch_u = pitch, .pitch_v = pitch},
                                     5.7 * double(n), 6.7 * double(n), angles),
                   angles, 0.25 * double(n));
}

scanned tilted_axis(std::int64_t n, std::int64_t views, double degrees) {
  return {ct::laminography(cone_scan(n, views), degrees * degree), cube(n), false};
}
/// The middle row of cone_scan, for the middle plane; as many views as pixels, or a call is short.
scanned fan(std::int64_t n, std::int64_t /*views*/) {
  double const pitch = 6.7 / 5.7;
  return {ct::circular_cone({.num_u = n, .num_v = 1, .pitch_u = pitch, .pitch_v = pitch},
                            5.7 * double(n), 6.7 * double(n),
                            ct::even_angles(n, 2 * std::numbers::pi, 0.4)),
          grid::centred({n, n, 1}, {1, 1, 1})};
}

std::vector<kind> kinds() {
  using number = std::int64_t;
  using ct::projector;
  return {
      {"upright", upright},
      {"yaw", [](number n, number views) { return turned(n, views, {.yaw = 3 * degree}); }},
      {"pitch", pitched},
      {"roll", rolled_cone},
      {"aside", [](number n, number views) { return scanned{aside(n, views), cube(n)}; }},
      {"aside_roll",
       [](number n, number views) { return scanned{rolled(aside(n, views)), cube(n)}; }},
      {"helix", [](number n, number views) { return scanned{wound(n, views), cube(n), false}; }},
      {"helix_roll",
       [](number n, number views) { return scanned{rolled(wound(n, views)), cube(n), false}; }},
      {"parallel", [](number n, number views) { return scanned{parallel(n, views), cube(n)}; }},
      {"parallel_roll",
       [](number n, number views) { return scanned{rolled(parallel(n, views)), cube(n)}; }},
      {"laminography", [](number n, number views) { return tilted_axis(n, views, 29); }},
      {"along_z", [](number n, number views) { return tilted_axis(n, views, 80); }},
      {"slices",
       [](number n, number views) {
         return scanned{cone_scan(n, views), grid::centred({n, n, (n + 2) / 3}, {1, 1, 3})};
       }},
      {"coarse", [](number n, number views) { return scanned{cone_scan(n, views, 0.5), cube(n)}; }},
      {"fine", [](number n, number views) { return scanned{cone_scan(n, views, 2), cube(n)}; }},
      {"slices_roll",
       [](number n, number views) {
         return scanned{rolled(cone_scan(n, views)), grid::centred({n, n, (n + 2) / 3}, {1, 1, 3})};
       }},
      {"coarse_roll",
       [](number n, number views) { return scanned{rolled(cone_scan(n, views, 0.5)), cube(n)}; }},
      {"fine_roll",
       [](number n, number views) { return scanned{rolled(cone_scan(n, views, 2)), cube(n)}; }},
      {"fan", fan},
      {"fan_roll",
       [](number n, number views) {
         scanned const all = fan(n, views);
         return scanned{rolled(all.scan, 0.1), all.box};
       },
       fan},
      {"spline", by(projector::joseph_spline, upright)},
      {"spline_pitch", by(projector::joseph_spline, pitched),
       by(projector::joseph_spline, upright)},
      {"spline_roll", by(projector::joseph_spline, rolled_cone),
       by(projector::joseph_spline, upright)},
      {"exact", by(projector::exact, upright)},
      {"exact_pitch", by(projector::exact, pitched), by(projector::exact, upright)},
      {"exact_roll", by(projector::exact, rolled_cone), by(projector::exact, upright)},
      {"two_threads", upright, upright, 2, 1},
      {"two_threads_roll", rolled_cone, rolled_cone, 2, 1},
  };
}

/// The three calls of a scan.
template <class Exec>
struct calls {
  scanned of;
  measurable<Exec, T> forward;
  measurable<Exec, T> adjoint;
  std::optional<measurable<Exec, T>> fdk;

  calls(Exec const& exec, scanned const& what)
      : of(what),
        forward(exec,
                projection_case<T>{{what.box}, what.scan, {.method = what.method}}.prepare(exec)),
        adjoint(exec,
                back_projection_case<T>{
                    {input_volume{what.box}}, what.scan, what.box, {.method = what.method}}
                    .prepare(exec)) {
    if (what.fdk) {
      // The plan weighs a displaced detector and a half circle by itself.
      fdk.emplace(exec, fdk_case<T>{{input_volume{what.box}}, what.scan, what.box}.prepare(exec));
    }
  }
  [[nodiscard]] double error() const {
    double const of_two = std::max(forward.error(), adjoint.error());
    return fdk ? std::max(of_two, fdk->error()) : of_two;
  }
  /// Counts what a call does: rays times planes, and voxels.
  [[nodiscard]] double samples() const {
    auto const& n = of.box.extent;
    return double(of.scan.num_u() * of.scan.num_v()) * double(std::max({n[0], n[1], n[2]}));
  }
  [[nodiscard]] double voxels() const { return double(of.box.size()); }
  [[nodiscard]] double views() const { return double(of.scan.num_views()); }
};

struct times {
  stopwatch forward;
  stopwatch adjoint;
  stopwatch fdk;

  template <class Exec>
  void run(Exec const& exec, calls<Exec> const& of) {
    forward.run(exec, of.forward);
    adjoint.run(exec, of.adjoint);
    if (of.fdk) {
      fdk.run(exec, *of.fdk);
    }
  }
};

/// An instance with so many threads, or the default one.
template <class Exec>
Exec instance_of(int threads) {
#if ISO_HAS_OPENMP
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) {
    return threads > 0 ? Exec(threads) : Exec();
  }
#endif
  return Exec();
}

template <class Exec>
void measure(benchmark::State& state, kind const& what, std::int64_t n, std::int64_t views) {
  auto const exec = instance_of<Exec>(what.threads);
  auto const exec_beside = instance_of<Exec>(what.threads_beside);
  calls<Exec> const here(exec, what.make(n, views));
  calls<Exec> const beside(exec_beside, what.beside(n, views));
  times warm;
  warm.run(exec, here);
  warm.run(exec_beside, beside);
  times ours;
  times theirs;
  constexpr bool serial = std::is_same_v<Exec, Kokkos::Serial>;
  auto const typical = [](stopwatch const& t) {
    return t.wall.empty()             ? 0
           : backend::is_device<Exec> ? median(t.wall)
           : serial                   ? least(t.processor)
                                      : least(t.wall);
  };
  for (auto _ : state) {
    ours.run(exec, here);
    theirs.run(exec_beside, beside);
    state.SetIterationTime(serial ? ours.forward.processor.back() : ours.forward.wall.back());
  }
  // `work` and `work_beside`: what a view does.
  auto const tell = [&](std::string const& name, stopwatch const& our, stopwatch const& their,
                        double work, double work_beside) {
    double const ms = 1e3 * typical(our) / here.views();
    double const ms_beside = 1e3 * typical(their) / beside.views();
    state.counters[name + "_ms"] = ms;
    state.counters[name + "_ns"] = 1e6 * ms / work;
    state.counters[name + "_ratio"] = our.wall.empty() ? 0 : ms / ms_beside / (work / work_beside);
  };
  state.counters["views"] = here.views();
  tell("forward", ours.forward, theirs.forward, here.samples(), beside.samples());
  tell("adjoint", ours.adjoint, theirs.adjoint, here.voxels(), beside.voxels());
  tell("fdk", ours.fdk, theirs.fdk, here.voxels(), beside.voxels());
  set_counters(state, exec, typical(ours.forward),
               projection_work<T>({.method = here.of.method}, here.of.scan, here.of.box),
               here.error());
}

template <class Exec>
void add_rows_of(std::string const& name) {
  constexpr bool device = backend::is_device<Exec>;
  std::vector<std::int64_t> const sizes = smoke()  ? std::vector<std::int64_t>{32}
                                          : device ? std::vector<std::int64_t>{512}
                                                   : std::vector<std::int64_t>{160, 256, 512};
  for (auto const& what : kinds()) {
    std::string const scan = what.name;
    for (auto const n : sizes) {
      bool const large = !device && n == 512;
      if ((what.threads > 0 && name != "openmp") ||
          (large && scan != "upright" && scan != "roll")) {
        continue;
      }
      add_row("scans/" + scan + "/float/" + name + "/" + std::to_string(n), 3,
              [=](benchmark::State& state) { measure<Exec>(state, what, n, large ? 16 : 32); });
    }
  }
}

int const registered =
    add_rows_of_backends([]<class Exec>(std::string const& name) { add_rows_of<Exec>(name); });

}  // namespace
}  // namespace iso::perf
