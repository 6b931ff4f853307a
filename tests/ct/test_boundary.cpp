// SPDX-License-Identifier: BSD-3-Clause
// Which boundary of the volume is nearer to the truth (docs/adr/0005-boundary.md): bodies that
// touch the faces of their grid, projected with both, against their line integrals in closed form.
#include "compare.hpp"

#include <iso/core/space.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace boundary_test {
namespace {

using exec_space = Kokkos::DefaultExecutionSpace;
using space = exec_space::memory_space;
using iso::boundary;
using iso::vec3;
using iso::ct::ellipsoid;

constexpr std::int64_t views = 13;
constexpr std::int64_t pixels = 112;

/// A pixel is 1 mm at the isocenter; the first view runs along x.
iso::ct::geometry scan() {
  return iso::ct::circular_cone({pixels, pixels, 1.25, 1.25}, 400, 500,
                                iso::ct::even_angles(views, 2 * std::numbers::pi));
}

std::vector<float> projected(iso::volume_view<float, space> const& volume, boundary edge) {
  exec_space const exec;
  iso::ct::forward_project_options const options{.edge = edge};
  auto const geometry = iso::ct::stage(exec, scan());
  iso::workspace<space> const scratch(iso::ct::forward_project_bytes_needed<float>(
      exec_space(), geometry.host(), volume.grid, options));
  auto const out = iso::make_projections<float, space>("ours", views, pixels, pixels);
  iso::ct::forward_project<exec_space, float>(exec, geometry, volume, out, scratch, options);
  exec.fence();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, out.data);
  return {host.data(), host.data() + host.size()};
}

/// l1 of the difference over l1 of the truth.
double residual(std::vector<float> const& ours, std::vector<double> const& truth) {
  double difference = 0;
  double total = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    difference += std::abs(double(ours[i]) - truth[i]);
    total += std::abs(truth[i]);
  }
  return difference / total;
}

struct residuals {
  double zero;
  double truncated;
};

residuals of_bodies(std::vector<ellipsoid> const& bodies, iso::grid const& grid) {
  exec_space const exec;
  auto const volume = iso::make_volume<float, space>("bodies", grid);
  auto const exact = iso::make_projections<double, space>("exact", views, pixels, pixels);
  iso::ct::rasterise_ellipsoids(exec, bodies, volume, {.samples = 5});
  iso::ct::project_ellipsoids(exec, bodies, iso::ct::stage(exec, scan()), exact, {.subsamples = 4});
  exec.fence();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, exact.data);
  std::vector<double> const truth(host.data(), host.data() + host.size());
  return {residual(projected(volume, boundary::zero), truth),
          residual(projected(volume, boundary::truncate), truth)};
}

/// Length of the ray inside the box of half widths `half` about the isocenter.
double box_chord(vec3<double> source, vec3<double> pixel, vec3<double> half) {
  vec3<double> const d = pixel - source;
  double enter = 0;
  double leave = 1;
  for (int a = 0; a < 3; ++a) {
    if (d[a] == 0) {
      leave = std::abs(source[a]) < half[a] ? leave : enter;
      continue;
    }
    double const t0 = (-half[a] - source[a]) / d[a];
    double const t1 = (half[a] - source[a]) / d[a];
    enter = std::max(enter, std::min(t0, t1));
    leave = std::min(leave, std::max(t0, t1));
  }
  return leave > enter ? (leave - enter) * iso::norm(d) : 0.0;
}

/// Pixel means of the chords of that box, 4 x 4 rays a pixel.
std::vector<double> box_projections(vec3<double> half) {
  std::vector<double> truth;
  auto const geometry = scan();
  for (auto const& view : geometry.views()) {
    for (std::int64_t pixel = 0; pixel < pixels * pixels; ++pixel) {
      double sum = 0;
      for (int part = 0; part < 16; ++part) {
        double const u = double(pixel / pixels) + (part / 4 + 0.5) / 4 - 0.5;
        double const v = double(pixel % pixels) + (part % 4 + 0.5) / 4 - 0.5;
        sum +=
            box_chord(view.source, view.detector_origin + u * view.u_step + v * view.v_step, half);
      }
      truth.push_back(sum / 16);
    }
  }
  return truth;
}

TEST_CASE("forward_project: blending with zero at the border is nearer to the truth than cutting") {
  residuals found{};
  SUBCASE("an ellipsoid that touches all six faces") {
    ellipsoid const body{.centre = {}, .half_axes = {36, 30, 33}, .density = 0.02};
    found = of_bodies({body}, iso::grid::centred({72, 60, 66}, {1, 1, 1}));
    MESSAGE("ellipsoid: zero ", found.zero, ", truncated ", found.truncated);
  }
  SUBCASE("the Shepp-Logan head, whose skull touches all six faces") {
    found = of_bodies(iso::ct::shepp_logan(50), iso::grid::centred({69, 92, 90}, {1, 1, 1}));
    MESSAGE("head: zero ", found.zero, ", truncated ", found.truncated);
  }
  SUBCASE("a grid full of ones") {
    iso::grid const grid = iso::grid::centred({44, 40, 36}, {1, 1, 1});
    auto const volume = iso::make_volume<float, space>("box", grid);
    Kokkos::deep_copy(volume.data, 1.0F);
    auto const truth = box_projections({22, 20, 18});
    found = {residual(projected(volume, boundary::zero), truth),
             residual(projected(volume, boundary::truncate), truth)};
    MESSAGE("box: zero ", found.zero, ", truncated ", found.truncated);
  }
  CHECK(found.zero < found.truncated);
  CHECK(found.truncated < 0.1);
}

TEST_CASE(
    "forward_project: both boundaries give the same bits where the outermost voxels are empty") {
  exec_space const exec;
  auto const volume =
      iso::make_volume<float, space>("head", iso::grid::centred({96, 96, 96}, {1, 1, 1}));
  iso::ct::rasterise_ellipsoids(exec, iso::ct::shepp_logan(48), volume, {.samples = 5});
  exec.fence();
  auto const zero = projected(volume, boundary::zero);
  auto const truncated = projected(volume, boundary::truncate);
  CHECK(iso::test::same_bits(zero, truncated));
  CHECK(*std::max_element(zero.begin(), zero.end()) > 1);
}

}  // namespace

}  // namespace boundary_test
