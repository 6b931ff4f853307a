// SPDX-License-Identifier: BSD-3-Clause
//! \file  isocenter_dose.cpp
//! Isocenter's side of compare_dose.py: the dose of one square field in a cube, driven line by line
//! as worker.py describes.
//!
//! Files are float32 [x, y, z], z fastest: the density that is read, the dose that is written. The
//! beam travels along y, its isocentre lies `--surface` mm behind the cube's first face. All
//! numbers of the problem come from the command line, so that compare_dose.py alone holds them.
#include "support/kernel_times.hpp"

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/dose/convolution.hpp>
#include <iso/dose/terma.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// `--name value` pairs.
class arguments {
 public:
  arguments(int count, char** values) {
    for (int i = 1; i + 1 < count; i += 2) {
      std::string const name = values[i];
      if (name.rfind("--", 0) == 0) {
        given_[name.substr(2)] = values[i + 1];
      }
    }
  }
  [[nodiscard]] std::string text(std::string const& name) const {
    auto const at = given_.find(name);
    if (at == given_.end()) {
      throw std::invalid_argument("isocenter_dose: --" + name + " is missing");
    }
    return at->second;
  }
  /// One of the names in `from`.
  template <class Value>
  [[nodiscard]] Value one_of(std::string const& name,
                             std::map<std::string, Value> const& from) const {
    auto const at = from.find(text(name));
    if (at == from.end()) {
      std::string known;
      for (auto const& each : from) {
        known += (known.empty() ? "" : ", ") + each.first;
      }
      throw std::invalid_argument("isocenter_dose: --" + name + " " + text(name) + " (one of " +
                                  known + ")");
    }
    return at->second;
  }
  [[nodiscard]] int integer(std::string const& name) const { return std::stoi(text(name)); }
  [[nodiscard]] double number(std::string const& name) const { return std::stod(text(name)); }

 private:
  std::map<std::string, std::string> given_;
};

std::string text_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error("isocenter_dose: cannot read " + path);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

iso::dose::beam beam_of(arguments const& given) {
  double const half = 0.5 * given.number("field");
  iso::dose::beam b;
  b.source_distance = given.number("source-distance");
  b.fluence = iso::dose::fluence_map::rectangle(-half, half, -half, half);
  return b;
}

iso::grid grid_of(arguments const& given) {
  auto const n = given.integer("size");
  auto const voxel = given.number("voxel");
  auto g = iso::grid::centred({n, n, n}, {voxel, voxel, voxel});
  g.origin.y = 0.5 * voxel - given.number("surface");
  return g;
}

iso::dose::point_kernel kernel_of(arguments const& given, iso::dose::spectrum const& s) {
  if (given.text("kernel") == "tabulated") {
    return iso::dose::mix_kernels(iso::dose::water_kernels(), s);
  }
  return iso::dose::named_kernel(given.text("kernel"));
}

/// A problem in the memory of `Exec`. Seconds are processor time of all threads.
template <class Exec, class T>
class problem {
  using space = typename Exec::memory_space;

 public:
  explicit problem(arguments const& given)
      : spectrum_(iso::dose::parse_spectrum(text_of(given.text("spectrum")), "spectrum")),
        kernel_(kernel_of(given, spectrum_)),
        beam_(beam_of(given)),
        released_(exec_, beam_, spectrum_),
        grid_(grid_of(given)),
        density_(iso::make_volume<T, space>("density", grid_)),
        terma_(iso::make_volume<T, space>("terma", grid_)),
        dose_(iso::make_volume<T, space>("dose", grid_)),
        plan_(exec_, grid_, released_.frame(), kernel_,
              iso::dose::make_cones(kernel_, {.cones = given.integer("cones"),
                                              .azimuths = given.integer("azimuths")}),
              beam_.fluence,
              {.engine = given.one_of<iso::dose::dose_engine>(
                   "engine", {{"lattice", iso::dose::dose_engine::lattice},
                              {"voxel_lines", iso::dose::dose_engine::voxel_lines}})}),
        scratch_(iso::dose::convolution_bytes_needed<Exec, T>(exec_, plan_)) {
    std::string const bytes = text_of(given.text("density"));
    if (bytes.size() != sizeof(float) * std::size_t(grid_.size())) {
      throw std::runtime_error("isocenter_dose: " + given.text("density") + " holds " +
                               std::to_string(bytes.size()) + " bytes");
    }
    auto const host = Kokkos::create_mirror_view(density_.data);
    auto const* const from = reinterpret_cast<float const*>(bytes.data());
    for (std::int64_t i = 0; i < grid_.size(); ++i) {
      host.data()[i] = T(from[i]);
    }
    Kokkos::deep_copy(density_.data, host);
  }

