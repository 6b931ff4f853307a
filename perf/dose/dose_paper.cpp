// SPDX-License-Identifier: BSD-3-Clause
// One dose of one square field, timed, for nonvoxel_paper.py and traversal_paper.py:
//
//   iso_dose_paper [NAME=VALUE ...]
//
//   backend=serial           as in the registry
//   precision=float          or double
//   extent=32,32,32          voxels
//   spacing=8,8,8            mm; the middle of the voxels is the isocentre
//   density=FILE             float32 [x, y, z], z fastest, g/cm3; without it, water
//   field=100                mm, side of the square in the plane of the isocentre
//   gantry=0                 degrees
//   margin=27                mm about the field that get dose
//   engine=non_voxel         lattice, voxel_lines, voxel_samples, non_voxel
//   traversal=fastest        of voxel_lines: amanatides_woo, branchless, siddon
//   kernel=table             of the spectrum, or exponential
//   cones=8 azimuths=8       directions
//   placing=equal_energy     equal_solid_angle, gauss
//   tilt=0                   1: the kernel follows the diverging rays
//   radial_step=1            mm
//   ray_spacing=2            mm
//   repeats=1                timed calls; behind a first one that is not timed where above 1
//   steps=0                  1: also times every kernel of one more call
//   dose=FILE                writes the region's dose, float32, z fastest
//
// prints JSON: what was asked for, the machine, `terma_seconds` and `convolution_seconds` (the
// least of the calls, between fences; everything is in the backend's memory before), `steps`
// (seconds by kernel), and `region`, the voxels that got dose. Seconds are those on the wall, or
// with backend=serial those of the processor, which other programs do not lengthen (`clock`).
#include "support/kernel_times.hpp"

#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>
#include <iso/dose/convolution.hpp>
#include <iso/dose/terma.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <initializer_list>
#include <map>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace iso::perf {
namespace {

/// NAME=VALUE, with defaults.
class settings {
 public:
  settings(int argc, char** argv) {
    for (int n = 1; n < argc; ++n) {
      std::string_view const given = argv[n];
      auto const at = given.find('=');
      auto const found = values_.find(std::string(given.substr(0, at)));
      if (at == std::string_view::npos || found == values_.end()) {
        throw std::invalid_argument("unknown setting: " + std::string(given));
      }
      found->second = given.substr(at + 1);
    }
  }
  [[nodiscard]] std::string const& text(char const* name) const { return values_.at(name); }
  [[nodiscard]] double number(char const* name) const { return number_of(text(name), name); }
  [[nodiscard]] int count(char const* name) const {
    double const x = number(name);
    if (x != std::floor(x) || std::fabs(x) > 1e9) {
      refuse(name);
    }
    return int(x);
  }
  [[nodiscard]] std::array<double, 3> triple(char const* name) const {
    std::string_view rest = text(name);
    std::array<double, 3> out{};
    for (int axis = 0; axis < 3; ++axis) {
      auto const end = rest.find(',');
      if ((end == std::string_view::npos) != (axis == 2)) {
        refuse(name);
      }
      out[std::size_t(axis)] = number_of(rest.substr(0, end), name);
      rest.remove_prefix(axis == 2 ? rest.size() : end + 1);
    }
    return out;
  }
  template <class E>
  [[nodiscard]] E one_of(char const* name,
                         std::initializer_list<std::pair<char const*, E>> known) const {
    for (auto const& [word, value] : known) {
      if (text(name) == word) {
        return value;
      }
    }
    refuse(name);
  }

 private:
  [[noreturn]] void refuse(char const* name) const {
    throw std::invalid_argument(std::string(name) + "=" + text(name) + " is not understood");
  }
  [[nodiscard]] double number_of(std::string_view from, char const* name) const {
    double x = 0;
    auto const [end, failure] = std::from_chars(from.data(), from.data() + from.size(), x);
    if (failure != std::errc() || end != from.data() + from.size()) {
      refuse(name);
    }
    return x;
  }

