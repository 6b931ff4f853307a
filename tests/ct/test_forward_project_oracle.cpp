// SPDX-License-Identifier: BSD-3-Clause
// Joseph projection against a serial long double oracle, and the exact methods against each other.
#include "forward_project_support.hpp"

#include <iso/oracle/projections.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using iso::boundary;
using namespace projector_support;

struct comparison {
  double worst = 0;  ///< largest |ours - oracle| over its bound
  std::int64_t compared = 0;
  std::int64_t left_out = 0;  ///< rays whose samples rounding may take or leave
};

/// What rounding may do: a coordinate is off by some eps of its largest intermediate value, a
/// sample by that times the differences of voxels in [0, 1] (at most 1.5 times the two slopes), and
/// the sum of n samples by n eps of itself.
template <class T>
comparison compare(volume<T> const& v, geometry const& s, forward_project_options const& options) {
  auto const ours = projected(v, s, options);
  auto const weight = options.method == projector::joseph_linear ? iso::oracle::weighting::linear
                                                                 : iso::oracle::weighting::spline;
  auto const eps = double(std::numeric_limits<T>::epsilon());
  auto const& n = v.grid.extent;
  double const planes = double(std::max({n[0], n[1], n[2]}));
  comparison result;
  std::size_t at = 0;
  for (auto const& view : s.views()) {
    for (std::int64_t u = 0; u < s.num_u(); ++u) {
      for (std::int64_t w = 0; w < s.num_v(); ++w, ++at) {
        auto const ray = iso::oracle::limited(iso::oracle::ray_of(view, s.kind(), v.grid, u, w),
                                              v.grid, options.within);
        auto const truth = iso::oracle::joseph<T>(v, ray, weight, options.edge);
        double far = planes;
        for (std::size_t a = 0; a < 3; ++a) {
          far = std::max(
              {far, double(std::abs(ray.from[a])), double(std::abs(ray.from[a] + ray.along[a]))});
        }
        double const coordinate = 8 * eps * far;
        double const unit =
            options.sum == summation::reproducible ? (sizeof(T) == 4 ? 0x1p-21 : 0x1p-50) : 0;
        double const longest = 1.8 * 2.5;  // steps of sqrt(3) voxels of at most 2.5 mm
        if (double(truth.margin) < coordinate) {
          ++result.left_out;
          continue;
        }
        double const bound = longest * planes * (3 * coordinate + unit / 2) +
                             planes * eps * double(std::abs(truth.value));
        result.worst =
            std::max(result.worst, std::abs(double((long double)(ours[at]) - truth.value)) / bound);
        ++result.compared;
      }
    }
  }
  return result;
}

template <class T>
void check_against_oracle(tilt how, std::vector<forward_project_options> const& list) {
  std::mt19937_64 random(how == tilt::none ? 5 : 6);
  comparison all;
  int fast = 0;
  constexpr int count = 60;
  for (int n = 0; n < count; ++n) {
    CAPTURE(n);
    auto const p = random_problem(random, how);
    auto const v = random_volume<T>(p.volume, unsigned(n));
    fast += is_fast<T>(p) ? 1 : 0;
    for (auto options : list) {
      CAPTURE(int(options.method));
      for (auto const edge : {boundary::zero, boundary::truncate}) {
        CAPTURE(int(edge));
        options.edge = edge;
        auto const c = compare(v, p.scan, options);
        CHECK(c.worst <= 1);
        all = {std::max(all.worst, c.worst), all.compared + c.compared, all.left_out + c.left_out};
      }
    }
  }
  CHECK(all.left_out < all.compared / 50);
  CHECK(all.worst > 1e-4);  // else the bound says nothing
  if (how == tilt::none) {
    CHECK(fast > count / 2);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("forward_project: linear Joseph, both paths, is the paper's algorithm", T, float,
                   double) {
  check_against_oracle<T>(tilt::none, {{.path = joseph_path::automatic},
                                       {.path = joseph_path::general},
                                       {.sum = summation::reproducible, .max_abs = 1.0},
                                       {.within = region::cylinder}});
  check_against_oracle<T>(tilt::any, {{}, {.within = region::cylinder}});
}

TEST_CASE_TEMPLATE("forward_project: spline Joseph is the paper's algorithm", T, float, double) {
  check_against_oracle<T>(tilt::none, {{.method = projector::joseph_spline}});
  check_against_oracle<T>(tilt::any,
                          {{.method = projector::joseph_spline},
                           {.method = projector::joseph_spline, .within = region::cylinder}});
}

TEST_CASE_TEMPLATE("forward_project: the exact methods give the same bits", T, float, double) {
  std::mt19937_64 random(7);
  for (int n = 0; n < 150; ++n) {
    CAPTURE(n);
    auto const p = random_problem(random, n % 2 == 0 ? tilt::none : tilt::any);
    auto const v = random_volume<T>(p.volume, unsigned(n));
    for (std::int32_t const oversampling : {1, 2}) {
      auto const first =
          projected(v, p.scan, {.method = projector::amanatides_woo, .oversampling = oversampling});
      for (auto const method : {projector::branchless, projector::siddon, projector::exact}) {
        CHECK(difference(first, projected(v, p.scan,
                                          {.method = method, .oversampling = oversampling})) == "");
      }
    }
  }
}

TEST_CASE("forward_project: exact methods see every voxel with its exact chord") {
  std::mt19937_64 random(8);
  for (int n = 0; n < 60; ++n) {
    CAPTURE(n);
    auto const p = random_problem(random, n % 2 == 0 ? tilt::none : tilt::any);
    auto const ones = volume_of<double>(p.volume, [](auto, auto, auto) { return 1; });
    auto const chords = box_chords(p.scan, p.volume);
    auto const cut = box_chords(p.scan, p.volume, region::cylinder);
    for (auto const method : exact_methods) {
      CHECK(farthest(projected(ones, p.scan, {.method = method}), chords) < 1e-9);
      CHECK(farthest(projected(ones, p.scan, {.method = method, .within = region::cylinder}), cut) <
            1e-9);
    }
  }
}
