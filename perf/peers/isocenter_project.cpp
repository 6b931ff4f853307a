// SPDX-License-Identifier: BSD-3-Clause
//! \file  isocenter_project.cpp
//! Isocenter's side of compare_projection.py: forward_project on one backend, driven line by line
//! as worker.py describes.
//!
//! The volume's file is float32 [x, y, z], z fastest: voxels of 1 mm about the axis. What is
//! written is float32 [view, u, v], v fastest. All numbers of the scan come from the command line,
//! so that scan.py alone holds them.
#include <iso/backend/registry.hpp>
#include <iso/ct/forward_project.hpp>

#include <Kokkos_Core.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
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
      throw std::invalid_argument("isocenter_project: --" + name + " is missing");
    }
    return at->second;
  }
  [[nodiscard]] std::int64_t integer(std::string const& name) const {
    return std::stoll(text(name));
  }
  [[nodiscard]] double number(std::string const& name) const { return std::stod(text(name)); }
  [[nodiscard]] std::vector<std::int64_t> integers(std::string const& name) const {
    std::vector<std::int64_t> all;
    std::istringstream list(text(name));
    for (std::string one; std::getline(list, one, ',');) {
      all.push_back(std::stoll(one));
    }
    return all;
  }

 private:
  std::map<std::string, std::string> given_;
};

iso::ct::geometry scan_of(arguments const& given) {
  auto const size = given.integer("size");
  auto const pitch = given.number("pitch");
  iso::ct::flat_detector const detector{
      .num_u = size, .num_v = size, .pitch_u = pitch, .pitch_v = pitch};
  auto const full_circle = 8 * std::atan(1.0);
  return iso::ct::circular_cone(detector, given.number("source-axis"),
                                given.number("source-detector"),
                                iso::ct::even_angles(given.integer("views"), full_circle));
}

iso::ct::forward_project_options options_of(arguments const& given) {
  auto const sum = given.text("sum");
  if (sum != "ordered" && sum != "reproducible") {
    throw std::invalid_argument("isocenter_project: --sum " + sum +
                                " (one of ordered, reproducible)");
  }
  return {.sum = sum == "ordered" ? iso::summation::ordered : iso::summation::reproducible};
}

void read(std::string const& path, float* to, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(to), std::streamsize(count * sizeof(float)));
  if (!file) {
    throw std::runtime_error("isocenter_project: cannot read " + std::to_string(count) +
                             " float32 from " + path);
  }
}

/// A volume, its projections and all that one call needs, in the memory of `Exec`.
template <class Exec>
class bench {
  using space = typename Exec::memory_space;

 public:
  explicit bench(arguments const& given)
      : g_(iso::ct::stage(exec_, scan_of(given))),
        options_(options_of(given)),
        keep_(given.integers("keep")) {
    auto const n = given.integer("size");
    auto const volume = iso::make_volume<float, space>(
        "volume", iso::grid::centred({n, n, n}, {1, 1, 1}), iso::unit::per_mm);
    auto const host = Kokkos::create_mirror_view(volume.data);
    read(given.text("volume"), host.data(), host.size());
    Kokkos::deep_copy(exec_, volume.data, host);
    exec_.fence("the volume is there");
    volume_ = volume;
    auto const& scan = g_.host();
    projections_ = iso::make_projections<float, space>("projections", scan.num_views(),
                                                       scan.num_u(), scan.num_v());
    scratch_.reserve(
        iso::ct::forward_project_bytes_needed<Exec, float>(scan, volume.grid, options_));
  }

  void project() const {
    iso::ct::forward_project<Exec, float>(exec_, g_, volume_, projections_, scratch_, options_);
    exec_.fence("the projections are there");
  }

  /// The kept views, one after the other.
  void write(std::string const& path) const {
    std::ofstream file(path, std::ios::binary);
    for (auto const view : keep_) {
      auto const one = Kokkos::subview(projections_.data, view, Kokkos::ALL, Kokkos::ALL);
      auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, one);
      file.write(reinterpret_cast<char const*>(host.data()),
                 std::streamsize(host.size() * sizeof(float)));
    }
    if (!file) {
      throw std::runtime_error("isocenter_project: cannot write " + path);
    }
  }

  [[nodiscard]] std::size_t num_kept() const {
    return keep_.size() * projections_.data.extent(1) * projections_.data.extent(2);
  }

 private:
  Exec exec_;
  iso::ct::staged_geometry<space> g_;
  iso::ct::forward_project_options options_;
  std::vector<std::int64_t> keep_;
  iso::volume_view<float const, space> volume_;
  iso::projection_view<float, space> projections_;
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

/// Milliseconds of each call, on the wall and of all threads of this process.
template <class Bench>
std::string timed(Bench const& one, std::int64_t calls) {
  std::vector<double> wall;
  std::vector<double> busy;
  for (std::int64_t i = 0; i < calls; ++i) {
    auto const start = std::chrono::steady_clock::now();
    auto const busy_start = std::clock();
    one.project();
    std::chrono::duration<double, std::milli> const took = std::chrono::steady_clock::now() - start;
    wall.push_back(took.count());
    busy.push_back(1e3 * double(std::clock() - busy_start) / CLOCKS_PER_SEC);
  }
  return "{\"ms\": " + list_of(wall) + ", \"cpu_ms\": " + list_of(busy) + "}";
}

template <class Bench>
void serve(Bench const& one, std::string const& what) {
  one.project();
  std::cout << "{\"ready\": true, \"name\": \"Isocenter\", \"version\": \"0.1.0\", \"what\": \""
            << what << "\"}" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    auto const space = line.find(' ');
    auto const order = line.substr(0, space);
    auto const argument = space == std::string::npos ? std::string{} : line.substr(space + 1);
    if (order == "write") {
      one.write(argument);
      std::cout << "{\"written\": " << one.num_kept() << "}" << std::endl;
    } else if (order == "time") {
      std::cout << timed(one, std::stoll(argument)) << std::endl;
    } else {
      throw std::invalid_argument("isocenter_project: order '" + order + "' (one of write, time)");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  try {
    arguments const given(argc, argv);
    auto const backend = given.text("backend");
    iso::backend::with_name(backend, [&](auto tag) {
      using exec = typename decltype(tag)::execution_space;
      serve(bench<exec>(given), backend + ", " + given.text("sum"));
    });
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
