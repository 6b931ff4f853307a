// SPDX-License-Identifier: BSD-3-Clause
// The projector of texture units: beside the software form on a GPU, and what refuses it elsewhere.
#include "forward_project_support.hpp"

#include <iso/ct/forward_project_texture.hpp>

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace {

using namespace projector_support;

std::string said_by(auto const& f) {
  try {
    f();
  } catch (iso::invalid_argument const& e) {
    return e.what();
  }
  return "";
}

template <class Exec>
auto staged(Exec const& exec, volume<float> const& v) {
  using space = typename Exec::memory_space;
  auto const copy = iso::make_volume<float, space>("copy", v.grid);
  Kokkos::deep_copy(exec, copy.data, v.data);
  return copy;
}

}  // namespace

TEST_CASE("texture_volume: processors have no texture units") {
  auto const v = random_volume<float>(grid::centred({4, 5, 6}, {1, 1, 1}));
  CHECK(said_by([&] { iso::backend::texture_volume(Kokkos::Serial(), v); }) ==
        "iso::backend::texture_volume: the backend serial has no texture units (only cuda has); "
        "use the volume itself");
}

#if ISO_HAS_CUDA
namespace {

using space = Kokkos::CudaSpace;

std::vector<float> by_texture(iso::backend::texture_volume const& v, geometry const& scan,
                              region within) {
  Kokkos::Cuda const exec;
  auto const out =
      iso::make_projections<float, space>("out", scan.num_views(), scan.num_u(), scan.num_v());
  Kokkos::deep_copy(exec, out.data, std::numeric_limits<float>::quiet_NaN());
  iso::ct::forward_project_texture(exec, iso::ct::stage(exec, scan), v, out, {.within = within});
  exec.fence("test_forward_project_texture");
  return host_vector(out.data);
}

}  // namespace

TEST_CASE("forward_project_texture: linear Joseph with weights of 8 bits") {
  Kokkos::Cuda const exec;
  std::mt19937_64 random(31);
  int different = 0;
  for (int n = 0; n < 60; ++n) {
    CAPTURE(n);
    auto const p = random_problem(random, n % 2 == 0 ? tilt::none : tilt::any);
    auto const v = random_volume<float>(p.volume, unsigned(n));
    auto const device = staged(exec, v);
    iso::backend::texture_volume const texture(exec, device);
    for (auto const within : {region::box, region::cylinder}) {
      auto const found = by_texture(texture, p.scan, within);
      auto const exact = projected(v, p.scan, {.within = within});
      // A weight is off by at most 1/256 along each axis, of voxels in [0, 1]; a step is at most
      // 2.5 sqrt(3) mm long.
      auto const& e = p.volume.extent;
      double const samples = double(std::max({e[0], e[1], e[2]}));
      CHECK(farthest(found, exact) < samples * 2.0 / 256 * 4.4);
      different += difference(found, exact) != "" ? 1 : 0;
    }
  }
  // It is not the other projector; a scan that sees next to nothing may agree.
  CHECK(different > 60);
}

TEST_CASE("forward_project_texture: exact where rays meet the voxels' centres") {
  Kokkos::Cuda const exec;
  auto const g = grid::centred({9, 12, 33}, {1, 1, 0.5});
  auto const v = random_volume<float>(g);
  auto const device = staged(exec, v);
  iso::backend::texture_volume const texture(exec, device);
  // Along x to (y, z), along y to (x, z), along z to (x, y).
  for (int axis = 0; axis < 3; ++axis) {
    CAPTURE(axis);
    int const a = axis == 0 ? 1 : 0;
    int const b = axis == 2 ? 1 : 2;
    vec3<double> along{0, 0, 0};
    vec3<double> u{0, 0, 0};
    vec3<double> w{0, 0, 0};
    along[axis] = 1;
    u[a] = g.spacing[a];
    w[b] = g.spacing[b];
    geometry const scan(beam::parallel, g.extent[std::size_t(a)], g.extent[std::size_t(b)],
                        {{along, g.origin, u, w}});
    CHECK(farthest(by_texture(texture, scan, region::box), projected(v, scan)) < 1e-5);
  }
}

TEST_CASE("texture_volume: update copies other voxels, and what it refuses") {
  Kokkos::Cuda const exec;
  auto const g = grid::centred({20, 21, 22}, {1, 1, 1});
  auto const scan = iso::ct::circular_cone({11, 12, 2, 2}, 100, 150, {0.3, 1.4});
  auto const first = staged(exec, random_volume<float>(g, 1));
  auto const second = staged(exec, random_volume<float>(g, 2));
  iso::backend::texture_volume const texture(exec, first);
  auto const before = by_texture(texture, scan, region::box);
  texture.update(exec, second);
  auto const after = by_texture(texture, scan, region::box);
  CHECK(difference(before, after) != "");
  CHECK(difference(after, by_texture(iso::backend::texture_volume(exec, second), scan,
                                     region::box)) == "");
  auto const other = staged(exec, random_volume<float>(grid::centred({20, 21, 23}, {1, 1, 1})));
  CHECK(said_by([&] { texture.update(exec, other); }) ==
        "iso::backend::texture_volume: volume of [20, 21, 23] voxels (the texture has [20, 21, "
        "22]); make another texture for this grid");
  auto const thin = staged(exec, random_volume<float>(grid::centred({2049, 1, 2}, {1, 1, 1})));
  CHECK(said_by([&] { iso::backend::texture_volume(exec, thin); }) ==
        "iso::backend::texture_volume: volume of [2049, 1, 2] voxels (a texture has at most 2048 "
        "layers); use the volume itself");
  auto const small = iso::make_projections<float, space>("small", 1, 11, 12);
  CHECK(said_by([&] {
          iso::ct::forward_project_texture(exec, iso::ct::stage(exec, scan), texture, small);
        }) ==
        "forward_project_texture: projections of [1, 11, 12] (geometry has [2, 11, 12]: views, u, "
        "v); give them the geometry's extents");
}
#endif
