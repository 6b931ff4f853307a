// SPDX-License-Identifier: BSD-3-Clause
// Slabs of planes along z of a volume in host memory, z fastest: ways to a device and back. N^3
// floats, N = 1024 on a GPU. Rows:
//
//   slab_copy/<way>/<backend>/<planes>
//
// <way>: `pack` and `unpack`, by the host's threads, to and from page-locked memory; `in` and
// `out`, one piece of it to the device and back; `rows_in` and `rows_out`, a two-dimensional copy
// of page-locked columns. On a processor, which has one memory, `pack` and `unpack` alone.
//
// Counters beside the usual: `gb_per_s`, 1e9 bytes of a slab a second. The model: each byte read
// and written once. `error`: the part of all bytes that differ after the way there and back.
#include "support/bench.hpp"

#include <iso/core/volume_view.hpp>
#include <iso/detail/bus.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <utility>

namespace iso::perf {
namespace {

using host_exec = Kokkos::DefaultHostExecutionSpace;
using iso::detail::strided_runs;

template <class Exec>
struct slab_copy {
  using bytes_view = Kokkos::View<std::byte*, typename Exec::memory_space>;
  using staged_view = Kokkos::View<std::byte*, backend::staging_space<Exec>>;

  Exec exec;
  staged_view volume;
  staged_view staged;
  bytes_view device;
  strided_runs runs;

  slab_copy(std::int64_t n, std::int64_t planes)
      : volume(allocate<staged_view>("volume", {n * n * n * 4}, Kokkos::WithoutInitializing)),
        staged(allocate<staged_view>("staged", {n * n * planes * 4}, Kokkos::WithoutInitializing)),
        device(allocate<bytes_view>("device", {n * n * planes * 4}, Kokkos::WithoutInitializing)),
        runs{volume.data(), n * n, planes * 4, n * 4} {
    auto* const bytes = volume.data();
    Kokkos::parallel_for("volume",
                         Kokkos::RangePolicy<host_exec, Kokkos::IndexType<std::int64_t>>(0, n * n),
                         [=](std::int64_t row) {
                           for (std::int64_t i = 0; i < n * 4; ++i) {
                             bytes[row * n * 4 + i] = std::byte((row + i * i) % 251);
                           }
                         });
  }

  void run(std::string const& way) const {
    std::int64_t const bytes = runs.bytes();
    if (way == "pack" || way == "unpack") {
      iso::detail::copy_runs("slab", runs, staged.data(), way == "pack");
    } else if (way == "in") {
      backend::copy_rows(exec, {device.data(), bytes}, {staged.data(), bytes}, bytes, 1);
    } else if (way == "out") {
      backend::copy_rows(exec, {staged.data(), bytes}, {device.data(), bytes}, bytes, 1);
    } else if (way == "rows_in") {
      backend::copy_rows(exec, {device.data(), runs.length}, {runs.first, runs.stride}, runs.length,
                         runs.count);
    } else {
      backend::copy_rows(exec, {runs.first, runs.stride}, {device.data(), runs.length}, runs.length,
                         runs.count);
    }
  }
  /// Goes there and back by the ways that belong together; returns the part of bytes that differ.
  [[nodiscard]] double error() const {
    std::string before(reinterpret_cast<char const*>(volume.data()), 1 << 20);
    for (char const* const way : {"pack", "in", "out", "unpack", "rows_in", "rows_out"}) {
      run(way);
      exec.fence("there and back");
    }
    std::int64_t differ = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      differ += before[i] == char(volume.data()[i]) ? 0 : 1;
    }
    return double(differ) / double(before.size());
  }
};

template <class Exec>
void add_rows_of(std::string const& name) {
  constexpr bool device = backend::is_device<Exec>;
  std::int64_t const n = smoke() ? 64 : device ? 1024 : 256;
  std::vector<std::string> ways = {"pack", "unpack"};
  if (device) {
    ways.insert(ways.end(), {"in", "out", "rows_in", "rows_out"});
  }
  for (auto const& way : ways) {
    for (std::int64_t const planes : {n / 16, n / 8, n / 4}) {
      add_row("slab_copy/" + way + "/" + name + "/" + std::to_string(planes), 5,
              [=](benchmark::State& state) {
                slab_copy<Exec> const copy(n, planes);
                double const seconds = time_calls(state, copy.exec, [&] { copy.run(way); });
                double const bytes = double(copy.runs.bytes());
                state.counters["gb_per_s"] = 1e-9 * bytes / seconds;
                set_counters(state, copy.exec, seconds, {.bytes = 2 * bytes}, copy.error());
              });
    }
  }
}

int const registered =
    add_rows_of_backends([]<class Exec>(std::string const& name) { add_rows_of<Exec>(name); });

}  // namespace
}  // namespace iso::perf
