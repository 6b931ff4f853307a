// SPDX-License-Identifier: BSD-3-Clause
#include <iso/cases/inputs.hpp>

#include <cmath>
#include <numbers>
#include <utility>

namespace iso::cases {

input_volume random_volume() { return {grid::centred({144, 136, 40}, {0.9, 1.0, 1.1})}; }
input_volume small_random_volume() { return {grid::centred({70, 66, 24}, {0.9, 1.0, 1.1})}; }

ct::geometry small_cone() {
  return ct::circular_cone({45, 50, 5.1, 1.7, 3.3, -1.1}, 500, 800,
                           ct::even_angles(9, 2 * std::numbers::pi, 0.01));
}

ct::geometry small_parallel() {
  return ct::circular_parallel({45, 50, 3.1, 0.9, 0.4, -0.3},
                               ct::even_angles(9, std::numbers::pi, 0));
}

ct::geometry small_tilted() {
  auto const straight = small_cone();
  auto views = straight.views();
  for (auto& view : views) {
    view.source.z += 31.25;
    view.v_step = view.v_step + 0.125 * view.u_step;
  }
  return {ct::beam::cone, straight.num_u(), straight.num_v(), std::move(views)};
}

ct::geometry cone_scan(std::int64_t n, std::int64_t views, double pixels) {
  auto const count = std::int64_t(double(n) * pixels);
  double const pitch = 6.7 / 5.7 / pixels;
  // A handful of views from angle 0 on would see nothing but the grid's axes and diagonals.
  double const first = views < 45 ? 0.4 : 0.0;
  return ct::circular_cone({.num_u = count, .num_v = count, .pitch_u = pitch, .pitch_v = pitch},
                           5.7 * double(n), 6.7 * double(n),
                           ct::even_angles(views, 2 * std::numbers::pi, first));
}

ct::geometry tilted(ct::geometry const& scan) {
  constexpr double degree = std::numbers::pi / 180;
  return ct::turn_detector(scan, {.pitch = 2 * degree, .roll = degree});
}

template <class T>
std::vector<ray::ray<T>> random_rays(grid const& g, std::int64_t count) {
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
template std::vector<ray::ray<float>> random_rays(grid const&, std::int64_t);
template std::vector<ray::ray<double>> random_rays(grid const&, std::int64_t);

template <class T>
std::vector<ray::ray<T>> cone_rays(std::int64_t n, std::int64_t views) {
  std::vector<ray::ray<T>> rays;
  for (std::int64_t i = 0; i < views * n * n; ++i) {
    double const angle = 0.7 + double(i / (n * n));
    double const c = std::cos(angle);
    double const s = std::sin(angle);
    double const u = (double(i / n % n) + 0.5 - 0.5 * double(n)) * 1.5;
    double const v = (double(i % n) + 0.5 - 0.5 * double(n)) * 1.5;
    auto const far = double(n);
    vec3<double> const source{2 * far * c, 2 * far * s, 0};
    vec3<double> const pixel{-far * c - u * s, -far * s + u * c, v};
    rays.push_back(ray::ray<T>::between(static_cast<vec3<T>>(source), static_cast<vec3<T>>(pixel)));
  }
  return rays;
}
template std::vector<ray::ray<float>> cone_rays(std::int64_t, std::int64_t);
template std::vector<ray::ray<double>> cone_rays(std::int64_t, std::int64_t);

}  // namespace iso::cases
