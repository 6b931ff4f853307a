// SPDX-License-Identifier: BSD-3-Clause
// How many iterations total variation needs to a gap of 1e-3, for weights over three decades: the
// Shepp-Logan head from few views of exact line integrals, with noise where that is chosen, upright
// or on a turned detector, within bounds or without. Prints a line a weight: the iterations, the
// gap and its relative residual, the root mean square error, and the time of an iteration.
#include "support/program.hpp"

#include <iso/backend/registry.hpp>
#include <iso/core/sum_of.hpp>
#include <iso/ct/iterate.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ct/total_variation.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace iso::perf {
namespace {

struct settings {
  std::string backend;
  std::int64_t size = 256;
  std::int64_t views = 60;
  std::int64_t iterations = 1000;
  double gap = 1e-3;
  std::vector<double> weights = {0.1, 1, 10, 100};
  double value = 1;    ///< times the head's own values, 1/mm
  double noise = 0;    ///< standard deviation that is added to readings
  double photons = 0;  ///< of a pixel in the open beam, counted; 0: not
  double start = 0;    ///< of all voxels
  bool tilt = false;
  bool free = false;
  bool wide = false;
};

template <class T>
struct squared_difference {
  T const* a;
  T const* b;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    double const d = double(a[i]) - double(b[i]);
    return d * d;
  }
};

/// Adds noise to line integrals.
template <class View>
void disturb(View const& readings, settings const& s) {
  using T = typename View::non_const_value_type;
  auto const copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), readings);
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal(0, s.noise);
  for (std::size_t i = 0; i < copy.size(); ++i) {
    double reading = s.value * double(copy.data()[i]);
    if (s.photons > 0) {
      std::poisson_distribution<std::int64_t> counts(s.photons * std::exp(-reading));
      reading = std::log(s.photons / double(std::max<std::int64_t>(counts(random), 1)));
    }
    copy.data()[i] = T(s.noise > 0 ? reading + normal(random) : reading);
  }
  Kokkos::deep_copy(readings, copy);
}

template <class Exec, class T>
int measure(settings const& s) {
  using space = typename Exec::memory_space;
  using seconds = std::chrono::duration<double>;
  Exec const exec;
  // The head fills a cube of `size` mm, voxels of 1 mm.
  double const n = double(s.size);
  double const pitch = 1.3 * 1.2;
  double const degree = std::numbers::pi / 180;
  auto const upright =
      ct::circular_cone({.num_u = s.size, .num_v = s.size, .pitch_u = pitch, .pitch_v = pitch},
                        4 * n, 4.8 * n, ct::even_angles(s.views, 2 * std::numbers::pi));
  auto const scan =
      s.tilt ? ct::turn_detector(upright, {.yaw = 4 * degree, .pitch = 3 * degree, .roll = degree})
             : upright;
  auto const grid = iso::grid::centred({s.size, s.size, s.size}, {1, 1, 1});
  auto const head = ct::shepp_logan(n / 2);
  auto const readings = make_projections<T, space>(exec, "readings", s.views, s.size, s.size);
  ct::project_ellipsoids(exec, head, ct::stage(exec, scan), readings);
  exec.fence("iso_total_variation_gap");
  disturb(readings.data, s);
  auto const truth = make_volume<T, space>(exec, "truth", grid);
  ct::rasterise_ellipsoids(exec, head, truth);
  auto const x = make_volume<T, space>(exec, "x", grid);
  bool all = true;
  std::printf("%10s %10s %10s %12s %10s %10s\n", "weight", "iterations", "gap", "residual", "rms",
              "ms");
  for (double const weight : s.weights) {
    Kokkos::deep_copy(exec, x.data, T(s.start));
    projection_view<T const, space> const given = readings;
    ct::value_range const range =
        s.free ? ct::value_range{} : ct::value_range{.lower = 0, .upper = 2 * s.value};
    ct::total_variation<Exec, T> method(exec, scan, given, x, {.weight = weight, .box = range});
    exec.fence("iso_total_variation_gap");
    auto const start = std::chrono::steady_clock::now();
    auto const history = ct::iterate(method, {.iterations = s.iterations, .gap = s.gap});
    exec.fence("iso_total_variation_gap");
    seconds const taken = std::chrono::steady_clock::now() - start;
    auto const& last = history.back();
    double const error = std::sqrt(
        sum_of(exec, grid.size(), squared_difference<T>{x.data.data(), truth.data.data()}) /
        double(grid.size()));
    std::printf("%10g %10lld %10.2e %12.4e %10.5f %10.3f\n", weight,
                static_cast<long long>(last.number), last.gap, last.relative_residual, error,
                1e3 * taken.count() / double(history.size()));
    std::fflush(stdout);
    all = all && last.gap <= s.gap;
  }
  return all ? 0 : 1;
}

}  // namespace
}  // namespace iso::perf

int main(int argc, char** argv) {
  iso::perf::settings s;
  CLI::App app("Iterations of total variation to a gap", "iso_total_variation_gap");
  app.add_option("--backend", s.backend)->required();
  app.add_option("--size", s.size, "voxels along a side, and pixels");
  app.add_option("--views", s.views);
  app.add_option("--iterations", s.iterations, "at most");
  app.add_option("--gap", s.gap);
  app.add_option("--weights", s.weights);
  app.add_option("--value", s.value, "times the head's own values");
  app.add_option("--noise", s.noise, "standard deviation of readings");
  app.add_option("--photons", s.photons, "of a pixel in the open beam, counted");
  app.add_option("--start", s.start, "of all voxels");
  app.add_flag("--tilt", s.tilt, "turn the detector by 4, 3 and 1 degrees");
  app.add_flag("--free", s.free, "give no bounds of voxels");
  app.add_flag("--double", s.wide, "in double precision");
  int reached = 0;
  int const ran = iso::perf::run_program(app, argc, argv, [&] {
    iso::backend::with_name(s.backend, [&]<class Tag>(Tag) {
      using exec_space = typename Tag::execution_space;
      reached = s.wide ? iso::perf::measure<exec_space, double>(s)
                       : iso::perf::measure<exec_space, float>(s);
    });
  });
  return ran != 0 ? ran : reached;
}
