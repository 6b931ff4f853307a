// SPDX-License-Identifier: BSD-3-Clause
// Iterations of float against those of double where readings have noise, most of all those of rays
// that graze the volume; total variation's gap with noise.
#include "iterative_support.hpp"

#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/total_variation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace iterative_noise {
namespace {

using iso::grid;
using iso::ct::geometry;
using iso::test::run_of;
using host = Kokkos::HostSpace;
using exec = Kokkos::Serial;

double const pi = std::acos(-1.0);
double const ball = 0.02;  // 1/mm

grid const box = grid::centred({16, 16, 16}, {4, 4, 4});

geometry upright() {
  return iso::ct::circular_cone({.num_u = 20, .num_v = 20, .pitch_u = 6, .pitch_v = 6}, 300, 450,
                                iso::ct::even_angles(12, 2 * pi));
}
iso::ct::detector_turn const turn{.yaw = 4 * pi / 180, .pitch = 3 * pi / 180, .roll = 1 * pi / 180};

/// The scan whose ray (0, 17, 0) is 1.1e-4 mm long.
geometry grazing() {
  std::vector<std::array<double, 2>> shifts(12, {0, 0});
  shifts[0][0] = 11.901857059561044;
  return iso::ct::shift_detector(iso::ct::turn_detector(upright(), turn), shifts);
}
std::size_t const grazing_ray = 17 * 20;

/// Returns the projections of a ball of radius 24 mm, in double.
std::vector<double> readings_of_ball(geometry const& g, grid const& volume = box) {
  auto const x = iso::make_volume<double, host>("ball", volume);
  for (std::int64_t i = 0; i < volume.extent[0]; ++i) {
    for (std::int64_t j = 0; j < volume.extent[1]; ++j) {
      for (std::int64_t k = 0; k < volume.extent[2]; ++k) {
        double const h = volume.spacing.x;
        iso::vec3<double> const from{volume.origin.x + h * double(i),
                                     volume.origin.y + h * double(j),
                                     volume.origin.z + h * double(k)};
        x.data(i, j, k) = norm(from) < 24 ? ball : 0;
      }
    }
  }
  auto const b = iso::make_projections<double, host>("b", g.num_views(), g.num_u(), g.num_v());
  iso::ct::projector_pair<exec, double>(exec(), g, volume).forward(0, x, b);
  return {b.data.data(), b.data.data() + b.data.size()};
}

struct comparison {
  double voxels;    ///< largest difference of float from double in parts of the ball's value
  double residual;  ///< relative difference of the last residual
};

/// Compares voxels whose column sum is above 1e-2 of the largest.
template <template <class, class> class Method, class Options>
comparison compare(geometry const& g, std::vector<double> readings, Options const& options,
                   std::int64_t iterations = 20) {
  // Both are given the numbers that float holds.
  for (double& r : readings) {
    r = double(float(r));
  }
  auto const sums = iso::make_volume<double, host>("sums", box);
  auto const ones =
      iso::make_projections<double, host>("ones", g.num_views(), g.num_u(), g.num_v());
  Kokkos::deep_copy(ones.data, 1.0);
  iso::ct::projector_pair<exec, double>(exec(), g, box).adjoint(0, ones, sums);
  double const* const weights = sums.data.data();
  double const most = *std::max_element(weights, weights + sums.data.size());
  auto const narrow = run_of<Method, float>(g, readings, options, {.iterations = iterations}, box);
  auto const wide = run_of<Method, double>(g, readings, options, {.iterations = iterations}, box);
  double worst = 0;
  for (std::size_t i = 0; i < narrow.x.size(); ++i) {
    if (weights[i] > 1e-2 * most) {
      worst = std::max(worst, std::abs(narrow.x[i] - wide.x[i]) / ball);
    }
  }
  return {worst, std::abs(narrow.history.back().residual / wide.history.back().residual - 1)};
}

void check_methods(geometry const& g, std::vector<double> const& readings) {
  using iso::ct::mlem_options;
  using iso::ct::sart_options;
  CHECK(compare<iso::ct::sart>(g, readings, sart_options{}).voxels < 1e-5);
  CHECK(compare<iso::ct::sart>(g, readings, sart_options{.block_views = 4}).voxels < 1e-5);
  CHECK(compare<iso::ct::total_variation>(g, readings,
                                          iso::ct::total_variation_options{.weight = 0.02})
            .voxels < 1e-5);
  // Conjugate gradients lose their directions to rounding: soonest where slices share one matrix,
  // as those of the parallel scan do, whose rows lie as far apart as its slices.
  CHECK(compare<iso::ct::cgls>(g, readings, iso::ct::cgls_options{}, 4).voxels < 1e-5);
  CHECK(compare<iso::ct::cgls>(g, readings, iso::ct::cgls_options{}).residual < 1e-2);
  CHECK(compare<iso::ct::lsqr>(g, readings, iso::ct::lsqr_options{}, 4).voxels < 1e-5);
  CHECK(compare<iso::ct::lsqr>(g, readings, iso::ct::lsqr_options{}).residual < 1e-2);
  // Damping takes away the directions that are lost.
  CHECK(compare<iso::ct::lsqr>(g, readings, iso::ct::lsqr_options{.damping = 20}).voxels < 1e-5);
  auto positive = readings;
  for (double& r : positive) {
    r = std::max(r, 0.0);
  }
  CHECK(compare<iso::ct::mlem>(g, positive, mlem_options{}).voxels < 1e-5);
  // Weights of short rays are rounded as their coordinates are, and few rays share a block's step.
  CHECK(compare<iso::ct::sart>(g, readings, sart_options{.block_views = 1}).voxels < 5e-5);
  CHECK(compare<iso::ct::mlem>(g, positive, mlem_options{.block_views = 4}).voxels < 5e-5);
}

std::vector<double> with_noise(std::vector<double> readings, double sigma) {
  std::mt19937 random(11);
  auto const uniform = [&] { return (double(random()) + 0.5) / 0x1p32; };
  for (double& r : readings) {
    r += sigma * std::sqrt(-2 * std::log(uniform())) * std::cos(2 * pi * uniform());
  }
  return readings;
}

/// Readings of so many photons a ray in the open beam, counted.
std::vector<double> counted(std::vector<double> readings, double photons) {
  std::mt19937 random(5);
  for (double& r : readings) {
    std::poisson_distribution<int> count(photons * std::exp(-r));
    r = std::log(photons / std::max(count(random), 1));
  }
  return readings;
}

}  // namespace

