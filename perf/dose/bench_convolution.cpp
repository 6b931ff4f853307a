// SPDX-License-Identifier: BSD-3-Clause
// convolve and terma: a 100 mm x 100 mm field of 6 MV in water, voxels of 1 mm (processors: 2 mm),
// everything in the backend's memory. Rows:
//
//   convolution/<engine>/<region>/<directions>/<precision>/<backend>
//   tabulated/...                              by a table of the spectrum, not exponentials
//   convolution_avx2/...                       a processor's registers of 32 bytes
//   terma/<region>/<precision>/<backend>
//
// Regions: `x` 256 x 155 x 155 with the beam along x (gantry 270), `y` 155 x 256 x 155 with the
// beam along y (gantry 0), `cube` all of 256^3; on processors `cube` of 128^3 and `small` of 64^3,
// gantry 0. Engines: `lattice`, and in `x` and `small` also `voxel_lines` and `voxel_samples`
// (steps of 1 mm), and `non_voxel` (steps of 1 mm, rays 2 mm apart).
//
// Directions: 8 cones x 8 azimuths, 24 x 16, and on processors 6 x 12 and (in `small`) 4 x 4, of
// equal kernel energy, tilted, each walked one way.
//
// Counters beside the usual: `directions`; `gvd`, 1e9 voxels times directions a second.
//
// The models: cases::convolution_work and cases::terma_work.
//
// `error`: of some voxels, sum of |difference| from the plainest loops in double over the sum of
// their doses. The engines that sample the density are compared with lines of exact chords.
#include "support/bench.hpp"

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/cases/dose.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

/// A field onto water.
struct field {
  iso::array<std::int64_t, 3> extent;
  double voxel;
  double gantry;
  dose::cone_options cones = {};
  dose::dose_engine engine = dose::dose_engine::lattice;
  bool table = false;  ///< a tabulated kernel, mixed for the spectrum, instead of exponentials

  [[nodiscard]] bool walks() const { return engine == dose::dose_engine::lattice && !table; }
  [[nodiscard]] irradiation in_water() const {
    return water_field(grid::centred(extent, {voxel, voxel, voxel}), gantry);
  }
};

template <class Exec, class T>
void measure(benchmark::State& state, field const& p, int host_vector_bytes) {
  Exec const exec;
  backend::set_host_vector_bytes(host_vector_bytes);
  convolution_case<T> const what{
      p.in_water(), p.table ? "table" : "6mv", p.cones, {.engine = p.engine}};
  measurable<Exec, T> const call(exec, what.prepare(exec));
  double const seconds = time_calls(state, exec, call);
  backend::set_host_vector_bytes(64);
  double const steps = double(call.result().size()) * what.directions();
  state.counters["directions"] = what.directions();
  state.counters["gvd"] = 1e-9 * steps / seconds;
  set_counters(state, exec, seconds, call.work(), call.error());
}

template <class Exec, class T>
void measure_terma(benchmark::State& state, field const& p) {
  Exec const exec;
  measurable<Exec, T> const call(exec, terma_case<T>{p.in_water()}.prepare(exec));
  double const seconds = time_calls(state, exec, call);
  set_counters(state, exec, seconds, call.work(), call.error());
}

/// The engines as published, by exponentials and by a table.
template <class Add>
void add_published(Add const& add, field p, std::string const& where) {
  std::string const directions = "/" + std::to_string(p.cones.cones * p.cones.azimuths);
  for (bool const table : {false, true}) {
    p.table = table;
    for (auto const& [which, name] : words(dose::dose_engine())) {
      if (which == dose::dose_engine::lattice) {
        continue;
      }
      p.engine = which;
      add((table ? "tabulated/" : "convolution/") + std::string(name) + where + directions, p, 0.0F,
          64);
    }
  }
}

template <class Add>
void add_tabulated(Add const& add, field p, std::string const& where) {
  p.table = true;
  add("tabulated/lattice" + where + "/64", p, 0.0F, 64);
  p.cones = {24, 16};
  add("tabulated/lattice" + where + "/384", p, 0.0F, 64);
}

template <class Exec>
void add_rows_of(std::string const& name) {
  constexpr bool device = backend::is_device<Exec>;
  double const pi = 3.14159265358979323846;
  int const iterations = device ? 15 : 3;
  auto const add = [&](std::string const& row, field const& p, auto value, int bytes) {
    using T = decltype(value);
    add_row(row + (sizeof(T) == 4 ? "/float/" : "/double/") + name,
            p.walks() ? iterations : std::min(iterations, 5),
            [=](benchmark::State& state) { measure<Exec, T>(state, p, bytes); });
  };
  struct region {
    char const* name;
    iso::array<std::int64_t, 3> extent;
    double gantry;
  };
  std::vector<region> regions;
  if (smoke()) {
    regions = {{"cube", {24, 24, 24}, 0}};
  } else if (device) {
    regions = {{"x", {256, 155, 155}, 1.5 * pi},
               {"y", {155, 256, 155}, 0},
               {"cube", {256, 256, 256}, 1.5 * pi}};
  } else {
    regions = {{"cube", {128, 128, 128}, 0}};
  }
  for (region const& r : regions) {
    field p{r.extent, device ? 1.0 : 2.0, r.gantry};
    std::string const where = std::string("/") + r.name;
    struct directions {
      char const* name;
      int cones;
      int azimuths;
    };
    std::vector<directions> const sets =
        device ? std::vector<directions>{{"/64", 8, 8}, {"/384", 24, 16}}
               : std::vector<directions>{{"/72", 6, 12}};
    for (directions const& d : sets) {
      p.cones = {d.cones, d.azimuths};
      add("convolution/lattice" + where + d.name, p, 0.0F, 64);
      if (!device) {
        add("convolution_avx2/lattice" + where + d.name, p, 0.0F, 32);
      }
    }
    p.cones = {8, 8};
    add("convolution/lattice" + where + "/64", p, 0.0, 64);
    if (device && &r == &regions.front()) {
      add_published(add, p, where);
      add_tabulated(add, p, where);
    }
    add_row("terma" + where + "/float/" + name, iterations,
            [=](benchmark::State& state) { measure_terma<Exec, float>(state, p); });
  }
  if (!device) {
    std::int64_t const n = smoke() ? 24 : 64;
    add_published(add, {{n, n, n}, 2, 0, {4, 4}}, "/small");
  }
}

int const registered =
    add_rows_of_backends([]<class Exec>(std::string const& name) { add_rows_of<Exec>(name); });

}  // namespace
}  // namespace iso::perf
