// SPDX-License-Identifier: BSD-3-Clause
// Gamma by slabs: gamma, status and counts of the whole, to the bit.
#include "gamma_support.hpp"
#include "instances.hpp"
#include "slabs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace gamma_support;
using iso::slab;
using iso::test::difference;
using iso::test::for_each_instance;
using iso::test::planes_of;
using iso::test::random_slabs;
using iso::test::refusal;

struct comparison {
  grid reference;
  grid evaluated;
  std::vector<criterion> criteria;
  gamma_options options;
};

/// Grids that differ in everything, or agree, with one plane or many, and any of the searches.
comparison random_comparison(std::mt19937_64& random) {
  auto const number = [&](double low, double high) {
    return low + (high - low) * double(random() % 1024) / 1023;
  };
  comparison c{{{7, 6, 1 + std::int64_t(random() % 14)}, {2.5, 2, number(1.5, 4)}, {-9, -6, -15}},
               {{9, 8, 1 + std::int64_t(random() % 14)}, {2, 2.25, number(1.5, 4)}, {-8, -7, 0}},
               {{0.03, number(0.5, 4)}, {0.02, 2}},
               {}};
  c.evaluated.origin.z = c.reference.origin.z + number(-1, 1) * c.reference.spacing.z;
  if (random() % 4 == 0) {
    c.evaluated = c.reference;
  }
  c.options.between = interpolation(random() % 3);
  c.options.normalise = normalisation(random() % 3);
  c.options.given_dose = c.options.normalise == normalisation::given ? 0.75 : 0;
  c.options.cut_off = 0.2;
  c.options.max_gamma = number(1.5, 3);
  return c;
}

template <class T>
host_volume<T> rough_hill(grid const& g, double aside, std::uint64_t seed) {
  return dose_of<T>(g, [&](double x, double y, double z) {
    return hill(x - aside, y, z + aside) * (1 + 0.05 * noise(seed++));
  });
}

template <class T>
dose_bounds bounds_by_slabs(std::mt19937_64& random, host_volume<T> const& dose) {
  dose_bounds all;
  for (slab const& one : random_slabs(random, dose.grid)) {
    Kokkos::Serial const exec;
    all = all.joined(bounds_of(exec, planes_of(exec, dose, one)));
  }
  return all;
}

