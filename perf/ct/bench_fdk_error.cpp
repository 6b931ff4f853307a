// SPDX-License-Identifier: BSD-3-Clause
// The error of iso::ct::fdk on the Shepp-Logan head, from projections in closed form (3 x 3 rays a
// pixel). Rows: fdk_error/<window>/<backend>/<N>, of the last backend of the build: N^3 voxels of a
// cube of 256 mm, 2 N views of N + N/4 by N + N/4 pixels over a full circle, the source 1000 mm
// from the axis and 1500 mm from the detector; float. A pixel is as wide at the axis as a voxel.
//
// Counters beside the usual, against voxels of the mean over 5 x 5 x 5 points, densities from 0 to
// 1: `mean_absolute` and `root_mean_square` over all voxels, `apart_from_edges`, the mean absolute
// one over voxels of the head whose neighbours up to three voxels away along each axis in turn have
// their density. `slice_...` are the same in the slice nearest to the plane of the source, where
// FDK is exact but for sampling. `error` is root_mean_square. fdk_error_table.py prints the table.
// The model: cases::reconstruction_work.
#include "support/bench.hpp"

#include <iso/cases/projection.hpp>
#include <iso/cases/reconstruction.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

constexpr double width = 256;

/// 1 where a voxel and its neighbours up to three away along each axis in turn have one density.
std::vector<char> flat_voxels(std::vector<float> const& values, std::int64_t n) {
  std::vector<char> flat(values.size(), 1);
  for (std::int64_t const step : {std::int64_t(1), n, n * n}) {
    auto const before = flat;
    for (std::int64_t at = 0; at < n * n * n; ++at) {
      std::int64_t const place = at / step % n;
      for (std::int64_t m = -3; m <= 3; ++m) {
        bool const inside = place + m >= 0 && place + m < n;
        auto const other = std::size_t(at + m * step);
        flat[std::size_t(at)] = flat[std::size_t(at)] && inside && before[other] &&
                                values[other] == values[std::size_t(at)];
      }
    }
  }
  return flat;
}

/// The projections and the truth of one size, kept on the host for the rows that follow.
struct head {
  ct::geometry scan;
  grid volume;
  std::shared_ptr<std::vector<float> const> readings;
  std::vector<float> truth;
  std::vector<char> flat;

  template <class Exec>
  head(Exec const& exec, std::int64_t n)
      : scan(ct::circular_cone(
            {n + n / 4, n + n / 4, 1.5 * width / double(n), 1.5 * width / double(n)}, 1000, 1500,
            ct::even_angles(2 * n, 2 * std::numbers::pi))),
        volume(grid::centred({n, n, n}, (width / double(n)) * vec3<double>{1, 1, 1})) {
    auto const bodies = ct::shepp_logan(width / 2);
    auto const made = [&](auto const& what) {
      measurable<Exec, float> const call(exec, what.prepare(exec));
      call();
      return call.values();
    };
    readings = std::make_shared<std::vector<float> const>(
        made(ellipsoid_projection_case<float>{bodies, scan, 3}));
    truth = made(raster_case<float>{bodies, volume});
    flat = flat_voxels(truth, n);
  }
};

template <class Exec>
head const& head_of(Exec const& exec, std::int64_t n) {
  static std::vector<head> last;
  if (last.empty() || last.front().volume.extent[0] != n) {
    last.clear();
    last.emplace_back(exec, n);
  }
  return last.front();
}

/// Of the voxels that `chosen` names: sets the counters `where`...; returns the root mean square.
template <class Chosen>
double report(benchmark::State& state, std::string const& where, head const& h,
              std::vector<float> const& found, Chosen const& chosen) {
  double absolute = 0;
  double squares = 0;
  double count = 0;
  double flat = 0;
  double flat_count = 0;
  for (std::size_t at = 0; at < found.size(); ++at) {
    if (!chosen(std::int64_t(at))) {
      continue;
    }
    double const difference = std::abs(double(found[at]) - double(h.truth[at]));
    absolute += difference;
    squares += difference * difference;
    count += 1;
    if (h.flat[at] != 0 && h.truth[at] != 0) {
      flat += difference;
      flat_count += 1;
    }
  }
  state.counters[where + "mean_absolute"] = absolute / count;
  state.counters[where + "root_mean_square"] = std::sqrt(squares / count);
  state.counters[where + "apart_from_edges"] = flat / flat_count;
  return std::sqrt(squares / count);
}

template <class Exec>
void run(benchmark::State& state, ct::ramp_window window, std::int64_t n) {
  Exec const exec;
  auto const& h = head_of(exec, n);
  fdk_case<float> const what{{.values = h.readings}, h.scan, h.volume, {window}};
  measurable<Exec, float> const call(exec, what.prepare(exec));
  double const seconds = time_calls(state, exec, call);
  auto const found = call.values();
  report(state, "slice_", h, found, [n](std::int64_t at) { return at % n == n / 2; });
  double const error = report(state, "", h, found, [](std::int64_t) { return true; });
  set_counters(state, exec, seconds, call.work(), error);
  if (!(error < 0.2)) {
    fail(state, "the result is no head");
  }
}

template <class Exec>
void add_rows(std::string const& where) {
  std::vector<std::int64_t> const sizes =
      smoke() ? std::vector<std::int64_t>{32} : std::vector<std::int64_t>{64, 128, 256};
  for (auto const n : sizes) {
    for (auto const& [window, text] : words(ct::ramp_window())) {
      std::string name(text);
      std::replace(name.begin(), name.end(), '-', '_');
      add_row("fdk_error/" + name + "/" + where + "/" + std::to_string(n), 1,
              [=, w = window](benchmark::State& state) { run<Exec>(state, w, n); });
    }
  }
}

// All backends give the same bits.
int const registered = [] {
  std::string last;
  backend::for_each([&](auto tag) { last = std::string(tag.name); });
  backend::with_name(last,
                     [&](auto tag) { add_rows<typename decltype(tag)::execution_space>(last); });
  return 0;
}();

}  // namespace
}  // namespace iso::perf
