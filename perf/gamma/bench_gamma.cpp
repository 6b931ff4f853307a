// SPDX-License-Identifier: BSD-3-Clause
// gamma_index: a hill against itself shifted by 1 mm times 1.01, voxels of 2 mm, cut-off 10 %,
// maximum gamma 2, global normalisation; everything in the backend's memory, the plan made before.
// Rows:
//
//   gamma/<interpolation>/<criterion>/<precision>/<backend>/<voxels along a side>
//   gamma_1mm/...      voxels of 1 mm: those of n along a side fill the cube of n / 2 of 2 mm
//   gamma_rough/...    both doses times 1 + 0.05 times numbers that look random
//   gamma_plan/...     the plan alone: doses looked at, ranges of cells, order of the search
//
// Counters beside the usual: `compared`, points that are not below the cut-off; `ns_a_point`, of
// those.
//
// The model: cases::gamma_work. `error`: relative l1 distance from the oracle's samples.
#include "support/bench.hpp"

#include <iso/cases/gamma.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

template <class Exec, class T>
void measure(benchmark::State& state, two_doses const& doses) {
  Exec const exec;
  gamma_case<T> const what{doses};
  measurable<Exec, T> const call(exec, what.prepare(exec));
  double const seconds = time_calls(state, exec, call);
  std::int64_t compared = 0;
  for (T const x : call.values()) {
    compared += std::isnan(x) ? 0 : 1;
  }
  state.counters["compared"] = double(compared);
  state.counters["ns_a_point"] = 1e9 * seconds / double(compared);
  set_counters(state, exec, seconds, call.work(), call.error(500));
}

template <class Exec>
void measure_plan(benchmark::State& state, two_doses const& doses) {
  Exec const exec;
  using space = typename Exec::memory_space;
  auto const reference = doses.reference_on<float>(exec);
  auto const evaluated = doses.evaluated_on<float>(exec);
  time_calls(state, exec, [&] {
    gamma::gamma_plan<float, space> const plan(exec, reference, evaluated, doses.criteria,
                                               doses.options);
  });
}

template <class Exec>
void add_rows_of(std::string const& name) {
  constexpr bool device = backend::is_device<Exec>;
  int const iterations = device ? 15 : 5;
  std::vector<std::int64_t> const sizes = smoke()  ? std::vector<std::int64_t>{12}
                                          : device ? std::vector<std::int64_t>{64, 128, 256}
                                                   : std::vector<std::int64_t>{32, 64, 128};
  // Of these alone the largest sizes, whose growth is the goal's.
  std::vector<std::int64_t> most = sizes;
  if (!smoke()) {
    most.push_back(2 * sizes.back());
  }
  for (std::int64_t const n : most) {
    auto const row = [&](std::string const& rows, two_doses const& doses) {
      add_row(rows + "/trilinear/3_3/float/" + name + "/" + std::to_string(n), iterations,
              [=](benchmark::State& state) { measure<Exec, float>(state, doses); });
    };
    row("gamma_1mm", documented_doses(n, 1));
    if (n > sizes.back()) {
      row("gamma", documented_doses(n));
    }
  }
  struct limits {
    char const* name;
    gamma::criterion both;
  };
  for (std::int64_t const n : sizes) {
    std::string const end = "/" + name + "/" + std::to_string(n);
    auto doses = documented_doses(n);
    for (limits const& l : {limits{"3_3", {0.03, 3}}, limits{"1_1", {0.01, 1}}}) {
      doses.criteria = {l.both};
      std::string const row = std::string("/trilinear/") + l.name;
      add_row("gamma" + row + "/float" + end, iterations,
              [=](benchmark::State& state) { measure<Exec, float>(state, doses); });
      add_row("gamma" + row + "/double" + end, iterations,
              [=](benchmark::State& state) { measure<Exec, double>(state, doses); });
      auto rough = doses;
      rough.rough = 0.05;
      add_row("gamma_rough" + row + "/float" + end, iterations,
              [=](benchmark::State& state) { measure<Exec, float>(state, rough); });
    }
    doses.criteria = {{0.03, 3}};
    add_row("gamma_plan/float" + end, iterations,
            [=](benchmark::State& state) { measure_plan<Exec>(state, doses); });
    for (auto const& [between, which] :
         {std::pair{"tetrahedra", gamma::interpolation::tetrahedra},
          std::pair{"grid_points", gamma::interpolation::grid_points}}) {
      doses.options.between = which;
      add_row(std::string("gamma/") + between + "/3_3/float" + end, iterations,
              [=](benchmark::State& state) { measure<Exec, float>(state, doses); });
    }
  }
}

int const registered =
    add_rows_of_backends([]<class Exec>(std::string const& name) { add_rows_of<Exec>(name); });

}  // namespace
}  // namespace iso::perf
