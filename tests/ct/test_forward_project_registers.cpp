// SPDX-License-Identifier: BSD-3-Clause
// The same bits from kernels in registers of 32 bytes (AVX2), of 64 (AVX-512) and in arrays, where
// neighbouring pixels meet neighbouring voxels and where they meet voxels far apart, of upright and
// of tilted detectors.
#include "forward_project_support.hpp"

#include <iso/backend/host_vectors.hpp>

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace {

using iso::boundary;
using namespace projector_support;

/// Registers of `bytes` at most, as long as it lives.
class narrow_registers {
 public:
  explicit narrow_registers(int bytes) { iso::backend::set_host_vector_bytes(bytes); }
  ~narrow_registers() { iso::backend::set_host_vector_bytes(before_); }
  narrow_registers(narrow_registers const&) = delete;
  narrow_registers& operator=(narrow_registers const&) = delete;

 private:
  int before_ = iso::backend::host_vector_bytes();
};

template <class T>
void check_registers(problem const& p, unsigned seed, projector method = projector::joseph_linear) {
  auto const v = random_volume<T>(p.volume, seed);
  CAPTURE(int(method));
  for (auto const sum : {summation::ordered, summation::reproducible}) {
    for (auto const edge : {boundary::zero, boundary::truncate}) {
      CAPTURE(int(sum));
      CAPTURE(int(edge));
      forward_project_options const options{.method = method, .sum = sum, .edge = edge};
      auto const expected = projected(v, p.scan, options);
      for (int const bytes : {32, 0}) {
        CAPTURE(bytes);
        narrow_registers const narrow(bytes);
        CHECK(iso::backend::host_vector_bytes() <= bytes);
        CHECK(difference(expected, projected(v, p.scan, options)) == "");
      }
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("forward_project: registers of either width have the same bits", T, float,
                   double) {
  std::mt19937_64 random(31);
  for (unsigned n = 0; n < 300; ++n) {
    CAPTURE(n);
    check_registers<T>(random_problem(random, tilt::none), n);
  }
  auto const g = grid::centred({70, 61, 96}, {1, 1.25, 0.75});
  // Voxels of a register's rays: in windows of two registers, of four, and in none.
  for (double const pitch : {0.3, 1.5, 2.2, 3.0, 4.0, 12.0}) {
    CAPTURE(pitch);
    problem const p{g, iso::ct::circular_cone({21, 33, 9, pitch, 3, 2}, 300, 500,
                                              iso::ct::even_angles(3, 2 * pi, 0.1))};
    REQUIRE(is_fast<T>(p));
    check_registers<T>(p, 5);
  }
}

TEST_CASE_TEMPLATE("forward_project: registers of either width have the same bits on every tilt", T,
                   float, double) {
  std::mt19937_64 random(37);
  for (unsigned n = 0; n < 200; ++n) {
    CAPTURE(n);
    auto const p = random_problem(random, tilt::any);
    for (auto const method :
         {projector::joseph_linear, projector::joseph_spline, projector::exact}) {
      check_registers<T>(p, n, method);
    }
  }
  // From rays that lie in two columns of voxels, picked from windows, to each in its own; one with
  // pixels so wide that a register's rays lie in no window.
  auto const g = grid::centred({70, 61, 96}, {1, 1.25, 0.75});
  for (double const degrees : {0.05, 0.6, 2.0, 10.0, 29.0, 80.0}) {
    for (double const pitch : {1.5, 6.0}) {
      CAPTURE(degrees);
      CAPTURE(pitch);
      auto const scan = iso::ct::circular_cone({35, 37, 9, pitch, 3, 2}, 300, 500,
                                               iso::ct::even_angles(3, 2 * pi, 0.1));
      double const angle = degrees * pi / 180;
      for (auto const& each :
           {iso::ct::turn_detector(scan, {.pitch = angle}),
            iso::ct::turn_detector(scan, {.roll = angle}), iso::ct::laminography(scan, angle)}) {
        REQUIRE(!is_fast<T>({g, each}));
        check_registers<T>({g, each}, 7);
        check_registers<T>({g, each}, 7, projector::joseph_spline);
      }
    }
  }
}