  struct seconds {
    double wall;
    double terma;
    double convolution;
  };
  [[nodiscard]] seconds call() const {
    auto const wall = iso::perf::wall_seconds();
    auto const begin = busy();
    iso::dose::terma<Exec, T>(exec_, released_, density_, terma_);
    exec_.fence("the TERMA is there");
    auto const between = busy();
    Kokkos::deep_copy(exec_, dose_.data, T(0));
    iso::dose::convolve<Exec, T>(exec_, plan_, terma_, density_, dose_, scratch_);
    exec_.fence("the dose is there");
    return {iso::perf::wall_seconds() - wall, between - begin, busy() - between};
  }

  std::size_t write(std::string const& path) const {
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, dose_.data);
    std::vector<float> const all(host.data(), host.data() + host.size());
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<char const*>(all.data()),
               std::streamsize(all.size() * sizeof(float)));
    if (!file) {
      throw std::runtime_error("isocenter_dose: cannot write " + path);
    }
    return all.size();
  }

 private:
  static double busy() { return double(std::clock()) / CLOCKS_PER_SEC; }

  Exec exec_;
  iso::dose::spectrum spectrum_;
  iso::dose::point_kernel kernel_;
  iso::dose::beam beam_;
  iso::dose::terma_plan<space> released_;
  iso::grid grid_;
  iso::volume_view<T, space> density_;
  iso::volume_view<T, space> terma_;
  iso::volume_view<T, space> dose_;
  iso::dose::convolution_plan<T, space> plan_;
  iso::workspace<space> scratch_;
};

std::string list_of(std::vector<double> const& all) {
  std::ostringstream text;
  text.precision(9);
  for (auto const& one : all) {
    text << (&one == all.data() ? "[" : ", ") << one;
  }
  return text.str() + "]";
}

/// Milliseconds of each call.
template <class Problem>
std::string timed(Problem const& p, int calls) {
  std::vector<double> wall;
  std::vector<double> terma;
  std::vector<double> convolution;
  for (int i = 0; i < calls; ++i) {
    auto const took = p.call();
    wall.push_back(1e3 * took.wall);
    terma.push_back(1e3 * took.terma);
    convolution.push_back(1e3 * took.convolution);
  }
  return "{\"ms\": " + list_of(wall) + ", \"terma_cpu_ms\": " + list_of(terma) +
         ", \"convolution_cpu_ms\": " + list_of(convolution) + "}";
}

template <class Exec, class T>
void serve(arguments const& given) {
  problem<Exec, T> const p(given);
  std::cout << "{\"ready\": true, \"name\": \"Isocenter\", \"version\": \"0.1.0\"}" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    auto const space = line.find(' ');
    auto const order = line.substr(0, space);
    auto const argument = space == std::string::npos ? std::string{} : line.substr(space + 1);
    if (order == "write") {
      std::cout << "{\"written\": " << p.write(argument) << "}" << std::endl;
    } else if (order == "time") {
      std::cout << timed(p, std::stoi(argument)) << std::endl;
    } else {
      throw std::invalid_argument("isocenter_dose: order '" + order + "' (one of write, time)");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  try {
    arguments const given(argc, argv);
    iso::backend::detail::set_host_vector_bytes(given.integer("vector-bytes"));
    bool const twice = given.one_of<bool>("precision", {{"float", false}, {"double", true}});
    iso::backend::with_name(given.text("backend"), [&](auto tag) {
      using exec = typename decltype(tag)::execution_space;
      twice ? serve<exec, double>(given) : serve<exec, float>(given);
    });
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
