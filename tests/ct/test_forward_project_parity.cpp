// SPDX-License-Identifier: BSD-3-Clause
// The same bits from both paths, every backend, number of threads, launch shape, slab and run.
#include "forward_project_support.hpp"
#include "instances.hpp"

#include <iso/ct/detail/joseph_general_kernel.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using iso::boundary;
using iso::test::for_each_instance;
using namespace projector_support;

constexpr summation both_sums[] = {summation::ordered, summation::reproducible};

/// Every method with every sum.
std::vector<forward_project_options> all_options() {
  std::vector<forward_project_options> list;
  for (auto const method : all_methods) {
    list.push_back({.method = method});
    list.push_back({.method = method, .sum = summation::reproducible});
  }
  list.push_back({.method = projector::branchless, .oversampling = 2});
  list.push_back({.method = projector::siddon, .sum = summation::reproducible, .oversampling = 2});
  list.push_back({.method = projector::branchless, .within = region::cylinder});
  list.push_back({.within = region::cylinder});
  return list;
}

/// Both weights, both sums and both boundaries, with and without a cylinder.
std::vector<forward_project_options> joseph_options() {
  std::vector<forward_project_options> list;
  for (auto const method : {projector::joseph_linear, projector::joseph_spline}) {
    for (auto const sum : both_sums) {
      list.push_back({.method = method, .sum = sum});
      list.push_back({.method = method, .sum = sum, .within = region::cylinder});
      list.push_back({.method = method, .sum = sum, .edge = boundary::truncate});
    }
  }
  return list;
}

/// Joseph's sums, one ray after the other, of voxels of at most 1.
template <class T>
std::vector<T> ray_by_ray(volume<T> const& v, geometry const& scan,
                          forward_project_options const& options) {
  using namespace iso::ct::detail;
  auto const& n = v.grid.extent;
  ray_sum_scale<T> const scale{{1.0, double(std::max({n[0], n[1], n[2]}))}, false};
  auto const with = [&]<class Sum, class Weight>(Sum const& sum, Weight) {
    std::vector<T> result;
    for (auto const& view : scan.views()) {
      auto const w = iso::ct::detail::to_index(view, v.grid, scan.kind());
      for (std::int64_t k = 0; k < scan.num_u() * scan.num_v(); ++k) {
        auto const line = make_line<T>(w, scan.kind(), v.grid, double(k / scan.num_v()),
                                       double(k % scan.num_v()), options.within);
        plane_range const held{0, std::int32_t(v.grid.extent[2])};
        plane_range const planes = sampled_planes(line, v.grid).outer;
        typename Sum::template state<single_lane, 1> s;
        sum.start(s, 0, 0, T(0));
        joseph_integral<T, Sum, Weight>(v.data.data(), v.grid, held, planes, options.edge, sum,
                                        line, s);
        T const total =
            sum.flagged(s, 0, 0) ? std::numeric_limits<T>::quiet_NaN() : sum.value(s, 0, 0);
        result.push_back(planes.empty() ? T(0) : iso::canonical(total * line.step));
      }
    }
    return result;
  };
  auto const weighted = [&](auto const& sum) {
    return options.method == projector::joseph_linear ? with(sum, iso::linear_weight())
                                                      : with(sum, iso::spline_weight());
  };
  return options.sum == summation::ordered ? weighted(ordered_sum<T>(nullptr))
                                           : weighted(reproducible_sum<T>(&scale));
}

/// A scan that fills several slabs, blocks and tiles.
problem large_problem() {
  auto const g = grid::centred({150, 133, 70}, {1, 1.25, 0.75});
  return {g, iso::ct::circular_cone({21, 75, 9, 1.5, 3, 2}, 300, 500,
                                    iso::ct::even_angles(3, 2 * pi, 0.1))};
}

}  // namespace

