// SPDX-License-Identifier: BSD-3-Clause
// Filtered backprojection against plain double-precision loops, against known bodies, and with the
// same bits on every backend.
#include "fdk_truth.hpp"
#include "instances.hpp"

#include <iso/backend/host_vectors.hpp>
#include <iso/oracle/reconstruction.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace fdk_support;

template <class T>
std::vector<double> defined(geometry const& g, stack<T> const& p, grid const& volume,
                            fdk_options const& options = {}) {
  return iso::oracle::exact_fdk<T>(g, p, volume, options);
}

double largest(std::vector<double> const& x) {
  double most = 0;
  for (double const value : x) {
    most = std::max(most, std::abs(value));
  }
  return most;
}

/// Coordinates on the detector are rounded to T, and neighbouring readings here have nothing in
/// common. A coordinate is a quotient of sums of three products each: some roundings.
template <class T>
double rounding(geometry const& g) {
  return 16 * double(std::numeric_limits<T>::epsilon()) * double(std::max(g.num_u(), g.num_v()));
}

struct scan_case {
  geometry g;
  grid volume;
  scan_options weights = {};
};

std::vector<scan_case> cases() {
  constexpr double degree = pi / 180;
  auto const angles = iso::ct::even_angles(37, 2 * pi, 0.3);
  auto const half = iso::ct::even_angles(19, pi, -0.2);
  auto const small = grid::centred({13, 11, 40}, {1.3, 1.1, 0.8});
  auto const body = grid::centred({15, 14, 35}, {4, 4, 1.5});
  using fdk_truth::posed;
  return {
      {iso::ct::circular_cone({33, 41, 1.1, 0.9, 2.5, -1}, 120, 180, angles), small},
      {iso::ct::circular_cone({9, 300, 4, 0.25}, 100, 150, angles),
       grid::centred({5, 6, 70}, {2, 2, 0.5})},
      {iso::ct::circular_parallel({31, 29, 0.8, 1.2, 1, 3}, half),
       grid::centred({12, 9, 33}, {1, 1.5, 1})},
      {iso::ct::circular_cone({33, 41, 1.1, 0.9, 2.5, -1}, 120, 180,
                              iso::ct::even_angles(37, 1.3 * pi, 0.3)),
       small},
      {iso::ct::circular_cone({33, 41, 1.1, 0.9, 9}, 120, 180, angles),
       small,
       {.truncation_correction = 5}},
      {iso::ct::circular_parallel({31, 29, 0.8, 1.2, -6, 3}, angles),
       small,
       {.truncation_correction = 2}},
      // Columns that lean a little: those of a register see two or three columns of pixels.
      {iso::ct::turn_detector(iso::ct::circular_cone({33, 41, 1.1, 0.9, 2.5, -1}, 120, 180, angles),
                              {.pitch = 1.7 * degree}),
       small},
      {iso::ct::turn_detector(iso::ct::circular_cone({9, 41, 1.1, 0.9}, 120, 180, angles),
                              {.roll = 0.6 * degree}),
       small},
      {iso::ct::turn_detector(iso::ct::circular_parallel({31, 29, 0.8, 1.2, 1, 3}, half),
                              {.roll = 0.6 * degree}),
       grid::centred({12, 9, 33}, {1, 1.5, 1})},
      // Columns that lean, where every ray is weighted by itself.
      {posed(beam::cone, {.yaw = 20, .pitch = 20, .detector_u = 36}, angles,
             {.num_u = 60, .num_v = 50, .pitch = 2.4}),
       body},
      {posed(beam::cone, {.skew = -20}, iso::ct::even_angles(37, 1.4 * pi, 0.3),
             {.num_u = 80, .num_v = 50, .pitch = 2.4}),
       body},
      {posed(beam::parallel, {.skew = -20, .detector_u = 24}, angles,
             {.num_u = 50, .num_v = 40, .pitch = 1.6}),
       body},
  };
}

}  // namespace