  std::map<std::string, std::string> values_{{"backend", "serial"},   {"precision", "float"},
                                             {"extent", "32,32,32"},  {"spacing", "8,8,8"},
                                             {"density", ""},         {"field", "100"},
                                             {"gantry", "0"},         {"margin", "27"},
                                             {"engine", "non_voxel"}, {"traversal", "fastest"},
                                             {"kernel", "table"},     {"cones", "8"},
                                             {"azimuths", "8"},       {"placing", "equal_energy"},
                                             {"tilt", "0"},           {"radial_step", "1"},
                                             {"ray_spacing", "2"},    {"repeats", "1"},
                                             {"steps", "0"},          {"dose", ""}};
};

struct job {
  grid patient;
  dose::beam beam;
  dose::spectrum spectrum;
  dose::point_kernel kernel;
  dose::cone_options cones;
  dose::convolution_options options;

  explicit job(settings const& s) : spectrum(dose::named_spectrum("mohan_6mv")) {
    auto const n = s.triple("extent");
    auto const d = s.triple("spacing");
    patient = grid::centred({std::int64_t(n[0]), std::int64_t(n[1]), std::int64_t(n[2])},
                            {d[0], d[1], d[2]});
    double const half = s.number("field") / 2;
    beam.fluence = dose::fluence_map::rectangle(-half, half, -half, half);
    beam.gantry = s.number("gantry") * std::numbers::pi / 180;
    if (s.one_of<bool>("kernel", {{"table", true}, {"exponential", false}})) {
      kernel = dose::mix_kernels(dose::water_kernels(), spectrum);
    } else {
      kernel = dose::named_kernel("6mv");
    }
    using placing = dose::cone_placing;
    cones = {s.count("cones"), s.count("azimuths"),
             s.one_of<placing>("placing", {{"equal_energy", placing::equal_energy},
                                           {"equal_solid_angle", placing::equal_solid_angle},
                                           {"gauss", placing::gauss}})};
    using engine = dose::dose_engine;
    options.engine = s.one_of<engine>("engine", {{"lattice", engine::lattice},
                                                 {"voxel_lines", engine::voxel_lines},
                                                 {"voxel_samples", engine::voxel_samples},
                                                 {"non_voxel", engine::non_voxel}});
    using ray::traversal;
    options.traversal =
        s.one_of<traversal>("traversal", {{"fastest", traversal::fastest},
                                          {"amanatides_woo", traversal::amanatides_woo},
                                          {"branchless", traversal::branchless},
                                          {"siddon", traversal::siddon}});
    options.radial_step = s.number("radial_step");
    options.ray_spacing = s.number("ray_spacing");
    options.tilt = s.count("tilt") != 0;
  }
};

std::vector<float> read_density(std::string const& path, std::int64_t size) {
  std::vector<float> values(std::size_t(size), 1.0F);
  if (path.empty()) {
    return values;
  }
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  auto const bytes = std::streamsize(values.size() * sizeof(float));
  if (!file || std::streamsize(file.tellg()) != bytes) {
    throw std::runtime_error(path + ": not " + std::to_string(bytes) + " bytes that can be read");
  }
  file.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes);
  return values;
}

double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

template <class Exec>
constexpr bool by_processor = std::is_same_v<Exec, Kokkos::Serial>;
template <class Exec>
constexpr auto* seconds_now = by_processor<Exec> ? processor_seconds : wall_seconds;

/// The least of the calls' times.
template <class Exec, class F>
double seconds_of(Exec const& exec, int repeats, F const& f) {
  if (repeats > 1) {
    f();
  }
  std::vector<double> times;
  for (int n = 0; n < std::max(repeats, 1); ++n) {
    exec.fence("iso_dose_paper: before");
    double const begin = seconds_now<Exec>();
    f();
    exec.fence("iso_dose_paper: after");
    times.push_back(seconds_now<Exec>() - begin);
  }
  return *std::min_element(times.begin(), times.end());
}

