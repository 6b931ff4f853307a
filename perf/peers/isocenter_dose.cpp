// SPDX-License-Identifier: BSD-3-Clause
// One dose of one square field, timed, for compare_dose.py and the scripts of perf/dose.
//
// Prints JSON: the machine, `terma_seconds` and `convolution_seconds` (onto zeros; the least of the
// calls, between fences; everything is in the backend's memory before), `steps` (seconds by
// kernel), and `region`, the voxels that got dose. Seconds are those on the wall, or with --backend
// serial those of the processor, which other programs do not lengthen (`clock`). Where there are
// several calls, a first one is not timed. `isocenter_dose --lines` answers one command line after
// the other from its standard input.
#include "support/program.hpp"
#include "support/times.hpp"

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/cases/dose.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

std::map<std::string, dose::dose_engine> const engines = {
    {"lattice", dose::dose_engine::lattice},
    {"voxel_lines", dose::dose_engine::voxel_lines},
    {"voxel_samples", dose::dose_engine::voxel_samples},
    {"non_voxel", dose::dose_engine::non_voxel}};
std::map<std::string, ray::traversal> const traversals = {
    {"fastest", ray::traversal::fastest},
    {"amanatides_woo", ray::traversal::amanatides_woo},
    {"branchless", ray::traversal::branchless},
    {"siddon", ray::traversal::siddon}};
std::map<std::string, dose::cone_placing> const placings = {
    {"equal_energy", dose::cone_placing::equal_energy},
    {"equal_solid_angle", dose::cone_placing::equal_solid_angle}};

struct settings {
  std::string backend = "serial";
  std::string precision = "float";
  std::string engine = "non_voxel";
  std::string traversal = "fastest";
  std::string kernel = "table";
  std::string placing = "equal_energy";
  std::string density;
  std::string spectrum;
  std::string dose;
  std::vector<std::int64_t> extent{32, 32, 32};
  std::vector<double> spacing{8, 8, 8};
  std::optional<double> surface;
  double field = 100;
  double gantry = 0;
  double margin = 27;
  int cones = 8;
  int azimuths = 8;
  int tilt = 0;
  double radial_step = 1;
  double ray_spacing = 2;
  int repeats = 1;
  int steps = 0;
  int vector_bytes = 64;

  [[nodiscard]] irradiation problem() const {
    irradiation one{};
    one.patient =
        grid::centred({extent[0], extent[1], extent[2]}, {spacing[0], spacing[1], spacing[2]});
    one.field.fluence = dose::fluence_map::rectangle(-field / 2, field / 2, -field / 2, field / 2);
    one.field.gantry = gantry * std::numbers::pi / 180;
    if (surface) {
      one.patient.origin.y = 0.5 * spacing[1] - *surface;
    }
    if (!spectrum.empty()) {
      one.photons = dose::parse_spectrum(read_text(spectrum), "spectrum");
    }
    one.region = dose::region_around(one.field, one.patient, margin);
    auto const values = density.empty() ? std::vector<float>(std::size_t(one.patient.size()), 1.0F)
                                        : read_floats(density, one.patient.size());
    one.given = std::make_shared<std::vector<double> const>(values.begin(), values.end());
    return one;
  }
};