TEST_CASE_TEMPLATE("fdk: agrees with plain loops in double", T, float, double) {
  auto window = ramp_window::ram_lak;
  for (auto const& [g, volume, weights] : cases()) {
    auto const p = random_stack<T>(g);
    // The window is the filter's alone: each has every other scan.
    fdk_options const options{window, 0.8, weights};
    window = window == ramp_window::hann ? ramp_window::ram_lak : ramp_window::hann;
    auto const truth = defined(g, p, volume, options);
    auto const found = reconstructed(Kokkos::Serial(), g, p, volume, options);
    CHECK(farthest(found, truth) < rounding<T>(g) * largest(truth));
  }
}

TEST_CASE_TEMPLATE("fdk: a detector whose v is not along z", T, float, double) {
  auto const g =
      iso::ct::circular_cone({33, 31, 1.1, 1.3}, 120, 180, iso::ct::even_angles(23, 2 * pi));
  auto views = g.views();
  for (view_vectors& w : views) {
    w.v_step = w.v_step + 0.0005 * w.source;
    w.u_step = w.u_step + 0.05 * w.v_step;
  }
  geometry const tilted(g.kind(), g.num_u(), g.num_v(), views);
  auto const volume = grid::centred({9, 11, 35}, {1.3, 1.1, 0.8});
  auto const p = random_stack<T>(tilted);
  auto const truth = defined(tilted, p, volume);
  CHECK(farthest(reconstructed(Kokkos::Serial(), tilted, p, volume), truth) <
        rounding<T>(tilted) * largest(truth));
}

/// Checks that every backend, number of threads and width of registers gives these bits.
template <class Run, class Voxels>
void check_everywhere(Run const& run, Voxels const& expected) {
  iso::test::for_each_instance(
      [&](auto const& exec) { CHECK(difference(run(exec), expected) == ""); });
  int const most = iso::backend::host_vector_bytes();
  for (int const bytes : {0, 32}) {
    iso::backend::set_host_vector_bytes(bytes);
    CHECK(difference(run(Kokkos::Serial()), expected) == "");
  }
  iso::backend::set_host_vector_bytes(most);
}

TEST_CASE_TEMPLATE("fdk: the same bits on every backend, number of threads and vector width", T,
                   float, double) {
  for (auto const& [g, volume, weights] : cases()) {
    auto const p = random_stack<T>(g, 7);
    fdk_options const options{.scan = weights};
    auto const expected = reconstructed(Kokkos::Serial(), g, p, volume, options);
    check_everywhere([&](auto const& exec) { return reconstructed(exec, g, p, volume, options); },
                     expected);
  }
}

TEST_CASE_TEMPLATE("fdk: no NaN but the canonical one leaves, with the same bits everywhere", T,
                   float, double) {
  using bits = iso::bits_of<T>;
  constexpr auto canonical = bits(iso::float_bits<T>::canonical_nan);
  std::int64_t count = 0;
  for (auto const& [g, volume, weights] : cases()) {
    auto const p = random_stack<T>(g, 7);
    // A NaN of either sign with numbers of its own in it, and what becomes one where they meet.
    constexpr bits sign = bits(1) << (8 * sizeof(T) - 1);
    p.data(1, g.num_u() / 2, g.num_v() / 2) = std::bit_cast<T>(bits(canonical | sign | bits(77)));
    p.data(4, g.num_u() / 3, g.num_v() - 2) = std::bit_cast<T>(bits(canonical | bits(0x1234)));
    p.data(2, g.num_u() / 2, 3) = std::numeric_limits<T>::infinity();
    p.data(6, g.num_u() / 2, 3) = -std::numeric_limits<T>::infinity();
    fdk_options const options{.scan = weights};
    auto const expected = reconstructed(Kokkos::Serial(), g, p, volume, options);
    for (T const voxel : expected) {
      if (voxel != voxel) {
        ++count;
        REQUIRE(std::bit_cast<bits>(voxel) == canonical);
      }
    }
    check_everywhere([&](auto const& exec) { return reconstructed(exec, g, p, volume, options); },
                     expected);
  }
  CHECK(count > 1000);
}