template <class Exec, class T>
void measure(settings const& s) {
  using space = typename Exec::memory_space;
  Exec const exec;
  job const j(s);
  auto const staged = [&](std::vector<float> const& from) {
    auto const to = make_volume<T, space>("density", j.patient);
    auto const host = Kokkos::create_mirror_view(to.data);
    std::transform(from.begin(), from.end(), host.data(), [](float x) { return T(x); });
    Kokkos::deep_copy(to.data, host);
    return to;
  };
  auto const density = staged(read_density(s.text("density"), j.patient.size()));
  grid const region = dose::region_around(j.beam, j.patient, s.number("margin"));
  dose::terma_plan<space> const released(exec, j.beam, j.spectrum);
  auto const terma = make_volume<T, space>("terma", region);
  auto const dose = make_volume<T, space>("dose", region);
  dose::convolution_plan<T, space> const plan(exec, region, j.beam,
                                              dose::make_cones(j.kernel, j.cones), j.options);
  workspace<space> const scratch(dose::convolution_bytes_needed<Exec, T>(exec, plan));
  int const repeats = s.count("repeats");
  double const terma_seconds =
      seconds_of(exec, repeats, [&] { dose::terma<Exec, T>(exec, released, density, terma); });
  auto const convolve = [&] { dose::convolve<Exec, T>(exec, plan, terma, density, dose, scratch); };
  double const seconds = seconds_of(exec, repeats, convolve);
  std::map<std::string, double> steps;
  if (s.count("steps") != 0) {
    steps = kernel_times(convolve, seconds_now<Exec>);
  }
  // Once more from zero: every call adds.
  Kokkos::deep_copy(exec, dose.data, T(0));
  if (!s.text("dose").empty()) {
    convolve();
    exec.fence("iso_dose_paper: dose is there");
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dose.data);
    std::vector<float> const values(host.data(), host.data() + host.size());
    std::ofstream file(s.text("dose"), std::ios::binary);
    file.write(reinterpret_cast<char const*>(values.data()),
               std::streamsize(values.size() * sizeof(float)));
    if (!file.flush()) {
      throw std::runtime_error("cannot write " + s.text("dose"));
    }
  }

  auto const facts = backend::facts(exec);
  std::printf("{\"processor\": \"%s\", \"threads\": %d, \"revision\": \"%s\", \"clock\": \"%s\"",
              facts.processor.c_str(), int(facts.threads), facts.git_revision.c_str(),
              by_processor<Exec> ? "processor" : "wall");
  for (char const* name : {"backend", "precision", "engine", "traversal", "kernel", "placing"}) {
    std::printf(", \"%s\": \"%s\"", name, s.text(name).c_str());
  }
  for (char const* name : {"field", "gantry", "margin", "cones", "azimuths", "tilt", "radial_step",
                           "ray_spacing", "repeats"}) {
    std::printf(", \"%s\": %.9g", name, s.number(name));
  }
  for (char const* name : {"extent", "spacing"}) {
    auto const x = s.triple(name);
    std::printf(", \"%s\": [%.9g, %.9g, %.9g]", name, x[0], x[1], x[2]);
  }
  std::array<std::int64_t, 3> first{};
  for (int axis = 0; axis < 3; ++axis) {
    first[std::size_t(axis)] =
        std::llround((region.origin[axis] - j.patient.origin[axis]) / j.patient.spacing[axis]);
  }
  auto const whole = [](auto x) { return static_cast<long long>(x); };
  std::printf(", \"region\": {\"first\": [%lld, %lld, %lld], \"extent\": [%lld, %lld, %lld]}",
              whole(first[0]), whole(first[1]), whole(first[2]), whole(region.extent[0]),
              whole(region.extent[1]), whole(region.extent[2]));
  std::printf(", \"terma_seconds\": %.6g, \"convolution_seconds\": %.6g, \"steps\": {",
              terma_seconds, seconds);
  char const* separator = "";
  for (auto const& [label, time] : steps) {
    std::printf("%s\"%s\": %.6g", separator, label.c_str(), time);
    separator = ", ";
  }
  std::printf("}}\n");
}

void run(settings const& s) {
  backend::with_name(s.text("backend"), [&]<class Tag>(Tag) {
    using exec = typename Tag::execution_space;
    if (s.one_of<bool>("precision", {{"float", true}, {"double", false}})) {
      measure<exec, float>(s);
    } else {
      measure<exec, double>(s);
    }
  });
}

}  // namespace
}  // namespace iso::perf

int main(int argc, char** argv) {
  try {
    iso::perf::settings const s(argc, argv);
    Kokkos::ScopeGuard const kokkos;
    iso::perf::run(s);
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "iso_dose_paper: %s\n", failure.what());
    return 1;
  }
  return 0;
}
