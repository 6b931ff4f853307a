// SPDX-License-Identifier: BSD-3-Clause
#include "verify_inputs.hpp"

#include <array>
#include <numbers>
#include <utility>

namespace iso::jobs {
namespace {

files::host_volume centred_volume(std::array<std::int64_t, 3> const& extent) {
  files::host_volume volume{extent, {0.9, 1.0, 1.1}, {}, {}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    volume.origin[axis] = -0.5 * double(volume.extent[axis] - 1) * volume.spacing[axis];
  }
  std::int64_t const count = volume.extent[0] * volume.extent[1] * volume.extent[2];
  volume.values.reserve(std::size_t(count));
  for (std::int64_t i = 0; i < count; ++i) {
    volume.values.push_back(float(in_unit(std::uint64_t(i))));
  }
  return volume;
}

}  // namespace

files::host_volume verify_volume() { return centred_volume({144, 136, 40}); }

files::host_volume verify_small_volume() { return centred_volume({70, 66, 24}); }

ct::geometry verify_cone() {
  return ct::circular_cone({45, 50, 5.1, 1.7, 3.3, -1.1}, 500, 800,
                           ct::even_angles(9, 2 * std::numbers::pi, 0.01));
}

ct::geometry verify_parallel() {
  return ct::circular_parallel({45, 50, 3.1, 0.9, 0.4, -0.3},
                               ct::even_angles(9, std::numbers::pi, 0));
}

ct::geometry verify_tilted() {
  auto const straight = verify_cone();
  auto views = straight.views();
  for (auto& view : views) {
    view.source.z += 31.25;
    view.v_step = view.v_step + 0.125 * view.u_step;
  }
  return {ct::beam::cone, straight.num_u(), straight.num_v(), std::move(views)};
}

template <class T>
std::vector<ray::ray<T>> verify_rays(grid const& g, std::int64_t count) {
  std::vector<ray::ray<T>> rays;
  for (std::int64_t i = 0; i < count; ++i) {
    auto const number = [&](int k) { return in_unit(std::uint64_t(i * 8 + k) + 0x4000000000ULL); };
    vec3<T> from;
    vec3<T> to;
    for (int axis = 0; axis < 3; ++axis) {
      double const width = double(g.extent[std::size_t(axis)]) * g.spacing[axis];
      from[axis] = T(1.5 * width * number(axis));
      to[axis] = T(1.5 * width * number(axis + 3));
    }
    if (i % 8 < 3) {  // along an axis, and every other of those in a plane between voxels
      int const axis = int(i % 8);
      for (int other = 0; other < 3; ++other) {
        if (other != axis) {
          from[other] = i % 16 < 8 ? T(g.origin[other] + g.spacing[other] / 2) : from[other];
          to[other] = from[other];
        }
      }
    }
    rays.push_back(ray::ray<T>::between(from, to));
  }
  return rays;
}

template std::vector<ray::ray<float>> verify_rays(grid const&, std::int64_t);
template std::vector<ray::ray<double>> verify_rays(grid const&, std::int64_t);

}  // namespace iso::jobs