/// Compares slab by slab, in any order, half of the counts by way of others.
template <class T, class Exec>
void check_slabs(Exec const& exec, std::mt19937_64& random, comparison const& c,
                 host_volume<T> const& reference, host_volume<T> const& evaluated,
                 found<T> const& all) {
  using space = typename Exec::memory_space;
  auto slabs = random_slabs(random, c.reference);
  std::shuffle(slabs.begin(), slabs.end(), random);
  auto const of_reference = bounds_by_slabs(random, reference);
  auto const of_evaluated = bounds_by_slabs(random, evaluated);
  gamma_sums sums(c.reference, c.criteria, c.options);
  gamma_sums others = sums;
  auto const points = std::size_t(c.reference.size());
  for (std::size_t n = 0; n < slabs.size(); ++n) {
    slab const own = slabs[n];
    CAPTURE(own.first);
    CAPTURE(own.last);
    gamma_plan<T, space> const plan(
        exec, planes_of(exec, reference, own),
        planes_of(exec, evaluated,
                  planes_needed(c.reference, c.evaluated, own, c.criteria, c.options)),
        c.criteria, c.options, of_reference, of_evaluated);
    auto const& e = c.reference.extent;
    gamma_values<T, space> const gamma("gamma", c.criteria.size(), e[0], e[1], own.count());
    status_values<space> const status("status", e[0], e[1], own.count());
    gamma_index(exec, plan, gamma, status);
    (n % 2 == 0 ? sums : others).add(exec, plan, gamma, status);
    auto const values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), gamma);
    auto const states = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), status);
    std::vector<T> expected;
    for (std::size_t k = 0; k < c.criteria.size(); ++k) {
      auto const from = all.gamma.begin() + std::ptrdiff_t(k * points);
      auto const some =
          planes_of(std::vector<T>(from, from + std::ptrdiff_t(points)), c.reference, own);
      expected.insert(expected.end(), some.begin(), some.end());
    }
    CHECK(difference(std::vector<T>(values.data(), values.data() + values.size()), expected) == "");
    CHECK(std::vector<point_status>(states.data(), states.data() + states.size()) ==
          planes_of(all.status, c.reference, own));
  }
  sums.add(others);
  auto const summaries = sums.finish();
  for (std::size_t k = 0; k < c.criteria.size(); ++k) {
    auto const& a = summaries[k];
    auto const& b = all.summaries[k];
    CHECK(difference(std::vector{a.pass_rate, a.largest, a.mean, a.bin_width},
                     std::vector{b.pass_rate, b.largest, b.mean, b.bin_width}) == "");
    CHECK(std::vector{a.below_cut_off, a.compared, a.passed, a.outside, a.outside_passed} ==
          std::vector{b.below_cut_off, b.compared, b.passed, b.outside, b.outside_passed});
    CHECK(a.histogram == b.histogram);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("gamma slabs: gamma, status and counts are those of the whole", T, float,
                   double) {
  std::mt19937_64 random(3);
  for (int n = 0; n < 6; ++n) {
    auto const c = random_comparison(random);
    auto const reference = rough_hill<T>(c.reference, 0, 0);
    auto const evaluated = rough_hill<T>(c.evaluated, 1, 1 << 20);
    auto const all = gamma_of<T>(reference, evaluated, c.criteria, c.options);
    CAPTURE(n);
    for_each_instance(
        [&](auto const& exec) { check_slabs<T>(exec, random, c, reference, evaluated, all); });
  }
}

TEST_CASE("gamma slabs: a slab needs the evaluated planes within the search's distance") {
  grid const g{{4, 4, 20}, {2, 2, 3}, {0, 0, 0}};
  std::vector<criterion> const criteria = {{0.03, 2.5}};
  auto const needed = [&](slab const& own, interpolation between) {
    return planes_needed(g, g, own, criteria, {.between = between, .max_gamma = 2});
  };
  // 5 mm: a plane, and the cell beyond it.
  CHECK(needed({8, 9}, interpolation::trilinear) == slab{6, 11});
  CHECK(needed({8, 11}, interpolation::tetrahedra) == slab{6, 13});
  CHECK(needed({8, 9}, interpolation::grid_points) == slab{7, 10});
  CHECK(needed({0, 1}, interpolation::trilinear) == slab{0, 3});
  CHECK(needed({19, 20}, interpolation::trilinear) == slab{17, 20});
}

TEST_CASE("gamma slabs: what is missing, given twice or of other doses is refused") {
  Kokkos::Serial const exec;
  using space = Kokkos::HostSpace;
  grid const g{{3, 3, 8}, {2, 2, 2}, {0, 0, 0}};
  auto const dose = dose_of<float>(g, [](double, double, double z) { return 1 + z; });
  auto const bounds = bounds_of(exec, dose);
  CHECK(bounds == dose_bounds{15, 15});
  std::vector<criterion> const criteria = {{0.03, 1}};
  auto const planned = [&](slab const& own, slab const& held, dose_bounds const& all) {
    return gamma_plan<float, space>(exec, planes_of(exec, dose, own), planes_of(exec, dose, held),
                                    criteria, {}, all, all);
  };
  CHECK(refusal([&] { planned({2, 4}, {1, 6}, bounds); }) ==
        "iso::gamma::gamma_plan: evaluated planes 1 to 5 (reference planes 2 to 3 are compared "
        "with planes 0 to 5); give those that iso::gamma::planes_needed returns");
  CHECK(refusal([&] { planned({2, 4}, {0, 6}, {4, 4}); }) ==
        "iso::gamma::gamma_plan: a reference dose of up to 7 (the bounds of all planes say 4); "
        "join iso::gamma::bounds_of every slab");
  CHECK(refusal([&] {
          gamma_plan<float, space>(exec, planes_of(exec, dose, {2, 4}), dose, criteria);
        }).starts_with("iso::gamma::gamma_plan: volume data of [3, 3, 2]"));
  CHECK(refusal([&] { planes_needed(g, g, {7, 9}, criteria); }) ==
        "iso::gamma::planes_needed: 2 planes along z from plane 7 on (the grid has 8); choose one "
        "of them or more");
  auto bad = planes_of(exec, dose, {2, 5});
  bad.data(1, 2, 2) = std::numeric_limits<float>::quiet_NaN();
  CHECK(refusal([&] { bounds_of(exec, bad); }) ==
        "iso::gamma::bounds_of: 1 of 27 voxels of the dose are NaN or infinite (a dose is a "
        "number; the first is (1, 2, 4)); replace them by numbers");

  auto const plan = planned({2, 4}, {0, 6}, bounds);
  gamma_values<float, space> const gamma("gamma", 1, 3, 3, 2);
  status_values<space> const status("status", 3, 3, 2);
  gamma_index(exec, plan, gamma, status);
  gamma_sums sums(g, criteria, {});
  sums.add(exec, plan, gamma, status);
  CHECK(refusal([&] { sums.add(exec, plan, gamma, status); }) ==
        "iso::gamma::gamma_sums::add: planes 2 to 3 (2 to 3 were added before); give each plane to "
        "one slab");
  CHECK(refusal([&] { sums.add(gamma_sums(sums)); }).find("were added before") !=
        std::string::npos);
  CHECK(refusal([&] { static_cast<void>(sums.finish()); }) ==
        "iso::gamma::gamma_sums::finish: plane 0 of 8 was not added (the sums need all); add the "
        "slab that owns it");
  CHECK(refusal([&] { summarise(exec, plan, gamma, status); }).find("was not added") !=
        std::string::npos);
  gamma_sums wider(g, criteria, {.max_gamma = 3});
  CHECK(refusal([&] { wider.add(exec, plan, gamma, status); }) ==
        "iso::gamma::gamma_sums::add: a plan of another grid, criteria or options (counts are of "
        "one comparison); make both of the same");
  CHECK(refusal([&] { wider.add(sums); }).starts_with("iso::gamma::gamma_sums::add: counts of"));
  CHECK(refusal([&] {
          gamma_index(exec, plan, gamma_values<float, space>("gamma", 1, 3, 3, 8), status);
        }).find("gamma of [1, 3, 3, 8]") != std::string::npos);
}
