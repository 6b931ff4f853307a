// SPDX-License-Identifier: BSD-3-Clause
//! \file  isocenter_dose.cpp
//! Isocenter's side of compare_dose.py: the dose of one square field in a cube, driven line by line
//! as worker.py describes.
//!
//! Files are float32 [x, y, z], z fastest: the density that is read, the dose that is written. The
//! beam travels along y, its isocentre lies `--surface` mm behind the cube's first face. All
//! numbers of the problem come from the command line, so that compare_dose.py alone holds them.
#include "serve.hpp"
#include "support/times.hpp"

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/cases/dose.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

struct settings {
  std::string backend;
  std::string precision;
  std::string density;
  std::string spectrum;
  std::string kernel;
  std::string engine;
  std::int64_t size = 0;
  double voxel = 0;
  double surface = 0;
  double source_distance = 0;
  double field = 0;
  dose::cone_options cones;
  int vector_bytes = 0;

  [[nodiscard]] irradiation problem() const {
    auto box = grid::centred({size, size, size}, {voxel, voxel, voxel});
    box.origin.y = 0.5 * voxel - surface;
    irradiation one{.patient = box, .region = box};
    one.field.source_distance = source_distance;
    one.field.fluence =
        dose::fluence_map::rectangle(-0.5 * field, 0.5 * field, -0.5 * field, 0.5 * field);
    one.photons = dose::parse_spectrum(read_text(spectrum), "spectrum");
    auto const values = read_floats(density, box.size());
    one.given = std::make_shared<std::vector<double> const>(values.begin(), values.end());
    return one;
  }
};

/// Processor time of TERMA and of the convolution onto zeros, wall time of both; milliseconds.
template <class Exec, class T>
void run(settings const& s) {
  Exec const exec;
  auto const problem = s.problem();
  dose::convolution_options const options{.engine = s.engine == "lattice"
                                                        ? dose::dose_engine::lattice
                                                        : dose::dose_engine::voxel_lines};
  measurable<Exec, T> const terma(exec, terma_case<T>{problem}.prepare(exec));
  measurable<Exec, T> const convolution(
      exec,
      convolution_case<T>{problem, s.kernel == "tabulated" ? "table" : s.kernel, s.cones, options}
          .prepare(exec));
  auto const timed = [&](int calls) {
    json times{{"ms", json::array()},
               {"terma_cpu_ms", json::array()},
               {"convolution_cpu_ms", json::array()}};
    for (int i = 0; i < calls; ++i) {
      moment const first = duration_of(exec, terma);
      moment const second = duration_of(exec, convolution);
      times["ms"].push_back(1e3 * (first.wall + second.wall));
      times["terma_cpu_ms"].push_back(1e3 * first.processor);
      times["convolution_cpu_ms"].push_back(1e3 * second.processor);
    }
    return times;
  };
  auto const write = [&](std::string const& path) {
    write_floats(path, convolution.values());
    return problem.region.size();
  };
  serve(json::object(), write, timed);
}

}  // namespace
}  // namespace iso::perf

int main(int argc, char** argv) {
  iso::perf::settings s;
  CLI::App app("One dose of compare_dose.py, timed", "isocenter_dose");
  app.add_option("--backend", s.backend)->required();
  app.add_option("--precision", s.precision)->required()->check(CLI::IsMember({"float", "double"}));
  app.add_option("--density", s.density)->required();
  app.add_option("--spectrum", s.spectrum)->required();
  app.add_option("--kernel", s.kernel, "tabulated, or the name of an exponential one")->required();
  app.add_option("--engine", s.engine)
      ->required()
      ->check(CLI::IsMember({"lattice", "voxel_lines"}));
  app.add_option("--size", s.size)->required();
  app.add_option("--voxel", s.voxel, "mm")->required();
  app.add_option("--surface", s.surface, "mm")->required();
  app.add_option("--source-distance", s.source_distance, "mm")->required();
  app.add_option("--field", s.field, "mm")->required();
  app.add_option("--cones", s.cones.cones)->required();
  app.add_option("--azimuths", s.cones.azimuths)->required();
  app.add_option("--vector-bytes", s.vector_bytes, "of a processor's registers")->required();
  return iso::perf::run_program(app, argc, argv, [&] {
    iso::backend::set_host_vector_bytes(s.vector_bytes);
    iso::backend::with_name(s.backend, [&](auto tag) {
      using exec = typename decltype(tag)::execution_space;
      s.precision == "double" ? iso::perf::run<exec, double>(s) : iso::perf::run<exec, float>(s);
    });
  });
}
