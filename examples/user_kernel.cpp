// SPDX-License-Identifier: BSD-3-Clause
// Walks rays through a grid inside a kernel of one's own: how deep does half of a beam get?
#include <iso/core/space.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ray/traverse.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>

using space = iso::space::device;

// Ray i enters along x at the height y = i mm; depth(i) is where half of it is left, mm of tissue.
struct half_depth {
  iso::ray::traversal_grid grid;
  iso::volume_view<float const, space> attenuation;
  Kokkos::View<float*, space> depth;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const ray = iso::ray::ray<float>::between({-300, float(i), 0}, {300, float(i), 0});
    float const* const voxels = attenuation.data.data();
    float left = 0.6931472F;
    float travelled = 0;
    iso::ray::traverse<iso::ray::amanatides_woo>(ray, grid, [&](std::int64_t voxel, float length) {
      float const mu = voxels[voxel];
      if (mu > 0 && left > 0) {
        travelled += mu * length < left ? length : left / mu;
        left -= mu * length;
      }
    });
    depth(i) = travelled;
  }
};

int main() {
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  Kokkos::DefaultExecutionSpace const exec;

  // A ball of water, 100 mm in radius: 0.02 / mm.
  auto const ball =
      iso::make_volume<float, space>(exec, "ball", iso::grid::centred({256, 256, 256}, {1, 1, 1}));
  iso::ct::ellipsoid const body{.centre = {}, .half_axes = {100, 100, 100}, .density = 0.02};
  iso::ct::rasterise_ellipsoids(exec, {&body, 1}, ball);

  std::int64_t const rays = 80;
  Kokkos::View<float*, space> const depth("depth", rays);
  Kokkos::parallel_for("half_depth",
                       Kokkos::RangePolicy<Kokkos::DefaultExecutionSpace>(exec, 0, rays),
                       half_depth{iso::ray::traversal_grid(ball.grid), ball, depth});
  exec.fence();

  auto const result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, depth);
  float const expected = 0.6931472F / 0.02F;
  float worst = 0;
  for (std::int64_t i = 0; i < rays; ++i) {
    worst = std::fmax(worst, std::fabs(result(i) - expected));
  }
  std::printf("half is left at %.2f mm (ln 2 / 0.02 = %.2f), %.2f mm off at worst\n",
              double(result(0)), double(expected), double(worst));
  return worst < 1.5F ? 0 : 1;
}
