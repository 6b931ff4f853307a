// SPDX-License-Identifier: BSD-3-Clause
//! \file  isocenter_dose.cpp
//! Isocenter's side of compare_dose.py: the dose of one square field in a cube, driven line by line
//! as worker.py describes.
//!
//! Files are float32 [x, y, z], z fastest: the density that is read, the dose that is written. The
//! beam travels along y, its isocentre lies `--surface` mm behind the cube's first face. All
//! numbers of the problem come from the command line, so that compare_dose.py alone holds them.
#include "driver.hpp"
#include "support/kernel_times.hpp"

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/dose/convolution.hpp>
#include <iso/dose/terma.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using iso::perf::arguments;

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
        plan_(exec_, grid_, beam_,
              iso::dose::make_cones(kernel_, {.cones = int(given.integer("cones")),
                                              .azimuths = int(given.integer("azimuths"))}),
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
    iso::perf::write_floats(file, all.data(), all.size());
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

/// Milliseconds of each call.
template <class Problem>
std::string timed(Problem const& p, std::int64_t calls) {
  std::vector<double> wall;
  std::vector<double> terma;
  std::vector<double> convolution;
  for (std::int64_t i = 0; i < calls; ++i) {
    auto const took = p.call();
    wall.push_back(1e3 * took.wall);
    terma.push_back(1e3 * took.terma);
    convolution.push_back(1e3 * took.convolution);
  }
  return "{\"ms\": " + iso::perf::list_of(wall) +
         ", \"terma_cpu_ms\": " + iso::perf::list_of(terma) +
         ", \"convolution_cpu_ms\": " + iso::perf::list_of(convolution) + "}";
}

template <class Exec, class T>
void serve(arguments const& given) {
  problem<Exec, T> const p(given);
  iso::perf::serve(given, p, "", [](problem<Exec, T> const& work, std::int64_t calls) {
    return timed(work, calls);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return iso::perf::drive("isocenter_dose", argc, argv, [](arguments const& given) {
    iso::backend::set_host_vector_bytes(int(given.integer("vector-bytes")));
    bool const twice = given.one_of<bool>("precision", {{"float", false}, {"double", true}});
    iso::backend::with_name(given.text("backend"), [&](auto tag) {
      using exec = typename decltype(tag)::execution_space;
      twice ? serve<exec, double>(given) : serve<exec, float>(given);
    });
  });
}