TEST_CASE("fdk: taps of the ramp filter") {
  auto const plain = iso::ct::ramp_taps(6);
  CHECK(plain[0] == 0.25);
  CHECK(plain[1] == doctest::Approx(-1 / (pi * pi)).epsilon(1e-14));
  CHECK(plain[2] == 0);
  CHECK(plain[3] == doctest::Approx(-1 / (9 * pi * pi)).epsilon(1e-14));
  auto const shepp = iso::ct::ramp_taps(6, {ramp_window::shepp_logan});
  for (int n = 0; n < 6; ++n) {
    CHECK(shepp[std::size_t(n)] ==
          doctest::Approx(-2 / (pi * pi * (4.0 * n * n - 1))).epsilon(1e-12));
  }
  // Every window against its integral by the midpoint rule.
  for (auto const window : {ramp_window::ram_lak, ramp_window::shepp_logan, ramp_window::cosine,
                            ramp_window::hamming, ramp_window::hann}) {
    for (double const cutoff : {1.0, 0.6}) {
      CAPTURE(int(window));
      auto const taps = iso::ct::ramp_taps(9, {window, cutoff});
      constexpr int steps = 20000;
      for (int n = 0; n < 9; ++n) {
        double sum = 0;
        for (int s = 0; s < steps; ++s) {
          double const part = (s + 0.5) / steps;  // of the cut-off
          double const f = 0.5 * cutoff * part;
          double const shape = window == ramp_window::ram_lak ? 1
                               : window == ramp_window::shepp_logan
                                   ? std::sin(pi * part / 2) / (pi * part / 2)
                               : window == ramp_window::cosine  ? std::cos(pi * part / 2)
                               : window == ramp_window::hamming ? 0.54 + 0.46 * std::cos(pi * part)
                                                                : 0.5 + 0.5 * std::cos(pi * part);
          sum += 2 * f * shape * std::cos(2 * pi * f * n) * 0.5 * cutoff / steps;
        }
        CHECK(std::abs(taps[std::size_t(n)] - sum) < 1e-8);
      }
    }
  }
}

TEST_CASE("fdk: angular weights") {
  auto const g = iso::ct::circular_cone({4, 4}, 100, 150, {0.0, 1.0, 2.5, 4.0, 5.5});
  auto const w = iso::ct::weigh_scan(g).angles;
  std::vector<double> const expected = {(1 + 2 * pi - 5.5) / 2, 1.25, 1.5, 1.5,
                                        (1.5 + 2 * pi - 5.5) / 2};
  for (std::size_t n = 0; n < 5; ++n) {
    CHECK(w[n] == doctest::Approx(expected[n]).epsilon(1e-13));
  }
}

TEST_CASE("fdk: scans for which the theory does not hold are refused with a sentence") {
  using iso::test::refusal;
  auto const short_scan = iso::ct::circular_cone({4, 4}, 100, 150, iso::ct::even_angles(50, pi));
  CHECK(refusal([&] { iso::ct::weigh_scan(short_scan); }).find("full circle") != std::string::npos);
  auto views = iso::ct::circular_cone({4, 4}, 100, 150, iso::ct::even_angles(50, 2 * pi)).views();
  for (std::size_t n = 0; n < views.size(); ++n) {
    views[n].source.z += double(n);
  }
  CHECK(refusal([&] { iso::ct::weigh_scan({beam::cone, 4, 4, views}); }).find("helix") !=
        std::string::npos);
  auto const g = iso::ct::circular_cone({8, 8}, 10, 20, iso::ct::even_angles(16, 2 * pi));
  auto const p = random_stack<float>(g);
  CHECK(refusal([&] {
          reconstructed(Kokkos::Serial(), g, p, grid::centred({32, 32, 8}, {1, 1, 1}));
        }).find("source lies within the volume") != std::string::npos);
  CHECK(refusal([&] { iso::ct::ramp_taps(4, {ramp_window::hann, 0}); }).find("cut-off") !=
        std::string::npos);
}
