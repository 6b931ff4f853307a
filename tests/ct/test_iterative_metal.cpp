// SPDX-License-Identifier: BSD-3-Clause
// Iterations of float against those of double where a body has metal: the largest voxel, which sets
// the unit of reproducible sums, is a hundred times as large as those of the body.
#include "iterative_support.hpp"

#include <iso/ct/cgls.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/total_variation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace iterative_metal {
namespace {

using iso::grid;
using iso::ct::geometry;
using iso::test::run_of;
using host = Kokkos::HostSpace;
using exec = Kokkos::Serial;

double const pi = std::acos(-1.0);
double const water = 0.02;  // 1/mm

grid const box = grid::centred({24, 24, 24}, {3, 3, 3});

geometry upright() {
  return iso::ct::circular_cone({.num_u = 36, .num_v = 36, .pitch_u = 4, .pitch_v = 4}, 300, 450,
                                iso::ct::even_angles(24, 2 * pi));
}

/// The readings of a head, skull and all, with a pin of 100 times water, as floats hold them.
std::vector<double> readings_of_head(geometry const& g) {
  auto const x = iso::make_volume<double, host>("head", box);
  for (std::int64_t i = 0; i < box.extent[0]; ++i) {
    for (std::int64_t j = 0; j < box.extent[1]; ++j) {
      for (std::int64_t k = 0; k < box.extent[2]; ++k) {
        double const h = box.spacing.x;
        iso::vec3<double> const from{box.origin.x + h * double(i), box.origin.y + h * double(j),
                                     box.origin.z + h * double(k)};
        double const r = std::sqrt(from.x * from.x + from.y * from.y + 0.7 * from.z * from.z);
        x.data(i, j, k) = r > 30 ? 0 : r > 26 ? 2 * water : water;
        if (norm(from - iso::vec3<double>{10, -6, 4}) < 4) {
          x.data(i, j, k) = 100 * water;
        }
      }
    }
  }
  auto const b = iso::make_projections<double, host>("b", g.num_views(), g.num_u(), g.num_v());
  iso::ct::projector_pair<exec, double>(exec(), g, box).forward(0, x, b);
  std::vector<double> readings(b.data.data(), b.data.data() + b.data.size());
  for (double& r : readings) {
    r = double(float(r));
  }
  return readings;
}

/// Returns the largest difference of float from double, in voxels that are no metal, in parts of
/// water's value.
template <template <class, class> class Method, class Options>
double apart(geometry const& g, std::vector<double> const& readings, Options options,
             iso::summation sum) {
  options.projector.sum = sum;
  auto const narrow = run_of<Method, float>(g, readings, options, {.iterations = 20}, box);
  auto const wide = run_of<Method, double>(g, readings, options, {.iterations = 20}, box);
  double worst = 0;
  for (std::size_t i = 0; i < narrow.x.size(); ++i) {
    if (std::abs(wide.x[i]) < 20 * water) {
      worst = std::max(worst, std::abs(narrow.x[i] - wide.x[i]) / water);
    }
  }
  return worst;
}

/// Water is a hundredth of the metal. docs/algorithms/iterative.md has the figures.
void check_metal(geometry const& g) {
  auto const readings = readings_of_head(g);
  auto const check = [&]<template <class, class> class Method>(auto const& options, double most) {
    CHECK(apart<Method>(g, readings, options, iso::summation::reproducible) < most);
  };
  check.operator()<iso::ct::sart>(iso::ct::sart_options{}, 1.5e-5);
  check.operator()<iso::ct::sart>(iso::ct::sart_options{.block_views = 6}, 3e-5);
  check.operator()<iso::ct::cgls>(iso::ct::cgls_options{}, 6e-5);
  check.operator()<iso::ct::lsqr>(iso::ct::lsqr_options{}, 6e-5);
  check.operator()<iso::ct::mlem>(iso::ct::mlem_options{}, 4e-5);
  check.operator()<iso::ct::mlem>(iso::ct::mlem_options{.block_views = 6}, 7e-5);
  check.operator()<iso::ct::total_variation>(iso::ct::total_variation_options{.weight = 0.02},
                                             3e-5);
  CHECK(apart<iso::ct::sart>(g, readings, iso::ct::sart_options{}, iso::summation::ordered) <
        1.6e-5);
}

}  // namespace

TEST_CASE("with metal, iterations of float differ from those of double by 1e-6 of the metal") {
  iso::ct::detector_turn const turn{.yaw = 4 * pi / 180, .pitch = 3 * pi / 180, .roll = pi / 180};
  check_metal(iso::ct::turn_detector(upright(), turn));
}

TEST_CASE("with metal and every method, the same on an upright detector") {
  check_metal(upright());
}

}  // namespace iterative_metal