namespace {

template <class T>
void check_paths(unsigned seed, int count) {
  std::mt19937_64 random(seed);
  int fast = 0;
  for (int n = 0; n < count; ++n) {
    CAPTURE(n);
    auto const p = random_problem(random, tilt::none);
    auto v = random_volume<T>(p.volume, unsigned(n));
    fast += is_fast<T>(p) ? 1 : 0;
    for (auto options : joseph_options()) {
      CAPTURE(int(options.method));
      CAPTURE(int(options.sum));
      CAPTURE(int(options.edge));
      CAPTURE(int(options.within));
      auto const fast_one = projected(v, p.scan, options);
      options.path = joseph_path::general;
      CHECK(difference(projected(v, p.scan, options), fast_one) == "");
    }
  }
  CHECK(fast > count / 2);
}

}  // namespace

TEST_CASE_TEMPLATE("forward_project: the fast path has the general path's bits", T, float, double) {
  check_paths<T>(21, 300);
}

TEST_CASE_TEMPLATE("forward_project: the fast path has the general path's bits, many a scan", T,
                   float, double) {
  check_paths<T>(121, 1200);
}

TEST_CASE_TEMPLATE(
    "forward_project: rays of a ray_column that pass voxel centres in another order than their "
    "pixels",
    T, float, double) {
  // Level columns of rays so narrow that rounding puts rays between the outer two of a register
  // below or above both, at heights where that is another voxel.
  std::mt19937_64 random(29);
  std::uniform_real_distribution<double> unit(-1, 1);
  auto const g = grid::centred({48, 40, 150}, {1, 1, 1});
  auto const v = random_volume<T>(g);
  constexpr int count = 400;
  int fast = 0;
  for (int n = 0; n < count; ++n) {
    CAPTURE(n);
    double const height = double(std::int64_t(60 * unit(random))) + 0.5;  // of voxel centres
    double const ulp = 128 * double(std::numeric_limits<T>::epsilon());
    double const climb = 4 * ulp * unit(random);
    double const pitch = 0.25 * ulp * unit(random);
    double const angle = 0.5 * unit(random) + (n % 2 == 0 ? 0 : pi / 2);
    vec3<double> const out{std::cos(angle), std::sin(angle), 0};
    vec3<double> const aside{-out.y, out.x, 0};
    geometry const scan(
        beam::cone, 5, 64,
        {{100.0 * out + vec3<double>{0, 0, height},
          -100.0 * out - 20.0 * aside + vec3<double>{0, 0, height + climb - 31.5 * pitch},
          10.0 * aside,
          {0, 0, pitch}}});
    fast += is_fast<T>({g, scan}) ? 1 : 0;
    for (auto const sum : both_sums) {
      CHECK(difference(projected(v, scan, {.sum = sum, .path = joseph_path::general}),
                       projected(v, scan, {.sum = sum})) == "");
    }
  }
  CHECK(fast == count);
}

TEST_CASE_TEMPLATE("forward_project: 32 rays that walk together have the bits of each alone", T,
                   float, double) {
  std::mt19937_64 random(23);
  for (int n = 0; n < 300; ++n) {
    CAPTURE(n);
    auto const p = random_problem(random, n % 3 == 0 ? tilt::none : tilt::any);
    auto const v = random_volume<T>(p.volume, unsigned(n));
    for (auto options : joseph_options()) {
      CAPTURE(int(options.method));
      CAPTURE(int(options.sum));
      CAPTURE(int(options.edge));
      CAPTURE(int(options.within));
      options.path = joseph_path::general;
      options.max_abs = 1.0;
      CHECK(difference(ray_by_ray(v, p.scan, options), projected(v, p.scan, options)) == "");
    }
  }
}

