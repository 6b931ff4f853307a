// SPDX-License-Identifier: BSD-3-Clause
// The time of one call of each kind, as python_calls.py takes it of the same calls from Python:
// projection and its adjoint with a kept pair, FDK, an iteration of SIRT, a product with a dose
// matrix. On processors it is the processor time. Prints a line of JSON.
#include "support/program.hpp"

#include <iso/backend/registry.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/projector_pair.hpp>
#include <iso/ct/sart.hpp>
#include <iso/sparse/dose_matrix.hpp>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

namespace iso::perf {
namespace {

struct settings {
  std::string backend;
  std::string call;
  std::int64_t size = 256;
  std::int64_t views = 360;
  std::int64_t repeats = 3;
};

/// Returns the seconds until now: that pass, where a device computes, else of processor time, of
/// all threads.
template <class Exec>
double seconds_now() {
  if constexpr (backend::is_device<Exec>) {
    using clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
  } else {
    return double(std::clock()) / CLOCKS_PER_SEC;
  }
}

/// Prints the time of each call, which waits for its work. The first call is not counted.
template <class Exec>
void report(settings const& s, std::function<void()> const& call) {
  call();
  std::vector<double> seconds;
  for (std::int64_t n = 0; n < s.repeats; ++n) {
    double const begin = seconds_now<Exec>();
    call();
    seconds.push_back(seconds_now<Exec>() - begin);
  }
  std::printf("%s\n", json{{"call", s.call}, {"seconds", seconds}}.dump().c_str());
}

/// The k-th of the numbers from 0 to 1 that both programs fill arrays with.
float number(std::int64_t k) { return float(k * 7919 % 10007) / 10007; }

template <class View>
void fill(View const& to) {
  auto const mirror = Kokkos::create_mirror_view(to);
  for (std::size_t k = 0; k < mirror.size(); ++k) {
    mirror.data()[k] = number(std::int64_t(k));
  }
  Kokkos::deep_copy(to, mirror);
}

template <class Exec>
void measure_scan(settings const& s) {
  using space = typename Exec::memory_space;
  Exec const exec;
  auto const n = double(s.size);
  auto const scan =
      ct::circular_cone({.num_u = s.size, .num_v = s.size, .pitch_u = 1.5, .pitch_v = 1.5}, 2.5 * n,
                        3.75 * n, ct::even_angles(s.views, 2 * std::numbers::pi));
  auto const grid = iso::grid::centred({s.size, s.size, s.size}, {1, 1, 1});
  auto const x = make_volume<float, space>(exec, "x", grid);
  auto const y = make_projections<float, space>(exec, "y", s.views, s.size, s.size);
  fill(x.data);
  fill(y.data);
  volume_view<float const, space> const volume = x;
  projection_view<float const, space> const readings = y;
  if (s.call == "project" || s.call == "adjoint") {
    ct::projector_pair<Exec, float> const pair(exec, scan, grid);
    report<Exec>(s, [&] {
      if (s.call == "project") {
        pair.forward(0, volume, y);
      } else {
        pair.adjoint(0, readings, x);
      }
      exec.fence("iso_python_calls");
    });
  } else if (s.call == "fdk") {
    ct::fdk_reconstructor<Exec, float> const method(exec, scan, grid);
    report<Exec>(s, [&] {
      method.apply(readings, x);
      exec.fence("iso_python_calls");
    });
  } else {
    Kokkos::deep_copy(exec, x.data, 0);
    ct::sart<Exec, float> method(exec, scan, readings, x);
    report<Exec>(s, [&] { method.step(); });
  }
}

/// A matrix of 40 entries a row, as python_calls.py makes it.
template <class Exec>
void measure_matrix(settings const& s) {
  using space = typename Exec::memory_space;
  Exec const exec;
  std::int64_t const rows = s.size * s.size * s.size / 32;
  std::int64_t const columns = 2000;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> indices;
  std::vector<float> values;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t j = 0; j < 40; ++j) {
      indices.push_back(std::int32_t(r % 50 + 50 * j));
      values.push_back(1 + number(std::int64_t(values.size())));
    }
    offsets.push_back(std::int64_t(values.size()));
  }
  sparse::dose_matrix<space> const a(exec,
                                     sparse::csr_arrays(rows, columns, offsets, indices, values));
  Kokkos::View<float*, space> const x("x", std::size_t(columns));
  Kokkos::View<float*, space> const y("y", std::size_t(rows));
  fill(x);
  report<Exec>(s, [&] {
    // Many products: one takes milliseconds.
    for (int n = 0; n < 20; ++n) {
      a.apply(exec, x, y);
      exec.fence("iso_python_calls");
    }
  });
}

}  // namespace
}  // namespace iso::perf

int main(int argc, char** argv) {
  iso::perf::settings s;
  CLI::App app("Time of calls", "iso_python_calls");
  app.add_option("--backend", s.backend)->required();
  app.add_option("--call", s.call)
      ->required()
      ->check(CLI::IsMember({"project", "adjoint", "fdk", "sirt", "matrix"}));
  app.add_option("--size", s.size, "voxels along a side, and pixels");
  app.add_option("--views", s.views);
  app.add_option("--repeats", s.repeats);
  return iso::perf::run_program(app, argc, argv, [&] {
    iso::backend::with_name(s.backend, [&]<class Tag>(Tag) {
      using exec_space = typename Tag::execution_space;
      if (s.call == "matrix") {
        iso::perf::measure_matrix<exec_space>(s);
      } else {
        iso::perf::measure_scan<exec_space>(s);
      }
    });
  });
}
