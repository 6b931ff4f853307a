// SPDX-License-Identifier: BSD-3-Clause
//! \file  isocenter_ct.cpp
//! Isocenter's side of compare_ct.py: every --work of it on one backend, driven line by line as
//! worker.py describes.
//!
//! Files are float32: a volume [x, y, z], z fastest, of voxels of 1 mm about the axis; projections
//! [view, u, v], v fastest. What is written are the kept views [view, u, v] or slices
//! [slice, x, y]. All numbers of the scan come from the command line, so that scan.py alone holds
//! them.
#include "support/program.hpp"
#include "support/times.hpp"

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/cases/projection.hpp>
#include <iso/cases/reconstruction.hpp>

#include <cstdint>
#include <iostream>
#include <memory>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

struct settings {
  std::string work;
  std::string variant;
  std::string backend;
  std::string input;
  std::int64_t size = 0;
  std::int64_t views = 0;
  double source_axis = 0;
  double source_detector = 0;
  double pitch = 0;
  std::vector<std::int64_t> keep;

  [[nodiscard]] ct::geometry scan() const {
    return ct::circular_cone({size, size, pitch, pitch}, source_axis, source_detector,
                             ct::even_angles(views, 2 * std::numbers::pi));
  }
};

/// The kept views, which lie one behind the other, or slices across the fastest index.
std::vector<float> kept_of(settings const& s, std::vector<float> const& all) {
  std::vector<float> kept;
  std::int64_t const each = s.size * s.size;
  bool const slices = s.work != "projection";
  for (auto const k : s.keep) {
    for (std::int64_t i = 0; i < each; ++i) {
      kept.push_back(all[std::size_t(slices ? i * s.size + k : k * each + i)]);
    }
  }
  return kept;
}

/// Obeys the lines of the standard input.
template <class Exec, class Case>
void serve_case(settings const& s, Exec const& exec, Case const& what, char const* gives) {
  measurable<Exec, float> const call(exec, what.prepare(exec));
  call();
  bool const within = s.work == "backprojection";  // of a call of fdk, without the filter's time
  json const ready{{"ready", true},
                   {"name", "Isocenter"},
                   {"version", "0.1.0"},
                   {"what", s.backend + ", " + s.variant + (within ? ", within FDK" : "")},
                   {"gives", gives}};
  std::cout << ready << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    auto const space = line.find(' ');
    auto const order = line.substr(0, space);
    auto const argument = space == std::string::npos ? std::string{} : line.substr(space + 1);
    if (order == "write") {
      auto const kept = kept_of(s, call.values());
      write_floats(argument, kept);
      std::cout << json{{"written", kept.size()}} << std::endl;
    } else if (order == "time") {
      json times;
      for (int calls = std::stoi(argument); calls > 0; --calls) {
        moment const took =
            within ? kernel_times(call).at("iso::ct::fdk::back_project") : duration_of(exec, call);
        times["ms"].push_back(1e3 * took.wall);
        times["cpu_ms"].push_back(1e3 * took.processor);
      }
      std::cout << times << std::endl;
    } else {
      throw std::invalid_argument("order '" + order + "' (one of write, time)");
    }
  }
}

template <class Exec>
void run(settings const& s) {
  bool const projects = s.work == "projection";
  if (s.variant == "reproducible" && !projects) {
    throw std::invalid_argument("--variant reproducible (of --work projection alone)");
  }
  if (s.variant == "avx2") {
    backend::set_host_vector_bytes(32);
  }
  Exec const exec;
  auto const scan = s.scan();
  auto const box = grid::centred({s.size, s.size, s.size}, {1, 1, 1});
  auto const input = std::make_shared<std::vector<float> const>(
      read_floats(s.input, projects ? box.size() : num_pixels(scan)));
  input_projections const pixels{.values = input};
  if (projects) {
    auto const sum = s.variant == "reproducible" ? summation::reproducible : summation::ordered;
    projection_case<float> const what{
        {box, input_volume::contents::given, {}, input}, scan, {.sum = sum}};
    serve_case(s, exec, what, "projections");
  } else if (s.work == "adjoint") {
    serve_case(s, exec, back_projection_case<float>{pixels, scan, box}, "adjoint");
  } else {
    serve_case(s, exec, fdk_case<float>{pixels, scan, box}, "reconstruction");
  }
}

}  // namespace
}  // namespace iso::perf

int main(int argc, char** argv) {
  iso::perf::settings s;
  CLI::App app("One work of compare_ct.py, timed", "isocenter_ct");
  app.add_option("--work", s.work)
      ->required()
      ->check(CLI::IsMember({"projection", "backprojection", "adjoint", "fdk"}));
  app.add_option("--variant", s.variant)
      ->required()
      ->check(CLI::IsMember({"ordered", "reproducible", "avx2"}));
  app.add_option("--backend", s.backend)->required();
  app.add_option("--input", s.input, "the volume or the projections")->required();
  app.add_option("--size", s.size)->required();
  app.add_option("--views", s.views)->required();
  app.add_option("--source-axis", s.source_axis, "mm")->required();
  app.add_option("--source-detector", s.source_detector, "mm")->required();
  app.add_option("--pitch", s.pitch, "mm")->required();
  app.add_option("--keep", s.keep, "views or slices to write")->required()->delimiter(',');
  return iso::perf::run_program(app, argc, argv, [&] {
    iso::backend::with_name(
        s.backend, [&](auto tag) { iso::perf::run<typename decltype(tag)::execution_space>(s); });
  });
}