TEST_CASE_TEMPLATE(
    "forward_project: the paths agree where rays run along planes and through centres", T, float,
    double) {
  for (std::int64_t const n : {2, 32, 33, 64}) {
    auto const g = grid::centred({n, n, n}, {1, 1, 1});
    auto const v = random_volume<T>(g);
    for (std::int64_t const pixels : {n, n + 1}) {
      double const pitch = double(n + 1) / double(pixels);
      auto const angles = iso::ct::even_angles(8, 2 * pi);
      for (auto const& scan : {iso::ct::circular_parallel({pixels, pixels, pitch, pitch}, angles),
                               iso::ct::circular_cone({pixels, pixels, 2 * pitch, 2 * pitch},
                                                      8.0 * double(n), 16.0 * double(n), angles)}) {
        REQUIRE(is_fast<T>({g, scan}));
        for (auto options : joseph_options()) {
          auto const fast_one = projected(v, scan, options);
          options.path = joseph_path::general;
          CHECK(difference(fast_one, projected(v, scan, options)) == "");
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("forward_project: the same bits on every backend and number of threads", T,
                   float, double) {
  std::mt19937_64 random(22);
  for (int n = 0; n < 4; ++n) {
    CAPTURE(n);
    auto const p = random_problem(random, n % 3 == 2 ? tilt::any : tilt::none);
    auto const v = random_volume<T>(p.volume, unsigned(n));
    for (auto const& options : all_options()) {
      CAPTURE(int(options.method));
      CAPTURE(int(options.sum));
      auto const expected = projected(Kokkos::Serial(), v, p.scan, options);
      for_each_instance([&](auto const& exec) {
        CHECK(difference(expected, projected(exec, v, p.scan, options)) == "");
      });
    }
  }
}

TEST_CASE_TEMPLATE("forward_project: launch shapes and repeated runs change no bit", T, float,
                   double) {
  auto const p = large_problem();
  auto const v = random_volume<T>(p.volume);
  REQUIRE(is_fast<T>(p));
  auto list = all_options();
  list.push_back({.path = joseph_path::general});
  for (auto options : list) {
    CAPTURE(int(options.method));
    CAPTURE(int(options.sum));
    auto const expected = projected(v, p.scan, options);
    for (std::int64_t const groups : {0, 7, 1000}) {
      CAPTURE(groups);
      options.shape = {groups};
      CHECK(difference(expected, projected(v, p.scan, options)) == "");
    }
  }
}

TEST_CASE_TEMPLATE("forward_project: slabs change no bit of either sum", T, float, double) {
  auto const p = large_problem();
  auto v = random_volume<T>(p.volume);
  // Rows of NaN in the first and the second slab: flags must outlive theirs.
  for (std::int64_t j = 55; j < 75; ++j) {
    v.data(3, j, 35) = std::numeric_limits<T>::quiet_NaN();
    v.data(j + 20, 20, 5) = std::numeric_limits<T>::quiet_NaN();
  }
  // Upright, tilted, with the rows of the detector along z, and with rays that z drives: groups
  // whose rays have several driving axes walk alone.
  std::pair<geometry, joseph_path> const scans[] = {
      {p.scan, joseph_path::automatic},
      {p.scan, joseph_path::general},
      {iso::ct::turn_detector(p.scan, {.pitch = 0.04, .roll = 0.02}), joseph_path::automatic},
      {iso::ct::turn_detector(p.scan, {.roll = pi / 2}), joseph_path::automatic},
      {iso::ct::circular_cone({70, 90, 9, 9, 3, 2}, 100, 200, {0.1, 1.7}), joseph_path::automatic}};
  for (auto const& [scan, path] : scans) {
    for (auto const sum : both_sums) {
      CAPTURE(int(sum));
      auto const expected = projected(v, scan, {.sum = sum, .path = joseph_path::general});
      auto const flagged =
          std::count_if(expected.begin(), expected.end(), [](T x) { return std::isnan(x); });
      CHECK(flagged > 0);
      CHECK(flagged < std::int64_t(expected.size()) / 2);
      for_each_instance([&, &each = scan, way = path](auto const& exec) {
        for (std::int32_t const planes : {64, 128, 192, 0}) {
          CAPTURE(planes);
          CHECK(difference(expected, projected(exec, v, each,
                                               {.sum = sum, .path = way, .slab_planes = planes})) ==
                "");
        }
      });
    }
  }
}