template <class Exec, class T>
void measure(settings const& s) {
  constexpr bool by_processor = std::is_same_v<Exec, Kokkos::Serial>;
  Exec const exec;
  auto const problem = s.problem();
  convolution_case<T> const what{problem,
                                 s.kernel == "table" ? "table" : "6mv",
                                 {s.cones, s.azimuths, placings.at(s.placing)},
                                 {.engine = engines.at(s.engine),
                                  .traversal = traversals.at(s.traversal),
                                  .radial_step = s.radial_step,
                                  .ray_spacing = s.ray_spacing,
                                  .tilt = s.tilt != 0}};
  measurable<Exec, T> const terma(exec, terma_case<T>{problem}.prepare(exec));
  measurable<Exec, T> const convolve(exec, what.prepare(exec));
  auto const seconds = [](moment took) { return by_processor ? took.processor : took.wall; };
  auto const least = [&](auto const& call) {
    if (s.repeats > 1) {
      call();
    }
    double found = std::numeric_limits<double>::infinity();
    for (int n = 0; n < std::max(s.repeats, 1); ++n) {
      found = std::min(found, seconds(duration_of(exec, call)));
    }
    return found;
  };
  auto const facts = backend::facts(exec);
  auto const& region = problem.region;
  vec3<double> const first = problem.patient.to_index(region.origin);
  json said{{"processor", facts.processor},
            {"threads", facts.threads},
            {"revision", facts.git_revision},
            {"clock", by_processor ? "processor" : "wall"},
            {"region",
             {{"first", {std::llround(first.x), std::llround(first.y), std::llround(first.z)}},
              {"extent", {region.extent[0], region.extent[1], region.extent[2]}}}},
            {"terma_seconds", least(terma)},
            {"convolution_seconds", least(convolve)},
            {"steps", json::object()}};
  if (s.steps != 0) {
    for (auto const& [label, took] : kernel_times(convolve)) {
      said["steps"][label] = seconds(took);
    }
  }
  if (!s.dose.empty()) {
    write_floats(s.dose, convolve.values());
  }
  std::cout << said << "\n";
}

}  // namespace
}  // namespace iso::perf

int main(int argc, char** argv) {
  using namespace iso::perf;
  settings s;
  CLI::App app("One dose of one square field, timed", "isocenter_dose");
  app.option_defaults()->always_capture_default();
  app.add_option("--backend", s.backend);
  app.add_option("--precision", s.precision)->check(CLI::IsMember({"float", "double"}));
  app.add_option("--extent", s.extent, "voxels")->delimiter(',')->expected(3);
  app.add_option("--spacing", s.spacing, "mm; the isocentre is in the middle")
      ->delimiter(',')
      ->expected(3);
  app.add_option("--density", s.density, "float32 [x, y, z], z fastest, g/cm3; else water");
  app.add_option("--surface", s.surface,
                 "mm from the cube's first face along y to the isocentre; else half the cube");
  app.add_option("--spectrum", s.spectrum, "CSV; else mohan_6mv");
  app.add_option("--field", s.field, "mm, side of the square in the plane of the isocentre");
  app.add_option("--gantry", s.gantry, "degrees");
  app.add_option("--margin", s.margin, "mm about the field that get dose");
  app.add_option("--engine", s.engine)->check(CLI::IsMember(engines));
  app.add_option("--traversal", s.traversal, "of voxel_lines")->check(CLI::IsMember(traversals));
  app.add_option("--kernel", s.kernel)->check(CLI::IsMember({"table", "exponential"}));
  app.add_option("--cones", s.cones);
  app.add_option("--azimuths", s.azimuths);
  app.add_option("--placing", s.placing)->check(CLI::IsMember(placings));
  app.add_option("--tilt", s.tilt, "1: the kernel follows the diverging rays");
  app.add_option("--radial-step", s.radial_step, "mm");
  app.add_option("--ray-spacing", s.ray_spacing, "mm");
  app.add_option("--repeats", s.repeats, "timed calls");
  app.add_option("--steps", s.steps, "1: also times every kernel of one more call");
  app.add_option("--vector-bytes", s.vector_bytes, "of a processor's registers");
  app.add_option("--dose", s.dose, "writes the region's dose, float32, z fastest");
  return run_lines(app, argc, argv, s, [&] {
    iso::backend::set_host_vector_bytes(s.vector_bytes);
    iso::backend::with_name(s.backend, [&]<class Tag>(Tag) {
      using exec = typename Tag::execution_space;
      s.precision == "float" ? measure<exec, float>(s) : measure<exec, double>(s);
    });
  });
}