TEST_CASE("one noisy reading of a ray that grazes the volume spoils no reconstruction") {
  auto const g = grazing();
  auto readings = readings_of_ball(g);
  readings[grazing_ray] += 0.005;
  check_methods(g, readings);
}

namespace {

geometry parallel() {
  return iso::ct::circular_parallel({.num_u = 20, .num_v = 20, .pitch_u = 4, .pitch_v = 4},
                                    iso::ct::even_angles(12, pi));
}

}  // namespace

TEST_CASE("with noise, iterations of float are as near to those of double") {
  auto const angles = iso::ct::even_angles(12, 2 * pi);
  for (auto const& g :
       {iso::ct::helix(upright(), angles, 8), iso::ct::turn_detector(upright(), turn),
        iso::ct::turn_detector(parallel(), turn)}) {
    check_methods(g, with_noise(readings_of_ball(g), 0.03));
  }
}

TEST_CASE("with every noise, iterations of float are as near on an upright detector") {
  for (auto const& g : {upright(), parallel()}) {
    check_methods(g, with_noise(readings_of_ball(g), 0.03));
  }
  check_methods(grazing(), readings_of_ball(grazing()));
}

TEST_CASE("what SART's and OSEM's few rays a block differ by grows with the noise") {
  for (auto const& g : {iso::ct::turn_detector(upright(), turn), parallel(),
                        iso::ct::turn_detector(parallel(), turn)}) {
    auto readings = counted(readings_of_ball(g), 100);
    CHECK(compare<iso::ct::sart>(g, readings, iso::ct::sart_options{.block_views = 1}).voxels <
          1.2e-4);
    for (double& r : readings) {
      r = std::max(r, 0.0);
    }
    CHECK(compare<iso::ct::mlem>(g, readings, iso::ct::mlem_options{.block_views = 4}).voxels <
          5e-5);
  }
}

TEST_CASE("a detector that is turned further takes more of SART's, CGLS' and LSQR's digits") {
  iso::ct::detector_turn const further{
      .yaw = 7 * pi / 180, .pitch = -5 * pi / 180, .roll = 2 * pi / 180};
  auto const g = iso::ct::turn_detector(
      iso::ct::circular_cone(
          {.num_u = 20, .num_v = 20, .pitch_u = 6, .pitch_v = 6, .offset_u = 0.7, .offset_v = -0.4},
          250, 420, iso::ct::even_angles(14, 2 * pi)),
      further);
  for (auto const& readings :
       {with_noise(readings_of_ball(g), 0.03), counted(readings_of_ball(g), 3000)}) {
    CHECK(compare<iso::ct::sart>(g, readings, iso::ct::sart_options{}).voxels < 1e-5);
    auto const sart = compare<iso::ct::sart>(g, readings, iso::ct::sart_options{.block_views = 1});
    auto const cgls = compare<iso::ct::cgls>(g, readings, iso::ct::cgls_options{});
    auto const lsqr = compare<iso::ct::lsqr>(g, readings, iso::ct::lsqr_options{});
    // docs/algorithms/iterative.md has these figures.
    CHECK(sart.voxels < 1.4e-4);
    CHECK(cgls.voxels < 1.1e-3);
    CHECK(lsqr.voxels < 4e-3);
    CHECK(compare<iso::ct::lsqr>(g, readings, iso::ct::lsqr_options{.damping = 20}).voxels < 1e-5);
  }
}

