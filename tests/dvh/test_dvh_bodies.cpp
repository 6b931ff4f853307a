// SPDX-License-Identifier: BSD-3-Clause
// Dose-volume histograms of ideal bodies against closed forms: sphere, cylinder and cone of 24 mm
// in gradients of 1 Gy/mm (B. Nelms et al., Med. Phys. 42, 2015, doi:10.1118/1.4923175), and a
// sphere in a Gaussian.
#include "dvh_support.hpp"

#include <iso/oracle/dvh.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using namespace dvh_support;
using iso::oracle::ideal_body;
using host_space = Kokkos::HostSpace;

struct deviation {
  double volume = 0;  ///< per cent, of the whole
  double least = 0;   ///< of the curve, per cent of the volume, or of the dose where that is less
  double largest = 0;
};

/// A point of the curve is off in volume at its dose, and in dose at its volume: the lesser counts.
deviation deviation_of(ideal_body const& body, bool along, double spacing, double voxel,
                       std::int64_t subdivision) {
  Kokkos::DefaultHostExecutionSpace const exec;
  auto const count = std::int64_t(2 * std::ceil(15 / voxel));
  auto const g = grid::centred({count, count, count}, {voxel, voxel, voxel});
  auto const where =
      region_on<double>(exec, iso::oracle::contours_of(body, spacing), g, subdivision);
  iso::volume_view<double const, host_space> const dose =
      dose_on<double>(exec, g, [&](double x, double, double z) { return 16 + (along ? z : x); });
  double const all = body.volume();
  auto const exact = [&](double level) {
    return along ? body.volume_above_z(level - 16) : body.volume_above_x(level - 16);
  };
  std::vector<double> levels;
  for (double level = 4.1; level < 28; level += 0.3) {
    levels.push_back(level);
  }
  auto const mine = volumes_at(exec, dose, where, levels);
  deviation d;
  d.volume = 100 * (volumes_at(exec, dose, where, {0})[0] / all - 1);
  for (std::size_t n = 0; n < levels.size(); ++n) {
    double const in_volume = 100 * (mine[n] - exact(levels[n])) / all;
    // The dose that the exact body has at this volume.
    double low = 4;
    double high = 28;
    for (int i = 0; i < 40; ++i) {
      double const middle = 0.5 * (low + high);
      (exact(middle) >= mine[n] ? low : high) = middle;
    }
    double const in_dose = 100 * (levels[n] - low) / levels[n];
    double const off = std::fabs(in_volume) < std::fabs(in_dose) ? in_volume : in_dose;
    d.least = std::min(d.least, off);
    d.largest = std::max(d.largest, off);
  }
  return d;
}

char const* name_of(ideal_body::shape what) {
  return what == ideal_body::shape::sphere     ? "sphere"
         : what == ideal_body::shape::cylinder ? "cylinder"
                                               : "cone";
}

}  // namespace

// The bounds are what was found: those above 0.1 % at 1 mm and 0.5 % at 3 mm come from the
// contours' planes, between which the shape is straight, and from flat caps
// (docs/algorithms/dvh.md).
TEST_CASE("dvh: ideal bodies in gradients") {
  struct {
    ideal_body::shape what;
    double spacing;
    double volume;  ///< per cent
    double curve;
  } const bounds[] = {
      {ideal_body::shape::sphere, 1, 0.1, 0.25},    {ideal_body::shape::sphere, 3, 0.1, 1.1},
      {ideal_body::shape::cylinder, 1, 0.001, 0.1}, {ideal_body::shape::cylinder, 3, 0.001, 0.1},
      {ideal_body::shape::cone, 1, 0.15, 0.32},     {ideal_body::shape::cone, 3, 1.15, 1.15}};
  for (auto const& bound : bounds) {
    CAPTURE(name_of(bound.what));
    CAPTURE(bound.spacing);
    for (bool const along : {true, false}) {
      CAPTURE(along);
      for (double const voxel : {1.0, 2.0, 3.0}) {
        CAPTURE(voxel);
        auto const d = deviation_of({bound.what, 24, 24}, along, bound.spacing, voxel, 0);
        CHECK(std::fabs(d.volume) < bound.volume);
        CHECK(d.least > -bound.curve);
        CHECK(d.largest < bound.curve);
      }
    }
  }
}

TEST_CASE("dvh: a sphere in a Gaussian") {
  Kokkos::DefaultHostExecutionSpace const exec;
  for (double const voxel : {1.0, 2.0}) {
    auto const count = std::int64_t(30 / voxel);
    auto const g = grid::centred({count, count, count}, {voxel, voxel, voxel});
    auto const where = region_on<double>(exec, iso::oracle::contours_of({}, 1), g);
    iso::volume_view<double const, host_space> const dose =
        dose_on<double>(exec, g, [&](double x, double y, double z) {
          return 60 * std::exp(-(x * x + y * y + z * z) / (2 * 10.0 * 10.0));
        });
    std::vector<double> levels;
    for (double level = 25; level < 59; level += 1) {
      levels.push_back(level);
    }
    auto const mine = volumes_at(exec, dose, where, levels);
    double const all = ideal_body{}.volume();
    double most = 0;
    for (std::size_t n = 0; n < levels.size(); ++n) {
      double const exact = iso::oracle::gaussian_volume(12, 60, 10, levels[n]);
      most = std::max(most, std::fabs(mine[n] - exact) / all);
    }
    // Most where the isodose runs along the whole surface.
    CHECK(most < 0.018);
  }
}
