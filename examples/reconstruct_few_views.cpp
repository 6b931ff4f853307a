// SPDX-License-Identifier: BSD-3-Clause
// Reconstructs the Shepp-Logan head from 24 views by FDK, OS-SART and total variation, and prints
// how far each is from the phantom.
#include <iso/core/space.hpp>
#include <iso/core/sum_of.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ct/total_variation.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <numbers>

namespace {

using exec_space = Kokkos::DefaultExecutionSpace;
using space = iso::space::device;
using volume_type = iso::volume_view<float, space>;

// The square of the difference of two voxels.
struct squared_difference {
  float const* a;
  float const* b;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    double const d = double(a[i]) - double(b[i]);
    return d * d;
  }
};

double rms(exec_space const& exec, volume_type const& a, volume_type const& b) {
  auto const count = std::int64_t(a.data.size());
  return std::sqrt(iso::sum_of(exec, count, squared_difference{a.data.data(), b.data.data()}) /
                   double(count));
}

}  // namespace

int main() {
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  exec_space const exec;
  auto const scan =
      iso::ct::circular_cone({.num_u = 80, .num_v = 64, .pitch_u = 5, .pitch_v = 5}, 1000, 1200,
                             iso::ct::even_angles(24, 2 * std::numbers::pi));
  auto const grid = iso::grid::centred({48, 48, 48}, {5.5, 5.5, 5.5});
  auto const head = iso::ct::shepp_logan(128);
  auto const views = iso::make_projections<float, space>(exec, "views", 24, 80, 64);
  iso::ct::project_ellipsoids(exec, head, iso::ct::stage(exec, scan), views);
  iso::projection_view<float const, space> const readings = views;
  auto const truth = iso::make_volume<float, space>(exec, "truth", grid);
  iso::ct::rasterise_ellipsoids(exec, head, truth);

  iso::ct::fdk_reconstructor<exec_space, float> const reconstructor(exec, scan, grid);
  auto const by_fdk = iso::make_volume<float, space>(exec, "FDK", grid);
  reconstructor.apply(views, by_fdk);

  auto const by_sart = iso::make_volume<float, space>(exec, "OS-SART", grid);
  iso::ct::sart<exec_space, float> sart(exec, scan, readings, by_sart,
                                        {.block_views = 8, .relaxation = 0.7, .box = {.lower = 0}});
  auto const passes = iso::ct::iterate(sart, {.iterations = 10, .relative_residual = 1e-3});

  auto const by_tv = iso::make_volume<float, space>(exec, "total variation", grid);
  iso::ct::total_variation<exec_space, float> tv(exec, scan, readings, by_tv,
                                                 {.weight = 5, .box = {.lower = 0, .upper = 2}});
  auto const steps = iso::ct::iterate(tv, {.iterations = 300, .gap = 0.1});

  double const errors[3] = {rms(exec, by_fdk, truth), rms(exec, by_sart, truth),
                            rms(exec, by_tv, truth)};
  Kokkos::printf("root mean square error: FDK %.4f, %d passes of OS-SART %.4f, ", errors[0],
                 int(passes.size()), errors[1]);
  Kokkos::printf("%d steps of total variation %.4f (gap %.1e)\n", int(steps.size()), errors[2],
                 steps.back().gap);
  return errors[1] < errors[0] && errors[2] < errors[1] ? 0 : 1;
}