namespace {

/// Readings of a ball with noise of one width, or with that of counts, on a detector that stands
/// upright or is turned.
void check_gap_closes(bool is_turned, bool is_counted, std::vector<double> const& weights) {
  auto const volume = grid::centred({24, 24, 24}, {2.5, 2.5, 2.5});
  auto const flat = iso::ct::circular_cone({.num_u = 30, .num_v = 30, .pitch_u = 4, .pitch_v = 4},
                                           300, 450, iso::ct::even_angles(20, 2 * pi));
  auto const g = is_turned ? iso::ct::turn_detector(flat, turn) : flat;
  auto const clean = readings_of_ball(g, volume);
  auto const readings = is_counted ? counted(clean, 3000) : with_noise(clean, 0.03);
  for (double const weight : weights) {
    auto const found = run_of<iso::ct::total_variation, float>(
        g, readings, iso::ct::total_variation_options{.weight = weight},
        {.iterations = 1000, .gap = 1e-3}, volume);
    CAPTURE(is_turned);
    CAPTURE(is_counted);
    CAPTURE(weight);
    CAPTURE(found.history.size());
    CHECK(found.history.back().gap <= 1e-3);
  }
}

}  // namespace

TEST_CASE("total variation closes its gap with noise, no bounds given") {
  check_gap_closes(true, true, {0.1});
}

TEST_CASE("total variation closes its gap with every noise on every detector") {
  check_gap_closes(false, false, {0.01, 0.1, 1.0});
  check_gap_closes(false, true, {0.01, 0.1, 1.0});
  check_gap_closes(true, false, {0.01, 0.1, 1.0});
  check_gap_closes(true, true, {0.01, 1.0});
}

namespace {

/// Runs `Method` on readings times a power of two, and returns the volume over it in parts of the
/// ball's value less that of the readings themselves: the largest difference.
template <template <class, class> class Method, class T, class Make>
double change_by_scale(double scale, Make const& options_for) {
  auto const g = iso::ct::turn_detector(upright(), turn);
  auto readings = readings_of_ball(g);
  auto const run = [&](double unit) {
    return run_of<Method, T>(g, readings, options_for(unit), {.iterations = 10}, box, unit * ball);
  };
  auto const plain = run(1);
  for (double& r : readings) {
    r *= scale;
  }
  auto const scaled = run(scale);
  double worst = 0;
  for (std::size_t i = 0; i < plain.x.size(); ++i) {
    worst = std::max(worst, std::abs(scaled.x[i] / scale - plain.x[i]) / ball);
  }
  return worst;
}

template <class T>
void check_scale(double scale) {
  CAPTURE(scale);
  auto const same = [](auto const& options) { return [options](double) { return options; }; };
  double const rounding = sizeof(T) == 4 ? 1e-5 : 1e-12;
  CHECK(change_by_scale<iso::ct::sart, T>(scale, same(iso::ct::sart_options{})) < rounding);
  CHECK(change_by_scale<iso::ct::cgls, T>(scale, same(iso::ct::cgls_options{})) < rounding);
  CHECK(change_by_scale<iso::ct::lsqr, T>(scale, same(iso::ct::lsqr_options{})) < rounding);
  CHECK(change_by_scale<iso::ct::mlem, T>(scale, same(iso::ct::mlem_options{})) < rounding);
  CHECK(change_by_scale<iso::ct::total_variation, T>(scale, [](double unit) {
          return iso::ct::total_variation_options{.weight = 0.1 * unit};
        }) < rounding);
}

}  // namespace

TEST_CASE("readings times a power of two give the volume times it, however small or large") {
  // Squares of such readings are no floats.
  check_scale<float>(0x1p-90);
  check_scale<float>(0x1p90);
  check_scale<double>(0x1p-350);
  check_scale<double>(0x1p350);
}

TEST_CASE("readings whose sums or squares are no numbers of the precision are refused") {
  auto const readings = readings_of_ball(upright());
  auto const refuses = [&]<class T>(T, double scale) {
    auto scaled = readings;
    for (double& r : scaled) {
      r *= scale;
    }
    try {
      run_of<iso::ct::total_variation, T>(upright(), scaled,
                                          iso::ct::total_variation_options{.weight = scale},
                                          {.iterations = 2}, box);
    } catch (iso::invalid_argument const& refusal) {
      return std::string(refusal.what()).find("; scale the readings") != std::string::npos;
    }
    return false;
  };
  CHECK(refuses(float(), 0x1p-110));
  CHECK(refuses(float(), 0x1p110));
  CHECK(!refuses(double(), 0x1p-110));
  CHECK(refuses(double(), 0x1p-600));
  CHECK(refuses(double(), 0x1p600));
}

}  // namespace iterative_noise
