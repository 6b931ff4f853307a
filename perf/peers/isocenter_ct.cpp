// SPDX-License-Identifier: BSD-3-Clause
//! \file  isocenter_ct.cpp
//! Isocenter's side of compare_ct.py: every --work of it on one backend, driven line by line as
//! worker.py describes.
//!
//! Files are float32: a volume [x, y, z], z fastest, of voxels of 1 mm about the axis; projections
//! [view, u, v], v fastest. What is written are the kept views [view, u, v] or slices
//! [slice, x, y]. All numbers of the scan come from the command line, so that scan.py alone holds
//! them.
#include "driver.hpp"
#include "support/kernel_times.hpp"

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/forward_project.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using iso::perf::arguments;

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

void read(std::string const& path, float* to, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(to), std::streamsize(count * sizeof(float)));
  if (!file) {
    throw std::runtime_error("isocenter_ct: cannot read " + std::to_string(count) +
                             " float32 from " + path);
  }
}

/// On the wall, and of all threads of this process, in seconds.
struct moment {
  double wall = 0;
  double busy = 0;

  friend moment operator-(moment a, moment b) { return {a.wall - b.wall, a.busy - b.busy}; }
  moment& operator+=(moment b) { return *this = {wall + b.wall, busy + b.busy}; }
};

moment now() { return {iso::perf::wall_seconds(), double(std::clock()) / CLOCKS_PER_SEC}; }

template <class F>
moment duration_of(F const& f) {
  auto const start = now();
  f();
  return now() - start;
}

/// A volume and its projections in the memory of `Exec`.
template <class Exec>
class arrays {
 public:
  using space = typename Exec::memory_space;

  explicit arrays(arguments const& given)
      : g_(iso::ct::stage(exec_, scan_of(given))), keep_(given.integers("keep")) {
    auto const n = given.integer("size");
    auto const& scan = g_.host();
    volume_ = iso::make_volume<float, space>("volume", iso::grid::centred({n, n, n}, {1, 1, 1}),
                                             iso::unit::per_mm);
    projections_ = iso::make_projections<float, space>("projections", scan.num_views(),
                                                       scan.num_u(), scan.num_v());
  }

 protected:
  template <class View>
  void read_into(View const& to, std::string const& path) const {
    auto const host = Kokkos::create_mirror_view(to);
    read(path, host.data(), host.size());
    Kokkos::deep_copy(exec_, to, host);
    exec_.fence("the input is there");
  }

  /// Writes what `part(k)` selects of an array, for each k to keep.
  template <class Part>
  std::size_t write_parts(std::string const& path, Part const& part) const {
    std::ofstream file(path, std::ios::binary);
    std::size_t written = 0;
    for (auto const k : keep_) {
      auto const from = part(k);
      Kokkos::View<float**, Kokkos::LayoutRight, space> const together("kept", from.extent(0),
                                                                       from.extent(1));
      Kokkos::deep_copy(exec_, together, from);
      exec_.fence("the part is there");
      auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, together);
      iso::perf::write_floats(file, host.data(), host.size());
      written += host.size();
    }
    if (!file) {
      throw std::runtime_error("isocenter_ct: cannot write " + path);
    }
    return written;
  }
  std::size_t write_views(std::string const& path) const {
    return write_parts(path, [&](std::int64_t view) {
      return Kokkos::subview(projections_.data, view, Kokkos::ALL, Kokkos::ALL);
    });
  }
  std::size_t write_slices(std::string const& path) const {
    return write_parts(path, [&](std::int64_t z) {
      return Kokkos::subview(volume_.data, Kokkos::ALL, Kokkos::ALL, z);
    });
  }

  Exec exec_;
  iso::ct::staged_geometry<space> g_;
  std::vector<std::int64_t> keep_;
  iso::volume_view<float, space> volume_;
  iso::projection_view<float, space> projections_;
};

template <class Exec>
class projection : arrays<Exec> {
  using space = typename Exec::memory_space;

 public:
  static constexpr char const* gives = "projections";

  explicit projection(arguments const& given) : arrays<Exec>(given) {
    options_.sum = given.text("variant") == "reproducible" ? iso::summation::reproducible
                                                           : iso::summation::ordered;
    this->read_into(this->volume_.data, given.text("input"));
    scratch_.reserve(iso::ct::forward_project_bytes_needed<Exec, float>(
        this->g_.host(), this->volume_.grid, options_));
  }
  void call() const {
    iso::ct::forward_project<Exec, float>(this->exec_, this->g_, this->volume_, this->projections_,
                                          scratch_, options_);
    this->exec_.fence("the projections are there");
  }
  [[nodiscard]] moment timed() const {
    return duration_of([this] { call(); });
  }
  std::size_t write(std::string const& path) const { return this->write_views(path); }

