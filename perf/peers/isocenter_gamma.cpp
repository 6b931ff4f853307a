// SPDX-License-Identifier: BSD-3-Clause
// Gamma of two doses, timed, for compare_gamma.py and perf/dose/nonvoxel_paper.py.
//
// Prints JSON: the machine, `plan_seconds` and `gamma_seconds` (the least of the calls, between
// fences; everything is in the backend's memory before), and what iso::gamma::summarise counts.
// Seconds are those on the wall, or with --backend serial those of the processor, which other
// programs do not lengthen (`clock`). `isocenter_gamma --lines` answers one command line after the
// other from its standard input.
#include "support/program.hpp"
#include "support/times.hpp"

#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/cases/memory.hpp>
#include <iso/core/wrap.hpp>
#include <iso/gamma/gamma_index.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace iso::perf {
namespace {

std::map<std::string, gamma::interpolation> const interpolations = {
    {"trilinear", gamma::interpolation::trilinear},
    {"tetrahedra", gamma::interpolation::tetrahedra},
    {"grid_points", gamma::interpolation::grid_points}};

struct settings {
  std::string backend = "serial";
  std::string precision = "float";
  std::string between = "trilinear";
  std::string reference;
  std::string evaluated;
  std::string gamma;
  std::vector<std::int64_t> extent;
  std::vector<double> spacing;
  double difference = 3;
  double distance = 3;
  double cut_off = 10;
  double max_gamma = 2;
  int local = 0;
  int repeats = 1;
};

template <class Exec, class T>
void measure(settings const& s) {
  using space = typename Exec::memory_space;
  constexpr bool by_processor = std::is_same_v<Exec, Kokkos::Serial>;
  Exec const exec;
  auto const g = grid::centred({s.extent[0], s.extent[1], s.extent[2]},
                               {s.spacing[0], s.spacing[1], s.spacing[2]});
  auto const dose = [&](std::string const& file) {
    auto const v = make_volume<T, space>(exec, "dose", g);
    cases::put(exec, v.data, read_floats(file, g.size()));
    return v;
  };
  auto const reference = dose(s.reference);
  auto const evaluated = dose(s.evaluated);
  auto const make_plan = [&] {
    return gamma::gamma_plan<T, space>(
        exec, reference, evaluated, {{s.difference / 100, s.distance}},
        {.between = interpolations.at(s.between),
         .normalise = s.local != 0 ? gamma::normalisation::local : gamma::normalisation::global,
         .cut_off = s.cut_off / 100,
         .max_gamma = s.max_gamma});
  };
  auto const plan = make_plan();
  gamma::gamma_values<T, space> const values("gamma", 1, s.extent[0], s.extent[1], s.extent[2]);
  gamma::status_values<space> const status("status", s.extent[0], s.extent[1], s.extent[2]);
  auto const least = [&](auto const& call) {
    double found = std::numeric_limits<double>::infinity();
    for (int n = 0; n < std::max(s.repeats, 1); ++n) {
      moment const took = duration_of(exec, call);
      found = std::min(found, by_processor ? took.processor : took.wall);
    }
    return found;
  };
  double const plan_seconds = least(make_plan);
  double const seconds = least([&] { gamma::gamma_index(exec, plan, values, status); });
  auto const found = gamma::summarise(exec, plan, values, status).at(0);
  auto const facts = backend::facts(exec);
  if (!s.gamma.empty()) {
    write_floats(s.gamma, cases::fetch(exec, values));
  }
  std::cout << json{{"processor", facts.processor},
                    {"threads", facts.threads},
                    {"revision", facts.git_revision},
                    {"clock", by_processor ? "processor" : "wall"},
                    {"plan_seconds", plan_seconds},
                    {"gamma_seconds", seconds},
                    {"compared", found.compared},
                    {"passed", found.passed},
                    {"outside", found.outside},
                    {"largest", found.largest},
                    {"mean", found.mean}}
            << "\n";
}

}  // namespace
}  // namespace iso::perf

int main(int argc, char** argv) {
  using namespace iso::perf;
  settings s;
  CLI::App app("Gamma of two doses, timed", "isocenter_gamma");
  app.option_defaults()->always_capture_default();
  app.add_option("--backend", s.backend);
  app.add_option("--precision", s.precision)->check(CLI::IsMember({"float", "double"}));
  app.add_option("--between", s.between)->check(CLI::IsMember(interpolations));
  app.add_option("--reference", s.reference, "float32 [x, y, z], z fastest")->required();
  app.add_option("--evaluated", s.evaluated, "the same")->required();
  app.add_option("--extent", s.extent, "voxels")->delimiter(',')->expected(3)->required();
  app.add_option("--spacing", s.spacing, "mm")->delimiter(',')->expected(3)->required();
  app.add_option("--difference", s.difference, "per cent");
  app.add_option("--distance", s.distance, "mm");
  app.add_option("--cut-off", s.cut_off, "per cent of the largest reference dose");
  app.add_option("--max-gamma", s.max_gamma);
  app.add_option("--local", s.local, "1: local normalisation");
  app.add_option("--repeats", s.repeats, "timed calls");
  app.add_option("--gamma", s.gamma, "writes gamma, float32, z fastest; NaN below the cut-off");
  return run_lines(app, argc, argv, s, [&] {
    iso::backend::with_name(s.backend, [&]<class Tag>(Tag) {
      using exec = typename Tag::execution_space;
      s.precision == "float" ? measure<exec, float>(s) : measure<exec, double>(s);
    });
  });
}
