// SPDX-License-Identifier: BSD-3-Clause
// How many iterations total variation needs to a gap of 1e-3, for weights over three decades: the
// Shepp-Logan head from few views of exact line integrals. Prints a line a weight: the iterations,
// the gap and its relative residual, the root mean square error, and the time of an iteration.
#include "support/program.hpp"

#include <iso/backend/registry.hpp>
#include <iso/core/sum_of.hpp>
#include <iso/ct/iterate.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ct/total_variation.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
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
};

struct squared_difference {
  float const* a;
  float const* b;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    double const d = double(a[i]) - double(b[i]);
    return d * d;
  }
};

template <class Exec>
int measure(settings const& s) {
  using space = typename Exec::memory_space;
  using seconds = std::chrono::duration<double>;
  Exec const exec;
  // The head fills a cube of `size` mm, voxels of 1 mm.
  double const n = double(s.size);
  double const pitch = 1.3 * 1.2;
  auto const scan =
      ct::circular_cone({.num_u = s.size, .num_v = s.size, .pitch_u = pitch, .pitch_v = pitch},
                        4 * n, 4.8 * n, ct::even_angles(s.views, 2 * std::numbers::pi));
  auto const grid = iso::grid::centred({s.size, s.size, s.size}, {1, 1, 1});
  auto const head = ct::shepp_logan(n / 2);
  auto const readings = make_projections<float, space>(exec, "readings", s.views, s.size, s.size);
  ct::project_ellipsoids(exec, head, ct::stage(exec, scan), readings);
  auto const truth = make_volume<float, space>(exec, "truth", grid);
  ct::rasterise_ellipsoids(exec, head, truth);
  auto const x = make_volume<float, space>(exec, "x", grid);
  bool all = true;
  std::printf("%10s %10s %10s %12s %10s %10s\n", "weight", "iterations", "gap", "residual", "rms",
              "ms");
  for (double const weight : s.weights) {
    Kokkos::deep_copy(exec, x.data, 0.0F);
    projection_view<float const, space> const given = readings;
    ct::total_variation<Exec, float> method(exec, scan, given, x,
                                            {.weight = weight, .box = {.lower = 0, .upper = 2}});
    exec.fence("iso_total_variation_gap");
    auto const start = std::chrono::steady_clock::now();
    auto const history = ct::iterate(method, {.iterations = s.iterations, .gap = s.gap});
    exec.fence("iso_total_variation_gap");
    seconds const taken = std::chrono::steady_clock::now() - start;
    auto const& last = history.back();
    double const error =
        std::sqrt(sum_of(exec, grid.size(), squared_difference{x.data.data(), truth.data.data()}) /
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
  int reached = 0;
  int const ran = iso::perf::run_program(app, argc, argv, [&] {
    iso::backend::with_name(s.backend, [&]<class Tag>(Tag) {
      reached = iso::perf::measure<typename Tag::execution_space>(s);
    });
  });
  return ran != 0 ? ran : reached;
}