 private:
  iso::ct::forward_project_options options_;
  iso::workspace<space> scratch_;
};

template <class Exec>
class adjoint : arrays<Exec> {
  using space = typename Exec::memory_space;

 public:
  static constexpr char const* gives = "adjoint";

  explicit adjoint(arguments const& given)
      : arrays<Exec>(given),
        scratch_(
            iso::ct::back_project_bytes_needed<Exec, float>(this->g_.host(), this->volume_.grid)) {
    this->read_into(this->projections_.data, given.text("input"));
  }
  void call() const {
    iso::ct::back_project<Exec, float>(this->exec_, this->g_, this->projections_, this->volume_,
                                       scratch_);
    this->exec_.fence("the volume is there");
  }
  [[nodiscard]] moment timed() const {
    return duration_of([this] { call(); });
  }
  std::size_t write(std::string const& path) const { return this->write_slices(path); }

 private:
  iso::workspace<space> scratch_;
};

template <class Exec>
class fdk : arrays<Exec> {
  using space = typename Exec::memory_space;

 public:
  static constexpr char const* gives = "reconstruction";

  explicit fdk(arguments const& given)
      : arrays<Exec>(given), reconstructor_(this->exec_, this->g_.host(), this->volume_.grid) {
    this->read_into(this->projections_.data, given.text("input"));
  }
  void call() const {
    reconstructor_.apply(this->projections_, this->volume_);
    this->exec_.fence("the volume is there");
  }
  [[nodiscard]] moment timed() const {
    return duration_of([this] { call(); });
  }
  std::size_t write(std::string const& path) const { return this->write_slices(path); }

 private:
  iso::ct::fdk_reconstructor<Exec, float> reconstructor_;
};

/// The backprojection within a call of fdk, which has no function of its own.
template <class Exec>
class backprojection : public fdk<Exec> {
 public:
  using fdk<Exec>::fdk;
  [[nodiscard]] moment timed() const {
    return iso::perf::kernel_times([this] { this->call(); }, now).at("iso::ct::fdk::back_project");
  }
};

/// Milliseconds of each call, on the wall and of all threads of this process.
template <class Work>
std::string timed(Work const& work, std::int64_t calls) {
  std::vector<double> wall;
  std::vector<double> busy;
  for (std::int64_t i = 0; i < calls; ++i) {
    moment const took = work.timed();
    wall.push_back(1e3 * took.wall);
    busy.push_back(1e3 * took.busy);
  }
  return "{\"ms\": " + iso::perf::list_of(wall) + ", \"cpu_ms\": " + iso::perf::list_of(busy) + "}";
}

template <class Work>
void serve(arguments const& given, Work const& work, std::string const& what) {
  work.call();
  iso::perf::serve(given, work, ", \"what\": \"" + what + "\", \"gives\": \"" + Work::gives + "\"",
                   [](Work const& one, std::int64_t calls) { return timed(one, calls); });
}

template <class Exec>
void run(arguments const& given) {
  auto const work = given.text("work");
  auto const variant = given.text("variant");
  if (variant != "ordered" && variant != "avx2" &&
      (variant != "reproducible" || work != "projection")) {
    throw std::invalid_argument("isocenter_ct: --variant " + variant +
                                " (one of ordered, avx2; of projection also reproducible)");
  }
  if (variant == "avx2") {
    iso::backend::set_host_vector_bytes(32);
  }
  auto const what = given.text("backend") + ", " + variant;
  if (work == "projection") {
    serve(given, projection<Exec>(given), what);
  } else if (work == "fdk") {
    serve(given, fdk<Exec>(given), what);
  } else if (work == "adjoint") {
    serve(given, adjoint<Exec>(given), what);
  } else if (work == "backprojection") {
    serve(given, backprojection<Exec>(given), what + ", within FDK");
  } else {
    throw std::invalid_argument("isocenter_ct: --work " + work +
                                " (one of projection, backprojection, adjoint, fdk)");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return iso::perf::drive("isocenter_ct", argc, argv, [](arguments const& given) {
    iso::backend::with_name(given.text("backend"),
                            [&](auto tag) { run<typename decltype(tag)::execution_space>(given); });
  });
}
